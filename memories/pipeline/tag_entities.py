"""Which places, organisations, works and people memories speak of, as rows, and the edges
between memories that speak of the same (``shares_entity:NAME``).

Sparse over dense (MIRA): a memory is joined to a few latest ones of each entity, and an
entity that much of what is known speaks of joins nothing, since it tells nothing apart.
Callers hold the end user's lock.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from django.db.models import Count, Q

from accounts.models import EndUser
from accounts.reasons import Reason
from memories import graph
from memories.models import Edge, Entity, EntityLink, Link, Memory
from understanding import entities
from understanding.entities import Kind, Named

# Each memory is joined to so many others of an entity, the latest.
JOINED = 5
# An entity of more active memories than this joins nothing, and neither does one of more than
# this share of them, where these are more than a handful. Chosen for Mio: the home town of a
# user stands in a memory of ten, and nobody looks for one by the other.
MOST = 50
MOST_SHARE, HANDFUL = 0.25, 10
# Edges by a name alone may be chance.
CONFIDENCE = 0.7


def tag(end_user: EndUser, memories: Sequence[Memory]) -> int:
    """Makes the entities of these memories, and their edges by them, what their contents and
    contacts say; returns how many rows were written. Doing it again changes nothing."""
    if not memories:
        return 0
    named = _named(end_user, memories)
    held = _entities(end_user, [one for names in named.values() for one in names])
    wanted = {(pk, held[one.key].pk) for pk, names in named.items() for one in names}
    links = EntityLink.objects.of(end_user).filter(memory__in=list(named))
    there = {(link.memory_id, link.entity_id): link.pk for link in links}
    EntityLink.objects.filter(pk__in=[pk for at, pk in there.items() if at not in wanted]).delete()
    EntityLink.objects.bulk_create(
        [
            EntityLink(end_user=end_user, memory_id=memory, entity_id=entity)
            for memory, entity in sorted(wanted - set(there))
        ],
        ignore_conflicts=True,
    )
    names = {pk: {held[one.key].name for one in found} for pk, found in named.items()}
    joined = _standing_edges(end_user, names)
    entities_by_id = {entity.pk: entity for entity in held.values()}
    return len(wanted - set(there)) + _join(end_user, memories, entities_by_id, joined)


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


def _entities(end_user: EndUser, named: Collection[Named]) -> dict[str, Entity]:
    """The entities of these names by their keys, made where there were none."""
    keys = {one.key: one for one in named}
    rows = Entity.objects.of(end_user).filter(key__in=keys)
    held = {row.key: row for row in rows}
    missing = [
        Entity(end_user=end_user, kind=one.kind, name=one.name, key=key)
        for key, one in sorted(keys.items())
        if key not in held
    ]
    if missing:
        Entity.objects.bulk_create(missing, ignore_conflicts=True)
        held = {row.key: row for row in rows.all()}
    return held


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
    held: Mapping[int, Entity],
    joined: set[tuple[str, frozenset[UUID]]],
) -> int:
    """Joins each memory to the latest others of its entities, but those that are ``joined`` already;
    returns how many edges were new."""
    ids = [memory.pk for memory in memories]
    links = EntityLink.objects.of(end_user).filter(
        memory__status=Memory.Status.ACTIVE, memory__kind=Memory.Kind.FACT
    )
    counts = dict(
        links.filter(entity__in=list(held)).values_list("entity").annotate(Count("pk")).order_by()
    )
    total = Memory.objects.of(end_user).active().facts().count()
    most = min(MOST, max(HANDFUL, MOST_SHARE * total))
    few = [pk for pk in held if 1 < counts.get(pk, 0) <= most]
    latest: dict[int, list[UUID]] = defaultdict(list)
    ordered = links.filter(entity__in=few).order_by("-memory__said_at", "memory")
    for entity, memory in ordered.values_list("entity", "memory"):
        latest[entity].append(memory)
    refused = graph.refused(end_user)
    edges = []
    for entity, speaking in latest.items():
        kind = f"{Edge.SHARES_ENTITY}{held[entity].name}"
        for pk in ids:
            if pk not in speaking:
                continue
            for other in [one for one in speaking if one != pk][:JOINED]:
                pair = frozenset((pk, other))
                if (kind, pair) in joined or pair in refused:
                    continue
                joined.add((kind, pair))
                edges.append(
                    Edge(
                        end_user=end_user,
                        source_id=pk,
                        target_id=other,
                        kind=kind,
                        reason=Reason("shared_entity", name=held[entity].name).stored,
                        confidence=CONFIDENCE,
                    )
                )
    Edge.objects.bulk_create(edges, ignore_conflicts=True)
    return len(edges)
