"""WhatsApp: ``_chat.txt`` (iPhone) or ``WhatsApp Chat with X.txt`` (Android), in any language.

The file states neither the order of day and month nor the zone; the order is found from all of it."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date, datetime
from itertools import pairwise
from typing import NamedTuple

from convertdate import islamic, persian

from accounts.reasons import Reason, Skipped
from imports.formats.text_lines import (
    Header,
    ascii_digits,
    clock,
    lines,
    messages,
    numbered_lines,
    visible,
)
from imports.source import Source
from imports.types import DayOrderUnknown, Turn
from understanding.lexicon.rules import content, patterns

NAME = "whatsapp"
_TIME = r"(?:[^\W\d_][^\d\[\]\n]{0,24})?\d{1,2}(?:[:.٫]|\s?h\s?)\d{2}(?:[:.٫]\d{2})?(?:\s?[^\W\d_][^\d\]\n:–-]{0,24})?"
_DATE = (
    r"(?P<a>\d{1,4})\s?(?P<sep>[./年-])\s?(?P<b>\d{1,2})\s?(?:(?P=sep)|月)\s?(?P<c>\d{1,4})"
    r"(?:\.|日|\s?г\.?)?(?:\s?[A-Za-z]{2}\b)?"
)
_AFTER = r"(?(bracket)\s*\]\s*|(?:\s+[-–—]|:)\s)(?P<rest>.*)"
_HEADERS = (
    re.compile(
        rf"(?P<bracket>\[)?{_DATE}(?:[,،、]?\s+|[,،、])(?P<time>{_TIME}){_AFTER}", re.DOTALL
    ),
    re.compile(rf"(?P<bracket>\[)?(?P<time>{_TIME})[,،、]?\s+{_DATE}{_AFTER}", re.DOTALL),
)
# If a quotation or a sentence precedes a colon, as in notes on the title of a group, it is no name.
_NO_NAME = re.compile(r"[\"“”„‟«»‹›‚「」『』。]|(?:^|\s)['‘]|[.!?]\s?[^\s].{12}")
_LONGEST_NAME = 7  # words
# A text this long that precedes a colon once in a chat is a sentence of the program.
_WORDS_ONCE, _SIGNS_ONCE = 5, 24
_TEXTS, _LISTS = patterns(__file__), content(__file__)["lists"]
_MARK = "\u200e"  # on an iPhone before a text or a note that nobody typed
# Years that, since WhatsApp exists, only one calendar has: the Iranian, Islamic or Thai one.
_CALENDARS: tuple[tuple[range, Callable[[int, int, int], tuple[int, int, int]]], ...] = (
    (range(1388, 1420), persian.to_gregorian),
    (range(1430, 1465), islamic.to_gregorian),
    (range(2552, 2583), lambda year, month, day: (year - 543, month, day)),
)


class _Dated(NamedTuple):
    numbers: tuple[int, int, int]
    time: str
    rest: str
    bracket: bool


def sniff(head: str) -> float:
    dated_lines = [one for line in head.splitlines()[:200] if (one := _dated(line)) is not None]
    has_name = any(": " in f"{one.rest} " for one in dated_lines)
    return min(0.9, 0.3 + 0.2 * len(dated_lines)) if has_name or len(dated_lines) > 1 else 0.0


def parse(source: Source) -> Iterator[Turn]:
    chosen = source.day_first
    order = day_order(source)
    if chosen is None and order.in_doubt and order.day_first is None:
        raise DayOrderUnknown("chat_day_order")
    day_first = chosen if chosen is not None else order.day_first is not False

    def headed() -> Iterator[tuple[Header | None, str]]:
        for number, line in numbered_lines(source):
            dated = _dated(line)
            if dated is None:
                yield None, visible(line)
                continue
            day, at = _day(dated.numbers, day_first), clock(dated.time)
            if day is None or at is None:
                source.skipped.add(Reason("chat_bad_date", name=source.name, number=number))
                yield Header("", datetime.min), ""
                continue
            name, text = _speaker_and_text(dated)
            name = "" if order.sentences[name] == 1 else name
            yield Header(name, datetime.combine(day, at)), text

    for header, raw in messages(headed()):
        if header.speaker and (text := _typed_text(raw)):
            yield Turn(header.speaker, text, header.at, source.name)


def _dated(line: str) -> _Dated | None:
    """Returns the parts of a line that begins with a date and a time; None for another line."""
    visible_line = visible(line).lstrip()
    digits = ascii_digits(visible_line)
    matches = (header.match(digits) for header in _HEADERS)
    match = next(filter(None, matches), None) if line[:1] not in " \t" else None
    if match is None:
        return None
    time = match["time"]
    if clock(time) is None and not time.replace(":", "").replace(".", "").isdecimal():
        return None
    automatic = match["bracket"] and f": {_MARK}" in line.partition("]")[2][:154]
    text, mark, note = line.rstrip().rpartition(f"{_MARK}<")
    if mark and note.endswith(">") and len(note) <= 81 and not {"<", ">"} & set(note[:-1]):
        visible_line = visible(text).lstrip()
    rest = "" if automatic else visible_line[match.start("rest") :]
    numbers = (int(match["a"]), int(match["b"]), int(match["c"]))
    return _Dated(numbers, time, rest, bool(match["bracket"]))


def _speaker_and_text(dated: _Dated) -> tuple[str, str]:
    """Returns the writer and the text of a line; no writer if the program wrote it."""
    name, colon, text = dated.rest.partition(":")
    if not colon or len(name) > 80 or not (text[:1] or " ").isspace() or _NO_NAME.search(name):
        return "", ""
    if len(name.split()) > _LONGEST_NAME:
        return "", ""
    return name.strip().removeprefix("~").strip(), text[1:]


def _typed_text(text: str) -> str:
    """Returns what was typed: no media, no deleted message, no note that it was edited."""
    typed, mark, note = text.rstrip().rpartition("<")
    edited = note.endswith(">") and any(word in note.lower() for word in _LISTS["edited"])
    first, _, rest = (typed if mark and edited else text).partition("\n")
    line = first.strip()
    kind, colon, _ = line.replace("：", ":").partition(":")
    if rest and colon and kind.strip().lower() in _LISTS["polls"]:
        return ""
    first_text = "" if _is_media(line) or _TEXTS.deleted.fullmatch(line) else first
    return f"{first_text}\n{rest}".strip()


def _is_media(line: str) -> bool:
    if len(line) > _LONGEST_MEDIA:
        return False
    if line.endswith(_OMITTED) and any(kind in line[-12:] for kind in _LISTS["omitted"]):
        return True
    return _is_attached(line) or _TEXTS.media.fullmatch(line) is not None


def _is_attached(line: str) -> bool:
    head, opened, note = line.translate(_BRACKETS).removesuffix(")").rpartition("(")
    ending = head.rstrip()[-6:].rpartition(".")[2]
    is_file = "." in head[-7:] and 2 <= len(ending) <= 5 and ending.isalnum()
    is_note = note.lower() in _ATTACHED or (is_file and 3 <= len(note) <= 40)
    return bool(head and opened) and line.endswith((")", "）")) and is_note


_LONGEST_MEDIA = 300
_OMITTED = ("略去", "忽略", "省略")
_ATTACHED = ("file attached", "文件附件", "檔案附件")
_BRACKETS = str.maketrans("（）", "()")


def _day(numbers: tuple[int, int, int], day_first: bool) -> date | None:
    a, b, c = numbers
    year, month, day = (a, b, c) if a > 31 else (c, b, a) if day_first else (c, a, b)
    try:
        for years, converted in _CALENDARS:
            if year in years:
                year, month, day = converted(year, month, day)
        if year < 100:  # of Thailand, where it is yet to come by the other calendars
            year += 2000 if 2000 + year <= date.today().year + 1 else 2500 - 543
        return date(year, month, day)
    except (ValueError, IndexError):
        return None


class DayOrder(NamedTuple):
    """What the dates of a file show: ``day_first``, None if nothing decides; ``in_doubt`` if a date
    can be read both ways and no number above 12 shows the day. ``sentences`` counts the texts
    before a colon that are too long for a name."""

    day_first: bool | None
    in_doubt: bool
    sentences: Counter[str]


def day_order(source: Source) -> DayOrder:
    """Finds the order of day and month from all dates of a file: the day is the number that is ever
    above 12; else the one that falls within a year, as months do not; else what changes more often."""
    sentences, days = Counter[str](), list[tuple[int, int, int]]()
    for line in lines(replace(source, skipped=Skipped())):
        if (dated := _dated(line)) is not None:
            if dated.numbers[0] <= 31 and dated.numbers not in days[-1:]:
                days.append(dated.numbers)
            name = _speaker_and_text(dated)[0]
            sentences[name] += _is_long(name)
    pairs = [(before, after) for before, after in pairwise(days) if before[2] == after[2]]
    over, falls, moves = (
        [sum(day[i] > 12 for day in days) for i in (0, 1)],
        [sum(after[i] < before[i] for before, after in pairs) for i in (0, 1)],
        [sum(after[i] != before[i] for before, after in pairs) for i in (0, 1)],
    )
    decided = [a > b for a, b in (over, falls, moves) if a != b]
    both_ways = any(a != b and max(a, b) <= 12 for a, b, _ in days)
    return DayOrder(
        decided[0] if decided else None, both_ways and all(over) == any(over), sentences
    )


def _is_long(name: str) -> bool:
    if not any(map(str.isalpha, name)):
        return False  # a telephone number
    return len(name.split()) >= _WORDS_ONCE or len(name) >= _SIGNS_ONCE
