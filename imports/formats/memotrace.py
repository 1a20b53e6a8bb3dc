"""WeChat by MemoTrace (留痕): a CSV of messages, or a text."""

import re
from collections.abc import Iterator
from datetime import datetime

from imports.formats.json_stream import moment
from imports.formats.text_lines import Header, is_placeholder, lines, messages, table_rows, visible
from imports.source import Source
from imports.types import Turn

NAME = "memotrace"
_COLUMNS = {"TalkerId", "Type", "IsSender", "StrContent"}
_HEADER = re.compile(r"(?P<at>\d{4}-\d{1,2}-\d{1,2} \d{1,2}:\d{2}:\d{2})\s+(?P<name>\S.{0,60})")
_TEXT = "1"


def sniff(head: str) -> float:
    first, *others = head.splitlines() or [""]
    if _COLUMNS.issubset(first.replace('"', "").split(",")):
        return 0.95
    count = sum(_header(line) is not None for line in [first, *others[:200]])
    return min(0.7, 0.4 + 0.1 * count) if count else 0.0


def parse(source: Source) -> Iterator[Turn]:
    first = next(lines(source), "")
    yield from _of_table(source) if "StrContent" in first else _of_text(source)


def _of_table(source: Source) -> Iterator[Turn]:
    """Its rows; only those of ``Type`` 1 are typed text."""
    for row in table_rows(source):
        text, talker = (row.get("StrContent") or "").strip(), row.get("TalkerId") or ""
        if row.get("Type") != _TEXT or is_placeholder(text) or talker.startswith("gh_"):
            continue
        at = moment(row.get("CreateTime")) or moment(row.get("StrTime"))
        if row.get("IsSender") == "1":
            yield Turn("user", text, at, talker, "user")
            continue
        names = [row.get(key) or "" for key in ("Remark", "NickName", "Sender")]
        name = next(filter(None, names), "")
        if name:
            aliases = tuple(one for one in names[1:2] if one and one != name)
            yield Turn(name, text, at, talker, key=names[2] or name, aliases=aliases)


def _of_text(source: Source) -> Iterator[Turn]:
    headed = ((_header(line), visible(line)) for line in lines(source))
    for header, text in messages((header, "" if header else line) for header, line in headed):
        if not is_placeholder(text):
            yield Turn(header.speaker, text, header.at, source.name)


def _header(line: str) -> Header | None:
    match = _HEADER.fullmatch(visible(line).strip())
    try:
        at = datetime.strptime(match["at"], "%Y-%m-%d %H:%M:%S") if match else None
    except ValueError:
        return None
    return Header(match["name"].strip(), at) if match and at else None
