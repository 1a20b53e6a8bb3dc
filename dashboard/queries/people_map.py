"""The people of an end user as a map: who knows whom, in which groups."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any
from uuid import UUID

import networkx as nx
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
SMALL, LARGE = 22, 44  # diameter of a disc
LABEL = 24  # graphemes under a disc; the style sheet cuts by width


@dataclass(slots=True)
class Person:
    """One on the map. ``knows`` are others with what they are to this one, and whether it was said."""

    contact: Contact
    place: int
    label: str
    diameter: int
    knows: list[tuple[Contact, str, bool]]


def people_map(end_user: EndUser, chosen: int | None = None) -> dict[str, Any]:
    """The most mentioned people in ``groups`` of those who know each other. Drawn are (``panels``)
    the group of the number ``chosen``, else the DRAWN most mentioned of all, and the ``lines``
    between them, with whether each is a stated relation. ``undrawn`` people of the groups are not
    drawn, ``hidden`` are in none, both the least mentioned. Five statements."""
    rows = Contact.objects.of(end_user).listed()
    shown = rows.only("id", "name", "relationship", "mention_count", "namesake", "end_user_id")
    contacts = list(shown.order_by("-mention_count", "id")[:MOST])
    index = {contact.pk: place for place, contact in enumerate(contacts)}
    graph = _graph(end_user, index)
    most = max((contact.mention_count for contact in contacts), default=0)
    people = [
        Person(contact, place, clean(contact.name, LABEL) or "?",
               _diameter(contact.mention_count, most), _knows(graph, contacts, place))
        for place, contact in enumerate(contacts)
    ]  # fmt: skip
    groups = [
        (title, [people[place] for place in members])
        for title, members in _groups(end_user, contacts, graph)
    ]
    panels = [
        # Side by side stand those who are tied to each other.
        (number, title, [people[place] for place in _in_line(graph, members, chosen == number)])
        for number, (title, members) in enumerate(groups)
        if chosen in (None, number)
    ]
    drawn = {person.place for _number, _title, members in panels for person in members}
    ties = sorted(
        graph.subgraph(drawn).edges(data=True),
        key=lambda tie: (not tie[2]["stated"], -tie[2]["weight"], tie[:2]),
    )
    shown_panels = [panel for panel in panels if panel[2]]
    return {
        "groups": groups,
        "panels": shown_panels,
        "half": len(shown_panels) // 2,  # before which the user stands
        "lines": [(one, other, tie["stated"]) for one, other, tie in ties[:MOST_LINES]],
        "undrawn": sum(len(groups[number][1]) - len(members) for number, _title, members in panels),
        "hidden": rows.count() - len(contacts),
    }


def _in_line(graph: nx.Graph, members: Sequence[Person], whole: bool) -> list[int]:
    """The places of those who are drawn, so that the ends of a tie stand near each other."""
    places = [one.place for one in members if whole or one.place < DRAWN]
    return list(nx.utils.reverse_cuthill_mckee_ordering(graph.subgraph(places)))


def _graph(end_user: EndUser, index: Mapping[UUID, int]) -> nx.Graph:
    """The places of people with their ties: ``weight`` is how often two were told of in one breath (a
    memory of many ties each two less), more where a relation is ``stated``. By the place of either,
    what that one is to the other."""
    graph = nx.Graph()
    graph.add_nodes_from(index.values())

    def tie(one: int, other: int) -> dict[Any, Any]:
        if not graph.has_edge(one, other):
            graph.add_edge(one, other, weight=0.0, stated=False)
        edge: dict[Any, Any] = graph.edges[one, other]
        return edge

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
    for who in together:
        for one, other in combinations(sorted(index[pk] for pk in who), 2):
            tie(one, other)["weight"] += 1 / (len(who) - 1)
    relations = Relation.objects.of(end_user).filter(subject__in=index, object__in=index)
    for subject, kind, of in relations.order_by("id").values_list("subject", "kind", "object"):
        stated = tie(index[subject], index[of])
        stated["weight"] += 0.0 if stated["stated"] else STATED
        stated["stated"] = True
        stated.setdefault(index[subject], kind)
    return graph


def communities(graph: nx.Graph) -> list[list[int]]:
    """The nodes in groups by greedy modularity (Clauset, Newman and Moore, 2004), in order."""
    groups = nx.community.greedy_modularity_communities(graph, weight="weight")
    return sorted(sorted(group) for group in groups)


def _groups(
    end_user: EndUser, people: Sequence[Contact], graph: nx.Graph
) -> list[tuple[str, list[int]]]:
    """The communities, the most mentioned first. Who has no tie stands with the same to the user:
    family, friends, work."""
    of = _relationships(end_user, people)
    alone: dict[str, list[int]] = {}
    communities_by_kind: list[tuple[str, list[int]]] = []
    for members in communities(graph):
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
            around = {"name": clean(people[members[0]].name, LABEL)}
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
    graph: nx.Graph, people: Sequence[Contact], place: int
) -> list[tuple[Contact, str, bool]]:
    """Whom somebody is tied to, the strongest first."""
    ties = sorted(graph[place].items(), key=lambda tie: (-tie[1]["weight"], tie[0]))
    return [(people[other], tie.get(other, ""), tie["stated"]) for other, tie in ties[:KNOWN]]


def _diameter(mentions: int, most: int) -> int:
    """By area, as the eye compares discs."""
    return round(SMALL + (LARGE - SMALL) * math.sqrt(mentions / most)) if most else SMALL
