"""Important dates as rows of a page, and whom one may be stated of."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from uuid import UUID

from accounts.models import EndUser
from contacts.models import Contact, ContactQuerySet
from dashboard.words import language_of
from memories.corrections.edit_dates import ImportantDate
from understanding.attributes import label
from understanding.dates.important_dates import LUNAR, date_text, text

MOST_PEOPLE = 500  # to choose from in the form


@dataclass(frozen=True, slots=True)
class Row:
    """A date in the reader's language. ``key`` is its attribute, ``said`` the day as it is stored.
    It comes next ``on`` a day of ``month``, in ``days``; ``elsewhere``: that is not the day stored
    (a lunar day, or 29 February)."""

    id: UUID
    contact: Contact | None
    key: str
    kind: str
    birthday: bool
    said: str
    month: date | None
    on: str
    days: int | None
    elsewhere: bool
    years: int | None
    stated: bool


def rows_of(dates: Sequence[ImportantDate], today: date) -> list[Row]:
    """These dates as seen today."""
    language = language_of()
    return [
        Row(
            id=one.id,
            contact=one.contact,
            key=one.kind,
            kind=label(one.kind, language),
            birthday=one.kind == "birthday",
            said=text(one.day, language),
            month=one.next_on and one.next_on.replace(day=1),
            on=date_text(one.next_on, today, language) if one.next_on else "",
            days=(one.next_on - today).days if one.next_on else None,
            elsewhere=one.next_on is not None
            and (one.day.calendar == LUNAR or one.day.day != one.next_on.day),
            years=one.years,
            stated=not one.sources,
        )
        for one in dates
    ]


def people(end_user: EndUser) -> ContactQuerySet:
    """Of whom a date may be stated, by name."""
    listed = Contact.objects.of(end_user).listed().order_by("sort_key", "id")
    return listed.only("name", "relationship")[:MOST_PEOPLE]
