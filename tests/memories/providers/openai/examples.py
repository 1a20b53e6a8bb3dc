"""Turns, requests and model answers for the tests of the OpenAI provider."""

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from uuid import uuid4

from memories.types import ExtractionRequest, Turn
from understanding.types import Person

KEY = "sk-test-4711-never-shown"
SHANGHAI = timezone(timedelta(hours=8))
SAID_AT = datetime(2025, 2, 3, 9, 30, tzinfo=SHANGHAI)
MEI = Person(uuid4(), "阿梅", ("Mei",), "朋友", "female")
NOTHING = {"people": [], "memories": [], "relations": [], "retracted": []}


def turn(number: int, content: str, role: str = "user") -> Turn:
    return Turn(1000 + number * 7, role, content, SAID_AT + timedelta(minutes=number))


def request(*turns: Turn, **fields: object) -> ExtractionRequest:
    default = ExtractionRequest(
        turns=turns or (turn(1, "阿梅昨天搬到了苏州，在一家茶馆做店长。"),),
        people=(MEI,),
        language="zh",
    )
    return replace(default, **fields)


def memory(content: str = "阿梅在苏州一家茶馆做店长", **fields: object) -> dict[str, object]:
    return {
        "content": content,
        "type": "professional",
        "subtype": "friend",
        "people": ["p1"],
        "turns": [1],
        "quote": "",
        "facts": [],
        "happens_at": None,
        "expires_at": None,
        "valid_from": None,
        "valid_to": None,
        "confidence": 0.9,
        **fields,
    }


def answer(*memories: dict[str, object], **fields: object) -> dict[str, object]:
    return {**NOTHING, "memories": list(memories), **fields}
