"""A contact as text for a system prompt and for people, in the layout of Mio v2."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from operator import itemgetter
from typing import Any, NamedTuple

from understanding.attributes import ATTRIBUTES, label
from understanding.dates import important_dates, partial_dates
from understanding.languages import captions, wording
from understanding.text import names_role, one_line

MAX_VALUE = 120  # graphemes of one value
MAX_NOTE = 220  # graphemes of an event or a note
MAX_PERSONALITY = 400
MAX_VALUES = 6  # of one attribute
MAX_EVENTS = 12
MAX_ATTRIBUTES = 24
MAX_COMING = 4  # plans and important dates, the next ones

_HEADING, _ITEM = "### ", "- "
_QUOTES = dict.fromkeys(map(ord, '"“”„‟〝〞＂'), "'")
_ORDER = {key: place for place, key in enumerate(ATTRIBUTES)}


class Section(NamedTuple):
    """Items below a caption."""

    caption: str
    items: tuple[str, ...]


class Card(NamedTuple):
    """A card: the name, a line per fact, sections of events and notes; ``str`` is its text."""

    heading: str
    lines: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()

    @classmethod
    def stored(cls, text: str) -> "Card":
        """Parses a stored card, whose values are single lines that never begin with a mark."""
        heading, *rest = text.splitlines() or [""]
        rows: list[list[str]] = []  # each line with its items
        for row in rest:
            if row.startswith(_ITEM) and rows:
                rows[-1].append(row.removeprefix(_ITEM))
            else:
                rows.append([row])
        return cls(
            heading.removeprefix(_HEADING),
            tuple(row for row, *items in rows if not items),
            tuple(Section(caption, tuple(items)) for caption, *items in rows if items),
        )

    def __str__(self) -> str:
        items = (
            row
            for caption, items in self.sections
            for row in (caption, *(_ITEM + item for item in items))
        )
        heading = [_HEADING + self.heading] if self.heading else []
        return "\n".join([*heading, *self.lines, *items])

    def compact(self) -> "Card":
        """The card with only the facts of one line: no timeline, no latest notes."""
        return self._replace(sections=())


def render(
    contact: Any, language: str, relations: Sequence[str] = (), notes: Sequence[str] = ()
) -> Card:
    """Returns the card of a contact with labels in ``language``. ``relations`` are finished texts,
    ``notes`` the newest memories that are in no profile yet. Values are reduced to harmless single
    lines and their number is bounded, so a card's size is too."""
    words = captions(language)
    colon = wording(language)["colon"]
    heading = one_line(contact.name, MAX_VALUE) or "?"
    attributes = contact.attributes.items()
    ordered = sorted(attributes, key=lambda item: (_ORDER.get(item[0], 99), item[0]))
    lines = [
        _line(language, "aliases", contact.aliases[:MAX_VALUES]),
        _line(language, "relationship", [contact.relationship]),
        *(
            line(key, [one_line(str(v["value"]), MAX_VALUE) for v in values[:MAX_VALUES]], language)
            for key, values in ordered[:MAX_ATTRIBUTES]
        ),
        _line(language, "relations", relations[:MAX_VALUES]),
        _line(language, "personality", [contact.personality], MAX_PERSONALITY),
    ]
    timeline = contact.timeline[-MAX_EVENTS:]
    events = [" ".join(filter(None, (event.get("at"), str(event["text"])))) for event in timeline]
    fresh = [note for note in notes if not any(str(event["text"]) in note for event in timeline)]
    sections = [
        Section(words[caption] + colon.rstrip(), tuple(items))
        for caption, texts in (("timeline", events), ("notes", fresh))
        if (items := [item for text in texts if (item := one_line(text, MAX_NOTE))])
    ]
    heading = _quoted(heading) if names_role(heading) else heading
    return Card(heading, tuple(filter(None, lines)), tuple(sections))


def line(key: str, values: Sequence[str], language: str) -> str:
    """Returns the line of an attribute with these harmless single-line values, "" without any."""
    caption = one_line(label(key, language), 40)
    if key not in ATTRIBUTES:
        caption = captions(language)["other"] + _quoted(caption)
    return _captioned(caption, values, language)


def _line(language: str, caption: str, values: Sequence[str], limit: int = MAX_VALUE) -> str:
    """The line of a caption with these values, each reduced to a harmless single line."""
    values = [one_line(value, limit) for value in values]
    return _captioned(captions(language)[caption], values, language)


def _captioned(caption: str, values: Sequence[str], language: str) -> str:
    signs = wording(language)
    joined = signs["comma"].join(filter(None, values))
    return caption + signs["colon"] + joined if joined else ""


def with_coming(
    stored: str, coming: Sequence[Mapping[str, Any]], today: date, language: str
) -> Card:
    """Returns the ``stored`` card with a first section of plans and dates that are ahead on
    ``today``. ``coming`` is ``Contact.coming``; what has passed is left out."""
    card = Card.stored(stored)
    entries = sorted(_coming_entries(coming, today, language), key=itemgetter(0))[:MAX_COMING]
    if not entries:
        return card
    colon = wording(language)["colon"]
    items = tuple(f"{when}{colon}{text}" for _, when, text in entries)
    section = Section(captions(language)["coming"] + colon.rstrip(), items)
    return card._replace(sections=(section, *card.sections))


def _coming_entries(
    entries: Sequence[Mapping[str, Any]], today: date, language: str
) -> Iterator[tuple[date, str, str]]:
    """Yields what is ahead: its day to sort by, when it is in words, and what it is."""
    for entry in entries:
        if "on" in entry:
            on = date.fromisoformat(entry["on"])
            last = date.fromisoformat(entry["until"]) if entry.get("until") else None
            if (last or on) >= today and (text := one_line(str(entry["text"]), MAX_VALUE)):
                when = important_dates.date_text(on, today, language)
                yield on, partial_dates.shown(on, last) if last else when, text
        elif (day := important_dates.read(entry["value"])) is not None:
            occurrence = important_dates.next_on(day, today)
            if occurrence is not None and occurrence.on - today <= important_dates.SOON:
                when = important_dates.date_text(occurrence.on, today, language)
                yield occurrence.on, when, describe_date(entry["kind"], occurrence.years, language)


def describe_date(kind: str, years: int | None, language: str) -> str:
    """Describes an important date for a prompt: ``birthday, turns 30``."""
    caption = one_line(label(kind, language), 40)
    if kind not in ATTRIBUTES:
        caption = _quoted(caption)
    elif language == "en":
        caption = caption.lower()
    if years is None:
        return caption
    words = wording(language)
    turning = words["turns" if kind == "birthday" else "years"].format(years)
    return f"{caption}{words['clause']}{turning}"


def _quoted(text: str) -> str:
    return f"“{text.translate(_QUOTES)}”"
