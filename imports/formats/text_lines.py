"""Shared parts of the readers of chats: lines, times, placeholders, messages of several lines."""

import csv
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, time
from typing import NamedTuple

from accounts.reasons import Reason
from imports.formats.day_parts import hour_of
from imports.source import Source
from imports.types import Turn

# Characters of a line; a longer one is no chat.
LONGEST = 1_000_000
_LOOKED_AT = 400  # lines by which the format of a text is found
# Marks of direction are removed; spaces of all widths become plain.
_VISIBLE = dict.fromkeys(map(ord, "\u200b\u200e\u200f\u2066\u2067\u2068\u2069\ufeff"))
_VISIBLE |= dict.fromkeys(range(0x202A, 0x202F))
_VISIBLE |= dict.fromkeys([0xA0, *range(0x2000, 0x200B), 0x202F, 0x3000], " ")
_CLOCK = re.compile(
    r"(?P<before>[^\W\d_][^\d\n]{0,24})?(?P<hour>\d{1,2})(?:[:.٫]|\s?h\s?)(?P<minute>\d{2})(?:[:.٫](?P<second>\d{2}))?"
    r"\s*(?P<after>[^\W\d_][^\d\n]{0,24})?"
)
# What replaces a picture or a file ([图片], <Media omitted>), and calls as LINE and WeChat write them.
_PLACEHOLDER = re.compile(
    r"\[[^\[\]\n]{1,30}\]|<[^<>\n]{2,200}>|☎.{0,60}"
    r"|(?:(?:视频|語音|语音)?(?:通话|通話|聊天)(?:时长|時間|时间))[\s:：]*[\d:]{4,8}"
    r"|(?:对方|已)?(?:已取消|已拒绝|无应答|忙线中|未应答)"
)


class Header(NamedTuple):
    """The first line of a message without its text; ``own`` if the file says that the user wrote it."""

    speaker: str
    at: datetime
    own: bool = False


def turn(
    names: Iterable[str],
    text: str,
    at: datetime | None,
    chat: str,
    key: str = "",
    own: bool = False,
) -> Iterator[Turn]:
    """Yields the turn of a message by the user (``own``), else by the first of ``names``, else by
    ``key``; nothing if nobody is named or nothing was typed."""
    labels = list(dict.fromkeys(filter(None, names))) or [key]
    if own and not is_placeholder(text):
        yield Turn("user", text, at, chat, "user")
    elif labels[0] and not is_placeholder(text):
        yield Turn(labels[0], text, at, chat, key=key or labels[0], aliases=tuple(labels[1:]))


def headed_turns(source: Source, header: Callable[[str], Header | None]) -> Iterator[Turn]:
    """Yields the turns of a text in which each message follows a line that ``header`` reads."""
    texts = map(visible, lines(source))
    headed = ((head, "" if head else line) for line in texts for head in [header(line.strip())])
    for head, text in messages(headed):
        own_words = without_quoted(text)
        yield from turn([head.speaker], own_words, head.at, source.name, own=head.own)


def likely(head: str, header: Callable[[str], object], least: float, most: float) -> float:
    """Returns how likely a text is of a format: ``least``, and more for each line that ``header``
    reads, at most ``most``; 0 if there is none."""
    visible_lines = (visible(line).strip() for line in head.splitlines()[:_LOOKED_AT])
    count = sum(bool(header(line)) for line in visible_lines)
    return min(most, least + 0.1 * count) if count else 0.0


def lines(source: Source) -> Iterator[str]:
    """Yields the lines of a text, with the line ends of any system."""
    return (line for _, line in numbered_lines(source))


def numbered_lines(source: Source) -> Iterator[tuple[int, str]]:
    """Yields the lines of a text with their numbers; lines that are too long are skipped."""
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


def has_columns(head: str, columns: Iterable[str]) -> bool:
    """Whether the first line of a text names these columns."""
    first = (head.splitlines() or [""])[0]
    return set(columns) <= set(first.replace('"', "").split(","))


def table_rows(source: Source) -> Iterator[dict[str, str]]:
    """Yields rows of a CSV by the names in its first ("" for a missing cell); skips unreadable ones."""
    with source.text() as stream:
        table = csv.DictReader(stream, restval="")
        while True:
            try:
                row = next(table)
                yield defaultdict(str, {name: cell for name, cell in row.items() if cell})
            except StopIteration:
                return
            except csv.Error:
                source.skipped.add(Reason("chat_bad_line", name=source.name, number=table.line_num))


def visible(text: str) -> str:
    """Returns ``text`` without marks of direction, with plain spaces."""
    return text.translate(_VISIBLE)


def clock(text: str) -> time | None:
    """Reads a time of day in any language (15:34, 3:34:09 PM, 下午3:34, ٨:٢٨ م); else None."""
    match = _CLOCK.fullmatch(ascii_digits(visible(text)).strip())
    if match is None:
        return None
    hour = hour_of(int(match["hour"]), match["before"] or "", match["after"] or "")
    try:
        return None if hour is None else time(hour, int(match["minute"]), int(match["second"] or 0))
    except ValueError:
        return None


def written_time(text: str, *forms: str) -> datetime | None:
    """Returns the time that one of the ``forms`` of strptime reads; None if none does."""
    for form in forms:
        try:
            return datetime.strptime(text, form)
        except ValueError:
            continue
    return None


def ascii_digits(text: str) -> str:
    """Returns ``text`` with 0 to 9 for the digits of any script, at the same positions."""
    if text.isascii():
        return text
    return "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in text)


def is_placeholder(text: str) -> bool:
    """Whether ``text`` is empty, or stands for a picture, a sound, a card or a call."""
    visible_text = visible(text).strip()
    return not visible_text or _PLACEHOLDER.fullmatch(visible_text) is not None


def without_quoted(text: str) -> str:
    """Returns a reply of WeChat without the words that it quotes: ``…[引用 name：words]``, or
    ``「name：words」`` above a line of dashes."""
    if text.endswith("]"):
        text = text.partition("[引用 ")[0]
    quoted, mark, rest = text.partition("」\n")
    dashes, _, words = rest.partition("\n")
    if mark and quoted.startswith("「") and len(dashes) > 2 and not dashes.strip("-—– "):
        return words.strip()
    return text.strip()


def messages(headed: Iterable[tuple[Header | None, str]]) -> Iterator[tuple[Header, str]]:
    """Yields headers with all their lines; lines before the first header are dropped."""
    current: Header | None = None
    texts: list[str] = []
    for header, text in headed:
        if header is not None and current is not None:
            yield current, "\n".join(texts).strip()
        if header is not None:
            current, texts = header, [text]
        elif current is not None:
            texts.append(text)
    if current is not None:
        yield current, "\n".join(texts).strip()
