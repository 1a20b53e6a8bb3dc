"""Whether a request is a client's own, for a title or tags, and no word of the user's."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from gateway.chat_messages import Conversation
from gateway.identity import given

TASK = "x-mio-task"


def is_background(headers: Mapping[str, str], talk: Conversation) -> bool:
    """By the header in which a client names its task, else by how the last message or the system
    prompt begins."""
    said = (talk.system, talk.last)
    return bool(given(headers, TASK)) or any(text.startswith(_beginnings()) for text in said)


@cache
def _beginnings() -> tuple[str, ...]:
    table = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    return tuple(text for texts in tomllib.loads(table).values() for text in texts)
