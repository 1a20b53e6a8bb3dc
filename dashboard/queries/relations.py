"""A person among those they are related to, as a list and as a drawing."""

import math
from collections.abc import Sequence
from uuid import UUID

from contacts.models import Contact, Relation
from dashboard.charts import Drawing, Node, line, ring
from understanding.text import truncate

MOST = 16  # people around one in the drawing
# The more people around, the larger the drawing: (at most so many, width, height).
SIZES = ((2, 340, 140), (6, 480, 300), (MOST, 640, 420))
MARGIN_X, MARGIN_Y = 60, 56
SHOWN_NAME = 12  # graphemes under a node


def related(contact: Contact) -> list[Relation]:
    """All relations that a person takes part in."""
    return list(Relation.objects.of(contact.end_user_id).among([contact.pk]).order_by("id"))


def graph_of(contact: Contact, relations: Sequence[Relation]) -> Drawing[Contact]:
    """The person in the middle, those related around, and how these are related themselves."""
    around: dict[UUID, Contact] = {}
    for row in relations:
        other = row.object if row.subject_id == contact.pk else row.subject
        around.setdefault(other.pk, other)
    shown = list(around.values())[:MOST]
    width, height = next((wide, high) for most, wide, high in SIZES if len(shown) <= most)
    alone = len(shown) == 1  # the one beside the person: the two together stand in the middle
    middle = width / 2 - alone * (width / 2 - MARGIN_X) / 2, height / 2 - 8
    centre = Node(contact, truncate(contact.name, SHOWN_NAME), *middle, centre=True)
    start = 0.0 if len(shown) <= 2 else -math.pi / 2
    places = ring(len(shown), middle, (width / 2 - MARGIN_X, height / 2 - MARGIN_Y), start)
    nodes = {contact.pk: centre} | {
        other.pk: Node(other, truncate(other.name, SHOWN_NAME), *place)
        for other, place in zip(shown, places, strict=True)
    }
    rows = {row.pk: row for row in relations}
    ids = [other.pk for other in shown]
    between = Relation.objects.of(contact.end_user_id).filter(subject__in=ids, object__in=ids)
    rows |= {row.pk: row for row in between}
    kinds: dict[tuple[UUID, UUID], list[str]] = {}
    for row in rows.values():
        if row.subject_id in nodes and row.object_id in nodes:
            pair = (min(row.subject_id, row.object_id), max(row.subject_id, row.object_id))
            kinds.setdefault(pair, []).append(row.kind)
    lines = [
        line(nodes[one], nodes[other], truncate(" / ".join(dict.fromkeys(words)), SHOWN_NAME))
        for (one, other), words in kinds.items()
    ]
    return Drawing(width, height, list(nodes.values()), lines, len(around) - len(shown))
