"""ChatLab's interchange format 0.0.2, JSON or JSON lines, for QQ, Discord, Instagram and others."""

from collections.abc import Iterator

from imports.formats.json_stream import json_lines, moment, objects, text_of
from imports.formats.text_lines import turn, without_quoted
from imports.source import Source, decoded
from imports.types import Turn

NAME = "chatlab"
_TEXTS = (0, 25)  # what was written, and what was written in reply


def sniff(head: str) -> float:
    text = head.lstrip()
    fits = text.startswith("{") and '"chatlab"' in text and (_is_lines(text) or '"meta"' in text)
    return 0.95 if fits else 0.0


def parse(source: Source) -> Iterator[Turn]:
    lines = _is_lines(decoded(source.head()).lstrip())
    for _, row in json_lines(source) if lines else objects(source, "messages.item"):
        if row.get("type") in _TEXTS and row.get("_type", "message") == "message":
            names = text_of(row.get("groupNickname")), text_of(row.get("accountName"))
            text = without_quoted(text_of(row.get("content")).strip())
            at, sender = moment(row.get("timestamp")), str(row.get("sender") or "")
            yield from turn(names, text, at, source.name, sender)


def _is_lines(head: str) -> bool:
    return '"_type"' in head.partition("\n")[0]
