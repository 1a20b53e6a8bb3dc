"""SillyTavern: JSON lines, the first of which tells of the chat. Characters are played by a model:
they are no people."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from imports.formats.chatlab import json_lines
from imports.formats.json_stream import moment, text_of
from imports.source import Source
from imports.types import Role, Turn

NAME = "sillytavern"
_WRITTEN = re.compile(
    r"(?P<month>[A-Z][a-z]{2,8}) (?P<day>\d{1,2}), (?P<year>\d{4}) (?P<time>\d{1,2}:\d{2} ?[ap]m)"
)
_STAMPED = re.compile(
    r"(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2}) ?@ ?(?P<hour>\d{1,2})h ?(?P<minute>\d{1,2})m ?(?P<second>\d{1,2})s.*"
)


def sniff(head: str) -> float:
    first = head.lstrip().partition("\n")[0]
    known = '"user_name"' in first and '"character_name"' in first
    return 0.95 if known or ('"is_user"' in first and '"mes"' in first) else 0.0


def parse(source: Source) -> Iterator[Turn]:
    for _, row in json_lines(source):
        text = text_of(row.get("mes")).strip()
        if text and row.get("is_system") is not True:
            role: Role = "user" if row.get("is_user") is True else "assistant"
            yield Turn(role, text, _moment(row.get("send_date")), source.name, role)


def _moment(value: Any) -> datetime | None:
    text = text_of(value).strip()
    if match := _WRITTEN.fullmatch(text):
        written = (
            f"{match['month'][:3]} {match['day']} {match['year']} {match['time'].replace(' ', '')}"
        )
        return _parsed(written, "%b %d %Y %I:%M%p")
    if match := _STAMPED.fullmatch(text):
        return _parsed(" ".join(match.groups()), "%Y %m %d %H %M %S")
    return moment(value)


def _parsed(text: str, form: str) -> datetime | None:
    try:
        return datetime.strptime(text, form)
    except ValueError:
        return None
