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
DRAWN = 70  # people at once: more can't be taken in, nor fit a screen
MOST_TOLD = 4000  # latest memories about several people that are read
CROWD = 8  # a memory about more people says nothing about any two of them
STATED = 3.0  # weight of a stated relation; a memory about just the two weighs 1
MOST_LINES = 500
KNOWN = 6  # acquaintances that the list names for each person
SMALL, LARGE = 22, 44  # diameter of a disc
LABEL = 24  # graphemes under a disc; the style sheet cuts by width


@dataclass(slots=True)
class Person:
    """A person on the map. ``knows``: others, what they are to this one, and if it is stated."""

    contact: Contact
    place: int
    label: str
    diameter: int
    knows: list[tuple[Contact, str, bool]]


def people_map(end_user: EndUser, chosen: int | None = None) -> dict[str, Any]:
    """Returns the most mentioned people in ``groups`` of those who know each other. Drawn are
    (``panels``) the group number ``chosen``, else the DRAWN most mentioned of all, and the
    ``lines`` between them, each with whether it is a stated relation. The least mentioned people
    are ``undrawn`` (in a group) or ``hidden`` (in none). Five statements."""
    rows = Contact.objects.of(end_user).listed()
    shown = rows.only("id", "name", "relationship", "mention_count", "namesake", "end_user_id")
    contacts = list(shown.order_by("-mention_count", "id")[:MOST])
    index = {contact.pk: place for place, contact in enumerate(contacts)}
    graph = _graph(end_user, index)
    most = max((contact.mention_count for contact in contacts), default=0)
    # The area of a disc grows with the mentions: the eye compares areas.
    scale = (LARGE - SMALL) / math.sqrt(most) if most else 0.0
    people = [
        Person(contact, place, clean(contact.name, LABEL) or "?",
               round(SMALL + scale * math.sqrt(contact.mention_count)),
               _acquaintances(graph, contacts, place))
        for place, contact in enumerate(contacts)
    ]  # fmt: skip
    groups = [
        (title, [people[place] for place in members])
        for title, members in _groups(end_user, contacts, graph)
    ]
    panels = [
        # People who are tied to each other are placed side by side.
        (number, title, [people[place] for place in _draw_order(graph, members, chosen == number)])
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
        "half": len(shown_panels) // 2,  # the end user is placed before this panel
        "lines": [(one, other, tie["stated"]) for one, other, tie in ties[:MOST_LINES]],
        "undrawn": sum(len(groups[number][1]) - len(members) for number, _title, members in panels),
        "hidden": rows.count() - len(contacts),
    }


def _draw_order(graph: nx.Graph, members: Sequence[Person], draw_all: bool) -> list[int]:
    """Returns the places of the people to draw, ordered so that the ends of a tie are close."""
    places = [one.place for one in members if draw_all or one.place < DRAWN]
    return list(nx.utils.reverse_cuthill_mckee_ordering(graph.subgraph(places)))


def _graph(end_user: EndUser, index: Mapping[UUID, int]) -> nx.Graph:
    """Returns a graph of people's places. The ``weight`` of a tie counts memories about both people
    (the more people a memory is about, the less it adds) and is higher if a relation is ``stated``;
    under the place of either person it has what that one is to the other."""
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
    for subject, kind, target in relations.order_by("id").values_list("subject", "kind", "object"):
        relation_tie = tie(index[subject], index[target])
        relation_tie["weight"] += 0.0 if relation_tie["stated"] else STATED
        relation_tie["stated"] = True
        relation_tie.setdefault(index[subject], kind)
    return graph


def communities(graph: nx.Graph) -> list[list[int]]:
    """Returns groups of nodes by greedy modularity (Clauset, Newman and Moore, 2004), in order."""
    groups = nx.community.greedy_modularity_communities(graph, weight="weight")
    return sorted(sorted(group) for group in groups)


def _groups(
    end_user: EndUser, people: Sequence[Contact], graph: nx.Graph
) -> list[tuple[str, list[int]]]:
    """Returns the communities and their titles, the most mentioned first. People without a tie join
    those of the same relationship to the user: family, friends, work."""
    kind_of_contact = _group_of_each(end_user, people)
    singles: dict[str, list[int]] = {}
    communities_by_kind: list[tuple[str, list[int]]] = []
    for members in communities(graph):
        kinds = [kind_of_contact.get(people[place].pk, "") for place in members]
        common = max(GROUPS, key=kinds.count)
        if len(members) == 1:
            singles.setdefault(kinds[0] or "other", []).extend(members)
        else:
            is_majority = 2 * kinds.count(common) > len(members)
            communities_by_kind.append((common if is_majority else "", members))
    titled: list[tuple[str, list[int]]] = []
    used = set()
    for kind, members in communities_by_kind:
        if kind and kind not in used:  # the first of its kind, with people of it who are alone
            used.add(kind)
            titled.append((in_words(TITLES, kind), sorted([*members, *singles.pop(kind, [])])))
        else:
            around = {"name": clean(people[members[0]].name, LABEL)}
            titled.append((_("Around %(name)s") % around, members))
    titled.sort(key=lambda group: -sum(people[place].mention_count for place in group[1]))
    rest = sorted(singles.items(), key=lambda item: (item[0] == "other", -len(item[1]), item[1]))
    return [*titled, *((in_words(TITLES, kind), members) for kind, members in rest)]


def _group_of_each(end_user: EndUser, people: Sequence[Contact]) -> dict[UUID, str]:
    """Returns which of ``GROUPS`` each person belongs to, if it is known."""
    kinds = {KIN + kind: group for group in reversed(GROUPS) for kind in kinds_of(group)}
    keys = ContactKey.objects.of(end_user).filter(
        contact__in=[contact.pk for contact in people], key__startswith=KIN
    )
    rows = keys.order_by("key").values_list("contact", "key")
    return {contact: kinds[key] for contact, key in rows if key in kinds}


def _acquaintances(
    graph: nx.Graph, people: Sequence[Contact], place: int
) -> list[tuple[Contact, str, bool]]:
    """Returns whom a person is tied to (the strongest tie first), as in ``Person.knows``."""
    ties = sorted(graph[place].items(), key=lambda tie: (-tie[1]["weight"], tie[0]))
    return [(people[other], tie.get(other, ""), tie["stated"]) for other, tie in ties[:KNOWN]]
