"""A contact as text for a system prompt and for people, in the layout of Mio v2."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from operator import itemgetter
from typing import Any

from understanding.attributes import ATTRIBUTES, LABELS, label
from understanding.dates import important_dates, partial_dates
from understanding.text import names_role, one_line

MAX_VALUE = 120  # graphemes of one value
MAX_NOTE = 220  # graphemes of an event or a note
MAX_PERSONALITY = 400
MAX_VALUES = 6  # of one attribute
MAX_EVENTS = 12
MAX_ATTRIBUTES = 24
MAX_COMING = 4  # plans and important dates, the next ones

_YEARS = {"en": ("turns {}", "{} years"), "zh": ("满{}岁", "{}周年")}
_QUOTES = dict.fromkeys(map(ord, '"“”„‟〝〞＂'), "'")
_ORDER = {key: place for place, key in enumerate(ATTRIBUTES)}


def render(
    *,
    name: str,
    language: str,
    aliases: Sequence[str] = (),
    relationship: str = "",
    attributes: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    personality: str = "",
    timeline: Sequence[Mapping[str, Any]] = (),
    relations: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> str:
    """The card: a heading with the name, then one line a fact, labels in ``language``.

    ``attributes`` and ``timeline`` are as Contact holds them, ``relations`` are
    ready words, ``notes`` the newest memories that no profile speaks for yet. Values are reduced
    to harmless single lines and their number is bounded, so a card's size is too.
    """
    words = LABELS["zh" if language == "zh" else "en"]
    heading = one_line(name, MAX_VALUE) or "?"
    lines = [
        f"### {_quoted(heading) if names_role(heading) else heading}",
        _line(words, words["aliases"], aliases[:MAX_VALUES]),
        _line(words, words["relationship"], [relationship]),
    ]
    known = sorted((attributes or {}).items(), key=lambda item: (_ORDER.get(item[0], 99), item[0]))
    lines += [
        line(key, [one_line(str(v["value"]), MAX_VALUE) for v in values[:MAX_VALUES]], language)
        for key, values in known[:MAX_ATTRIBUTES]
    ]
    lines += [
        _line(words, words["relations"], relations[:MAX_VALUES]),
        _line(words, words["personality"], [personality], MAX_PERSONALITY),
    ]
    events = [_event(event) for event in timeline[-MAX_EVENTS:]]
    told = [str(event["text"]) for event in timeline[-MAX_EVENTS:]]
    for caption, items in (
        (words["timeline"], events),
        (words["notes"], [note for note in notes if not any(text in note for text in told)]),
    ):
        bullets = [f"- {text}" for item in items if (text := one_line(item, MAX_NOTE))]
        if bullets:
            lines += [caption + words["colon"].rstrip(), *bullets]
    return "\n".join(filter(None, lines))


def line(key: str, values: Sequence[str], language: str) -> str:
    """The line of an attribute with these values, which are harmless single lines; "" for none."""
    words = LABELS["zh" if language == "zh" else "en"]
    caption = one_line(label(key, language), 40)
    if key not in ATTRIBUTES:
        caption = words["other"] + _quoted(caption)
    shown = words["comma"].join(filter(None, values))
    return caption + words["colon"] + shown if shown else ""


def _line(
    words: Mapping[str, str], caption: str, values: Sequence[str], limit: int = MAX_VALUE
) -> str:
    shown = [text for value in values if (text := one_line(value, limit))]
    return caption + words["colon"] + words["comma"].join(shown) if shown else ""


def compact(card: str) -> str:
    """The card with what is said in one line each: no timeline, no latest notes."""
    lines = card.splitlines()
    return "\n".join(
        line
        for line, after in zip(lines, [*lines[1:], ""], strict=True)
        if not line.startswith("- ") and not after.startswith("- ")
    )


def with_coming(card: str, coming: Sequence[Mapping[str, Any]], today: date, language: str) -> str:
    """A stored card with what is to come, as seen ``today``, before what was. ``coming`` is as
    Contact holds it; what has passed is left out."""
    words = LABELS[language]
    found = sorted(_coming(coming, today, language), key=itemgetter(0))[:MAX_COMING]
    if not found:
        return card
    lines = card.splitlines()
    colon = words["colon"].rstrip()
    sections = {words["timeline"] + colon, words["notes"] + colon}
    place = next((at for at, line in enumerate(lines) if line in sections), len(lines))
    bullets = [f"- {when}{words['colon']}{said}" for _, when, said in found]
    return "\n".join([*lines[:place], words["coming"] + colon, *bullets, *lines[place:]])


def _coming(
    entries: Sequence[Mapping[str, Any]], today: date, language: str
) -> Iterator[tuple[date, str, str]]:
    """What is to come: its day to sort by, when it is in words, and what it is."""
    for entry in entries:
        if "on" in entry:
            on = date.fromisoformat(entry["on"])
            last = date.fromisoformat(entry["until"]) if entry.get("until") else None
            if (last or on) >= today and (said := one_line(str(entry["text"]), MAX_VALUE)):
                when = important_dates.date_text(on, today, language)
                yield on, partial_dates.shown(on, last) if last else when, said
        elif (day := important_dates.read(entry["value"])) is not None:
            found = important_dates.next_on(day, today)
            if found is not None and found.on - today <= important_dates.SOON:
                when = important_dates.date_text(found.on, today, language)
                yield found.on, when, date_said(entry["kind"], found.years, language)


def date_said(kind: str, years: int | None, language: str) -> str:
    """What an important date is, for a prompt: ``birthday, turns 30``."""
    caption = one_line(label(kind, language), 40)
    if kind not in ATTRIBUTES:
        caption = _quoted(caption)
    elif language == "en":
        caption = caption.lower()
    if years is None:
        return caption
    turning = _YEARS[language][kind != "birthday"].format(years)
    return f"{caption}{'，' if language == 'zh' else ', '}{turning}"


def _quoted(text: str) -> str:
    """Words of somebody's choice, which could be taken for ours, in quotation marks."""
    return f"“{text.translate(_QUOTES)}”"


def _event(event: Mapping[str, Any]) -> str:
    at = event.get("at")
    return f"{at} {event['text']}" if at else str(event["text"])
