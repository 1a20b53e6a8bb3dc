"""The people of an end user as a map: who knows whom, in which groups."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from uuid import UUID

import networkx as nx
import numpy as np
from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Count
from django.utils.translation import gettext as _

from accounts.models import EndUser
from contacts.models import Contact, ContactKey, Relation
from dashboard.words import GROUPS as TITLES
from dashboard.words import in_words
from memories.models import Link, Memory
from understanding.names import GROUPS, KIN, kinds_of
from understanding.text import clean

MOST = 300  # people read
DRAWN = 70  # at once: more can't be taken in, nor fit a screen
MOST_TOLD = 4000  # memories of several people, the latest
CROWD = 8  # a memory of more people says nothing of any two
STATED = 3.0  # what a stated relation weighs beside being told of together once
MOST_LINES = 500
KNOWN = 6  # people named beside one in the list
WIDE, NARROW = 1000.0, 340.0  # a desk, a phone
SMALL, LARGE = 11.0, 22.0  # radius of a disc
LABEL = 9  # graphemes under a disc
STEPS = 40  # of the force-directed layout
PAD, TITLE, GAP = 14.0, 30.0, 12.0  # of a panel
Ties = Mapping[tuple[int, int], float]


@dataclass(frozen=True, slots=True)
class Panel:
    """Where a community stands: a box with its title."""

    x: float
    y: float
    width: float
    height: float
    title: str


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Panels and, in the order of ``boxes``, the middle of each node, in a frame of ``width`` ×
    ``height``."""

    width: float
    height: float
    panels: list[Panel]
    places: list[tuple[float, float]]


def _graph(nodes: Iterable[int], ties: Ties) -> nx.Graph:
    """The nodes with those ties that connect two of them."""
    graph = nx.Graph()
    graph.add_nodes_from(nodes)
    inside = [(a, b, w) for (a, b), w in sorted(ties.items()) if a in graph and b in graph]
    graph.add_weighted_edges_from(inside)
    return graph


def communities(count: int, ties: Ties) -> list[list[int]]:
    """Nodes 0..count-1 in groups by greedy modularity (Clauset, Newman and Moore, 2004), each in
    order, as are the groups by their first nodes; a node without ties is a group of its own."""
    groups = nx.community.greedy_modularity_communities(_graph(range(count), ties), weight="weight")
    return sorted(sorted(group) for group in groups)


def arrange(
    groups: Sequence[tuple[str, Sequence[int]]],
    boxes: Sequence[tuple[float, float]],
    ties: Ties,
    widths: Sequence[float],
) -> list[Arrangement]:
    """For each of ``widths`` a panel a group, in rows that fill it; in each panel its nodes
    (``boxes`` are their widths and heights), those tied near each other, none over another."""
    forces = [_forces(members, ties) for _title, members in groups]
    return [_arranged(groups, boxes, forces, width) for width in widths]


def _arranged(
    groups: Sequence[tuple[str, Sequence[int]]],
    boxes: Sequence[tuple[float, float]],
    forces: Sequence[np.ndarray],
    width: float,
) -> Arrangement:
    content = [
        _rows(members, boxes, points, width - 2 * PAD)
        for (_title, members), points in zip(groups, forces, strict=True)
    ]
    places = [(0.0, 0.0)] * len(boxes)
    panels: list[Panel] = []
    at, y = 0, 0.0
    while at < len(groups):
        sizes: list[tuple[float, float]] = []
        while at + len(sizes) < len(groups):
            title, _members = groups[at + len(sizes)]
            size = _size(title, content[at + len(sizes)], boxes, width)
            if sizes and sum(w + GAP for w, _ in sizes) + size[0] > width:
                break
            sizes.append(size)
        spare = (width - sum(w for w, _ in sizes) - GAP * (len(sizes) - 1)) / len(sizes)
        high, x = max(h for _, h in sizes), 0.0
        for wide, tall in sizes:
            panel = Panel(x, y, wide + spare, high, groups[at][0])
            _place(content[at], boxes, panel, (high - tall) / 2, places)
            panels.append(panel)
            x += panel.width + GAP
            at += 1
        y += high + GAP
    return Arrangement(width, max(y - GAP, 0.0), panels, places)


def _rows(
    members: Sequence[int], boxes: Sequence[tuple[float, float]], points: np.ndarray, most: float
) -> list[list[int]]:
    """The members in rows no wider than ``most``, near each other as the forces put them."""
    area = sum(boxes[node][0] * boxes[node][1] for node in members)
    whole = sum(boxes[node][0] for node in members)
    wanted = whole / max(1, round(whole / min(most, math.sqrt(area * 1.9))))
    rows: list[list[int]] = [[]]
    wide = 0.0
    for place in np.lexsort((points[:, 0], points[:, 1].round(6))):
        node = members[place]
        if rows[-1] and (wide + boxes[node][0] > most or wide >= wanted):
            rows.append([])
            wide = 0.0
        rows[-1].append(node)
        wide += boxes[node][0]
    across = {node: points[place, 0] for place, node in enumerate(members)}
    return [sorted(row, key=lambda node: (across[node], node)) for row in rows]


def _forces(members: Sequence[int], ties: Ties) -> np.ndarray:
    """A point for each member: all push each other away, ties pull (Fruchterman and Reingold,
    1991)."""
    places = nx.spring_layout(_graph(members, ties), iterations=STEPS, seed=0)
    return np.array([places[node] for node in members])


def _size(
    title: str, rows: list[list[int]], boxes: Sequence[tuple[float, float]], most: float
) -> tuple[float, float]:
    """What a panel takes at least."""
    wide = max([sum(boxes[node][0] for node in row) for row in rows] + [text_width(title)])
    tall = sum(max(boxes[node][1] for node in row) for row in rows)
    return min(wide + 2 * PAD, most), tall + TITLE + PAD


def _place(
    rows: list[list[int]],
    boxes: Sequence[tuple[float, float]],
    panel: Panel,
    down: float,
    places: list[tuple[float, float]],
) -> None:
    y = panel.y + TITLE + down
    for row in rows:
        tall = max(boxes[node][1] for node in row)
        x = panel.x + (panel.width - sum(boxes[node][0] for node in row)) / 2
        for node in row:
            places[node] = (round(x + boxes[node][0] / 2, 1), round(y + tall / 2, 1))
            x += boxes[node][0]
        y += tall


def text_width(text: str, size: float = 12.0) -> float:
    """About how wide a text is drawn in this font size, from above."""
    return sum(size * (1.05 if ord(char) > 0x2E7F else 0.62) for char in text)


@dataclass(frozen=True, slots=True)
class Person:
    """One on the map. ``knows`` are others with what they are to this one, where it was said."""

    contact: Contact
    label: str
    radius: float
    knows: list[tuple[Contact, str]]


@dataclass(frozen=True, slots=True)
class Node:
    person: Person
    place: int
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Drawing:
    """``panels`` with the number of the group that each shows; ``lines`` between two nodes, and
    whether each is stated as a relation."""

    arrangement: Arrangement
    panels: list[tuple[Panel, int]]
    nodes: list[Node]
    lines: list[tuple[Node, Node, bool]]


@dataclass(frozen=True, slots=True)
class PeopleMap:
    """All ``groups`` for reading; drawings for a desk and for a phone. ``undrawn`` people of the
    groups are not drawn, ``hidden`` are in none, both the least mentioned."""

    groups: list[tuple[str, list[Person]]]
    wide: Drawing
    narrow: Drawing
    undrawn: int
    hidden: int


def people_map(end_user: EndUser, chosen: int | None = None) -> PeopleMap:
    """The most mentioned people with their ties and communities, and a drawing of the group of the
    number ``chosen``, else of the DRAWN most mentioned of all. Five statements."""
    rows = Contact.objects.of(end_user).listed()
    shown = rows.only("id", "name", "relationship", "mention_count", "namesake", "end_user_id")
    people = list(shown.order_by("-mention_count", "id")[:MOST])
    hidden = rows.count() - len(people)
    index = {contact.pk: place for place, contact in enumerate(people)}
    relations = list(
        Relation.objects.of(end_user)
        .filter(subject__in=index, object__in=index)
        .order_by("id")
        .values_list("subject", "kind", "object")
    )
    stated = {_pair(index[one], index[other]) for one, _kind, other in relations}
    ties = _told_together(end_user, index)
    for pair in stated:
        ties[pair] = ties.get(pair, 0.0) + STATED
    groups = _groups(end_user, people, ties)
    known = _knows(people, index, relations, ties)
    most = max((contact.mention_count for contact in people), default=0)
    persons = [
        Person(contact, clean(contact.name, LABEL) or "?", _radius(contact.mention_count, most),
               known[place])
        for place, contact in enumerate(people)
    ]  # fmt: skip
    # People are in order of their mentions, the most mentioned first.
    drawn = [
        (number, title, [place for place in members if place < DRAWN or number == chosen])
        for number, (title, members) in enumerate(groups)
        if chosen in (None, number)
    ]
    wide, narrow = _drawings([group for group in drawn if group[2]], persons, ties, stated)
    undrawn = sum(len(groups[number][1]) - len(shown) for number, _title, shown in drawn)
    listed = [(title, [persons[place] for place in members]) for title, members in groups]
    return PeopleMap(listed, wide, narrow, undrawn, hidden)


def _pair(one: int, other: int) -> tuple[int, int]:
    return (one, other) if one < other else (other, one)


def _told_together(end_user: EndUser, index: Mapping[UUID, int]) -> dict[tuple[int, int], float]:
    """How often two people were told of in one breath; a memory of many ties each two less."""
    links = Link.objects.of(end_user).standing().filter(
        contact__in=index, memory__kind=Memory.Kind.FACT, memory__status=Memory.Status.ACTIVE
    )  # fmt: skip
    together = (
        links.order_by()
        .values("memory")
        .annotate(size=Count("contact"), who=ArrayAgg("contact"))
        .filter(size__gt=1, size__lte=CROWD)
        .order_by("-memory")
        .values_list("who", flat=True)[:MOST_TOLD]
    )
    ties: dict[tuple[int, int], float] = {}
    for who in together:
        for one, other in combinations(sorted(index[pk] for pk in who), 2):
            ties[one, other] = ties.get((one, other), 0.0) + 1 / (len(who) - 1)
    return ties


def _groups(
    end_user: EndUser, people: Sequence[Contact], ties: Ties
) -> list[tuple[str, list[int]]]:
    """The communities, the most mentioned first. Who has no tie stands with those who are the same to
    the end user: family, friends, work."""
    of = _relationships(end_user, people)
    alone: dict[str, list[int]] = {}
    communities_by_kind: list[tuple[str, list[int]]] = []
    for members in communities(len(people), ties):
        kinds = [of.get(people[place].pk, "") for place in members]
        common = max(GROUPS, key=kinds.count)
        if len(members) == 1:
            alone.setdefault(kinds[0] or "other", []).extend(members)
        elif 2 * kinds.count(common) > len(members):
            communities_by_kind.append((common, members))
        else:
            communities_by_kind.append(("", members))
    done: list[tuple[str, list[int]]] = []
    named = set()
    for kind, members in communities_by_kind:
        if kind and kind not in named:  # the first of its kind, with those of it who stand alone
            named.add(kind)
            done.append((in_words(TITLES, kind), sorted([*members, *alone.pop(kind, [])])))
        else:
            around = {"name": clean(people[members[0]].name, 2 * LABEL)}
            done.append((_("Around %(name)s") % around, members))
    done.sort(key=lambda group: -sum(people[place].mention_count for place in group[1]))
    rest = sorted(alone.items(), key=lambda item: (item[0] == "other", -len(item[1]), item[1]))
    return [*done, *((in_words(TITLES, kind), members) for kind, members in rest)]


def _relationships(end_user: EndUser, people: Sequence[Contact]) -> dict[UUID, str]:
    """Which of ``GROUPS`` each belongs to, where it is known."""
    kinds = {KIN + kind: group for group in reversed(GROUPS) for kind in kinds_of(group)}
    keys = ContactKey.objects.of(end_user).filter(
        contact__in=[contact.pk for contact in people], key__startswith=KIN
    )
    rows = keys.order_by("key").values_list("contact", "key")
    return {contact: kinds[key] for contact, key in rows if key in kinds}


def _knows(
    people: Sequence[Contact],
    index: Mapping[UUID, int],
    relations: Sequence[tuple[UUID, str, UUID]],
    ties: Ties,
) -> list[list[tuple[Contact, str]]]:
    """For each of the people whom they are tied to, the strongest first."""
    kinds: dict[tuple[int, int], str] = {}
    for subject, kind, of in relations:
        kinds.setdefault((index[of], index[subject]), kind)
    neighbours: list[list[tuple[float, int]]] = [[] for _ in people]
    for (one, other), weight in ties.items():
        neighbours[one].append((-weight, other))
        neighbours[other].append((-weight, one))
    return [
        [(people[other], kinds.get((place, other), "")) for _weight, other in sorted(near)[:KNOWN]]
        for place, near in enumerate(neighbours)
    ]


def _radius(mentions: int, most: int) -> float:
    """By area, as the eye compares discs."""
    return round(SMALL + (LARGE - SMALL) * math.sqrt(mentions / most), 1) if most else SMALL


def _drawings(
    groups: Sequence[tuple[int, str, Sequence[int]]],
    persons: Sequence[Person],
    ties: Ties,
    stated: set[tuple[int, int]],
) -> list[Drawing]:
    shown = {place for _number, _title, members in groups for place in members}
    boxes = [
        (max(2 * one.radius, text_width(one.label)) + 18, 2 * one.radius + 30) for one in persons
    ]
    near = [pair for pair in ties if shown.issuperset(pair)]
    strongest = sorted(near, key=lambda pair: (pair not in stated, -ties[pair], pair))
    drawings = []
    titled = [(title, members) for _number, title, members in groups]
    for arrangement in arrange(titled, boxes, ties, (WIDE, NARROW)):
        # A disc stands above the middle of its box by half of the label's height.
        nodes = {place: Node(one, place, x, y - 10) for place, (one, (x, y)) in
                 enumerate(zip(persons, arrangement.places, strict=True))
                 if place in shown}  # fmt: skip
        lines = [
            (nodes[one], nodes[other], (one, other) in stated)
            for one, other in strongest[:MOST_LINES]
        ]
        numbers = [number for number, _title, _members in groups]
        panels = list(zip(arrangement.panels, numbers, strict=True))
        drawings.append(Drawing(arrangement, panels, [*nodes.values()], lines))
    return drawings
