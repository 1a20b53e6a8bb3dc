"""The deterministic provider: small models learned from the corpus, and rules; no network."""

from collections.abc import Iterable, Mapping, Sequence
from time import perf_counter
from typing import TypeVar
from uuid import UUID

from memories.providers.offline.conflicts import resolve
from memories.providers.offline.profile_patches import consolidate
from memories.providers.offline.reading.reader import extract
from memories.types import (
    ConflictCase,
    Extraction,
    ExtractionRequest,
    Profile,
    ProfilePatch,
    ProfileRequest,
    Reply,
    Resolutions,
    Usage,
)
from understanding.text import estimate_tokens

T = TypeVar("T")


class OfflineProvider:
    """A LanguageProvider that asks no server: free, private and reproducible."""

    name = "offline"
    reads_memories = False
    model = "learned-1"

    def extract(self, request: ExtractionRequest) -> Reply[Extraction]:
        started = perf_counter()
        value = extract(request)
        read = [turn.content for turn in (*request.context, *request.turns)]
        written = [memory.content for memory in value.memories]
        return _reply(value, read, written, started)

    def resolve(self, cases: Sequence[ConflictCase]) -> Reply[Resolutions]:
        started = perf_counter()
        value = resolve(cases)
        read = [
            text for case in cases for text in (case.content, *(m.content for m in case.existing))
        ]
        return _reply(
            value, read, [str(one.reason) for found in value.values() for one in found], started
        )

    def consolidate(self, requests: Sequence[ProfileRequest]) -> Reply[Mapping[UUID, ProfilePatch]]:
        started = perf_counter()
        patches = {request.person.id: consolidate(request) for request in requests}
        read = [memory.content for request in requests for memory in request.memories]
        for request in requests:
            read += [request.profile.personality, *_values(request.profile)]
        written = [value for patch in patches.values() for value in _values(patch)]
        return _reply(patches, read, written, started)


def _values(profile: Profile | ProfilePatch) -> list[str]:
    return [one.value for values in profile.attributes.values() for one in values]


def _reply(value: T, read: Iterable[str], written: Iterable[str], started: float) -> Reply[T]:
    latency = (perf_counter() - started) * 1000
    tokens_in, tokens_out = (sum(map(estimate_tokens, texts)) for texts in (read, written))
    return Reply(value, Usage(tokens_in, tokens_out, latency))
