"""New memories find their place in the graph: their entities, and how they stand to others.

Per batch: entities are tagged, and with a model candidates are read, the model is asked once
without any lock held, and the edges are written in the transaction that marks the memories as done. A
worker that dies leaves them waiting, and doing a batch again changes nothing.
"""

import logging
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db import InterfaceError, OperationalError
from django.db.models import QuerySet
from django.utils import timezone

from accounts.cells import atomic, connection
from accounts.models import EndUser
from accounts.reasons import fault, stored
from memories import graph, model_calls
from memories.budget import Budget
from memories.corrections.rewrite import supersede
from memories.models import Edge, EntityLink, Link, Memory
from memories.pipeline import sync_contacts, tag_entities
from memories.providers.errors import ProviderError, RefusedError, TransientError
from memories.providers.factory import embedder, memory_model
from memories.providers.thresholds import calibration_of
from memories.search.vectors import space
from memories.types import FoundRelation, RelationCase

log = logging.getLogger(__name__)

BATCH = 20  # memories of one provider call
CASE = 5  # others shown with each
NEAREST = 40  # read by meaning, before what they share is weighed in
# An edge less sure than this is noise. A memory gives way to another only when that is surer.
MIN_CONFIDENCE = 0.6
SUPERSEDING = 0.8
ACTOR = "classifier"


def users_due() -> list[int]:
    """The end users with memories that have not been looked at yet."""
    return list(_due().order_by("end_user").values_list("end_user", flat=True).distinct())


def relate(end_user_id: int, budget: Budget) -> dict[str, int]:
    """Looks for entities and edges of a user's new memories until none is left or the budget
    is spent; returns counts of ``memories``, ``entities``, ``edges`` and ``calls``.

    Raises TransientError or RefusedError when the provider can't be asked now: the rest waits. A batch that
    the provider can never answer keeps its entities and is not asked again.
    """
    done = {"memories": 0, "entities": 0, "edges": 0, "calls": 0}
    size = BATCH
    while budget.left:
        try:
            counts = _batch(end_user_id, size)
        except (TransientError, RefusedError, InterfaceError, OperationalError):
            raise
        except Exception as error:  # noqa: BLE001 one memory must not keep the others waiting
            log.warning("no relations for user %s: %s", end_user_id, fault(error))
            counts = _left_out(end_user_id) if size == 1 else dict.fromkeys(done, 0)
            size = 1
        if not counts:
            break
        budget.spend(calls=counts["calls"], rows=sum(counts.values()) - counts["calls"])
        done = {name: done[name] + count for name, count in counts.items()}
    sync_contacts.note_unlinked(end_user_id)
    return done


def _due() -> QuerySet[Memory]:
    """Embedded memories that wait: before, nothing near them could be found."""
    active = Memory.objects.active().facts().filter(related_at=None)
    return active.exclude(embedding_model="")


def _left_out(end_user_id: int) -> dict[str, int]:
    """Notes that the first memory that waits was looked at, which it can't be."""
    memory = _due().filter(end_user=end_user_id).order_by("pk").first()
    if memory is not None:
        mark(memory.end_user, [memory])
    return {"memories": 1, "entities": 0, "edges": 0, "calls": 0}


def _batch(end_user_id: int, size: int) -> dict[str, int]:
    """One batch; empty when nothing waits."""
    with atomic():
        end_user = EndUser.objects.lock(end_user_id)
        due = _due().filter(end_user=end_user_id).order_by("pk").defer("tokens")
        memories = list(due[:size]) if end_user else []
        if end_user is None or not memories:
            return {}
        tagged = tag_entities.tag(end_user, memories)
    provider = memory_model()
    cases = _cases(end_user, memories) if provider else []
    found: Sequence[FoundRelation] = ()
    if provider and cases:
        try:
            found = model_calls.ask(
                end_user, provider, "classify", lambda: provider.classify(cases)
            )
        except (TransientError, RefusedError):
            raise
        except ProviderError as error:
            log.warning("no relations for user %s: %s", end_user_id, error.reason)
    with atomic():
        if EndUser.objects.lock(end_user_id) is None:
            return {}
        written = _write(end_user, cases, found)
        mark(end_user, memories)
    return {
        "memories": len(memories),
        "entities": tagged,
        "edges": written,
        "calls": 1 if cases else 0,
    }


def mark(end_user: EndUser, memories: Sequence[Memory]) -> None:
    """Notes that these memories were looked at, but those that say something else by now."""
    texts = {memory.pk: memory.content for memory in memories}
    current = Memory.objects.of(end_user).filter(pk__in=texts).values_list("pk", "content")
    same = [pk for pk, content in current if texts[pk] == content]
    Memory.objects.of(end_user).filter(pk__in=same).update(related_at=timezone.now())


def _cases(end_user: EndUser, memories: Sequence[Memory]) -> list[RelationCase]:
    """Each memory beside the others that plausibly have to do with it; none without any. A
    pair is shown once, and not at all where an edge says how the two stand."""
    near = _nearest(end_user, [memory.pk for memory in memories])
    ids = {pk for others in near.values() for pk in others} | set(near)
    rows = {
        row.pk: row
        for row in Memory.objects.of(end_user).active().facts().filter(pk__in=ids).defer("tokens")
    }
    people, entities = Link.objects.of(end_user).people_by_memory(rows), _entities(end_user, rows)
    settled = _settled(end_user, ids)
    levels = calibration_of(embedder().model)

    def weigh(one: Memory, other: Memory) -> float:
        """The cosine of two memories, and what else speaks for a relation between them."""
        return (
            near[one.pk][other.pk]
            + levels.shared_person * bool(people[one.pk] & people[other.pk])
            + levels.shared_entity * bool(entities[one.pk] & entities[other.pk])
            + levels.same_talk * (one.batch_id is not None and one.batch_id == other.batch_id)
        )

    cases: list[RelationCase] = []
    for memory in memories:
        scored = {
            other: weigh(rows[memory.pk], rows[other])
            for other in near[memory.pk]
            if other in rows and memory.pk in rows and frozenset((memory.pk, other)) not in settled
        }
        related = [pk for pk in scored if scored[pk] >= levels.related]
        best = sorted(related, key=lambda pk: -scored[pk])[:CASE]
        settled |= {frozenset((memory.pk, other)) for other in best}
        if best:
            others = tuple(rows[pk].as_stored(near[memory.pk][pk]) for pk in best)
            cases.append((memory.as_stored(), others))
    return cases


_NEAREST = """
SELECT mine.memory_id, near.memory_id, near.cosine
FROM memories_vector mine CROSS JOIN LATERAL (
    SELECT other.memory_id, 1 - (other.embedding <=> mine.embedding) AS cosine
    FROM memories_vector other
    WHERE other.end_user_id = %(end_user)s AND other.space = %(space)s
      AND other.status = 'active' AND other.memory_id <> mine.memory_id
    ORDER BY other.embedding <=> mine.embedding LIMIT %(limit)s) near
WHERE mine.end_user_id = %(end_user)s AND mine.space = %(space)s AND mine.memory_id = ANY (%(ids)s)
"""


def _nearest(end_user: EndUser, ids: Sequence[UUID]) -> dict[UUID, dict[UUID, float]]:
    """For each memory the nearest others, with their cosines."""
    near: dict[UUID, dict[UUID, float]] = {pk: {} for pk in ids}
    asked: dict[str, Any] = {"end_user": end_user.pk, "ids": [*ids]}
    asked |= {"space": space(embedder()), "limit": NEAREST}
    with connection.cursor() as cursor:
        cursor.execute(_NEAREST, asked)
        for pk, other, cosine in cursor.fetchall():
            near[pk][other] = cosine
    return near


def _entities(end_user: EndUser, memories: Collection[UUID]) -> dict[UUID, set[int]]:
    """The entities that each of these memories speaks of."""
    entities: dict[UUID, set[int]] = defaultdict(set)
    tagged = EntityLink.objects.of(end_user).filter(memory__in=memories)
    for pk, entity in tagged.values_list("memory", "entity"):
        entities[pk].add(entity)
    return entities


def _settled(end_user: EndUser, ids: Collection[UUID]) -> set[frozenset[UUID]]:
    """The pairs of which it is known how they stand: by an edge, or by an operator who took a
    machine's edge away."""
    edges = Edge.objects.of(end_user).filter(source__in=ids, target__in=ids)
    known = edges.exclude(kind__startswith=Edge.SHARES_ENTITY).exclude(
        kind=Edge.Kind.WAS_CONTEXT_FOR
    )
    pairs = {frozenset(pair) for pair in known.values_list("source", "target")}
    return pairs | graph.refused(end_user)


def _write(end_user: EndUser, cases: Sequence[RelationCase], found: Iterable[FoundRelation]) -> int:
    """Writes the edges that are sure enough, between memories that are still active; returns
    how many. The caller holds the end user's lock."""
    shown = {frozenset((memory.id, other.id)) for memory, others in cases for other in others}
    chosen = {
        (one.kind, *_ends(one)): one
        for one in found
        if one.confidence >= MIN_CONFIDENCE and frozenset((one.source, one.target)) in shown
    }
    ids = {pk for one in chosen.values() for pk in (one.source, one.target)}
    rows = Memory.objects.of(end_user).active().filter(pk__in=ids).defer("tokens").in_bulk()
    edges = []
    for (kind, source, target), one in chosen.items():
        if source not in rows or target not in rows:
            continue
        if kind is Edge.Kind.SUPERSEDES:
            _supersede(end_user, rows[source], rows[target], one)
            continue
        edges.append(
            Edge(
                end_user=end_user,
                source_id=source,
                target_id=target,
                kind=kind,
                reason=stored(one.reason),
                confidence=min(1.0, one.confidence),
            )
        )
    Edge.objects.bulk_create(edges, ignore_conflicts=True)
    return len(edges)


def _ends(one: FoundRelation) -> tuple[UUID, UUID]:
    """Source and target; a relation without a direction always the same way round."""
    ends = (one.source, one.target)
    return (min(ends), max(ends)) if one.kind is Edge.Kind.CONFLICTS else ends


def _supersede(end_user: EndUser, newer: Memory, older: Memory, one: FoundRelation) -> None:
    """The older memory gives way, as when the newer was stored: undoable, and less certain."""
    if one.confidence >= SUPERSEDING and newer.said_at > older.said_at:
        supersede(
            end_user,
            [older],
            newer,
            actor=ACTOR,
            why=stored(one.reason),
            certainty=one.confidence,
        )
