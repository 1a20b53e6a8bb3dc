"""Hybrid search: word search and vector search, fused; each result has its reasons.

A second step goes from a memory that answers half of a question to the one that answers the rest.
"When is the birthday of the one who works at the zoo?" finds whose job that is; the birthday is in
another memory of that person. What the first memory is about and the question does not name leads
there: the second step searches for it with the question's words that the first memory does not
contain (Qi et al., "Answering Complex Open-domain Questions Through Iterative Query Generation",
EMNLP 2019, with words instead of a learnt generator).
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
from accounts.sql_files import sql_pieces
from contacts.key_index import KNOWN
from memories import graph
from memories.graph import Neighbour
from memories.models import Link, Memory, MemoryQuerySet
from memories.models.links import DOUBTFUL
from memories.providers.embeddings import Embedder
from memories.search import bm25, relevance
from memories.search.dense import nearest
from memories.search.fusion import fuse, spread
from memories.search.query import WEIGHTS, Intent, Understood, parts, understand
from memories.search.query_vectors import QueryVectors
from memories.search.relevance import Judge, Relevance
from memories.search.sql import Scope, Subset
from memories.search.tokens import own, query_weights
from memories.types import ROLE
from understanding.dates.time_range import Span
from understanding.lexicon import words as lexicon_words

# Results read from each arm; further down, a reciprocal rank hardly changes the order.
DEPTH = 300
# The graph is walked from so many of the best results.
SEEDS = 5
# The share of a score that importance decides: from 0 to 1 it is worth three of the first ranks.
# Profiles don't need it to come first (see _direct_scores), and a consolidated source (0.05) that
# alone contains the answer must still be found.
IMPORTANCE_SHARE = 0.05
# The share of a score that the rank within the time asked about decides.
RANGE_SHARE = 0.5
# The most that a neighbour gets of a hit's score; times the weight of the path to it.
GRAPH_SHARE = 0.8
# The most that a superseded memory gets of the score of the one that superseded it.
SUPERSEDED_SHARE = 0.95
# So many results of the second step state it as a reason.
SHOWN_ONWARD = 10
# The weight of the second step beside those of the two arms, which sum to 1. Measured: 0.1 to 0.3 are
# alike.
ONWARD_WEIGHT = 0.2

# Nouns that only head a description ("the one who …", 那个…的人): no memory answers them.
_HEADS = lexicon_words("stopwords", "heads")
_SHOWN = ", ".join(f"m.{column}" for column in Memory.SHOWN)
_SQL = sql_pieces(__file__, columns=_SHOWN, known=KNOWN.format("c"), doubtful=DOUBTFUL)


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that was found. ``score`` is in 0..1; the ranks are those of the two arms, from 1;
    ``reasons`` state why it was found.

    ``hops`` and ``path`` (the kind of each edge and the memory it was walked from) state how it was
    reached from a better hit, 0 and empty if it was found directly. ``in_range`` is None if the
    query asks about no time. ``history``: it is no longer true; ``superseded_by`` are the memories
    that superseded it. ``relevance`` is None if the embedding model is not the calibrated one or
    failed, or the memory is not embedded yet. ``people`` are the contacts that it is about, as in
    the index of names, if requested.
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
    def likely(self) -> float:
        """The probability that it is related to the query, 0 if it can't be judged."""
        return self.relevance.likely if self.relevance else 0.0

    @property
    def is_relevant(self) -> bool:
        """Whether it is likely enough to be related to the query, or can't be judged."""
        return self.relevance is None or self.likely >= relevance.FLOOR


@dataclass
class Found:
    """The best score and ranks of each memory over the questions of a query. Memories have small
    numbers here: a search looks up each of several hundred a dozen times, and Python hashes a UUID
    slowly."""

    numbers: dict[UUID, int] = field(default_factory=dict)
    scores: dict[int, float] = field(default_factory=dict)
    words: dict[int, int] = field(default_factory=dict)
    meaning: dict[int, int] = field(default_factory=dict)
    onward: set[int] = field(default_factory=set)
    # Scores among the memories of the time asked about; None: the query asks about none.
    in_range: dict[int, float] | None = None
    beside: Mapping[UUID, Neighbour] = field(default_factory=dict)
    # The edges that lead to archived memories.
    dangling: Sequence[int] = ()
    judge: Judge | None = None
    # The query asks for what used to be.
    past: bool = False

    def add(
        self,
        weights: tuple[float, float],
        words: Sequence[UUID],
        meaning: Sequence[UUID],
        onward: Sequence[UUID],
    ) -> None:
        """Adds the results of the arms for one question, each best first."""
        ranked = [self._numbers_of(ids) for ids in (words, meaning, onward)]
        _raise_scores(self.scores, fuse(list(zip((*weights, ONWARD_WEIGHT), ranked, strict=True))))
        for best, numbers in ((self.words, ranked[0]), (self.meaning, ranked[1])):
            for rank, number in enumerate(numbers, start=1):
                best[number] = min(rank, best.get(number, rank))
        self.onward.update(ranked[2][1:SHOWN_ONWARD])

    def add_in_range(
        self, weights: tuple[float, float], words: Sequence[UUID], meaning: Sequence[UUID]
    ) -> None:
        """Adds the results of the arms for one question among the memories of the time asked
        about."""
        ranked = [self._numbers_of(ids) for ids in (words, meaning)]
        self.in_range = self.in_range or {}
        _raise_scores(self.in_range, fuse(list(zip(weights, ranked, strict=True))))
        self.add_others(())

    def add_others(self, ids: Iterable[UUID]) -> None:
        """Adds memories that no arm ranks, with score 0: no result is left out for its score."""
        for number in (*self._numbers_of(ids), *(self.in_range or ())):
            self.scores.setdefault(number, 0.0)

    def number(self, pk: UUID) -> int:
        """Returns the number of a memory, -1 if no arm found it."""
        return self.numbers.get(pk, -1)

    def total(self, number: int) -> float:
        """Returns the score by the arms and the time asked about."""
        score = self.scores.get(number, 0.0)
        if not self.in_range:
            return score
        return (1 - RANGE_SHARE) * score + RANGE_SHARE * self.in_range.get(number, 0.0)

    def best(self, limit: int) -> list[UUID]:
        """Returns the ids of the memories with the best total scores, best first."""
        ids = list(self.numbers)
        return [ids[number] for number in nlargest(limit, self.scores, key=self.total)]

    def _numbers_of(self, ids: Iterable[UUID]) -> list[int]:
        numbers = self.numbers
        return [numbers.setdefault(pk, len(numbers)) for pk in ids]


def _raise_scores(scores: dict[int, float], higher: Mapping[int, float]) -> None:
    for number, score in higher.items():
        if score > scores.get(number, -1.0):
            scores[number] = score


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A search for memories of these ``statuses`` and, where given, of these ``types``, about one
    of these contacts, with at least this importance, with this ``metadata``, true at ``valid_at``,
    that happened (else were said) from ``since`` to before ``until``; with ``of_nobody``, only
    those without a link that should have one. Without ``since`` and ``until``, a time that the
    query asks about ranks memories of that time first and leaves out none. ``intent`` is inferred
    if not given.

    Memories up to ``hops`` edges from the best hits rank below these; with ``heal``, edges to
    archived memories found on the way are deleted. If the best hit is less likely than ``floor`` or
    the query means nothing, nothing is found, unless contacts are given. What is less likely than
    ``least`` is left out, except what can't be judged. ``keep_first``: after so many hits irrelevant
    ones are left out, unless the query explores. ``with_former``: if the query asks for what used to
    be, outdated memories are searched as well. ``with_people``: hits include the contacts they are
    about.
    """

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
    keep_first: int | None = None
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
    """Returns the end user's memories for the query, best first: ``limit`` of them, or all there
    are. ``vector`` is the query's embedding if the caller has it already, ``embedding`` one that
    was begun; if the embedder fails, words alone decide. At most four SQL statements and two more
    for a further hop, whatever the number of memories. Raises LateError when the time of
    ``embedding`` is over."""
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
    results = _search_arms(scope, query, understood, max(DEPTH, limit), embedder.space, vectors)
    seeds = results.best(SEEDS) if request.hops else []
    if request.hops > 1:  # a single one is walked where the memories are read
        results.beside = graph.neighbours(
            end_user, seeds, hops=request.hops, limit=limit, heal=request.heal
        )
        seeds = []
    hits = _ordered_hits(scope, results, request, seeds)
    if request.heal and results.dangling:
        graph.remove(end_user, results.dangling)
    if request.keep_first is None or understood.intent is Intent.EXPLORE:
        return hits
    first = request.keep_first
    return [*hits[:first], *(hit for hit in hits[first:] if hit.is_relevant)]


def _narrowed(
    end_user: EndUser, memories: MemoryQuerySet, request: SearchRequest
) -> MemoryQuerySet:
    """Returns the memories that fit the request; the same query set if nothing narrows it."""
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
        memories = memories.true_at(request.valid_at)
    if request.of_nobody:
        memories = memories.of_nobody([end_user.pk])
    return memories


def _search_arms(
    scope: Scope,
    query: str,
    understood: Understood,
    depth: int,
    space: str,
    get_vectors: Callable[[], list[Sequence[float]]],
) -> Found:
    """Searches by both arms for the questions of a query, and once more onward from the best hit by
    words. The words come first: meanwhile the query is embedded."""
    questions = [query_weights(question) for question in parts(query)]
    word_results = bm25.search(scope, [bm25.Question(words, {}) for words in questions], depth)
    next_questions = [
        _onward_question(words, best.tokens, best.rarity)
        for words, best in zip(questions, word_results, strict=True)
    ]
    next_results = bm25.search(replace(scope, inside=None), next_questions, depth)
    corpus_size = next((one.corpus for one in word_results if one.corpus), None)
    vectors = get_vectors()
    meaning, inside = nearest(scope, space, vectors, depth)
    weights = WEIGHTS[understood.intent] if vectors else (1.0, 0.0)
    results = Found(past=understood.past)
    if vectors and space == relevance.SPACE:
        results.judge = relevance.Judge(
            query,
            [
                relevance.Asked(
                    words,
                    vector,
                    cosines,
                    dict(zip(best.ids, best.scores, strict=True)),
                    best.rarity,
                    corpus_size or len(cosines),
                )
                for words, vector, cosines, best in zip(
                    questions, vectors, meaning.cosines, word_results, strict=True
                )
            ],
            all_ranked=len(meaning.cosines[0]) < depth,
            dated=understood.span is not None,
        )
    for n, (words, next_result) in enumerate(zip(word_results, next_results, strict=True)):
        onward = words.ids[:1] + next_result.ids if next_result.ids else []
        results.add(weights, words.ids, meaning.ranked[n] if vectors else [], onward)
        if scope.inside:
            results.add_in_range(weights, words.inside, inside.ranked[n] if vectors else [])
    results.add_others(meaning.others)
    if scope.inside:
        results.add_in_range((0.0, 1.0), [], inside.others)
    return results


def _in_days(memories: MemoryQuerySet, days: Span) -> MemoryQuerySet:
    """Returns memories of what happened (else was said) in these days, by the clocks there: an
    event of the 12th is of the 12th also for an asker whose clock shows another time by now."""

    def clock(moment: str, offset: str) -> ExpressionWrapper:
        ahead = F(offset) * Value(timedelta(minutes=1))
        return ExpressionWrapper(F(moment) + ahead, DateTimeField())

    local_time = Coalesce(clock("happens_at", "happens_offset"), clock("said_at", "said_offset"))
    memories = memories.alias(there=local_time)
    if days.since:
        memories = memories.filter(there__gte=days.since.replace(tzinfo=UTC))
    if days.until:
        memories = memories.filter(there__lt=days.until.replace(tzinfo=UTC))
    return memories


def _onward_question(
    asked: Mapping[str, float], best_tokens: Sequence[str], known: Container[str]
) -> bm25.Question:
    """Returns what to search for next, given the words asked for, the tokens of the best memory and
    the words ``known`` to any memory. It has no words if that memory answers all or is about nobody
    and nothing new, or no memory contains what it leaves open."""
    present = set(own(best_tokens))
    open_words = {token: weight for token, weight in asked.items() if token not in present | _HEADS}
    roles = [token for token in present if token.startswith(ROLE)]
    # A person with a role is identified by it; anything else by all its words.
    subject = roles or [token for token in present if ":" not in token]
    new_tokens = sorted(token for token in subject if token not in asked)
    leads_on = new_tokens and not (roles and len(new_tokens) < len(roles))
    if not leads_on or not any(token in known for token in open_words):
        return bm25.Question({}, {})
    return bm25.Question(open_words, dict.fromkeys(new_tokens, 1.0))


def _ordered_hits(
    scope: Scope, results: Found, request: SearchRequest, seeds: Sequence[UUID]
) -> list[Hit]:
    """Returns the best hits by score and importance. A neighbour, read before or one step from the
    ``seeds``, is below the hit from which it was reached; a superseded memory is below the one that
    superseded it, unless the query asks for what used to be. Without a hit above the request's
    floor the result is empty; hits less likely than ``least`` are left out."""
    limit = request.limit
    # Importance lifts nothing from further down: (60 + limit) / (1 - IMPORTANCE_SHARE) - 60.
    pool = results.best(2 * limit + 20)
    memories, successors = _load_memories(scope, [*pool, *results.beside], seeds, limit, results)
    floor = 0.0 if request.contact_ids else request.floor
    judged = results.judge.judge(memories.values(), floor) if results.judge else {}
    if judged is None:
        return []
    if request.least:
        # Rounded as it is shown.
        unlikely = {
            pk
            for pk, one in judged.items()
            if not one.guessed and round(one.likely, 3) < request.least
        }
        memories = {pk: memory for pk, memory in memories.items() if pk not in unlikely}
    scores, lifted = _direct_scores(memories, results, {} if results.past else successors)
    words = {pk: frozenset(own(memories[pk].tokens)) for pk in scores}
    places = {pk: place for place, pk in enumerate(pool)}
    by_score = sorted(
        scores, key=lambda pk: (-scores[pk], pk not in lifted, places.get(pk, len(pool)))
    )
    shown = spread({pk: scores[pk] for pk in by_score}, words, limit)
    reached = _reached_scores(memories, results, shown)
    shown |= reached
    best = sorted(shown, key=lambda pk: -shown[pk])[:limit]
    return [
        Hit(
            memory=memories[pk],
            score=shown[pk],
            bm25_rank=results.words.get(results.number(pk)),
            vector_rank=results.meaning.get(results.number(pk)),
            reasons=_reasons(results, memories[pk], pk in lifted, pk in reached),
            hops=results.beside[pk].hops if pk in reached else 0,
            path=results.beside[pk].path if pk in reached else (),
            in_range=None if results.in_range is None else results.number(pk) in results.in_range,
            history=memories[pk].status == Memory.Status.OUTDATED,
            superseded_by=successors.get(pk, ()),
            relevance=None if (one := judged.get(pk)) and one.guessed else one,
            people=memories[pk].people,
        )
        for pk in best
    ]


def _load_memories(
    scope: Scope, ids: Sequence[UUID], seeds: Sequence[UUID], most_beside: int, results: Found
) -> tuple[dict[UUID, Memory], dict[UUID, tuple[UUID, ...]]]:
    """Reads these memories, those one step from the ``seeds`` and the profiles that represent them,
    with the columns for search and prompt; returns them, and what superseded each outdated one.
    Stores the steps in ``results``."""
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
    successors: dict[UUID, tuple[UUID, ...]] = {}
    steps: list[graph.Step] = []
    for *columns, supersedes, newer, hops, dangling, people in fetch(sql, params):
        memory = Memory.shown(columns)
        memory.supersedes, memory.people = supersedes, tuple(people or ())
        memories[memory.pk] = memory
        if newer:
            successors[memory.pk] = tuple(newer)
        steps += map(graph.Step.of_json, hops)
        results.dangling = dangling
    results.beside = {**results.beside, **graph.direct_neighbours(steps)}
    return memories, successors


def _direct_scores(
    memories: Mapping[UUID, Memory], results: Found, successors: Mapping[UUID, Collection[UUID]]
) -> tuple[dict[UUID, float], set[UUID]]:
    """Returns the scores of what the arms found, and the profiles that this raised: a profile
    scores as high as the best of the memories that it represents, and is listed before them."""
    scores = {
        pk: results.total(results.number(pk)) * (1 - IMPORTANCE_SHARE * (1 - memory.importance))
        for pk, memory in memories.items()
        if pk in results.numbers or pk not in results.beside
    }
    for old, newer in successors.items():
        if old in scores and (newer_scores := [scores[pk] for pk in newer if pk in scores]):
            scores[old] = min(scores[old], SUPERSEDED_SHARE * max(newer_scores))
    lifted = set()
    for pk in list(scores):
        profile = memories[pk].consolidated_into_id
        if profile in scores and scores[profile] <= scores[pk]:
            scores[profile] = scores[pk]
            lifted.add(profile)
    return scores, lifted


def _reached_scores(
    memories: Mapping[UUID, Memory], results: Found, shown: Mapping[UUID, float]
) -> dict[UUID, float]:
    """Returns the scores of neighbours that the path from a hit ranks higher than they rank by
    themselves."""
    reached = {}
    for pk, neighbour in results.beside.items():
        start = neighbour.steps[0].source
        if pk not in memories or start not in shown:
            continue
        score = shown[start] * neighbour.weight * GRAPH_SHARE
        if score > shown.get(pk, 0.0):
            reached[pk] = score
    return reached


def _reasons(results: Found, memory: Memory, lifted: bool, reached: bool) -> tuple[Reason, ...]:
    number, reasons = results.number(memory.pk), []
    if number in results.words:
        reasons.append(Reason("rank_by_words", rank=results.words[number]))
    if number in results.meaning:
        reasons.append(Reason("rank_by_meaning", rank=results.meaning[number]))
    if number in results.onward:
        reasons.append(Reason("about_best_hit"))
    if lifted:
        reasons.append(Reason("speaks_for_found"))
    if reached:
        kinds = [kind for kind, _ in results.beside[memory.pk].path]
        reasons.append(Reason("beside_better", kinds=kinds))
    if results.in_range and number in results.in_range:
        reasons.append(Reason("in_range"))
    if memory.status == Memory.Status.OUTDATED:
        reasons.append(Reason("no_longer_true"))
    return tuple(reasons) or (Reason("among_latest"),)
