"""WeChat by chatlog: JSON, CSV, or a text."""

import re
from collections.abc import Iterator
from datetime import datetime

from imports.formats.json_stream import moment, objects, text_of
from imports.formats.text_lines import Header, is_placeholder, lines, messages, table_rows, visible
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
    first, *others = head.splitlines() or [""]
    if set(_COLUMNS) <= set(first.replace('"', "").split(",")):
        return 0.95
    count = sum(
        _HEADER.fullmatch(visible(line).strip()) is not None for line in [first, *others[:200]]
    )
    return min(0.9, 0.6 + 0.1 * count) if count else 0.0


def parse(source: Source) -> Iterator[Turn]:
    head = decoded(source.head()).lstrip()
    if head.startswith("["):
        yield from _of_json(source)
    elif "TalkerName" in head.partition("\n")[0]:
        yield from _of_table(source)
    else:
        yield from _of_text(source)


def _of_json(source: Source) -> Iterator[Turn]:
    for _, message in objects(source, "item"):
        text, talker = text_of(message.get("content")).strip(), text_of(message.get("talker"))
        sender, at = text_of(message.get("sender")), moment(message.get("time"))
        official = talker.startswith(_OFFICIAL) or sender.startswith(_OFFICIAL)
        kind = (message.get("type"), message.get("subType"))
        if (kind[0] != _TEXT and kind != _REPLY) or is_placeholder(text) or official:
            continue
        if message.get("isSelf") is True:
            yield Turn("user", text, at, talker, "user")
            continue
        alone = text_of(message.get("talkerName")) if message.get("isChatRoom") is not True else ""
        name = text_of(message.get("senderName")) or alone or sender
        if name:
            aliases = (alone,) if alone and alone != name else ()
            yield Turn(name, text, at, talker, key=sender or name, aliases=aliases)


def _of_table(source: Source) -> Iterator[Turn]:
    for row in table_rows(source):
        text, talker = (row.get("Content") or "").strip(), row.get("Talker") or ""
        name = row.get("SenderName") or row.get("Sender") or ""
        if name and not is_placeholder(text) and not talker.startswith(_OFFICIAL):
            at = moment(row.get("Time"))
            yield Turn(name, text, at, talker, key=row.get("Sender") or name)


def _of_text(source: Source) -> Iterator[Turn]:
    selves: set[str] = set()

    def headed() -> Iterator[tuple[Header | None, str]]:
        for line in lines(source):
            match = _HEADER.fullmatch(visible(line).strip())
            if match is None:
                yield None, visible(line)
                continue
            if not match["year"]:
                raise NotReadable("chat_no_year", name=source.name)
            if match["id"] == _SELF:
                selves.add(match["name"])
            try:
                at = datetime.strptime(match["year"] + match["day"], "%Y-%m-%d %H:%M:%S")
            except ValueError:
                yield None, visible(line)
                continue
            yield Header(match["name"], at), ""

    for header, text in messages(headed()):
        if not is_placeholder(text):
            own = header.speaker in selves
            yield Turn(
                "user" if own else header.speaker,
                text,
                header.at,
                source.name,
                "user" if own else "",
            )
