"""The interface that every language-model provider implements."""

from collections.abc import Mapping, Sequence
from typing import Protocol
from uuid import UUID

from memories.types import (
    ConflictCase,
    Extraction,
    ExtractionRequest,
    FoundRelation,
    Judgement,
    Meant,
    Overlap,
    PairCase,
    ProfilePatch,
    ProfileRequest,
    Refinement,
    RelationCase,
    Reply,
    Resolutions,
    Review,
    StoredMemory,
    WhoRequest,
)


class LanguageProvider(Protocol):
    """All methods raise ``memories.providers.errors.ProviderError`` and nothing else."""

    name: str
    model: str
    reads_memories: bool  # whether ``extract`` makes use of the memories of its request

    def extract(self, request: ExtractionRequest) -> Reply[Extraction]:
        """The memories and people in a batch of turns."""

    def resolve(self, cases: Sequence[ConflictCase]) -> Reply[Resolutions]:
        """A resolution for each case, by the case's key; a missing key means NEW."""

    def consolidate(self, requests: Sequence[ProfileRequest]) -> Reply[Mapping[UUID, ProfilePatch]]:
        """What each contact's new memories change in its profile, by the contact's id; a missing
        id: nothing, or it was left out of an answer about several."""


class MemoryModel(Protocol):
    """A model that says how stored memories stand to each other, and splits and merges them.
    Raises ProviderError and nothing else."""

    name: str
    model: str

    def classify(self, cases: Sequence[RelationCase]) -> Reply[Sequence[FoundRelation]]:
        """The relations between each case's memory and the others; mostly none."""

    def refine(
        self, memories: Sequence[StoredMemory], language: str
    ) -> Reply[Mapping[UUID, Refinement]]:
        """How each verbose memory is split or trimmed, by id; a missing id means as it is."""

    def propose(self, cluster: Sequence[StoredMemory], language: str) -> Reply[Sequence[Overlap]]:
        """Which memories of a cluster say the same, each at most once; mostly none."""

    def review(
        self, proposals: Sequence[tuple[Overlap, Sequence[StoredMemory]]], language: str
    ) -> Reply[Sequence[Review]]:
        """One review for each proposal (with its members), in the order given."""


class Resolver(Protocol):
    """A model that is asked while somebody waits. Raises ProviderError and nothing else."""

    name: str
    model: str

    def who(self, request: WhoRequest) -> Reply[Sequence[Meant]]:
        """Which of the people the message means, each once; mostly none."""


class PairJudge(Protocol):
    """A model that says who is one person. Raises ProviderError and nothing else."""

    name: str
    model: str

    def judge(self, cases: Sequence[PairCase]) -> Reply[Mapping[int, Judgement]]:
        """A judgement for each pair, by its key; a missing key: the model left it out."""
