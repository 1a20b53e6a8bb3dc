"""The deterministic provider: small models learned from the corpus, and rules; no network."""

from collections.abc import Mapping, Sequence
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
    ProfilePatch,
    ProfileRequest,
    Reply,
    Resolutions,
    Usage,
)

T = TypeVar("T")


class OfflineProvider:
    """A LanguageProvider that asks no server and so uses no tokens."""

    name = "offline"
    reads_memories = False
    model = "learned-1"

    def extract(self, request: ExtractionRequest) -> Reply[Extraction]:
        started = perf_counter()
        return _reply(extract(request), started)

    def resolve(self, cases: Sequence[ConflictCase]) -> Reply[Resolutions]:
        started = perf_counter()
        return _reply(resolve(cases), started)

    def consolidate(self, requests: Sequence[ProfileRequest]) -> Reply[Mapping[UUID, ProfilePatch]]:
        started = perf_counter()
        patches = {request.person.id: consolidate(request) for request in requests}
        return _reply(patches, started)


def _reply(value: T, started: float) -> Reply[T]:
    return Reply(value, Usage(0, 0, (perf_counter() - started) * 1000))
