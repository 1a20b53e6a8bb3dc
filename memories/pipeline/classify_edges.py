"""Adds new memories to the graph: tags their entities and finds how they are related to others.

For each batch, entities are tagged; with a model, candidates are read, the model is asked once
without any lock held, and the edges are written in the transaction that marks the memories as
done. A worker that dies leaves them waiting; repeating a batch changes nothing.

Entities are places, organisations, works and people. Sparse over dense (MIRA): a memory is joined
to a few latest ones of each entity (``shares_entity:NAME``), and an entity that many of a user's
memories mention joins nothing, since it distinguishes nothing.
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
from accounts.sql_files import sql_pieces
from memories import graph, model_calls
from memories.budget import Budget
from memories.corrections.rewrite import supersede
from memories.models import Edge, Entity, EntityLink, Link, Memory
from memories.pipeline import sync_contacts
from memories.providers.errors import ProviderError, RefusedError, TransientError
from memories.providers.factory import embedder, memory_model
from memories.providers.thresholds import calibration_of
from memories.types import FoundRelation, RelationCase, Resolution, Verdict
from understanding import entities
from understanding.entities import Kind, Named

log = logging.getLogger(__name__)

BATCH = 20  # memories of one provider call
CASE = 5  # others shown with each
NEAREST = 40  # nearest in meaning, before shared people and entities count
# An edge of less confidence is noise; one that makes a memory outdated needs more.
MIN_CONFIDENCE = 0.6
SUPERSEDING = 0.8
ACTOR = "classifier"
# How many others of an entity each memory is joined to, the latest.
JOINED = 5
# An entity of more active memories than this joins nothing, and neither does one of more than
# this share of them, if these are more than a handful. Chosen for Mio: one memory in ten mentions
# a user's home town, and nobody looks for one of them by another.
COMMON = 50
COMMON_SHARE, HANDFUL = 0.25, 10
# A shared name may be chance.
NAME_CONFIDENCE = 0.7
_SQL = sql_pieces(__file__)


def users_due() -> list[int]:
    """Returns the ids of end users with memories that wait."""
    return list(_due().order_by("end_user").values_list("end_user", flat=True).distinct())


def relate(end_user_id: int, budget: Budget) -> dict[str, int]:
    """Finds entities and edges of a user's new memories until none is left or the budget is
    spent; returns counts of ``memories``, ``entities``, ``edges`` and ``calls``.

    Raises TransientError or RefusedError if the provider is unavailable: the rest waits. A batch
    that the provider can never answer keeps its entities and is not asked about again.
    """
    done = {"memories": 0, "entities": 0, "edges": 0, "calls": 0}
    size = BATCH
    while budget.left:
        try:
            counts = _relate_batch(end_user_id, size)
        except (TransientError, RefusedError, InterfaceError, OperationalError):
            raise
        except Exception as error:  # noqa: BLE001 one memory must not keep the others waiting
            log.warning("no relations for user %s: %s", end_user_id, fault(error))
            counts = dict.fromkeys(done, 0)
            first = _due().filter(end_user=end_user_id).order_by("pk").first()
            if size == 1 and first is not None:  # it can't be processed
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
    """Returns the memories that wait, if embedded: without a vector nothing near is found."""
    active = Memory.objects.active().facts().filter(related_at=None)
    return active.exclude(embedding_model="")


def _relate_batch(end_user_id: int, size: int) -> dict[str, int]:
    """Processes one batch and returns its counts; empty if nothing waits."""
    with atomic():
        end_user = EndUser.objects.lock(end_user_id)
        due = _due().filter(end_user=end_user_id).order_by("pk").defer("tokens")
        memories = list(due[:size]) if end_user else []
        if end_user is None or not memories:
            return {}
        tagged = tag(end_user, memories)
    provider = memory_model()
    cases = _cases(end_user, memories) if provider else []
    relations: Sequence[FoundRelation] = ()
    if provider and cases:
        try:
            relations = model_calls.ask(
                end_user, provider, "classify", lambda: provider.classify(cases)
            )
        except (TransientError, RefusedError):
            raise
        except ProviderError as error:
            log.warning("no relations for user %s: %s", end_user_id, error.reason)
    with atomic():
        if EndUser.objects.lock(end_user_id) is None:
            return {}
        written = _write_edges(end_user, cases, relations)
        mark(end_user, memories)
    return {
        "memories": len(memories),
        "entities": tagged,
        "edges": written,
        "calls": 1 if cases else 0,
    }


def mark(end_user: EndUser, memories: Sequence[Memory]) -> None:
    """Marks these memories as done, except those whose content has changed meanwhile."""
    texts = {memory.pk: memory.content for memory in memories}
    current = Memory.objects.of(end_user).filter(pk__in=texts).values_list("pk", "content")
    unchanged = [pk for pk, content in current if texts[pk] == content]
    Memory.objects.of(end_user).filter(pk__in=unchanged).update(related_at=timezone.now())


def _cases(end_user: EndUser, memories: Sequence[Memory]) -> list[RelationCase]:
    """Returns each memory with the others that may be related to it; memories without any are left
    out. A pair is shown once, and not at all if an edge already states its relation."""
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
    settled = _settled_pairs(end_user, ids)
    levels = calibration_of(embedder().model)

    def weigh(one: Memory, other: Memory) -> float:
        """Returns their cosine, raised for a shared person, entity or conversation."""
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
    """Returns for each memory the nearest others, with their cosines."""
    near: dict[UUID, dict[UUID, float]] = {pk: {} for pk in ids}
    space = embedder().space
    params = {"end_user": end_user.pk, "ids": [*ids], "space": space, "limit": NEAREST}
    for pk, other, cosine in fetch(_SQL["nearest"], params):
        near[pk][other] = cosine
    return near


def _settled_pairs(end_user: EndUser, ids: Collection[UUID]) -> set[frozenset[UUID]]:
    """Returns the pairs whose relation is decided, by an edge or by an operator who removed a
    machine's edge."""
    edges = Edge.objects.of(end_user).filter(source__in=ids, target__in=ids)
    deciding = edges.exclude(kind__startswith=Edge.SHARES_ENTITY).exclude(
        kind=Edge.Kind.WAS_CONTEXT_FOR
    )
    pairs = {frozenset(pair) for pair in deciding.values_list("source", "target")}
    return pairs | graph.disconnected_pairs(end_user)


def _write_edges(
    end_user: EndUser, cases: Sequence[RelationCase], relations: Iterable[FoundRelation]
) -> int:
    """Writes edges of enough confidence between memories that are still active, and makes
    superseded memories outdated; returns how many edges. The caller holds the end user's lock."""
    shown = {frozenset((memory.id, other.id)) for memory, others in cases for other in others}
    # Conflicts, which have no direction, always the same way round.
    chosen = {
        (one.kind, *(min(ends, ends[::-1]) if one.kind is Edge.Kind.CONFLICTS else ends)): one
        for one in relations
        for ends in [(one.source, one.target)]
        if one.confidence >= MIN_CONFIDENCE and frozenset((one.source, one.target)) in shown
    }
    ids = {pk for relation in chosen.values() for pk in (relation.source, relation.target)}
    rows = Memory.objects.of(end_user).active().filter(pk__in=ids).defer("tokens").in_bulk()
    edges = []
    for (kind, source, target), relation in chosen.items():
        if source not in rows or target not in rows:
            continue
        if kind is Edge.Kind.SUPERSEDES:
            # As if it was found when the newer was stored: undoable, and less certain.
            if relation.confidence >= SUPERSEDING and rows[source].said_at > rows[target].said_at:
                supersede(
                    end_user,
                    [rows[target]],
                    rows[source],
                    Resolution(Verdict.SUPERSEDES, (target,), relation.reason),
                    actor=ACTOR,
                    certainty=relation.confidence,
                )
            continue
        edges.append(
            Edge(
                end_user=end_user,
                source_id=source,
                target_id=target,
                kind=kind,
                reason=stored(relation.reason),
                confidence=min(1.0, relation.confidence),
            )
        )
    Edge.objects.bulk_create(edges, ignore_conflicts=True)
    return len(edges)


def tag(end_user: EndUser, memories: Sequence[Memory]) -> int:
    """Makes the entities and entity edges of these memories agree with their content and contacts;
    returns how many rows were written. Repeating it changes nothing. The caller holds the end
    user's lock."""
    if not memories:
        return 0
    tagged = _named_entities(end_user, memories)
    by_key = _entity_rows(end_user, [one for names in tagged.values() for one in names])
    wanted = {(pk, by_key[one.key].pk) for pk, names in tagged.items() for one in names}
    links = EntityLink.objects.of(end_user).filter(memory__in=list(tagged))
    linked = {(link.memory_id, link.entity_id): link.pk for link in links}
    EntityLink.objects.filter(pk__in=[pk for at, pk in linked.items() if at not in wanted]).delete()
    fresh = [
        EntityLink(end_user=end_user, memory_id=memory, entity_id=entity)
        for memory, entity in sorted(wanted - set(linked))
    ]
    EntityLink.objects.bulk_create(fresh, ignore_conflicts=True)
    names = {pk: {by_key[one.key].name for one in named} for pk, named in tagged.items()}
    joined = _entity_edges(end_user, names)
    entity_names = {entity.pk: entity.name for entity in by_key.values()}
    return len(fresh) + _join_by_entity(end_user, memories, entity_names, joined)


def _named_entities(end_user: EndUser, memories: Sequence[Memory]) -> dict[UUID, list[Named]]:
    """Returns the entities that each memory names. People to whom it is linked count by the names
    of their contacts, even if it calls them otherwise."""
    links = Link.objects.of(end_user).standing().filter(memory__in=[m.pk for m in memories])
    people: dict[UUID, dict[str, str]] = defaultdict(dict)
    for link in links.select_related("contact").order_by("pk").defer("contact__memory_ids"):
        for written in (link.contact.name, *link.contact.aliases):
            people[link.memory_id].setdefault(written, link.contact.name)
    named_by_memory = {}
    for memory in memories:
        people_named = people[memory.pk]
        by_key = {one.key: one for one in entities.tag(memory.content, people_named)}
        for name in people_named.values():
            linked = Named(Kind.PERSON, name[: entities.LONGEST], 0, 0)
            by_key.setdefault(linked.key, linked)
        named_by_memory[memory.pk] = [one for key, one in by_key.items() if key]
    return named_by_memory


def _entity_rows(end_user: EndUser, tagged: Collection[Named]) -> dict[str, Entity]:
    """Returns the entities of these names by their keys; creates missing ones."""
    keys = {one.key: one for one in tagged}
    rows = Entity.objects.of(end_user).filter(key__in=keys)
    known_keys = {row.key for row in rows}
    missing = [
        Entity(end_user=end_user, kind=one.kind, name=one.name, key=key)
        for key, one in sorted(keys.items())
        if key not in known_keys
    ]
    Entity.objects.bulk_create(missing, ignore_conflicts=True)
    return {row.key: row for row in (rows.all() if missing else rows)}


def _entity_edges(
    end_user: EndUser, names: Mapping[UUID, Collection[str]]
) -> set[tuple[str, frozenset[UUID]]]:
    """Returns the entity edges of these memories, in either direction, as (kind, pair). Deletes
    those by an entity that one of them no longer mentions: ``names`` are the entities of each."""
    edges = Edge.objects.of(end_user).filter(kind__startswith=Edge.SHARES_ENTITY)
    ends = Q(source__in=list(names)) | Q(target__in=list(names))
    rows = list(edges.filter(ends).values_list("pk", "kind", "source", "target"))
    stale = {
        pk
        for pk, kind, *pair in rows
        if any(end in names and kind[len(Edge.SHARES_ENTITY) :] not in names[end] for end in pair)
    }
    Edge.objects.filter(pk__in=stale).delete()
    return {(kind, frozenset(pair)) for pk, kind, *pair in rows if pk not in stale}


def _join_by_entity(
    end_user: EndUser,
    memories: Sequence[Memory],
    names: Mapping[int, str],
    joined: set[tuple[str, frozenset[UUID]]],
) -> int:
    """Joins each memory to the latest others of its entities (``names`` by id), except pairs that
    are ``joined`` already; returns how many edges are new."""
    links = EntityLink.objects.of(end_user).filter(
        memory__status=Memory.Status.ACTIVE, memory__kind=Memory.Kind.FACT
    )
    counts = dict(
        links.filter(entity__in=list(names)).values_list("entity").annotate(Count("pk")).order_by()
    )
    total = Memory.objects.of(end_user).active().facts().count()
    most = min(COMMON, max(HANDFUL, COMMON_SHARE * total))
    distinctive = [pk for pk in names if 1 < counts.get(pk, 0) <= most]
    latest: dict[int, list[UUID]] = defaultdict(list)
    ordered = links.filter(entity__in=distinctive).order_by("-memory__said_at", "memory")
    for entity, memory in ordered.values_list("entity", "memory"):
        latest[entity].append(memory)
    disconnected = graph.disconnected_pairs(end_user)
    edges = []
    for entity, mentioning in latest.items():
        kind = f"{Edge.SHARES_ENTITY}{names[entity]}"
        reason = Reason("shared_entity", name=names[entity]).stored
        for memory_id in (memory.pk for memory in memories if memory.pk in mentioning):
            for other in [pk for pk in mentioning if pk != memory_id][:JOINED]:
                pair = frozenset((memory_id, other))
                if (kind, pair) not in joined and pair not in disconnected:
                    joined.add((kind, pair))
                    edges.append(
                        Edge(
                            end_user=end_user,
                            source_id=memory_id,
                            target_id=other,
                            kind=kind,
                            reason=reason,
                            confidence=NAME_CONFIDENCE,
                        )
                    )
    Edge.objects.bulk_create(edges, ignore_conflicts=True)
    return len(edges)
