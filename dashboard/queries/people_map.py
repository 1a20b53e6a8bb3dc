"""The people of an end user as a map: who knows whom, in which groups."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from uuid import UUID

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Count
from django.utils.translation import gettext as _

from accounts.models import EndUser
from contacts.models import Contact, ContactKey, Relation
from dashboard.social_map import Arrangement, Panel, Ties, arrange, communities, text_width
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
class Line:
    """A bent line between the nodes ``one`` and ``other``; ``stated`` as a relation."""

    path: str
    one: int
    other: int
    stated: bool


@dataclass(frozen=True, slots=True)
class Drawing:
    """``panels`` with the number of the group that each shows."""

    arrangement: Arrangement
    panels: list[tuple[Panel, int]]
    nodes: list[Node]
    lines: list[Line]


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
            Line(_bent(nodes[one], nodes[other]), one, other, (one, other) in stated)
            for one, other in strongest[:MOST_LINES]
        ]
        numbers = [number for number, _title, _members in groups]
        panels = list(zip(arrangement.panels, numbers, strict=True))
        drawings.append(Drawing(arrangement, panels, [*nodes.values()], lines))
    return drawings


def _bent(one: Node, other: Node) -> str:
    """A path that leaves the straight line by a sixth of its length, around who is between."""
    x, y = (one.x + other.x) / 2, (one.y + other.y) / 2
    bend_x, bend_y = (one.y - other.y) / 6, (other.x - one.x) / 6
    if bend_y > 0:  # always upwards: there are no labels
        bend_x, bend_y = -bend_x, -bend_y
    return f"M{one.x} {one.y}Q{x + bend_x:.1f} {y + bend_y:.1f} {other.x} {other.y}"
