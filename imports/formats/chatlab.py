"""ChatLab's interchange format 0.0.2, JSON or JSON lines: by it come QQ, Discord, Instagram and
others."""

import json
from collections.abc import Iterator
from typing import Any

from accounts.reasons import Reason
from imports.formats.json_stream import moment, objects, text_of
from imports.formats.text_lines import is_placeholder, numbered_lines, without_quoted
from imports.source import Source, decoded
from imports.types import Turn

NAME = "chatlab"
_TEXTS = (0, 25)  # what was written, and what was written in reply


def sniff(head: str) -> float:
    text = head.lstrip()
    if not text.startswith("{"):
        return 0.0
    lined = '"_type"' in text.partition("\n")[0]
    return 0.95 if '"chatlab"' in text and (lined or '"meta"' in text) else 0.0


def parse(source: Source) -> Iterator[Turn]:
    lined = '"_type"' in decoded(source.head()).lstrip().partition("\n")[0]
    for _, row in json_lines(source) if lined else objects(source, "messages.item"):
        if lined and row.get("_type") != "message":
            continue
        text = without_quoted(text_of(row.get("content")).strip())
        name = text_of(row.get("groupNickname")) or text_of(row.get("accountName"))
        sender = str(row.get("sender") or "")
        if row.get("type") in _TEXTS and (name or sender) and not is_placeholder(text):
            account = text_of(row.get("accountName"))
            aliases = (account,) if account and account != name else ()
            yield Turn(
                name or sender,
                text,
                moment(row.get("timestamp")),
                source.name,
                key=sender,
                aliases=aliases,
            )


def json_lines(source: Source) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file with one in each line, by their lines; others are skipped."""
    for number, line in numbered_lines(source):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if isinstance(row, dict):
            yield number, row
        else:
            source.skipped.add(Reason("chat_damaged_line", name=source.name, number=number))
