"""What the retrieval benchmarks share: verbatim storing, searching, and recall."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from typing import Any
from uuid import UUID

from accounts.models import App, EndUser
from memories.models.memory import content_hash
from memories.pipeline.store_memories import store
from memories.providers.embeddings import Embedder
from memories.providers.factory import embedder
from memories.search import recall, relevance
from memories.search.context_tokens import around
from memories.search.recall import SearchRequest
from memories.search.tokens import tokenise
from memories.types import Draft, ExtractedMemory, MemoryType, Subtype, Turn

CHUNK = 128

Scores = dict[str, float]


class Library:
    """End users whose messages are memories word for word. Equal texts are embedded once."""

    def __init__(self) -> None:
        self._app = App.objects.create(name="bench")
        self._vectors: dict[str, list[float]] = {}

    def embed(self, texts: Iterable[str]) -> None:
        """Embeds those of ``texts`` that are new."""
        # By length: texts of one length don't pad each other.
        new = sorted({text for text in texts if text not in self._vectors}, key=len)
        for start in range(0, len(new), CHUNK):
            chunk = new[start : start + CHUNK]
            vectors = embedder().embed_passages(chunk)
            self._vectors.update(zip(chunk, vectors, strict=True))

    def end_user(self, name: str, turns: Sequence[Turn]) -> tuple[EndUser, dict[int, UUID]]:
        """A new end user with a memory for each distinct text of ``turns``; which memory
        holds each turn, by its id."""
        end_user = EndUser.objects.create(app=self._app, external_id=name)
        return end_user, self.tell(end_user, turns)

    def tell(self, end_user: EndUser, turns: Sequence[Turn]) -> dict[int, UUID]:
        """Stores a memory for each distinct text of ``turns``; which holds each, by its id."""
        self.embed(turn.content for turn in turns)
        drafts: dict[str, Draft] = {}
        keys = {turn.id: content_hash(turn.content) for turn in turns}
        for place, turn in enumerate(turns):
            drafts.setdefault(
                keys[turn.id],
                self._draft(turn, keys[turn.id], turns[max(place - 1, 0) : place + 2]),
            )
        ids = store(end_user, list(drafts.values()), {}, embedder().space).ids
        return {turn_id: ids[key] for turn_id, key in keys.items()}

    def _draft(self, turn: Turn, key: str, near: Sequence[Turn]) -> Draft:
        memory = ExtractedMemory(
            turn.content, MemoryType.PERSONAL, Subtype.OTHER, (turn.id,), quote=turn.content
        )
        return Draft(
            key=key,
            content=turn.content,
            said_at=turn.said_at,
            extracted=memory,
            facts=(),
            embedding=self._vectors[turn.content],
            tokens=tokenise(turn.content, around(near, {turn.id})),
        )


class _OncePerQuery:
    """The embedder of the settings; a question that is asked again is not embedded again."""

    def __init__(self, inner: Embedder) -> None:
        self.name, self.model = inner.name, inner.model
        self.dimensions, self.space = inner.dimensions, inner.space
        self.in_process, self.embed_passages = inner.in_process, inner.embed_passages
        self.embed_query = cache(inner.embed_query)


@cache
def _asking() -> Embedder:
    return _OncePerQuery(embedder())


def found(end_user: EndUser, question: str, limit: int) -> list[UUID]:
    """The ids of what the product's search finds, best first."""
    hits = recall.search(
        end_user, SearchRequest(question, limit=limit, floor=relevance.FLOOR), embedder=_asking()
    )
    return [hit.memory.pk for hit in hits]


def recall_at(ranked: Sequence[UUID], gold: Collection[UUID], k: int) -> float:
    """The share of ``gold`` among the first ``k``."""
    return len(set(gold).intersection(ranked[:k])) / len(set(gold))


class Means:
    """Means of named scores, over all and by group, in per cent."""

    def __init__(self) -> None:
        self._scores: dict[str, list[Scores]] = defaultdict(list)

    def add(self, group: str, scores: Scores) -> None:
        self._scores[group].append(scores)

    def overall(self) -> dict[str, Any]:
        """The number of questions, and the mean of each score over them."""
        return _mean([scores for group in self._scores.values() for scores in group])

    def by_group(self) -> dict[str, Any]:
        return {group: _mean(scores) for group, scores in sorted(self._scores.items())}


def _mean(scores: Sequence[Scores]) -> dict[str, Any]:
    names = scores[0] if scores else ()
    means = {n: round(100 * sum(s[n] for s in scores) / len(scores), 1) for n in names}
    return {"questions": len(scores), **means}
