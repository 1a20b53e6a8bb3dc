"""Parts of the readers of chats in plain text: invisible marks, times, placeholders of media,
messages of several lines."""

import csv
import re
import unicodedata
from collections.abc import Iterable, Iterator
from datetime import datetime, time
from typing import NamedTuple

from accounts.reasons import Reason
from imports.formats.day_parts import hour_of
from imports.source import Source

# Of a line; a longer one is no chat.
LONGEST = 1_000_000
_MARKS = re.compile(r"[\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_SPACES = re.compile(r"[\u00a0\u2000-\u200a\u202f\u3000]")
_CLOCK = re.compile(
    r"(?P<before>[^\W\d_][^\d\n]{0,24})?(?P<hour>\d{1,2})(?:[:.٫]|\s?h\s?)(?P<minute>\d{2})(?:[:.٫](?P<second>\d{2}))?"
    r"\s*(?P<after>[^\W\d_][^\d\n]{0,24})?"
)
# Calls, as LINE and WeChat write them.
_CALL = re.compile(
    r"☎.{0,60}|(?:(?:视频|語音|语音)?(?:通话|通話|聊天)(?:时长|時間|时间))[\s:：]*[\d:]{4,8}"
    r"|(?:对方|已)?(?:已取消|已拒绝|无应答|忙线中|未应答)"
)
# What replaces a picture or a file: [图片], <Media omitted>.
_PLACEHOLDER = re.compile(r"(?:\[[^\[\]\n]{1,30}\]|<[^<>\n]{2,200}>)")


class Header(NamedTuple):
    """The first line of a message without its text."""

    speaker: str
    at: datetime


def lines(source: Source) -> Iterator[str]:
    """The lines of a text, of whatever system."""
    return (line for _, line in numbered_lines(source))


def numbered_lines(source: Source) -> Iterator[tuple[int, str]]:
    """The same with their numbers. Those that are too long are skipped."""
    with source.text() as stream:
        number = 0
        while line := stream.readline(LONGEST):
            number += 1
            if len(line) == LONGEST:
                source.skipped.add(Reason("chat_long_line", name=source.name, number=number))
                while len(line) == LONGEST:
                    line = stream.readline(LONGEST)
                continue
            if "\ufffd" in line:
                source.skipped.add(Reason("chat_bad_letters", name=source.name, number=number))
            # A carriage return alone ended lines once; a form feed never did.
            for part in line.rstrip("\r\n").split("\r"):
                yield number, part


def table_rows(source: Source) -> Iterator[dict[str, str]]:
    """The rows of a CSV by the names in its first; those that can't be read are skipped."""
    with source.text() as stream:
        table = csv.DictReader(stream, restval="")
        while True:
            try:
                yield next(table)
            except StopIteration:
                return
            except csv.Error:
                source.skipped.add(Reason("chat_bad_line", name=source.name, number=table.line_num))


def visible(text: str) -> str:
    """``text`` without marks of direction, with plain spaces."""
    return _SPACES.sub(" ", _MARKS.sub("", text))


def clock(text: str) -> time | None:
    """A time of day as people write it, in any language: 15:34, 3:34:09 PM, 下午3:34, ٨:٢٨ م."""
    match = _CLOCK.fullmatch(ascii_digits(visible(text)).strip())
    if match is None:
        return None
    hour = hour_of(int(match["hour"]), match["before"] or "", match["after"] or "")
    try:
        return (
            time(hour, int(match["minute"]), int(match["second"] or 0))
            if hour is not None
            else None
        )
    except ValueError:
        return None


def ascii_digits(text: str) -> str:
    """``text`` with 0 to 9 for the digits of any script; nothing moves."""
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text)


def is_placeholder(text: str) -> bool:
    """Whether all of ``text`` stands for a picture, a sound, a card or a call."""
    seen = visible(text).strip()
    return not seen or any(one.fullmatch(seen) for one in (_PLACEHOLDER, _CALL))


def without_quoted(text: str) -> str:
    """A reply without the words that it quotes: ``…[引用 name：words]``."""
    return text.partition("[引用 ")[0].rstrip() if text.endswith("]") else text


def messages(
    headed: Iterable[tuple[Header | None, str]],
) -> Iterator[tuple[Header, str]]:
    """Headers with all their lines; those before the first header are dropped."""
    current: Header | None = None
    texts: list[str] = []
    for header, text in headed:
        if header is not None:
            if current is not None:
                yield current, "\n".join(texts).strip()
            current, texts = header, [text]
        elif current is not None:
            texts.append(text)
    if current is not None:
        yield current, "\n".join(texts).strip()
