"""WeChat by MemoTrace (留痕): a CSV of messages."""

from collections.abc import Iterator

from imports.formats.json_stream import moment
from imports.formats.text_lines import is_placeholder, table_rows
from imports.source import Source
from imports.types import Turn

NAME = "memotrace"
_COLUMNS = {"TalkerId", "Type", "IsSender", "StrContent"}
_TEXT = "1"


def sniff(head: str) -> float:
    first = head.partition("\n")[0].strip()
    return 0.95 if _COLUMNS.issubset(first.replace('"', "").split(",")) else 0.0


def parse(source: Source) -> Iterator[Turn]:
    """Only rows of ``Type`` 1 are typed text."""
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
