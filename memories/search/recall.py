"""Hybrid search: word search and meaning search, fused, each result with its reasons."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any
from uuid import UUID

from django.db.models import DateTimeField, ExpressionWrapper, F, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from accounts.models import EndUser
from memories import graph
from memories.models import Link, Memory, MemoryQuerySet
from memories.providers.embeddings import Embedder
from memories.search import bm25, relevance, second_hop
from memories.search.dense import nearest
from memories.search.query import WEIGHTS, Intent, asks_past, infer, parts
from memories.search.query_vectors import QueryVectors
from memories.search.ranking import Found, Hit, ordered
from memories.search.sql import Scope, Subset
from memories.search.tokens import query_weights
from memories.search.vectors import space
from understanding.dates.time_range import Span, span

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


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """Only memories of these ``statuses``, and where given of these ``types``, about one of these
    contacts, at least so important, of such ``metadata``, which held at ``valid_at``, and which
    happened (else were said) from ``since`` to before ``until``; ``of_nobody``, only those that
    should be about somebody. Without ``since`` and ``until``, a time that the query asks about puts
    memories of it first and leaves out none. ``intent`` is inferred when not given.

    Memories up to ``hops`` edges from the best come below those; edges to archived memories that
    are met on the way are removed, unless not to ``heal``. Where the best is less likely relevant
    than ``floor``, or the query means nothing, nothing is found; of contacts that are given,
    everything is. What is less likely than ``least`` is left out, whichever way it was found; what
    can't be judged stays. ``with_people``: the hits say whom they are about."""

    query: str
    intent: str | None = None
    limit: int = 10
    contact_ids: Collection[UUID] = ()
    statuses: Collection[str] = (Memory.Status.ACTIVE,)
    types: Collection[str] = ()
    since: datetime | None = None
    until: datetime | None = None
    valid_at: datetime | None = None
    min_importance: float = 0.0
    metadata: Mapping[str, Any] | None = None
    of_nobody: bool = False
    hops: int = 1
    heal: bool = True
    now: datetime | None = None
    floor: float = 0.0
    least: float = 0.0
    with_people: bool = False


def search(
    end_user: EndUser,
    request: SearchRequest,
    *,
    embedder: Embedder,
    vector: Sequence[float] | None = None,
    embedding: QueryVectors | None = None,
) -> list[Hit]:
    """The end user's memories for the query, best first: ``limit`` of them, or all there are.

    ``vector`` is the query's embedding where the caller has it already, and ``embedding`` one
    that was begun; when the embedder fails, words alone decide. At most four SQL statements and two more
    for a further hop, whatever the number of memories. Raises LateError when the time of
    ``embedding`` is over.
    """
    query, limit = request.query, request.limit
    if limit <= 0:
        return []
    if vector is None:
        embedding = embedding or QueryVectors(embedder, query, end_user.pk)
    understood = understand(query, request.intent, request.now, end_user.zone)
    scope = _scope(end_user, request, understood)
    vectors = embedding.wait if embedding else lambda: [vector or ()] * len(parts(query))
    found = _found(scope, query, understood, max(DEPTH, limit), space(embedder), vectors)
    seeds = found.best(SEEDS) if request.hops else []
    if request.hops > 1:  # a single one is walked where the memories are read
        found.beside = graph.neighbours(
            end_user, seeds, hops=request.hops, limit=limit, heal=request.heal
        )
        seeds = []
    hits = ordered(
        scope,
        found,
        limit,
        seeds=seeds,
        past=asks_past(query),
        floor=0.0 if request.contact_ids else request.floor,
        least=request.least,
    )
    if request.heal and found.dangling:
        graph.remove(end_user, found.dangling)
    return hits


def _scope(end_user: EndUser, request: SearchRequest, understood: Understood) -> Scope:
    about = within = inside = None
    if request.contact_ids:
        links = Link.objects.of(end_user).standing().filter(contact__in=list(request.contact_ids))
        about = within = Subset.of(links.values("memory"), "about")
    rows = Memory.objects.of(end_user).filter(status__in=list(request.statuses))
    narrowed = _narrowed(end_user, rows, request)
    if narrowed is not rows:
        within = Subset.of(narrowed.values("id"), among=about)
    if understood.span and not (request.since or request.until):
        inside = Subset.of(_in_days(narrowed, understood.span).values("id"), "inside", among=about)
    return Scope(end_user, request.statuses, within, inside, request.limit, request.with_people)


def _narrowed(
    end_user: EndUser, memories: MemoryQuerySet, request: SearchRequest
) -> MemoryQuerySet:
    """The same query set where nothing narrows it."""
    if request.metadata:
        memories = memories.noted(request.metadata)
    if request.types:
        memories = memories.filter(type__in=list(request.types))
    if request.min_importance > 0:
        memories = memories.filter(importance__gte=request.min_importance)
    if request.since or request.until:
        memories = memories.alias(at=Coalesce("happens_at", "said_at"))
    if request.since:
        memories = memories.filter(at__gte=request.since)
    if request.until:
        memories = memories.filter(at__lt=request.until)
    if request.valid_at:
        memories = memories.held_at(request.valid_at)
    if request.of_nobody:
        memories = memories.of_nobody([end_user.pk])
    return memories


def _found(
    scope: Scope,
    query: str,
    understood: Understood,
    depth: int,
    where: str,
    embedded: Callable[[], list[Sequence[float]]],
) -> Found:
    """What both arms find for the questions of a query, and the step on from the best hit by
    words. The words come first: meanwhile the query is embedded."""
    asked = [query_weights(question) for question in parts(query)]
    first = bm25.search(scope, [bm25.Question(words, {}) for words in asked], depth)
    steps = [
        second_hop.onward(words, best.tokens, best.rarity)
        for words, best in zip(asked, first, strict=True)
    ]
    further = [step or bm25.Question({}, {}) for step in steps]
    second = bm25.search(replace(scope, inside=None), further, depth)
    size = next((one.corpus for one in first if one.corpus), None)
    vectors = embedded()
    meaning, inside = nearest(scope, where, vectors, depth)
    weights = WEIGHTS[understood.intent] if vectors else (1.0, 0.0)
    found = Found()
    if vectors and where == relevance.SPACE:
        found.judge = relevance.Judge(
            query,
            [
                relevance.Asked(
                    words,
                    vector,
                    cosines,
                    dict(zip(best.ids, best.scores, strict=True)),
                    best.rarity,
                    size or len(cosines),
                )
                for words, vector, cosines, best in zip(
                    asked, vectors, meaning.cosines, first, strict=True
                )
            ],
            all_ranked=len(meaning.cosines[0]) < depth,
            dated=understood.span is not None,
        )
    for n, (words, more) in enumerate(zip(first, second, strict=True)):
        onward = words.ids[:1] + more.ids if more.ids else []
        found.add(weights, words.ids, meaning.ranked[n] if vectors else [], onward)
        if scope.inside:
            found.add_in_range(weights, words.inside, inside.ranked[n] if vectors else [])
    found.add_others(meaning.others)
    if scope.inside:
        found.add_in_range((0.0, 1.0), [], inside.others)
    return found


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
