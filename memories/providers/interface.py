"""The interface that every language-model provider implements."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol
from uuid import UUID

from memories.types import (
    ConflictCase,
    Extraction,
    ExtractionRequest,
    ProfilePatch,
    ProfileRequest,
    Reply,
    Resolutions,
)


@dataclass(frozen=True, slots=True)
class ChatMessage:
    role: Literal["system", "user", "assistant"]
    content: str


class LanguageProvider(Protocol):
    """All methods raise ``memories.providers.errors.ProviderError`` and nothing else."""

    name: str
    model: str
    reads_memories: bool  # whether ``extract`` uses the memories of its request

    def extract(self, request: ExtractionRequest) -> Reply[Extraction]:
        """Extracts the memories and people from a batch of turns."""

    def resolve(self, cases: Sequence[ConflictCase]) -> Reply[Resolutions]:
        """Returns the resolutions of each case by the case's key; a missing key means NEW."""

    def consolidate(self, requests: Sequence[ProfileRequest]) -> Reply[Mapping[UUID, ProfilePatch]]:
        """Returns profile patches from new memories, by the contact's id; some may be missing."""
