"""The deterministic provider: rules for Chinese and English, no model, no network."""

from collections.abc import Iterable, Mapping, Sequence
from time import perf_counter
from typing import TypeVar

from memories.providers.offline.consolidate import consolidate
from memories.providers.offline.extract import extract
from memories.providers.offline.resolve import resolve
from memories.providers.offline.text import HAN
from memories.types import (
    ConflictCase,
    Extraction,
    ExtractionRequest,
    ProfilePatch,
    ProfileRequest,
    Reply,
    Resolution,
    Usage,
)

LATIN_PER_TOKEN = 4  # the usual rule of thumb for English text
T = TypeVar("T")


class OfflineProvider:
    """A LanguageProvider that reads by rules: free, private and reproducible."""

    name = "offline"
    model = "rules-1"

    def extract(self, request: ExtractionRequest) -> Reply[Extraction]:
        started = perf_counter()
        value = extract(request)
        read = [turn.content for turn in (*request.context, *request.turns)]
        written = [memory.content for memory in value.memories]
        return _reply(value, read, written, started)

    def resolve(self, cases: Sequence[ConflictCase]) -> Reply[Mapping[str, Resolution]]:
        started = perf_counter()
        value = resolve(cases)
        read = [
            text for case in cases for text in (case.content, *(m.content for m in case.existing))
        ]
        return _reply(value, read, [found.reason for found in value.values()], started)

    def consolidate(self, request: ProfileRequest) -> Reply[ProfilePatch]:
        started = perf_counter()
        value = consolidate(request)
        known = [v.value for values in request.profile.attributes.values() for v in values]
        read = [request.profile.personality, *known, *(m.content for m in request.memories)]
        written = [v.value for values in value.attributes.values() for v in values]
        return _reply(value, read, [*written, value.personality or ""], started)


def estimate_tokens(texts: Iterable[str]) -> int:
    """One token for each Han character, one for four characters of anything else."""
    total = 0
    for text in texts:
        han = len(HAN.findall(text))
        total += han + -(-(len(text) - han) // LATIN_PER_TOKEN)
    return total


def _reply(value: T, read: Iterable[str], written: Iterable[str], started: float) -> Reply[T]:
    latency = (perf_counter() - started) * 1000
    return Reply(value, Usage(estimate_tokens(read), estimate_tokens(written), latency))
