"""Important dates as rows of a page."""

from collections.abc import Sequence
from datetime import date
from typing import Any

from dashboard.words import language_of
from memories.corrections.edit_dates import ImportantDate
from understanding.attributes import label
from understanding.dates.important_dates import LUNAR, date_text, text


def rows_of(dates: Sequence[ImportantDate], today: date) -> list[dict[str, Any]]:
    """These dates in the reader's language as seen today. ``key`` is the attribute, ``said`` the day
    as it is stored; it comes next ``on`` a day of ``month``, in ``days``; ``elsewhere``: that is not
    the day stored (a lunar day, or 29 February)."""
    language, rows = language_of(), []
    for one in dates:
        row: dict[str, Any] = {
            "id": one.id,
            "contact": one.contact,
            "key": one.kind,
            "years": one.years,
        }
        row |= {"kind": label(one.kind, language), "said": text(one.day, language)}
        row |= {"birthday": one.kind == "birthday", "stated": not one.sources}
        if one.next_on:
            row |= {"month": one.next_on.replace(day=1), "days": (one.next_on - today).days}
            row["on"] = date_text(one.next_on, today, language)
            row["elsewhere"] = one.day.calendar == LUNAR or one.day.day != one.next_on.day
        rows.append(row)
    return rows
