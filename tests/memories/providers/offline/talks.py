"""Conversations that the offline provider reads, and what it finds in them."""

from datetime import UTC, datetime, timedelta

from memories.providers.offline.offline_provider import OfflineProvider
from memories.types import Extraction, ExtractionRequest, Turn
from understanding.types import Person

NOON = datetime(2025, 6, 4, 12, tzinfo=UTC)  # a Wednesday


def talk(
    *lines: str, language: str = "zh", people: tuple[Person, ...] = (), context: int = 0
) -> Extraction:
    """Extract from ``lines``; those that begin with "A: " are the assistant's, the first
    ``context`` of them are only context."""
    turns = tuple(
        Turn(
            number,
            "assistant" if line.startswith("A: ") else "user",
            line.removeprefix("A: "),
            NOON + timedelta(minutes=number),
        )
        for number, line in enumerate(lines, start=1)
    )
    request = ExtractionRequest(turns[context:], turns[:context], people, language)
    return OfflineProvider().extract(request).value


def contents(found: Extraction) -> str:
    return "\n".join(memory.content for memory in found.memories)
