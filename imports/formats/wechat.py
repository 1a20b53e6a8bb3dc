"""WeChat, as its own program copies messages on a Mac: ``Name 2022/11/17 21:07``, the text below,
an empty line between."""

import re
from collections.abc import Iterator
from datetime import date, datetime

from imports.formats.text_lines import Header, clock, is_placeholder, lines, messages, visible
from imports.source import Source
from imports.types import Turn

NAME = "wechat"
_HEADER = re.compile(
    r"(?P<name>\S.{0,60}?)\s+(?P<year>\d{4})[/年-](?P<month>\d{1,2})[/月-](?P<day>\d{1,2})日?\s+"
    r"(?P<time>(?:[上下中]午|凌晨|早上|晚上)?\s?\d{1,2}:\d{2}(?::\d{2})?)"
)
# What somebody answers to is said by another.
_QUOTE = re.compile(r"「[^「」]{0,4000}」\n(?:[-—–]\s?){3,}\n?")


def sniff(head: str) -> float:
    headers = [line for line in head.splitlines()[:400] if _header(line) is not None]
    return min(0.85, 0.5 + 0.1 * len(headers)) if headers else 0.0


def parse(source: Source) -> Iterator[Turn]:
    headed = ((_header(line), visible(line)) for line in lines(source))
    # The line of the header is no text.
    bare = ((header, "" if header else text) for header, text in headed)
    for header, raw in messages(bare):
        text = _QUOTE.sub("", raw).strip()
        if not is_placeholder(text):
            yield Turn(header.speaker, text, header.at, source.name)


def _header(line: str) -> Header | None:
    match = _HEADER.fullmatch(visible(line).strip())
    at = clock(match["time"]) if match else None
    if match is None or at is None or re.match(r"\d{4}[-/年]", match["name"]):
        return None
    try:
        day = date(int(match["year"]), int(match["month"]), int(match["day"]))
    except ValueError:
        return None
    return Header(match["name"].strip(), datetime.combine(day, at))
