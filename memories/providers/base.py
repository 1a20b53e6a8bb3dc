"""The interface that every language-model provider implements."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from memories.types import (
    ConflictCase,
    Extraction,
    ExtractionRequest,
    ProfilePatch,
    ProfileRequest,
    Reply,
    Resolution,
)


class LanguageProvider(Protocol):
    """All methods raise ``memories.providers.errors.ProviderError`` and nothing else."""

    name: str
    model: str

    def extract(self, request: ExtractionRequest) -> Reply[Extraction]:
        """The memories and people in a batch of turns."""

    def resolve(self, cases: Sequence[ConflictCase]) -> Reply[Mapping[str, Resolution]]:
        """A resolution for each case, by the case's key; a missing key means NEW."""

    def consolidate(self, request: ProfileRequest) -> Reply[ProfilePatch]:
        """What a contact's new memories change in its profile."""
