"""WeChat by MemoTrace (留痕): a CSV of messages, or a text."""

from collections.abc import Iterator

from imports.formats import text_lines
from imports.formats.json_stream import moment
from imports.formats.text_lines import Header, has_columns
from imports.source import Source, decoded
from imports.types import Turn

NAME = "memotrace"
_COLUMNS = ("TalkerId", "Type", "IsSender", "StrContent")
_TEXT = "1"
_LONGEST_NAME = 61


def sniff(head: str) -> float:
    return 0.95 if has_columns(head, _COLUMNS) else text_lines.likely(head, _header, 0.4, 0.7)


def parse(source: Source) -> Iterator[Turn]:
    table = has_columns(decoded(source.head()), _COLUMNS)
    return _of_table(source) if table else text_lines.headed_turns(source, _header)


def _of_table(source: Source) -> Iterator[Turn]:
    """Yields the turns of a table; only rows of ``Type`` 1 are typed text."""
    for row in text_lines.table_rows(source):
        if row["Type"] == _TEXT and not row["TalkerId"].startswith("gh_"):
            at = moment(row["CreateTime"]) or moment(row["StrTime"])
            names = row["Remark"], row["NickName"]
            own = row["IsSender"] == "1"
            key = row["Sender"]
            yield from text_lines.turn(
                names, row["StrContent"].strip(), at, row["TalkerId"], key, own=own
            )


def _header(line: str) -> Header | None:
    day, _, rest = line.partition(" ")
    clock, _, name = rest.partition(" ")
    at = text_lines.written_time(f"{day} {clock}", "%Y-%m-%d %H:%M:%S")
    return Header(name.strip(), at) if at and 0 < len(name.strip()) <= _LONGEST_NAME else None
