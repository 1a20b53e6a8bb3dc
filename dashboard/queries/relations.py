"""A person among those they are related to, as a list and as a drawing."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from contacts.models import Contact, Relation
from contacts.text import truncate

MOST = 16  # people around one in the drawing
WIDTH = 640
# The more people around, the higher the drawing: (at most so many, height).
HEIGHTS = ((2, 140), (6, 300), (MOST, 420))
MARGIN_X, MARGIN_Y = 90, 56
SHOWN_NAME = 12  # graphemes under a node


@dataclass(frozen=True, slots=True)
class Node:
    """A person at a place of the drawing."""

    contact: Contact
    name: str
    x: float
    y: float
    centre: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A relation between two nodes, its kind written in the middle."""

    x1: float
    y1: float
    x2: float
    y2: float
    kind: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Graph:
    """A drawing of ``width`` × ``height``; ``hidden`` people found no room."""

    nodes: Sequence[Node]
    lines: Sequence[Line]
    hidden: int
    height: int
    width: int = WIDTH


def related(contact: Contact) -> list[Relation]:
    """All relations that a person takes part in."""
    return list(Relation.objects.of(contact.end_user_id).among([contact.pk]).order_by("id"))


def graph_of(contact: Contact, relations: Sequence[Relation]) -> Graph:
    """The person in the middle, those related around, and how these are related themselves."""
    around: dict[UUID, Contact] = {}
    for row in relations:
        other = row.object if row.subject_id == contact.pk else row.subject
        around.setdefault(other.pk, other)
    shown = list(around.values())[:MOST]
    height = next(high for most, high in HEIGHTS if len(shown) <= most)
    middle = WIDTH / 2, height / 2 - 8
    nodes = {contact.pk: Node(contact, truncate(contact.name, SHOWN_NAME), *middle, centre=True)}
    start = 0.0 if len(shown) <= 2 else -math.pi / 2
    for place, other in enumerate(shown):
        angle = start + 2 * math.pi * place / len(shown)
        x = middle[0] + (WIDTH / 2 - MARGIN_X) * math.cos(angle)
        y = middle[1] + (height / 2 - MARGIN_Y) * math.sin(angle)
        name = truncate(other.name, SHOWN_NAME)
        nodes[other.pk] = Node(other, name, round(x, 1), round(y, 1))
    rows = {row.pk: row for row in relations}
    ids = [other.pk for other in shown]
    between = Relation.objects.of(contact.end_user_id).filter(subject__in=ids, object__in=ids)
    rows |= {row.pk: row for row in between}
    kinds: dict[tuple[UUID, UUID], list[str]] = {}
    for row in rows.values():
        if row.subject_id in nodes and row.object_id in nodes:
            pair = (min(row.subject_id, row.object_id), max(row.subject_id, row.object_id))
            kinds.setdefault(pair, []).append(row.kind)
    lines = [_line(nodes[one], nodes[other], " / ".join(dict.fromkeys(words)))
             for (one, other), words in kinds.items()]  # fmt: skip
    return Graph(list(nodes.values()), lines, len(around) - len(shown), height)


def _line(one: Node, other: Node, kind: str) -> Line:
    return Line(one.x, one.y, other.x, other.y, truncate(kind, SHOWN_NAME),
                round((one.x + other.x) / 2, 1), round((one.y + other.y) / 2, 1))  # fmt: skip
