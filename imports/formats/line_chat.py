"""LINE: a text with a line for each day, and ``HH:MM<tab>name<tab>text`` below it."""

import re
from collections.abc import Iterator
from datetime import date, datetime

from imports.formats.text_lines import Header, clock, lines, messages, turn, visible
from imports.source import Source
from imports.types import Turn

NAME = "line"
_DAY = re.compile(
    r"(?:\w{2,9},\s*|\w{2,9}\s)?(?P<a>\d{1,4})[./年-]\s?(?P<b>\d{1,2})[./月-]\s?(?P<c>\d{1,4})日?"
    r"\s*(?:[（(]?(?:星期|周|週)?[日月火水木金土一二三四五六天]曜?日?[)）]?|\(?\w{2,9}\)?)?"
)


def sniff(head: str) -> float:
    rows = (line.split("\t") for line in head.splitlines()[:300])
    timed = any(len(row) > 2 and clock(row[0]) is not None for row in rows)
    return (0.95 if visible(head).startswith("[LINE]") else 0.7) if timed else 0.0


def parse(source: Source) -> Iterator[Turn]:
    for header, raw in messages(_headed(source)):
        text = raw[1:-1].strip() if "\n" in raw and raw[:1] == raw[-1:] == '"' else raw
        yield from turn([header.speaker], text, header.at, source.name)


def _headed(source: Source) -> Iterator[tuple[Header | None, str]]:
    day: date | None = None
    for line in map(visible, lines(source)):
        time, tab, rest = line.partition("\t")
        at = clock(time) if tab else None
        if not tab and (new_day := _day(line)) is not None:
            day = new_day
            # Lines that follow belong to nobody until the next message.
            yield Header("", datetime.combine(day, datetime.min.time())), ""
        elif day is None or at is None:
            yield None, line
        else:
            name, has_text, text = rest.partition("\t")
            speaker = name.strip() if has_text and len(name) <= 60 else ""
            yield Header(speaker, datetime.combine(day, at)), text


def _day(line: str) -> date | None:
    match = _DAY.fullmatch(line.strip())
    if match is None:
        return None
    a, b, c = (int(match[key]) for key in "abc")
    # D/M/Y, except for an American M/D/Y that can be nothing else.
    year, month, day = (a, b, c) if a > 31 else (c, a, b) if b > 12 else (c, b, a)
    try:
        return date(year, month, day)
    except ValueError:
        return None
