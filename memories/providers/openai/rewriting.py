"""Memories to be split, trimmed or joined, as JSON for a model, and its answers checked: that they
are of memories that were shown, and that what is to be shorter is. Whether they lose or add
something is seen by whoever carries them out.
"""

from collections.abc import Mapping, Sequence
from uuid import UUID

from memories.providers.openai.consolidation import MAX_REASON, memory_as_json
from memories.providers.openai.extraction import MAX_CONTENT, to_json
from memories.providers.openai.schemas import OverlapsOut, RefinementOut, RefinementsOut, ReviewsOut
from memories.types import Overlap, Refinement, Review, StoredMemory
from understanding.text import clean

MAX_PIECES = 12
NOT_REVIEWED = Review(False, "The model gave no review.")


class RefinementPrompt:
    """Verbose memories with their short ids."""

    def __init__(self, memories: Sequence[StoredMemory], language: str) -> None:
        self._memories = {f"m{number}": memory for number, memory in enumerate(memories, 1)}
        self._language = language

    def as_json(self) -> str:
        """The memories as the model sees them."""
        return _shown(self._language, self._memories)

    def read(self, out: RefinementsOut) -> dict[UUID, Refinement]:
        """The refinements that make the memory shorter."""
        found: dict[UUID, Refinement] = {}
        for item in out.refinements:
            memory = self._memories.get(item.id)
            if memory is None or memory.id in found:
                continue
            refinement = _refinement(memory.content, item)
            if refinement is not None:
                found[memory.id] = refinement
        return found


def _refinement(content: str, out: RefinementOut) -> Refinement | None:
    reason = clean(out.reason, MAX_REASON)
    pieces = tuple(dict.fromkeys(text for piece in out.pieces if (text := _content(piece))))
    shorter = all(len(piece) < len(content) for piece in pieces)
    if shorter and 2 <= len(pieces) <= MAX_PIECES:
        return Refinement(pieces=pieces, reason=reason)
    trimmed = _content(out.trimmed)
    return Refinement(trimmed=trimmed, reason=reason) if 0 < len(trimmed) < len(content) else None


class OverlapPrompt:
    """A cluster of memories with their short ids."""

    def __init__(self, cluster: Sequence[StoredMemory], language: str) -> None:
        self._memories = {f"m{number}": memory for number, memory in enumerate(cluster, 1)}
        self._language = language

    def as_json(self) -> str:
        """The cluster as the model sees it."""
        return _shown(self._language, self._memories)

    def read(self, out: OverlapsOut) -> list[Overlap]:
        """The groups of two or more, each memory in the first that names it."""
        found: list[Overlap] = []
        taken: set[str] = set()
        for item in out.overlaps:
            members = [short for short in dict.fromkeys(item.members) if short in self._memories]
            content = _content(item.content)
            if len(members) < 2 or not content or taken & set(members):
                continue
            taken.update(members)
            ids = tuple(self._memories[short].id for short in members)
            found.append(Overlap(ids, content, clean(item.reason, MAX_REASON)))
        return found


class ReviewPrompt:
    """Proposals with their short ids."""

    def __init__(
        self, proposals: Sequence[tuple[Overlap, Sequence[StoredMemory]]], language: str
    ) -> None:
        self._proposals = {f"r{number}": both for number, both in enumerate(proposals, 1)}
        self._language = language

    def as_json(self) -> str:
        """The proposals as the model sees them."""
        return to_json(
            {
                "language": self._language,
                "proposals": [
                    {
                        "proposal": short,
                        "memories": [memory_as_json(memory) for memory in members],
                        "content": overlap.content,
                    }
                    for short, (overlap, members) in self._proposals.items()
                ],
            }
        )

    def read(self, out: ReviewsOut) -> list[Review]:
        """A review for each proposal, in their order; one that has none, or two that differ,
        is not accepted."""
        reviews: dict[str, Review] = {}
        for item in out.reviews:
            review = Review(item.accepted, clean(item.reason, MAX_REASON))
            held = reviews.setdefault(item.proposal, review)
            if held.accepted and not review.accepted:
                reviews[item.proposal] = review
        return [reviews.get(short, NOT_REVIEWED) for short in self._proposals]


def _shown(language: str, memories: Mapping[str, StoredMemory]) -> str:
    return to_json(
        {
            "language": language,
            "memories": [
                {"id": short, **memory_as_json(memory)} for short, memory in memories.items()
            ],
        }
    )


def _content(text: str) -> str:
    """``text`` as the content of a memory; empty when it would have to be cut."""
    whole = clean(text, MAX_CONTENT + 1)
    return whole if whole == clean(whole, MAX_CONTENT) else ""
