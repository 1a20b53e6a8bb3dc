"""LINE: a text with a line for each day, and ``HH:MM<tab>name<tab>text`` below it."""

import re
from collections.abc import Iterator
from datetime import date, datetime

from imports.formats.text_lines import Header, clock, is_placeholder, lines, messages, visible
from imports.source import Source
from imports.types import Turn

NAME = "line"
_TITLE = re.compile(r"\[LINE\]")
_DAY = re.compile(
    r"(?:\w{2,9},\s*|\w{2,9}\s)?(?P<a>\d{1,4})[./年-]\s?(?P<b>\d{1,2})[./月-]\s?(?P<c>\d{1,4})日?"
    r"\s*(?:[（(]?(?:星期|周|週)?[日月火水木金土一二三四五六天]曜?日?[)）]?|\(?\w{2,9}\)?)?"
)
_SAID = re.compile(r"(?P<time>[^\t]{4,14})\t(?P<name>[^\t]{1,60})\t(?P<text>.*)", re.DOTALL)
_ANY = re.compile(r"(?P<time>[^\t]{4,14})\t.*", re.DOTALL)


def sniff(head: str) -> float:
    rows = [line for line in head.splitlines()[:300] if _SAID.fullmatch(line)]
    timed = [row for row in rows if clock(row.partition("\t")[0]) is not None]
    if not timed:
        return 0.0
    return 0.95 if _TITLE.match(visible(head)) else 0.7


def parse(source: Source) -> Iterator[Turn]:
    def headed() -> Iterator[tuple[Header | None, str]]:
        day: date | None = None
        for raw in lines(source):
            line = visible(raw)
            if (new_day := _day(line)) is not None:
                day = new_day
                # What follows belongs to nobody until somebody speaks.
                yield Header("", datetime.combine(day, datetime.min.time())), ""
                continue
            spoken, other = _SAID.fullmatch(line), _ANY.fullmatch(line)
            at = clock(other["time"]) if other else None
            if day is None or at is None:
                yield None, line
            else:
                when = datetime.combine(day, at)
                yield (
                    Header(spoken["name"].strip() if spoken else "", when),
                    spoken["text"] if spoken else "",
                )

    for header, raw in messages(headed()):
        text = raw[1:-1].strip() if "\n" in raw and raw[:1] == raw[-1:] == '"' else raw
        if header.speaker and not is_placeholder(text):
            yield Turn(header.speaker, text, header.at, source.name)


def _day(line: str) -> date | None:
    match = _DAY.fullmatch(line.strip()) if "\t" not in line else None
    if match is None:
        return None
    a, b, c = (int(match[key]) for key in "abc")
    # D/M/Y, but for an American M/D/Y that can be nothing else.
    year, month, day = (a, b, c) if a > 31 else (c, a, b) if b > 12 else (c, b, a)
    try:
        return date(year, month, day)
    except ValueError:
        return None
