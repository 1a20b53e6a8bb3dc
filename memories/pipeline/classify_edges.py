"""New memories find their place in the graph: their entities, and how they stand to others.

Per batch: entities are tagged, and with a model candidates are read, the model is asked once
without any lock held, and the edges are written in the transaction that marks the memories as done. A
worker that dies leaves them waiting, and doing a batch again changes nothing.

Entities are places, organisations, works and people. Sparse over dense (MIRA): a memory is joined to
a few latest ones of each entity (``shares_entity:NAME``), and an entity that much of what is known
speaks of joins nothing, since it tells nothing apart.
"""

import logging
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from uuid import UUID

from django.db import InterfaceError, OperationalError
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from accounts.cells import atomic, fetch
from accounts.models import EndUser
from accounts.reasons import Reason, fault, stored
from memories import graph, model_calls
from memories.budget import Budget
from memories.corrections.rewrite import supersede
from memories.models import Edge, Entity, EntityLink, Link, Memory
from memories.pipeline import sync_contacts
from memories.providers.errors import ProviderError, RefusedError, TransientError
from memories.providers.factory import embedder, memory_model
from memories.providers.thresholds import calibration_of
from memories.sql_files import sql_pieces
from memories.types import FoundRelation, RelationCase
from understanding import entities
from understanding.entities import Kind, Named

log = logging.getLogger(__name__)

BATCH = 20  # memories of one provider call
CASE = 5  # others shown with each
NEAREST = 40  # read by meaning, before what they share is weighed in
# An edge less sure than this is noise. A memory gives way to another only when that is surer.
MIN_CONFIDENCE = 0.6
SUPERSEDING = 0.8
ACTOR = "classifier"
# Each memory is joined to so many others of an entity, the latest.
JOINED = 5
# An entity of more active memories than this joins nothing, and neither does one of more than
# this share of them, where these are more than a handful. Chosen for Mio: the home town of a
# user stands in a memory of ten, and nobody looks for one by the other.
COMMON = 50
COMMON_SHARE, HANDFUL = 0.25, 10
# Edges by a name alone may be chance.
NAME_CONFIDENCE = 0.7
_SQL = sql_pieces(__file__)


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
            counts = dict.fromkeys(done, 0)
            first = _due().filter(end_user=end_user_id).order_by("pk").first()
            if size == 1 and first is not None:  # it can't be looked at
                mark(first.end_user, [first])
                counts["memories"] = 1
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


def _batch(end_user_id: int, size: int) -> dict[str, int]:
    """One batch; empty when nothing waits."""
    with atomic():
        end_user = EndUser.objects.lock(end_user_id)
        due = _due().filter(end_user=end_user_id).order_by("pk").defer("tokens")
        memories = list(due[:size]) if end_user else []
        if end_user is None or not memories:
            return {}
        tagged = tag(end_user, memories)
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
    people = Link.objects.of(end_user).people_by_memory(rows)
    entities_by_memory: dict[UUID, set[int]] = defaultdict(set)
    tagged = EntityLink.objects.of(end_user).filter(memory__in=rows)
    for pk, entity in tagged.values_list("memory", "entity"):
        entities_by_memory[pk].add(entity)
    settled = _settled(end_user, ids)
    levels = calibration_of(embedder().model)

    def weigh(one: Memory, other: Memory) -> float:
        """The cosine of two memories, and what else speaks for a relation between them."""
        return (
            near[one.pk][other.pk]
            + levels.shared_person * bool(people[one.pk] & people[other.pk])
            + levels.shared_entity * bool(entities_by_memory[one.pk] & entities_by_memory[other.pk])
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


def _nearest(end_user: EndUser, ids: Sequence[UUID]) -> dict[UUID, dict[UUID, float]]:
    """For each memory the nearest others, with their cosines."""
    near: dict[UUID, dict[UUID, float]] = {pk: {} for pk in ids}
    space = embedder().space
    params = {"end_user": end_user.pk, "ids": [*ids], "space": space, "limit": NEAREST}
    for pk, other, cosine in fetch(_SQL["nearest"], params):
        near[pk][other] = cosine
    return near


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
    # A relation without a direction always the same way round.
    chosen = {
        (one.kind, *(min(ends, ends[::-1]) if one.kind is Edge.Kind.CONFLICTS else ends)): one
        for one in found
        for ends in [(one.source, one.target)]
        if one.confidence >= MIN_CONFIDENCE and frozenset((one.source, one.target)) in shown
    }
    ids = {pk for one in chosen.values() for pk in (one.source, one.target)}
    rows = Memory.objects.of(end_user).active().filter(pk__in=ids).defer("tokens").in_bulk()
    edges = []
    for (kind, source, target), one in chosen.items():
        if source not in rows or target not in rows:
            continue
        if kind is Edge.Kind.SUPERSEDES:
            # The older gives way, as when the newer was stored: undoable, and less certain.
            if one.confidence >= SUPERSEDING and rows[source].said_at > rows[target].said_at:
                supersede(
                    end_user,
                    [rows[target]],
                    rows[source],
                    actor=ACTOR,
                    why=stored(one.reason),
                    certainty=one.confidence,
                )
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


def tag(end_user: EndUser, memories: Sequence[Memory]) -> int:
    """Makes the entities of these memories, and their edges by them, what their contents and
    contacts say; returns how many rows were written. Doing it again changes nothing. The caller
    holds the end user's lock."""
    if not memories:
        return 0
    named = _named(end_user, memories)
    by_key = _entity_rows(end_user, [one for names in named.values() for one in names])
    wanted = {(pk, by_key[one.key].pk) for pk, names in named.items() for one in names}
    links = EntityLink.objects.of(end_user).filter(memory__in=list(named))
    there = {(link.memory_id, link.entity_id): link.pk for link in links}
    EntityLink.objects.filter(pk__in=[pk for at, pk in there.items() if at not in wanted]).delete()
    fresh = [
        EntityLink(end_user=end_user, memory_id=memory, entity_id=entity)
        for memory, entity in sorted(wanted - set(there))
    ]
    EntityLink.objects.bulk_create(fresh, ignore_conflicts=True)
    names = {pk: {by_key[one.key].name for one in found} for pk, found in named.items()}
    joined = _standing_edges(end_user, names)
    entity_names = {entity.pk: entity.name for entity in by_key.values()}
    return len(fresh) + _join(end_user, memories, entity_names, joined)


def _named(end_user: EndUser, memories: Sequence[Memory]) -> dict[UUID, list[Named]]:
    """What each memory names. People it is linked to count by their names, also where it calls
    them otherwise."""
    links = Link.objects.of(end_user).standing().filter(memory__in=[m.pk for m in memories])
    people: dict[UUID, dict[str, str]] = defaultdict(dict)
    for link in links.select_related("contact").order_by("pk").defer("contact__memory_ids"):
        for written in (link.contact.name, *link.contact.aliases):
            people[link.memory_id].setdefault(written, link.contact.name)
    named = {}
    for memory in memories:
        known = people[memory.pk]
        found = {one.key: one for one in entities.tag(memory.content, known)}
        for name in known.values():
            linked = Named(Kind.PERSON, name[: entities.LONGEST], 0, 0)
            found.setdefault(linked.key, linked)
        named[memory.pk] = [one for key, one in found.items() if key]
    return named


def _entity_rows(end_user: EndUser, named: Collection[Named]) -> dict[str, Entity]:
    """The entities of these names by their keys, made where there were none."""
    keys = {one.key: one for one in named}
    rows = Entity.objects.of(end_user).filter(key__in=keys)
    known = {row.key for row in rows}
    missing = [
        Entity(end_user=end_user, kind=one.kind, name=one.name, key=key)
        for key, one in sorted(keys.items())
        if key not in known
    ]
    Entity.objects.bulk_create(missing, ignore_conflicts=True)
    return {row.key: row for row in (rows.all() if missing else rows)}


def _standing_edges(
    end_user: EndUser, names: Mapping[UUID, Collection[str]]
) -> set[tuple[str, frozenset[UUID]]]:
    """Which of these memories (with the names of their entities) an entity joins to which others,
    either way. Takes away the edges by an entity that one of them no longer speaks of."""
    edges = Edge.objects.of(end_user).filter(kind__startswith=Edge.SHARES_ENTITY)
    ends = Q(source__in=list(names)) | Q(target__in=list(names))
    rows = list(edges.filter(ends).values_list("pk", "kind", "source", "target"))
    gone = {
        pk
        for pk, kind, *pair in rows
        if any(end in names and kind[len(Edge.SHARES_ENTITY) :] not in names[end] for end in pair)
    }
    Edge.objects.filter(pk__in=gone).delete()
    return {(kind, frozenset(pair)) for pk, kind, *pair in rows if pk not in gone}


def _join(
    end_user: EndUser,
    memories: Sequence[Memory],
    names: Mapping[int, str],
    joined: set[tuple[str, frozenset[UUID]]],
) -> int:
    """Joins each memory to the latest others of its entities (with their ``names``), but those that are
    ``joined`` already; returns how many edges were new."""
    links = EntityLink.objects.of(end_user).filter(
        memory__status=Memory.Status.ACTIVE, memory__kind=Memory.Kind.FACT
    )
    counts = dict(
        links.filter(entity__in=list(names)).values_list("entity").annotate(Count("pk")).order_by()
    )
    total = Memory.objects.of(end_user).active().facts().count()
    most = min(COMMON, max(HANDFUL, COMMON_SHARE * total))
    few = [pk for pk in names if 1 < counts.get(pk, 0) <= most]
    latest: dict[int, list[UUID]] = defaultdict(list)
    ordered = links.filter(entity__in=few).order_by("-memory__said_at", "memory")
    for entity, memory in ordered.values_list("entity", "memory"):
        latest[entity].append(memory)
    refused = graph.refused(end_user)
    edges = []
    for entity, speaking in latest.items():
        kind = f"{Edge.SHARES_ENTITY}{names[entity]}"
        reason = Reason("shared_entity", name=names[entity]).stored
        for one in (memory.pk for memory in memories if memory.pk in speaking):
            for other in [pk for pk in speaking if pk != one][:JOINED]:
                pair = frozenset((one, other))
                if (kind, pair) not in joined and pair not in refused:
                    joined.add((kind, pair))
                    edges.append(
                        Edge(
                            end_user=end_user,
                            source_id=one,
                            target_id=other,
                            kind=kind,
                            reason=reason,
                            confidence=NAME_CONFIDENCE,
                        )
                    )
    Edge.objects.bulk_create(edges, ignore_conflicts=True)
    return len(edges)
