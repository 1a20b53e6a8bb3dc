"""Recognises requests that a client makes for itself: for a title, tags or a summary."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from gateway.chat_messages import Conversation
from gateway.identity import given
from understanding.statements.client_text import instructs_for_client, requests_for_client

TASK = "x-mio-task"
_BEGINNING = 400  # characters
_LONGEST = 1500  # characters of a system prompt that is for one request; an application's is longer


def is_background(headers: Mapping[str, str], talk: Conversation) -> bool:
    """Whether a client made the request for itself: by the header that names its task, by what the
    last message or the system prompt asks for, or by how one of them begins."""
    if given(headers, TASK):
        return True
    instructed = len(talk.turns) < 2 and len(talk.system) < _LONGEST
    if requests_for_client(talk.last) or (instructed and instructs_for_client(talk.system)):
        return True
    texts = (" ".join(text[:_BEGINNING].split()) for text in (talk.system, talk.last))
    return any(text.startswith(_beginnings()) for text in texts)


@cache
def _beginnings() -> tuple[str, ...]:
    table = Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
    return tuple(text for texts in tomllib.loads(table).values() for text in texts)
