"""WhatsApp: ``_chat.txt`` (iPhone) or ``WhatsApp Chat with X.txt`` (Android), in any language.

Neither the order of day and month nor the zone is told: the order is found in the whole file.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import date, datetime
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
from understanding.lexicon.rules import patterns

NAME = "whatsapp"
_TIME = r"(?:[^\W\d_][^\d\[\]\n]{0,24})?\d{1,2}(?:[:.٫]|\s?h\s?)\d{2}(?:[:.٫]\d{2})?(?:\s?[^\W\d_][^\d\]\n:–-]{0,24})?"
_DATE = (
    r"(?P<a>\d{1,4})\s?(?P<sep>[./年-])\s?(?P<b>\d{1,2})\s?(?:(?P=sep)|月)\s?(?P<c>\d{1,4})"
    r"(?:\.|日|\s?г\.?)?(?:\s?[A-Za-z]{2}\b)?"
)
_BEHIND = r"(?(bracket)\s*\]\s*|(?:\s+[-–—]|:)\s)(?P<rest>.*)"
_HEADERS = (
    re.compile(
        rf"(?P<bracket>\[)?{_DATE}(?:[,،、]?\s+|[,،、])(?P<time>{_TIME}){_BEHIND}", re.DOTALL
    ),
    re.compile(rf"(?P<bracket>\[)?(?P<time>{_TIME})[,،、]?\s+{_DATE}{_BEHIND}", re.DOTALL),
)
_NAMED = re.compile(r"(?P<name>[^:\n]{1,80}?):(?:\s(?P<text>.*))?$", re.DOTALL)
# A colon in the title of a group or in what somebody set it to: a quotation or a sentence stands
# before it, and no name.
_NO_NAME = re.compile(r"[\"“”„‟«»‹›‚「」『』。]|(?:^|\s)['‘]|[.!?]\s?[^\s].{12}")
_LONGEST_NAME = 7  # words
# What is so long and stands before a colon once in a chat is a sentence of the program's.
_WORDS_ONCE, _SIGNS_ONCE = 5, 24
_TEXTS = patterns(__file__)
# The mark before the text says on an iPhone that nobody typed it.
_AUTOMATIC = re.compile(r"[^\]\n]*\][^\n]{1,150}?:\s\u200e")
_CLOCK_LIKE = re.compile(r"\d{1,2}[:.]\d{2}(?:[:.]\d{2})?")
_EDIT_MARK = re.compile(r"\u200e<[^<>\n]{3,80}>\Z")
# Years that only one calendar has while there is such a program: of Iran, of Islam, of Thailand.
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
    named = sum(_NAMED.match(one.rest) is not None for one in dated_lines)
    return min(0.9, 0.3 + 0.2 * len(dated_lines)) if named or len(dated_lines) > 1 else 0.0


def parse(source: Source) -> Iterator[Turn]:
    chosen = source.day_first
    sentences = Counter[str]()
    order = day_order(source, sentences)
    if chosen is None and order.matters and order.day_first is None:
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
            name, text = _said(dated)
            name = "" if sentences[name] == 1 else name
            yield Header(name, datetime.combine(day, at)), text

    for header, raw in messages(headed()):
        if header.speaker and (text := _words(raw)):
            yield Turn(header.speaker, text, header.at, source.name)


def _dated(line: str) -> _Dated | None:
    seen = visible(line).lstrip()
    digits = ascii_digits(seen)
    matches = (header.match(digits) for header in _HEADERS)
    match = next(filter(None, matches), None) if line[:1] not in " \t" else None
    if match is None or (clock(match["time"]) is None and not _CLOCK_LIKE.fullmatch(match["time"])):
        return None
    automatic = match["bracket"] and _AUTOMATIC.match(line)
    if mark := _EDIT_MARK.search(line.rstrip()):
        seen = visible(line[: mark.start()]).lstrip()
    rest = "" if automatic else seen[match.start("rest") :]
    numbers = (int(match["a"]), int(match["b"]), int(match["c"]))
    return _Dated(numbers, match["time"], rest, bool(match["bracket"]))


def _said(dated: _Dated) -> tuple[str, str]:
    """The writer and the text of a line; no writer where the program wrote it."""
    match = _NAMED.match(dated.rest)
    if match is None or _NO_NAME.search(match["name"]):
        return "", ""
    if len(match["name"].split()) > _LONGEST_NAME:
        return "", ""
    name = match["name"].strip()
    return name.removeprefix("~").strip(), match["text"] or ""


def _words(text: str) -> str:
    """What was typed: no media, no deleted message, no note that it was edited."""
    first, _, rest = _TEXTS.edited.sub("", text.rstrip()).partition("\n")
    line = first.strip()
    if rest and _TEXTS.poll.fullmatch(line):
        return ""
    first_text = "" if _is_media(line) or _TEXTS.deleted.fullmatch(line) else first
    return f"{first_text}\n{rest}".strip()


def _is_media(line: str) -> bool:
    """Whether a line says that a file, a place or a call stands here."""
    if len(line) > _LONGEST_MEDIA:
        return False
    if line.endswith(_OMITTED) and _TEXTS.omitted.search(line[-_LONGEST_OMITTED:]):
        return True
    return _is_attached(line) or _TEXTS.media.fullmatch(line) is not None


def _is_attached(line: str) -> bool:
    """Whether a line is a file with a note in brackets that it is attached."""
    head, opened, note = line.translate(_BRACKETS).removesuffix(")").rpartition("(")
    ending = head.rstrip()[-6:].rpartition(".")[2]
    is_file = "." in head[-7:] and 2 <= len(ending) <= 5 and ending.isalnum()
    is_note = note.lower() in _ATTACHED or (is_file and 3 <= len(note) <= 40)
    return bool(head and opened) and line.endswith((")", "）")) and is_note


_LONGEST_MEDIA, _LONGEST_OMITTED = 300, 12
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


@dataclass(slots=True)
class DayOrder:
    """What the dates of a file tell: ``day_first``, None where it is undecided. ``matters``
    where some date can be read both ways."""

    matters: bool = False
    day_first: bool | None = None
    _over: list[int] = field(default_factory=lambda: [0, 0])
    _falls: list[int] = field(default_factory=lambda: [0, 0])
    _moves: list[int] = field(default_factory=lambda: [0, 0])
    _last: tuple[int, int, int] | None = None

    def add(self, numbers: tuple[int, int, int]) -> None:
        if numbers[0] > 31:
            return
        self.matters |= numbers[0] != numbers[1] and max(numbers[:2]) <= 12
        for place in (0, 1):
            self._over[place] += numbers[place] > 12
            if self._last is not None and self._last[2] == numbers[2]:
                self._falls[place] += numbers[place] < self._last[place]
                self._moves[place] += numbers[place] != self._last[place]
        self._last = numbers

    @property
    def in_doubt(self) -> bool:
        """Whether some date can be read both ways, and no number above 12 says which is the day."""
        return self.matters and all(self._over) == any(self._over)

    def decide(self) -> None:
        """The day is what is ever above 12; else what falls within a year, as months do not;
        else what changes more often."""
        for a, b in (self._over, self._falls, self._moves):
            if a != b:
                self.day_first = a > b
                return


def day_order(source: Source, sentences: Counter[str] | None = None) -> DayOrder:
    """Finds the order of day and month by all dates of a file. Counts in ``sentences`` how often a text
    too long for a name stands before a colon."""
    order = DayOrder()
    for line in lines(replace(source, skipped=Skipped())):
        if (dated := _dated(line)) is not None:
            order.add(dated.numbers)
            name = _said(dated)[0]
            if sentences is not None and _is_long(name):
                sentences[name] += 1
    order.decide()
    return order


def _is_long(name: str) -> bool:
    if not any(map(str.isalpha, name)):
        return False  # a telephone number
    return len(name.split()) >= _WORDS_ONCE or len(name) >= _SIGNS_ONCE
