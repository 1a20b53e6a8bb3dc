"""Hybrid search: word search and meaning search, fused, each result with its reasons."""

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from uuid import UUID

from django.db.models import DateTimeField, Exists, ExpressionWrapper, F, OuterRef, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from accounts.models import EndUser
from memories import graph
from memories.models import Link, Memory, MemoryQuerySet
from memories.providers.embeddings import Embedder
from memories.providers.errors import ProviderError
from memories.search import bm25, second_hop
from memories.search.dense import nearest
from memories.search.outdated_weight import asks_past
from memories.search.query import WEIGHTS, Intent, infer, parts
from memories.search.ranking import Found, Hit, ordered
from memories.search.time_range import Span, span
from memories.search.tokens import query_weights
from memories.search.vectors import space

log = logging.getLogger(__name__)

# How far down each arm is read; below, a reciprocal rank hardly moves the order.
DEPTH = 300
# From so many of the best results the graph is walked.
SEEDS = 5


@dataclass(frozen=True, slots=True)
class Understood:
    """What the form of a query says: how it is meant, and which time it asks about."""

    intent: Intent
    span: Span | None


def understand(
    query: str,
    intent: str | None = None,
    now: datetime | None = None,
    zone: tzinfo | None = None,
) -> Understood:
    """The intent (as given, else inferred) and the time range that ``query`` asks about, seen
    from ``now`` in the asker's ``zone`` (default: the current one). Raises ValueError for an
    unknown intent."""
    moment = timezone.localtime(now, zone)
    return Understood(Intent(intent) if intent else infer(query), span(query, moment))


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
    since: datetime | None = None,
    until: datetime | None = None,
    min_importance: float = 0.0,
    hops: int = 1,
    heal: bool = True,
    vector: Sequence[float] | None = None,
    now: datetime | None = None,
) -> list[Hit]:
    """The end user's memories for ``query``, best first: ``limit`` of them, or all there are.

    Only memories of these ``statuses``, and where given of these ``types``, about one of
    these contacts, at least so important, and which happened (else were said) from ``since``
    to before ``until``. Without these two, a time that the query asks about puts memories of
    it first and leaves out none. ``intent`` is inferred when not given. Memories up to
    ``hops`` edges from the best come below those; outdated ones count less with time, but not where
    the query asks for what used to be.
    Edges to archived memories that are met on the way are removed, unless not to ``heal``.
    ``vector`` is the query's embedding where the caller has it already; when the embedder
    fails, words alone decide. At most five SQL statements, one more for a further hop, two
    for a time and one for outdated memories, whatever the number of memories.
    """
    if limit <= 0:
        return []
    understood = understand(query, intent, now, end_user.zone)
    corpus = Memory.objects.of(end_user).filter(status__in=list(statuses))
    wanted = _during(_narrowed(corpus, contact_ids, types, min_importance), since, until)
    arms = _Arms(end_user, statuses, query, embedder, understood.intent, vector)
    found = Found()
    arms.read(found, max(DEPTH, limit), None if wanted is corpus else wanted)
    if understood.span and not (since or until):
        arms.read_range(found, limit, _in_days(wanted, understood.span))
    seeds = found.best(SEEDS)
    if hops:
        found.beside = graph.neighbours(end_user, seeds, hops=hops, limit=limit, heal=heal)
    return ordered(wanted, found, limit, now or timezone.now(), past=asks_past(query))


@dataclass
class _Arms:
    """The two searches for the questions of one query."""

    end_user: EndUser
    statuses: Collection[str]
    query: str
    embedder: Embedder
    intent: Intent
    vector: Sequence[float] | None
    asked: list[Mapping[str, float]] = field(init=False)
    vectors: list[Sequence[float]] = field(init=False)
    corpus: float | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        questions = parts(self.query)
        self.asked = [query_weights(question) for question in questions]
        self.vectors = (
            self._embedded(questions) if self.vector is None else [self.vector] * len(questions)
        )

    @property
    def weights(self) -> tuple[float, float]:
        return WEIGHTS[self.intent] if self.vectors else (1.0, 0.0)

    def read(self, found: Found, depth: int, within: MemoryQuerySet | None) -> None:
        """Both arms over all that is wanted, and the step on from the best hit by words."""
        first = self._words([bm25.Question(dict(words), {}) for words in self.asked], depth, within)
        steps = [
            second_hop.onward(words, best.tokens)
            for words, best in zip(self.asked, first, strict=True)
        ]
        second = self._words([step or bm25.Question({}, {}) for step in steps], depth, within)
        meaning, others = self._meaning(depth, within)
        for n in range(len(self.asked)):
            found.add(
                self.weights,
                first[n].ids,
                meaning[n] if meaning else [],
                first[n].ids[:1] + second[n].ids if second[n].ids else [],
            )
        found.add_others(others)

    def read_range(self, found: Found, depth: int, within: MemoryQuerySet) -> None:
        """Both arms over the memories of a time."""
        words = self._words([bm25.Question(dict(w), {}) for w in self.asked], depth, within)
        meaning, others = self._meaning(depth, within)
        for n in range(len(self.asked)):
            found.add_in_range(self.weights, words[n].ids, meaning[n] if meaning else [])
        found.add_in_range((0.0, 1.0), [], others)

    def _words(
        self, questions: Sequence[bm25.Question], depth: int, within: MemoryQuerySet | None
    ) -> list[bm25.Found]:
        found = bm25.search(self.end_user, self.statuses, questions, depth, within)
        self.corpus = self.corpus or next((f.corpus for f in found if f.corpus), None)
        return found

    def _meaning(
        self, depth: int, within: MemoryQuerySet | None
    ) -> tuple[list[list[UUID]], list[UUID]]:
        where = space(self.embedder)
        return nearest(
            self.end_user, self.statuses, where, self.vectors, depth, within, size=self.corpus
        )

    def _embedded(self, questions: Sequence[str]) -> list[Sequence[float]]:
        try:
            return [self.embedder.embed_query(question) for question in questions]
        except ProviderError as error:
            log.warning("Searching by words alone: %s", type(error).__name__)
            return []


def _narrowed(
    memories: MemoryQuerySet,
    contact_ids: Collection[UUID],
    types: Collection[str],
    min_importance: float,
) -> MemoryQuerySet:
    if types:
        memories = memories.filter(type__in=list(types))
    if min_importance > 0:
        memories = memories.filter(importance__gte=min_importance)
    if contact_ids:
        about = Link.objects.standing().filter(memory=OuterRef("pk"))
        memories = memories.filter(Exists(about.filter(contact__in=list(contact_ids))))
    return memories


def _during(
    memories: MemoryQuerySet, since: datetime | None, until: datetime | None
) -> MemoryQuerySet:
    if since or until:
        memories = memories.alias(at=Coalesce("happens_at", "said_at"))
    if since:
        memories = memories.filter(at__gte=since)
    if until:
        memories = memories.filter(at__lt=until)
    return memories


def _in_days(memories: MemoryQuerySet, days: Span) -> MemoryQuerySet:
    """Those that happened (else were said) in these days, by the clocks where it was: an event
    of the 12th is of the 12th also for an asker whose clocks show another time by now."""

    def clock(moment: str, offset: str) -> ExpressionWrapper:
        ahead = F(offset) * Value(timedelta(minutes=1))
        return ExpressionWrapper(F(moment) + ahead, DateTimeField())

    there = Coalesce(clock("happens_at", "happens_offset"), clock("said_at", "said_offset"))
    memories = memories.alias(there=there)
    if days.since:
        memories = memories.filter(there__gte=days.since.replace(tzinfo=UTC))
    if days.until:
        memories = memories.filter(there__lt=days.until.replace(tzinfo=UTC))
    return memories
