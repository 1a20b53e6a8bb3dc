"""WeChat by chatlog: JSON, CSV, or a text."""

import re
from collections.abc import Iterator

from imports.formats import text_lines
from imports.formats.json_stream import moment, objects, text_of
from imports.formats.text_lines import Header, has_columns
from imports.source import Source, decoded
from imports.types import NotReadable, Turn

NAME = "chatlog"
_COLUMNS = ("Time", "SenderName", "Sender", "TalkerName", "Talker", "Content")
_HEADER = re.compile(
    r"(?P<name>\S.{0,60}?)\((?P<id>[\w@.-]{2,64}|我)\)\s+"
    r"(?P<year>\d{4}-)?(?P<day>\d{2}-\d{2} \d{2}:\d{2}:\d{2})"
)
_SELF = "我"
_TEXT, _REPLY = 1, (49, 57)
_OFFICIAL = "gh_"


def sniff(head: str) -> float:
    if head.lstrip().startswith("["):
        return 0.95 if '"isSelf"' in head and '"talker"' in head else 0.0
    return (
        0.95
        if has_columns(head, _COLUMNS)
        else text_lines.likely(head, _HEADER.fullmatch, 0.6, 0.9)
    )


def parse(source: Source) -> Iterator[Turn]:
    head = decoded(source.head()).lstrip()
    if head.startswith("["):
        return _of_json(source)
    if has_columns(head, _COLUMNS):
        return _of_table(source)
    if any(match and not match["year"] for match in map(_HEADER.fullmatch, head.splitlines())):
        raise NotReadable("chat_no_year", name=source.name)
    return text_lines.headed_turns(source, _header)


def _of_json(source: Source) -> Iterator[Turn]:
    for _, row in objects(source, "item"):
        talker, sender = text_of(row.get("talker")), text_of(row.get("sender"))
        kind = (row.get("type"), row.get("subType"))
        if (kind[0] == _TEXT or kind == _REPLY) and not f"{talker} {sender}".count(_OFFICIAL):
            title = text_of(row.get("talkerName")) if row.get("isChatRoom") is not True else ""
            names = text_of(row.get("senderName")), title
            own = row.get("isSelf") is True
            text, at = text_of(row.get("content")).strip(), moment(row.get("time"))
            yield from text_lines.turn(names, text, at, talker, sender, own=own)


def _of_table(source: Source) -> Iterator[Turn]:
    for row in text_lines.table_rows(source):
        if not row["Talker"].startswith(_OFFICIAL):
            text, at = row["Content"].strip(), moment(row["Time"])
            yield from text_lines.turn([row["SenderName"]], text, at, row["Talker"], row["Sender"])


def _header(line: str) -> Header | None:
    match = _HEADER.fullmatch(line)
    at = (
        text_lines.written_time(f"{match['year']}{match['day']}", "%Y-%m-%d %H:%M:%S")
        if match
        else None
    )
    return Header(match["name"], at, match["id"] == _SELF) if match and at else None
