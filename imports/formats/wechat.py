"""WeChat, as its own program copies messages on a Mac: ``Name 2022/11/17 21:07``, the text below,
an empty line between."""

import re
from collections.abc import Iterator
from datetime import date, datetime

from imports.formats.text_lines import Header, clock, headed_turns, likely
from imports.source import Source
from imports.types import Turn

NAME = "wechat"
_HEADER = re.compile(
    r"(?P<name>\S.{0,60}?)\s+(?P<year>\d{4})[/年-](?P<month>\d{1,2})[/月-](?P<day>\d{1,2})日?\s+"
    r"(?P<time>(?:[上下中]午|凌晨|早上|晚上)?\s?\d{1,2}:\d{2}(?::\d{2})?)"
)


def sniff(head: str) -> float:
    return likely(head, _header, 0.5, 0.85)


def parse(source: Source) -> Iterator[Turn]:
    return headed_turns(source, _header)


def _header(line: str) -> Header | None:
    match = _HEADER.fullmatch(line)
    at = clock(match["time"]) if match else None
    if (
        match is None
        or at is None
        or (match["name"][:4].isdecimal() and match["name"][4:5] in "-/年")
    ):
        return None
    try:
        day = date(int(match["year"]), int(match["month"]), int(match["day"]))
    except ValueError:
        return None
    return Header(match["name"].strip(), datetime.combine(day, at))
