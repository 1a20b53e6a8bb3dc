"""Memories as lists and as a graph, and why each is found and how much it counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Prefetch, QuerySet

from accounts.models import EndUser
from contacts.text import truncate
from dashboard.charts import Drawing, Node, line, ring
from memories import graph
from memories.models import Edge, Link, Memory, Message
from memories.search.ranking import Hit

FOUND = 30  # results of a search
MOST_MESSAGES = 20
WIDTH, HEIGHT, RING = 720, 420, 165
MOST_NODES = 14  # beside the one in the middle: more can't be read
LABEL = 14  # graphemes under a node


def with_people(rows: QuerySet) -> QuerySet:
    """Memories with whom they are about, in a fixed number of statements."""
    links = Link.objects.filter(rejected=False).select_related("contact")
    links = links.defer("contact__memory_ids", "contact__embedding").order_by("pk")
    return rows.defer("tokens").prefetch_related(Prefetch("links", links))


def latest(end_user: EndUser, status: str, kind: str) -> QuerySet[Memory]:
    """An end user's memories of a status and type, where these are given."""
    rows = Memory.objects.of(end_user)
    if status in Memory.Status:
        rows = rows.filter(status=status)
    if kind:
        rows = rows.filter(type=kind)
    return with_people(rows)


@dataclass(frozen=True, slots=True)
class Result:
    """A search hit with its memory as lists show it."""

    hit: Hit
    memory: Memory


def found(end_user: EndUser, hits: Sequence[Hit]) -> list[Result]:
    """The hits in their order, each memory with its people."""
    rows = with_people(Memory.objects.of(end_user)).in_bulk([hit.memory.pk for hit in hits])
    return [Result(hit, rows[hit.memory.pk]) for hit in hits if hit.memory.pk in rows]


def replacements(end_user: EndUser, memories: Sequence[Memory]) -> dict[UUID, Memory]:
    """What took the place of each of these memories that is outdated or merged."""
    old = [memory.pk for memory in memories if memory.status != Memory.Status.ACTIVE]
    edges = Edge.objects.of(end_user).filter(kind=Edge.Kind.SUPERSEDES, target__in=old)
    rows = edges.select_related("source").defer("source__tokens").order_by("pk")
    newer = {edge.target_id: edge.source for edge in rows}
    merged = {memory.pk: memory.merged_into_id for memory in memories if memory.merged_into_id}
    into = Memory.objects.of(end_user).defer("tokens").in_bulk(list(merged.values()))
    return newer | {pk: into[other] for pk, other in merged.items() if other in into}


def sources(memory: Memory) -> list[Message]:
    """The messages that a memory rests on."""
    rows = Message.objects.of(memory.end_user_id).filter(pk__in=memory.source_message_ids)
    return list(rows.order_by("seq")[:MOST_MESSAGES])


@dataclass(frozen=True, slots=True)
class Beside:
    """A memory one edge away; ``inverse`` when the edge is stated from it to this one."""

    memory: Memory
    step: graph.Step


def beside(memory: Memory) -> list[Beside]:
    """The memories one edge away, the strongest edge first."""
    near = graph.neighbours(memory.end_user, [memory.pk], hops=1, limit=MOST_NODES, heal=False)
    rows = with_people(Memory.objects.of(memory.end_user_id)).in_bulk(list(near))
    return [Beside(rows[pk], found.steps[-1]) for pk, found in near.items() if pk in rows]


def picture(memory: Memory, near: Sequence[Beside]) -> Drawing[Memory]:
    """The memory in the middle, its neighbours on a ring around it."""
    middle = (WIDTH / 2, HEIGHT / 2)
    centre = Node(memory, truncate(memory.content, LABEL), *middle, centre=True)
    # An ellipse: texts are wide.
    places = ring(len(near), middle, (1.6 * RING, RING))
    around = [
        Node(other.memory, truncate(other.memory.content, LABEL), *place)
        for other, place in zip(near, places, strict=True)
    ]
    lines = [line(centre, node, other.step.kind) for node, other in zip(around, near, strict=True)]
    return Drawing(WIDTH, HEIGHT, [centre, *around], lines)
