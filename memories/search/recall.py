"""Hybrid search: word search and meaning search, fused, each result with its reasons."""

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import Exists, F, OuterRef

from accounts.models import EndUser
from memories.models import Link, Memory, MemoryQuerySet
from memories.providers.embeddings import Embedder
from memories.providers.errors import ProviderError
from memories.search import bm25, bridge, fusion
from memories.search.diversity import spread
from memories.search.intents import WEIGHTS, Intent, infer
from memories.search.nearest import nearest
from memories.search.questions import parts
from memories.search.tokens import own, query_weights

log = logging.getLogger(__name__)

# How far down each arm is read; below, a reciprocal rank hardly moves the order.
DEPTH = 300
# The part of a score that importance decides: the whole way from 0 to 1 is worth three of the
# first ranks. Profiles don't need it to lead (see _hits), and a consolidated source (0.05)
# that alone holds the answer must still be found.
IMPORTANCE_SHARE = 0.05
# So many results of the second step say that they come from it.
SHOWN_ONWARD = 10


@dataclass(frozen=True)
class Hit:
    """A memory found (its vector and tokens not loaded). ``score`` is in 0..1; the ranks are
    those of the two arms, from 1; ``reason`` says in plain words why it is here."""

    memory: Memory
    score: float
    bm25_rank: int | None
    vector_rank: int | None
    reason: str


def search(
    end_user: EndUser,
    query: str,
    *,
    embedder: Embedder,
    intent: str | None = None,
    limit: int = 10,
    contact_ids: Collection[UUID] = (),
    statuses: Collection[str] = (Memory.Status.ACTIVE,),
    types: Collection[str] = (),
    vector: Sequence[float] | None = None,
) -> list[Hit]:
    """The end user's memories for ``query``, best first: ``limit`` of them, or all there are.

    Only memories of these ``statuses``, and where given of these ``types`` and about one of
    these contacts. ``intent`` is inferred when not given; ``vector`` is the query's embedding
    where the caller has it already. When the embedder fails, words alone decide. At most
    four SQL statements, whatever the number of memories.
    """
    if limit <= 0:
        return []
    corpus = Memory.objects.of(end_user).filter(status__in=list(statuses))
    wanted = _narrowed(corpus, contact_ids, types)
    within = None if wanted is corpus else wanted
    depth = max(DEPTH, limit)
    questions = parts(query)
    asked = [query_weights(question) for question in questions]
    first = bm25.search(corpus, [bm25.Question(words, {}) for words in asked], depth, within)
    steps = [bridge.onward(*pair) for pair in zip(asked, (f.tokens for f in first), strict=True)]
    second = bm25.search(corpus, [step or bm25.Question({}, {}) for step in steps], depth, within)
    vectors = _vectors(questions, embedder) if vector is None else [vector] * len(questions)
    by_meaning, others = nearest(wanted, embedder.model, vectors, depth)
    weights = WEIGHTS[Intent(intent) if intent else infer(query)] if by_meaning else (1.0, 0.0)
    found = _Found()
    for n in range(len(questions)):
        found.add(
            weights,
            fusion.ranks(first[n].ids),
            fusion.ranks(by_meaning[n]) if by_meaning else {},
            fusion.ranks(first[n].ids[:1] + second[n].ids if second[n].ids else []),
        )
    # Memories that no arm ranks come last: a result is never left out for its score.
    for pk in others:
        found.scores.setdefault(pk, 0.0)
    return _hits(wanted, found, limit)


@dataclass
class _Found:
    """The best score and ranks of each memory over the questions of a query."""

    scores: dict[UUID, float] = field(default_factory=dict)
    words: dict[UUID, int] = field(default_factory=dict)
    meaning: dict[UUID, int] = field(default_factory=dict)
    onward: set[UUID] = field(default_factory=set)

    def add(
        self,
        weights: tuple[float, float],
        words: Mapping[UUID, int],
        meaning: Mapping[UUID, int],
        onward: Mapping[UUID, int],
    ) -> None:
        fused = fusion.fuse([(weights[0], words), (weights[1], meaning), (bridge.WEIGHT, onward)])
        for pk, score in fused.items():
            if score > self.scores.get(pk, -1.0):
                self.scores[pk] = score
        for kept, given in ((self.words, words), (self.meaning, meaning)):
            for pk, rank in given.items():
                kept[pk] = min(rank, kept.get(pk, rank))
        self.onward.update(pk for pk, rank in onward.items() if 1 < rank <= SHOWN_ONWARD)


def _narrowed(
    corpus: MemoryQuerySet, contact_ids: Collection[UUID], types: Collection[str]
) -> MemoryQuerySet:
    if types:
        corpus = corpus.filter(type__in=list(types))
    if contact_ids:
        links = Link.objects.standing().filter(contact__in=list(contact_ids), memory=OuterRef("pk"))
        corpus = corpus.filter(Exists(links))
    return corpus


def _vectors(questions: Sequence[str], embedder: Embedder) -> list[list[float]]:
    try:
        return [embedder.embed_query(question) for question in questions]
    except ProviderError as error:
        log.warning("Searching by words alone: %s", type(error).__name__)
        return []


def _hits(wanted: MemoryQuerySet, found: _Found, limit: int) -> list[Hit]:
    """The first memories by score and importance. A profile is as good a hit as the best of
    the memories that it speaks for, and stands before them."""
    # From further down importance lifts nothing: (60 + limit) / (1 - IMPORTANCE_SHARE) - 60.
    pool = sorted(found.scores, key=lambda pk: -found.scores[pk])[: 2 * limit + 20]
    ranked = Memory.objects.filter(pk__in=pool).order_by()
    # A union, because PostgreSQL reads all of a user's rows for "these or those that …".
    with_profiles = ranked.values("pk").union(ranked.values("consolidated_into"))
    memories = {
        memory.pk: memory
        for memory in wanted.filter(pk__in=with_profiles)
        .defer("embedding", "tokens")
        .annotate(words=F("tokens"))
    }
    scores = {
        pk: found.scores.get(pk, 0.0) * (1 - IMPORTANCE_SHARE * (1 - memory.importance))
        for pk, memory in memories.items()
    }
    lifted = set()
    for pk, memory in memories.items():
        profile = memory.consolidated_into_id
        if profile in scores and scores[profile] <= scores[pk]:
            scores[profile] = scores[pk]
            lifted.add(profile)
    places = {pk: place for place, pk in enumerate(pool)}
    ordered = sorted(
        scores, key=lambda pk: (-scores[pk], pk not in lifted, places.get(pk, len(pool)))
    )
    words = {pk: frozenset(own(memories[pk].words)) for pk in ordered}
    shown = spread({pk: scores[pk] for pk in ordered}, words, limit)
    return [
        Hit(
            memories[pk],
            score,
            found.words.get(pk),
            found.meaning.get(pk),
            _reason(found, pk, pk in lifted),
        )
        for pk, score in shown.items()
    ]


def _reason(found: _Found, pk: UUID, lifted: bool) -> str:
    reasons = []
    if pk in found.words:
        reasons.append(f"no. {found.words[pk]} by its words")
    if pk in found.meaning:
        reasons.append(f"no. {found.meaning[pk]} by meaning")
    if pk in found.onward:
        reasons.append("about what the best hit by words is about")
    if lifted:
        reasons.append("speaks for a memory that was found")
    return ", ".join(reasons) or "among the latest"
