"""The map of people: communities, the page."""

import networkx as nx
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import EndUser
from contacts.models import Contact, Relation
from dashboard.queries import people_map
from dashboard.queries.people_map import communities
from tests.factories import make_contact, make_memory


@pytest.mark.parametrize(
    ("count", "ties", "groups"),
    [
        (0, {}, []),
        (2, {}, [[0], [1]]),
        (3, {(0, 2): 1.0}, [[0, 2], [1]]),
        # Two circles of friends with one tie between them.
        (6, {(0, 2): 1, (2, 4): 1, (0, 4): 1, (1, 3): 1, (3, 5): 1, (1, 5): 1, (0, 1): 1},
         [[0, 2, 4], [1, 3, 5]]),
        (4, {(0, 1): 5.0, (1, 2): 0.5, (2, 3): 5.0}, [[0, 1], [2, 3]]),
    ],
)  # fmt: skip
def test_communities_are_those_who_know_each_other(
    count: int, ties: dict, groups: list[list[int]]
) -> None:
    graph = nx.Graph()
    graph.add_nodes_from(range(count))
    graph.add_weighted_edges_from((*pair, weight) for pair, weight in ties.items())
    assert communities(graph) == groups


def family(user: EndUser) -> dict[str, Contact]:
    people = {name: make_contact(user, name, relationship=role) for name, role in (
        ("王芳", "妈妈"), ("王强", "爸爸"), ("小红", "朋友"), ("陈浩", ""), ("Michael", "boss"))}  # fmt: skip
    Relation.objects.create(
        end_user=user, subject=people["陈浩"], kind="男朋友", object=people["小红"]
    )
    Contact.objects.filter(pk=people["小红"].pk).update(mention_count=9)
    make_memory(user, "小红和陈浩去了大理。", people["小红"], people["陈浩"])
    return people


def statements(user: EndUser) -> int:
    with CaptureQueriesContext(connection) as asked:
        people_map.people_map(user)
    return len(asked)


@pytest.mark.django_db
def test_the_map_has_ties_groups_and_a_note_of_who_is_left_out(
    reviewer: Client, user: EndUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = family(user)
    page = reviewer.get(reverse("dashboard:contacts_map", args=[user.pk]))
    found = page.context["map"]
    named = {title: {p.contact.name for p in persons} for title, persons in found["groups"]}
    assert named == {
        "Around 小红": {"小红", "陈浩"},
        "Family": {"王芳", "王强"},
        "Work": {"Michael"},
    }
    (hong,) = (p for _t, persons in found["groups"] for p in persons if p.contact == people["小红"])
    assert hong.knows == [(people["陈浩"], "男朋友", True)]
    assert [stated for _one, _other, stated in found["lines"]] == [True]
    assert (found["hidden"], found["undrawn"]) == (0, 0)
    assert "left out" not in page.content.decode()
    few = statements(user)
    for place in range(12):
        make_memory(user, f"见了{place}", make_contact(user, f"新人{place}"), people["小红"])
    assert statements(user) == few == 5
    monkeypatch.setattr(people_map, "DRAWN", 4)
    found = reviewer.get(reverse("dashboard:contacts_map", args=[user.pk])).context["map"]
    assert (found["undrawn"], sum(len(people) for *_, people in found["panels"])) == (13, 4)
    crowd = next(n for n, (_title, people) in enumerate(found["groups"]) if len(people) > 9)
    page = reviewer.get(reverse("dashboard:contacts_map", args=[user.pk]), {"group": crowd})
    drawn = page.context["map"]
    ((number, _title, members),) = drawn["panels"]
    assert (number, drawn["undrawn"]) == (crowd, 0)
    assert {one.place for one in members} == {one.place for one in found["groups"][crowd][1]}
    monkeypatch.setattr(people_map, "MOST", 4)
    assert people_map.people_map(user)["hidden"] == 13
    page = reviewer.get(reverse("dashboard:contacts_map", args=[user.pk]))
    assert "13 people who are mentioned least are left out" in page.content.decode()


@pytest.mark.django_db
def test_an_end_user_without_people_has_an_empty_map(reviewer: Client, user: EndUser) -> None:
    page = reviewer.get(reverse("dashboard:contacts_map", args=[user.pk]))
    assert "No people yet" in page.content.decode()
