"""SillyTavern: JSON lines; the first describes the chat. Its characters are models, no people."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from imports.formats.json_stream import json_lines, moment, text_of
from imports.formats.text_lines import written_time
from imports.source import Source
from imports.types import Role, Turn

NAME = "sillytavern"
# June 19, 2023 4:13pm and 2023-6-19 @16h 14m 05s 3ms, without spaces.
_WRITTEN = ("%B%d,%Y%I:%M%p", "%b%d,%Y%I:%M%p")
_STAMPED = "%Y-%m-%d@%Hh%Mm%S"


def sniff(head: str) -> float:
    first = head.lstrip().partition("\n")[0]
    is_known = '"user_name"' in first and '"character_name"' in first
    return 0.95 if is_known or ('"is_user"' in first and '"mes"' in first) else 0.0


def parse(source: Source) -> Iterator[Turn]:
    for _, row in json_lines(source):
        text = text_of(row.get("mes")).strip()
        if text and row.get("is_system") is not True:
            role: Role = "user" if row.get("is_user") is True else "assistant"
            yield Turn(role, text, _moment(row.get("send_date")), source.name, role)


def _moment(value: Any) -> datetime | None:
    text = "".join(text_of(value).split())
    stamped = written_time(text.partition("s")[0], _STAMPED)
    return stamped or written_time(text, *_WRITTEN) or moment(value)
