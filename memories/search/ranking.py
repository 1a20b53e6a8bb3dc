"""What the arms of a search found becomes an order of memories, each with its reasons."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from typing import Any
from uuid import UUID

from accounts.cells import connection
from accounts.reasons import Reason
from contacts.key_index import KNOWN
from memories import graph
from memories.graph import Neighbour
from memories.models import Memory
from memories.search import fusion, second_hop
from memories.search.fusion import spread
from memories.search.relevance import Judge, Relevance
from memories.search.sql import Scope
from memories.search.tokens import own

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

    def add(
        self,
        weights: tuple[float, float],
        words: Sequence[UUID],
        meaning: Sequence[UUID],
        onward: Sequence[UUID],
    ) -> None:
        """Takes in what the arms give for one question, each best first."""
        ranked = [self._ranks(ids) for ids in (words, meaning, onward)]
        _raise(
            self.scores, fusion.fuse(list(zip((*weights, second_hop.WEIGHT), ranked, strict=True)))
        )
        for kept, given in ((self.words, ranked[0]), (self.meaning, ranked[1])):
            for number, rank in given.items():
                kept[number] = min(rank, kept.get(number, rank))
        self.onward.update(n for n, rank in ranked[2].items() if 1 < rank <= SHOWN_ONWARD)

    def add_others(self, ids: Iterable[UUID]) -> None:
        """Memories that no arm ranks come last: a result is never left out for its score."""
        for number in self._ranks(ids):
            self.scores.setdefault(number, 0.0)

    def add_in_range(
        self, weights: tuple[float, float], words: Sequence[UUID], meaning: Sequence[UUID]
    ) -> None:
        """Takes in what the arms give for one question among the memories of the time asked
        about."""
        ranked = [self._ranks(ids) for ids in (words, meaning)]
        self.in_range = self.in_range or {}
        _raise(self.in_range, fusion.fuse(list(zip(weights, ranked, strict=True))))
        for number in self.in_range:
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
        score = self.total if self.in_range else self.scores.__getitem__
        return [ids[number] for number in nlargest(limit, self.scores, key=score)]

    def _ranks(self, ids: Iterable[UUID]) -> dict[int, int]:
        known = self.numbers
        return fusion.ranks([known.setdefault(pk, len(known)) for pk in ids])


def _raise(kept: dict[int, float], given: Mapping[int, float]) -> None:
    for number, score in given.items():
        if score > kept.get(number, -1.0):
            kept[number] = score


def ordered(
    scope: Scope,
    found: Found,
    limit: int,
    *,
    seeds: Sequence[UUID] = (),
    past: bool = False,
    floor: float = 0.0,
    least: float = 0.0,
) -> list[Hit]:
    """The first memories by score and importance; a neighbour, found before or one step from the
    ``seeds``, stands below the hit that it was reached from, and what was superseded below what took
    its place, unless ``past``, what used to be, is asked for. None where none stands above the ``floor``, and
    none that is judged less likely than ``least``."""
    # From further down importance lifts nothing: (60 + limit) / (1 - IMPORTANCE_SHARE) - 60.
    pool = found.best(2 * limit + 20)
    memories, later = _load(scope, [*pool, *found.beside], seeds, limit, found)
    judged = {pk: found.judge.relevance(m) for pk, m in memories.items()} if found.judge else {}
    if found.judge and not found.judge.any_stands(judged.values(), floor):
        return []
    if least:
        # As it is shown.
        low = {pk for pk, one in judged.items() if not one.guessed and round(one.likely, 3) < least}
        memories = {pk: memory for pk, memory in memories.items() if pk not in low}
    scores, lifted = _direct(memories, found, {} if past else later)
    words = {pk: frozenset(own(memories[pk].tokens)) for pk in scores}
    shown = spread(_by_score(scores, lifted, pool), words, limit)
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


# Written by hand, because to put it together took longer than to run it. Ids are read into an
# array first, because PostgreSQL reads all of a user's rows for "these or those that …". With each
# outdated memory comes what took its place.
_PEOPLE = f"""
ARRAY(SELECT {KNOWN.format("c")}
      FROM memories_link l JOIN contacts_contact c ON c.id = l.contact_id
      WHERE l.memory_id = m.id AND NOT l.rejected AND c.merged_into_id IS NULL
          AND c.archived_at IS NULL ORDER BY l.id)
"""  # noqa: S608 only constants are put together
_LOADED = """
WITH step AS MATERIALIZED ({steps}), beside AS MATERIALIZED (
    SELECT target_id FROM step WHERE status <> 'archived' AND target_id <> ALL(%(sources)s)
    GROUP BY target_id ORDER BY max(weight) DESC, target_id LIMIT %(most_beside)s)
SELECT {columns},
    EXISTS (SELECT FROM memories_edge e WHERE e.source_id = m.id AND e.kind = 'supersedes'
            AND NOT e.inverse),
    CASE WHEN m.status = 'outdated' THEN ARRAY(
        SELECT e.source_id FROM memories_edge e
        WHERE e.target_id = m.id AND e.kind = 'supersedes' AND NOT e.inverse ORDER BY e.id DESC)
    END,
    ARRAY(SELECT json_build_array(s.id, kind, source_id, target_id, inverse, confidence, reason, weight)
          FROM step s JOIN beside USING (target_id) WHERE target_id = m.id),
    ARRAY(SELECT id FROM step WHERE status = 'archived' AND kind <> ALL(%(lineage)s)),
    {people}
FROM memories_memory m
WHERE m.id = ANY(ARRAY(SELECT unnest(ARRAY[id, consolidated_into_id])
                       FROM memories_memory WHERE id = ANY({ids})))
    AND m.end_user_id = %(end_user)s AND m.status = ANY(%(statuses)s) AND {wanted}
"""


def _load(
    scope: Scope, ids: Sequence[UUID], seeds: Sequence[UUID], most_beside: int, found: Found
) -> tuple[dict[UUID, Memory], dict[UUID, tuple[UUID, ...]]]:
    """These memories, those one step from the ``seeds`` and the profiles that speak for them, with
    what a search and a prompt go by; and what took the place of each outdated one. The steps are
    noted in ``found``."""
    sql = _LOADED.format(
        columns=", ".join(f"m.{column}" for column in Memory.SHOWN),
        steps=graph.STEPS,
        ids="%(ids)s::uuid[] || ARRAY(SELECT target_id FROM beside)",
        people=_PEOPLE if scope.with_people else "NULL",
        wanted=f"m.id IN ({scope.within.sql})" if scope.within else "true",
    )
    params = graph.steps_params(scope.end_user, seeds) | {
        "ids": list(ids),
        "most_beside": most_beside,
        "lineage": [str(kind) for kind in graph.LINEAGE],
        "statuses": [str(status) for status in scope.statuses],
    }
    memories: dict[UUID, Memory] = {}
    later: dict[UUID, tuple[UUID, ...]] = {}
    steps: list[graph.Step] = []
    with connection.cursor() as cursor:
        cursor.execute(sql, params | (scope.within.params if scope.within else {}))
        for *columns, supersedes, newer, hops, dangling, people in cursor.fetchall():
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


def _by_score(
    scores: Mapping[UUID, float], lifted: Collection[UUID], pool: list[UUID]
) -> dict[UUID, float]:
    places = {pk: place for place, pk in enumerate(pool)}
    order = sorted(
        scores, key=lambda pk: (-scores[pk], pk not in lifted, places.get(pk, len(pool)))
    )
    return {pk: scores[pk] for pk in order}


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
