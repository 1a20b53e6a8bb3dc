"""Hybrid search: word search and meaning search, fused, each result with its reasons.

A second step goes from a memory that answers half of a question to the one that answers the rest.
"When is the birthday of the one who works at the zoo?" finds whose job it is; that person's
birthday is another memory. What the first memory is about and the question does not name is
the bridge: it is searched for with what the first memory leaves open (Qi et al., "Answering
Complex Open-domain Questions Through Iterative Query Generation", EMNLP 2019, with words
instead of a learnt generator).
"""

from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from heapq import nlargest
from typing import Any
from uuid import UUID

from django.db.models import DateTimeField, ExpressionWrapper, F, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from accounts.cells import fetch
from accounts.models import EndUser
from accounts.reasons import Reason
from contacts.key_index import KNOWN
from memories import graph
from memories.graph import Neighbour
from memories.models import Link, Memory, MemoryQuerySet
from memories.models.links import DOUBTFUL
from memories.providers.embeddings import Embedder
from memories.search import bm25, relevance
from memories.search.dense import nearest
from memories.search.fusion import fuse, spread
from memories.search.query import WEIGHTS, Understood, parts, understand
from memories.search.query_vectors import QueryVectors
from memories.search.relevance import Judge, Relevance
from memories.search.sql import Scope, Subset
from memories.search.tokens import own, query_weights
from memories.sql_files import sql_pieces
from memories.types import ROLE
from understanding.dates.time_range import Span
from understanding.lexicon import words as lexicon_words

# How far down each arm is read; below, a reciprocal rank hardly moves the order.
DEPTH = 300
# From so many of the best results the graph is walked.
SEEDS = 5
# The part of a score that importance decides: the whole way from 0 to 1 is worth three of the
# first ranks. Profiles don't need it to lead (see _direct), and a consolidated source (0.05)
# that alone holds the answer must still be found.
IMPORTANCE_SHARE = 0.05
# The part of a score that lying in the time asked about decides.
RANGE_SHARE = 0.5
# What a memory beside a hit has at most of the hit's score; times the weight of the way there.
GRAPH_SHARE = 0.8
# What a memory has at most of the score of the one that superseded it.
SUPERSEDED_SHARE = 0.95
# So many results of the second step say that they come from it.
SHOWN_ONWARD = 10
# The weight of the second step beside those of the two arms, which sum to 1. Measured: 0.1 to 0.3 are
# alike.
ONWARD_WEIGHT = 0.2

# Nouns that only carry a description ("the one who …", 那个…的人): no memory answers by them.
_HEADS = lexicon_words("stopwords", "heads")
_SHOWN = ", ".join(f"m.{column}" for column in Memory.SHOWN)
_SQL = sql_pieces(__file__, columns=_SHOWN, known=KNOWN.format("c"), doubtful=DOUBTFUL)


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory found. ``score`` is in 0..1; the ranks are those of
    the two arms, from 1; ``reasons`` say why it is here.

    ``hops`` and ``path`` (the kind of each edge and the memory it was walked from) say how it
    was reached from a better hit, 0 and empty for what was found by itself. ``in_range`` is
    None where the query asked about no time. ``history``: it is no longer true;
    ``superseded_by`` are the memories that took its place. ``relevance`` is None where the
    embedding model is none that was calibrated, or could not be asked. ``people`` are the
    contacts that it is about, as the index of names gives them, where they were asked for.
    """

    memory: Memory
    score: float
    bm25_rank: int | None
    vector_rank: int | None
    reasons: tuple[Reason, ...]
    hops: int = 0
    path: tuple[tuple[str, UUID], ...] = ()
    in_range: bool | None = None
    history: bool = False
    superseded_by: tuple[UUID, ...] = ()
    relevance: Relevance | None = None
    people: tuple[dict[str, Any], ...] = ()

    @property
    def reason(self) -> Reason:
        return Reason("each_of", reasons=self.reasons)

    @property
    def is_relevant(self) -> bool:
        """Whether it is likely enough to be related to the query, or can't be judged."""
        return self.relevance is None or self.relevance.likely >= relevance.FLOOR


@dataclass
class Found:
    """The best score and ranks of each memory over the questions of a query.

    Inside, memories go by small numbers: a search looks up each of several hundred a dozen
    times, and Python hashes a UUID slowly.
    """

    numbers: dict[UUID, int] = field(default_factory=dict)
    scores: dict[int, float] = field(default_factory=dict)
    words: dict[int, int] = field(default_factory=dict)
    meaning: dict[int, int] = field(default_factory=dict)
    onward: set[int] = field(default_factory=set)
    # The score of each among the memories of the time asked about; None: no time was.
    in_range: dict[int, float] | None = None
    beside: Mapping[UUID, Neighbour] = field(default_factory=dict)
    # The edges met that lead to archived memories.
    dangling: Sequence[int] = ()
    judge: Judge | None = None
    # What used to be is asked for.
    past: bool = False

    def add(
        self,
        weights: tuple[float, float],
        words: Sequence[UUID],
        meaning: Sequence[UUID],
        onward: Sequence[UUID],
    ) -> None:
        """Takes in what the arms give for one question, each best first."""
        ranked = [self._numbers_of(ids) for ids in (words, meaning, onward)]
        _raise(self.scores, fuse(list(zip((*weights, ONWARD_WEIGHT), ranked, strict=True))))
        for best, given in ((self.words, ranked[0]), (self.meaning, ranked[1])):
            for rank, number in enumerate(given, start=1):
                best[number] = min(rank, best.get(number, rank))
        self.onward.update(ranked[2][1:SHOWN_ONWARD])

    def add_in_range(
        self, weights: tuple[float, float], words: Sequence[UUID], meaning: Sequence[UUID]
    ) -> None:
        """Takes in what the arms give for one question among the memories of the time asked
        about."""
        ranked = [self._numbers_of(ids) for ids in (words, meaning)]
        self.in_range = self.in_range or {}
        _raise(self.in_range, fuse(list(zip(weights, ranked, strict=True))))
        self.add_others(())

    def add_others(self, ids: Iterable[UUID]) -> None:
        """Memories that no arm ranks come last: a result is never left out for its score."""
        for number in (*self._numbers_of(ids), *(self.in_range or ())):
            self.scores.setdefault(number, 0.0)

    def number(self, pk: UUID) -> int:
        """Its number here, -1 for what no arm found."""
        return self.numbers.get(pk, -1)

    def total(self, number: int) -> float:
        """The score by the arms and by the time asked about."""
        score = self.scores.get(number, 0.0)
        if not self.in_range:
            return score
        return (1 - RANGE_SHARE) * score + RANGE_SHARE * self.in_range.get(number, 0.0)

    def best(self, limit: int) -> list[UUID]:
        ids = list(self.numbers)
        return [ids[number] for number in nlargest(limit, self.scores, key=self.total)]

    def _numbers_of(self, ids: Iterable[UUID]) -> list[int]:
        known = self.numbers
        return [known.setdefault(pk, len(known)) for pk in ids]


def _raise(scores: dict[int, float], given: Mapping[int, float]) -> None:
    for number, score in given.items():
        if score > scores.get(number, -1.0):
            scores[number] = score


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
    can't be judged stays. ``with_former``: what is no longer true is searched as well where the query
    asks for what used to be. ``with_people``: the hits say whom they are about."""

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
    with_former: bool = False
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
        embedding = embedding or QueryVectors(embedder, query)
    moment = timezone.localtime(request.now, end_user.zone)
    understood = understand(query, request.intent, moment)
    statuses = {*request.statuses}
    if request.with_former and understood.past:
        statuses.add(Memory.Status.OUTDATED)
    about = within = inside = None
    if request.contact_ids:
        links = Link.objects.of(end_user).standing().filter(contact__in=list(request.contact_ids))
        about = within = Subset.of(links.values("memory"), "about")
    rows = Memory.objects.of(end_user).filter(status__in=statuses)
    narrowed = _narrowed(end_user, rows, request)
    if narrowed is not rows:
        within = Subset.of(narrowed.values("id"), among=about)
    if understood.span and not (request.since or request.until):
        inside = Subset.of(_in_days(narrowed, understood.span).values("id"), "inside", among=about)
    scope = Scope(end_user, statuses, within, inside, limit, request.with_people)
    vectors = embedding.wait if embedding else lambda: [vector or ()] * len(parts(query))
    found = _found(scope, query, understood, max(DEPTH, limit), embedder.space, vectors)
    seeds = found.best(SEEDS) if request.hops else []
    if request.hops > 1:  # a single one is walked where the memories are read
        found.beside = graph.neighbours(
            end_user, seeds, hops=request.hops, limit=limit, heal=request.heal
        )
        seeds = []
    hits = _ordered(scope, found, request, seeds)
    if request.heal and found.dangling:
        graph.remove(end_user, found.dangling)
    return hits


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
    further = [
        _onward(words, best.tokens, best.rarity) for words, best in zip(asked, first, strict=True)
    ]
    second = bm25.search(replace(scope, inside=None), further, depth)
    size = next((one.corpus for one in first if one.corpus), None)
    vectors = embedded()
    meaning, inside = nearest(scope, where, vectors, depth)
    weights = WEIGHTS[understood.intent] if vectors else (1.0, 0.0)
    found = Found(past=understood.past)
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


def _onward(
    asked: Mapping[str, float], first: Sequence[str], known: Container[str]
) -> bm25.Question:
    """What to search for next, given the words asked for, the tokens of the best memory found and
    the words ``known`` to any memory; no words when that memory answers all, or is about nobody and
    nothing new, or no memory holds what it leaves open."""
    has = set(own(first))
    open_words = {token: weight for token, weight in asked.items() if token not in has | _HEADS}
    people = [token for token in has if token.startswith(ROLE)]
    # Whoever is called by a role is known by it; anything else by all its words.
    about = people or [token for token in has if ":" not in token]
    new = sorted(token for token in about if token not in asked)
    leads_on = new and not (people and len(new) < len(people))
    if not leads_on or not any(token in known for token in open_words):
        return bm25.Question({}, {})
    return bm25.Question(open_words, dict.fromkeys(new, 1.0))


def _ordered(
    scope: Scope, found: Found, request: SearchRequest, seeds: Sequence[UUID]
) -> list[Hit]:
    """The first memories by score and importance; a neighbour, found before or one step from the
    ``seeds``, stands below the hit that it was reached from, and what was superseded below what took its place, unless
    what used to be is asked for. None where none stands above the floor that is asked for, and none
    that is judged less likely than ``least``."""
    limit = request.limit
    # From further down importance lifts nothing: (60 + limit) / (1 - IMPORTANCE_SHARE) - 60.
    pool = found.best(2 * limit + 20)
    memories, later = _load(scope, [*pool, *found.beside], seeds, limit, found)
    floor = 0.0 if request.contact_ids else request.floor
    judged = found.judge.judge(memories.values(), floor) if found.judge else {}
    if judged is None:
        return []
    if request.least:
        # As it is shown.
        low = {
            pk
            for pk, one in judged.items()
            if not one.guessed and round(one.likely, 3) < request.least
        }
        memories = {pk: memory for pk, memory in memories.items() if pk not in low}
    scores, lifted = _direct(memories, found, {} if found.past else later)
    words = {pk: frozenset(own(memories[pk].tokens)) for pk in scores}
    places = {pk: place for place, pk in enumerate(pool)}
    by_score = sorted(
        scores, key=lambda pk: (-scores[pk], pk not in lifted, places.get(pk, len(pool)))
    )
    shown = spread({pk: scores[pk] for pk in by_score}, words, limit)
    reached = _reached(memories, found, shown)
    shown |= reached
    best = sorted(shown, key=lambda pk: -shown[pk])[:limit]
    return [
        Hit(
            memory=memories[pk],
            score=shown[pk],
            bm25_rank=found.words.get(found.number(pk)),
            vector_rank=found.meaning.get(found.number(pk)),
            reasons=_reasons(found, memories[pk], pk in lifted, pk in reached),
            hops=found.beside[pk].hops if pk in reached else 0,
            path=found.beside[pk].path if pk in reached else (),
            in_range=None if found.in_range is None else found.number(pk) in found.in_range,
            history=memories[pk].status == Memory.Status.OUTDATED,
            superseded_by=later.get(pk, ()),
            relevance=None if (one := judged.get(pk)) and one.guessed else one,
            people=memories[pk].people,
        )
        for pk in best
    ]


def _load(
    scope: Scope, ids: Sequence[UUID], seeds: Sequence[UUID], most_beside: int, found: Found
) -> tuple[dict[UUID, Memory], dict[UUID, tuple[UUID, ...]]]:
    """These memories, those one step from the ``seeds`` and the profiles that speak for them, with
    what a search and a prompt go by; and what took the place of each outdated one. The steps are
    noted in ``found``."""
    sql = _SQL["loaded"].format(
        steps=graph.STEPS,
        people=_SQL["people"] if scope.with_people else "NULL",
        wanted=f"m.id IN ({scope.within.sql})" if scope.within else "true",
    )
    params = scope.params | {
        "ids": list(ids),
        "sources": list(seeds),
        "wanted": [],
        "most_beside": most_beside,
        "lineage": list(map(str, graph.LINEAGE)),
    }
    memories: dict[UUID, Memory] = {}
    later: dict[UUID, tuple[UUID, ...]] = {}
    steps: list[graph.Step] = []
    for *columns, supersedes, newer, hops, dangling, people in fetch(sql, params):
        memory = Memory.shown(columns)
        memory.supersedes, memory.people = supersedes, tuple(people or ())
        memories[memory.pk] = memory
        if newer:
            later[memory.pk] = tuple(newer)
        steps += map(graph.Step.of_json, hops)
        found.dangling = dangling
    found.beside = {**found.beside, **graph.beside(steps)}
    return memories, later


def _direct(
    memories: Mapping[UUID, Memory],
    found: Found,
    later: Mapping[UUID, Collection[UUID]],
) -> tuple[dict[UUID, float], set[UUID]]:
    """The scores of what the arms found, and the profiles lifted by it: a profile is as good
    a hit as the best of the memories that it speaks for, and stands before them."""
    scores = {
        pk: found.total(found.number(pk)) * (1 - IMPORTANCE_SHARE * (1 - memory.importance))
        for pk, memory in memories.items()
        if pk in found.numbers or pk not in found.beside
    }
    for old, newer in later.items():
        if old in scores and (held := [scores[pk] for pk in newer if pk in scores]):
            scores[old] = min(scores[old], SUPERSEDED_SHARE * max(held))
    lifted = set()
    for pk in list(scores):
        profile = memories[pk].consolidated_into_id
        if profile in scores and scores[profile] <= scores[pk]:
            scores[profile] = scores[pk]
            lifted.add(profile)
    return scores, lifted


def _reached(
    memories: Mapping[UUID, Memory],
    found: Found,
    shown: Mapping[UUID, float],
) -> dict[UUID, float]:
    """The scores of neighbours that the way from a hit brings further up than they came by
    themselves."""
    reached = {}
    for pk, neighbour in found.beside.items():
        start = neighbour.steps[0].source
        if pk not in memories or start not in shown:
            continue
        score = shown[start] * neighbour.weight * GRAPH_SHARE
        if score > shown.get(pk, 0.0):
            reached[pk] = score
    return reached


def _reasons(found: Found, memory: Memory, lifted: bool, reached: bool) -> tuple[Reason, ...]:
    number, reasons = found.number(memory.pk), []
    if number in found.words:
        reasons.append(Reason("rank_by_words", rank=found.words[number]))
    if number in found.meaning:
        reasons.append(Reason("rank_by_meaning", rank=found.meaning[number]))
    if number in found.onward:
        reasons.append(Reason("about_best_hit"))
    if lifted:
        reasons.append(Reason("speaks_for_found"))
    if reached:
        kinds = [kind for kind, _ in found.beside[memory.pk].path]
        reasons.append(Reason("beside_better", kinds=kinds))
    if found.in_range and number in found.in_range:
        reasons.append(Reason("in_range"))
    if memory.status == Memory.Status.OUTDATED:
        reasons.append(Reason("no_longer_true"))
    return tuple(reasons) or (Reason("among_latest"),)
