"""WeChat by chatlog: JSON or CSV."""

from collections.abc import Iterator

from imports.formats.json_stream import moment, objects, text_of
from imports.formats.text_lines import is_placeholder, table_rows
from imports.source import Source, decoded
from imports.types import Turn

NAME = "chatlog"
_COLUMNS = ("Time", "SenderName", "Sender", "TalkerName", "Talker", "Content")
_TEXT, _REPLY = 1, (49, 57)
_OFFICIAL = "gh_"


def sniff(head: str) -> float:
    if head.lstrip().startswith("["):
        return 0.95 if '"isSelf"' in head and '"talker"' in head else 0.0
    first = head.partition("\n")[0].strip()
    return 0.95 if set(_COLUMNS) <= set(first.replace('"', "").split(",")) else 0.0


def parse(source: Source) -> Iterator[Turn]:
    is_json = decoded(source.head()).lstrip().startswith("[")
    return _of_json(source) if is_json else _of_table(source)


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
