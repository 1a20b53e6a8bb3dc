"""Activity: who did what over all end users that one may see, filtered, and as a file."""

import csv
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts.models import App, Change, EndUser
from contacts import edit
from contacts.models import Contact
from memories.corrections import merge_contacts
from tests.dashboard.signin import signed_in
from tests.factories import make_app, make_contact, make_end_user

pytestmark = pytest.mark.django_db
PAGE = "/activity/"


def related(person: Contact, actor: str, relationship: str = "friend") -> Change:
    """A change by this actor to the relationship of a person."""
    values = {"relationship": relationship}
    _person, change = edit.edit_contact(
        person.end_user, person.pk, values, actor=actor, why="she said so"
    )
    assert change is not None
    return change


@pytest.fixture
def app() -> App:
    return make_app(name="chat")


@pytest.fixture
def made(app: App) -> dict[str, Change]:
    """Changes by one of each kind of actor, by the word that names it."""
    ann = make_end_user(app=app, external_id="ann")
    bob = make_end_user(external_id="=bob")
    return {
        "operator": related(make_contact(ann, "Kim"), "operator:ada"),
        "app": related(make_contact(ann, "Lou"), "app:chat"),
        "user": related(make_contact(bob, "Kimberly"), "user"),
        "job": related(make_contact(bob, "Max"), "refiner"),
    }


def shown(client: Client, **asked: str) -> list[Any]:
    return [row.pk for row in client.get(PAGE, asked).context["page"].rows]


def test_changes_of_all_end_users_are_shown_by_who_what_whom_and_when(
    made: dict[str, Change],
) -> None:
    client = signed_in("viewer", name="ada")
    for asked, names in (
        ({}, ["job", "user", "app", "operator"]),
        ({"by": "operators"}, ["operator"]),
        ({"by": "operator:ada"}, ["operator"]),
        ({"by": "apps"}, ["app"]),
        ({"by": "users"}, ["user"]),
        ({"by": "jobs"}, ["job"]),
        ({"person": "kim"}, ["user", "operator"]),
        ({"person": "kimb"}, ["user"]),
        ({"person": "nobody"}, []),
        ({"whose": "ann"}, ["app", "operator"]),
        ({"verb": "merge"}, []),
        ({"verb": "edit_contact", "by": "jobs"}, ["job"]),
        ({"until": "2001-01-01"}, []),
    ):
        assert shown(client, **asked) == [made[name].pk for name in names], asked


def test_a_name_finds_the_changes_of_all_people_whose_name_begins_so(app: App) -> None:
    end_user = make_end_user(app=app)
    made = [related(make_contact(end_user, f"Kim {n}"), "operator:ada") for n in range(25)]
    client = signed_in("viewer")
    assert shown(client, person="kim") == [change.pk for change in reversed(made)]
    rows = client.get(PAGE + "csv/", {"person": "kim"}).content.decode().splitlines()
    assert len(rows) == 1 + len(made)


def test_a_name_finds_the_changes_of_who_was_merged_through_somebody_else(app: App) -> None:
    end_user = make_end_user(app=app)
    first, second, last = (make_contact(end_user, name) for name in ("Ada", "Bea", "Kim"))
    change = related(first, "operator:ada")
    for gone, stays in ((first, second), (second, last)):
        merge_contacts.merge(end_user, gone.pk, stays.pk, actor="operator:ada")
    assert change.pk in shown(signed_in("viewer"), person="kim")


def test_without_days_what_is_older_than_the_window_is_left_out(made: dict[str, Change]) -> None:
    long_ago = timezone.now() - timedelta(days=400)
    Change.objects.filter(pk=made["job"].pk).update(created_at=long_ago)
    client = signed_in("viewer")
    assert made["job"].pk not in shown(client)
    assert shown(client, since=long_ago.date().isoformat())[-1] == made["job"].pk


def test_a_day_that_is_none_is_refused_by_name(made: dict[str, Change]) -> None:
    for address in (PAGE, PAGE + "csv/"):
        answer = signed_in("viewer", name=address).get(address, {"since": "yesterday"})
        assert answer.status_code == 422
        assert "From: Enter a valid date." in answer.content.decode()


def test_who_is_limited_to_an_app_sees_its_changes_and_operators_only(
    made: dict[str, Change], app: App
) -> None:
    signed_in("reviewer", [make_app()], name="stranger")
    client = signed_in("viewer", [app], name="mine")
    answer = client.get(PAGE)
    assert [row.pk for row in answer.context["page"].rows] == [made["app"].pk, made["operator"].pk]
    html = answer.content.decode()
    assert "operator:mine" in html
    assert "stranger" not in html
    assert "Kimberly" not in client.get(PAGE + "csv/").content.decode()


def test_a_line_leads_to_its_change_which_can_be_undone(made: dict[str, Change]) -> None:
    client, change = signed_in("reviewer"), made["job"]
    one = reverse("dashboard:change", args=[change.end_user_id, change.pk])
    assert one in client.get(PAGE).content.decode()
    undo = reverse("dashboard:undo", args=[change.end_user_id, change.pk])
    assert undo in client.get(one).content.decode()
    client.post(undo, {"next": one})
    assert "undone by" in client.get(one).content.decode()


def test_the_file_holds_ids_and_no_words_and_no_formulas(made: dict[str, Change]) -> None:
    text = signed_in("viewer").get(PAGE + "csv/").content.decode()
    rows = list(csv.DictReader(text.splitlines()))
    assert [row["actor"] for row in rows] == ["refiner", "user", "app:chat", "operator:ada"]
    assert [row["end_user"] for row in rows] == ["'=bob", "'=bob", "ann", "ann"]
    assert rows[0]["change"].endswith(f"/changes/{made['job'].pk}/")
    assert not {word for word in ("Kim", "friend", "she said so") if word in text}


def test_the_page_costs_as_many_statements_for_many_changes_of_many_users(
    made: dict[str, Change], django_assert_max_num_queries: Any
) -> None:
    for number in range(20):
        end_user: EndUser = make_end_user(external_id=f"one {number}")
        related(make_contact(end_user, f"Kim {number}"), "operator:ada", "boss")
    client = signed_in("viewer")
    with django_assert_max_num_queries(15):
        assert client.get(PAGE).content.decode().count("boss") == 20
