"""What operators tell each other: notes on people, who is on what, and many links at once."""

from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from accounts.models import Change, EndUser
from contacts import store
from contacts.models import Contact
from dashboard.queries import review
from memories.context import build
from memories.context.request import ContextRequest
from memories.corrections import merge_contacts
from memories.erasure import erase
from memories.models import Claim, Edge, Link
from tests.dashboard.signin import signed_in
from tests.factories import json_value, make_contact, make_memory, make_suggestion

pytestmark = pytest.mark.django_db


@pytest.fixture
def hong(user: EndUser) -> Contact:
    return make_contact(user, "小红", aliases=["阿红"])


def write(client: Any, person: Contact, text: str) -> Any:
    at = reverse("dashboard:contact_note", args=[person.end_user_id, person.pk])
    return client.post(at, {"note": text}, follow=True)


def test_a_note_is_shown_to_operators_undone_by_one_key_and_in_no_prompt(
    reviewer: Any, user: EndUser, hong: Contact
) -> None:
    make_memory(user, "小红喜欢爬山", hong)
    assert "Note saved." in write(reviewer, hong, "ask her brother").content.decode()
    page = reverse("dashboard:contact", args=[user.pk, hong.pk])
    assert "ask her brother" in signed_in("viewer").get(page).content.decode()
    injected = build.build(user, ContextRequest("小红最近怎么样")).system_prompt
    assert "小红喜欢爬山" in injected
    assert "brother" not in injected
    hong.refresh_from_db()
    assert "brother" not in hong.card
    change = Change.objects.get()
    reviewer.post(reverse("dashboard:undo", args=[user.pk, change.pk]))
    hong.refresh_from_db()
    assert hong.note == ""
    assert "at most 4000" in write(reviewer, hong, "x" * 4001).content.decode()


def test_notes_are_united_by_a_merge_and_lose_the_names_of_those_who_are_erased(
    reviewer: Any, user: EndUser, hong: Contact
) -> None:
    other, gone = make_contact(user, "红红"), make_contact(user, "欧阳锋")
    write(reviewer, hong, "works with 欧阳锋")
    write(reviewer, other, "the tall one")
    merge_contacts.merge(user, other.pk, hong.pk, actor="operator:ada")
    hong.refresh_from_db()
    assert hong.note == "works with 欧阳锋\nthe tall one"
    erase.forget_contact(user, gone.pk)
    hong.refresh_from_db()
    assert "欧阳锋" not in hong.note
    assert "the tall one" in hong.note
    assert not [row for row in Change.objects.all() if "欧阳锋" in str(row.rows)]


def test_two_operators_see_who_is_on_a_pair_until_it_lapses_or_is_left(
    user: EndUser, hong: Contact
) -> None:
    pair = make_suggestion(hong, make_contact(user, "红红"))
    ada, bob = (signed_in("reviewer", name=name) for name in ("ada", "bob"))
    at, sent = reverse("dashboard:claim", args=[user.pk]), {"what": Claim.name_of(pair)}
    ada.post(at, sent)
    assert "You are on this" in ada.get("/review/").content.decode()
    assert "ada</bdi> is on this" in bob.get("/review/").content.decode()
    assert "is on this already" in bob.post(at, sent, follow=True).content.decode()
    bob.post(at, sent | {"leave": "1"})
    assert Claim.objects.get().operator == "ada"
    Claim.objects.update(at=timezone.now() - review.CLAIMED_FOR)
    assert "is on this" not in bob.get("/review/").content.decode()
    bob.post(at, sent)
    assert Claim.objects.get().operator == "bob"
    bob.post(at, sent | {"leave": "1"})
    assert not Claim.objects.exists()
    assert "no such row" in bob.post(at, {"what": "x"}, follow=True).content.decode()


def test_a_contradiction_is_claimed_like_a_pair(user: EndUser, hong: Contact) -> None:
    hong.attributes = {"birthday": [json_value("1990-05-03"), json_value("1991-05-03")]}
    store.save(hong, ["attributes"])
    one, other = make_memory(user, "她搬走了。"), make_memory(user, "她没有搬。", content_hash="b")
    edge = Edge.objects.create(end_user=user, source=one, target=other, kind="conflicts")
    ada, bob = (signed_in("reviewer", name=name) for name in ("ada", "bob"))
    for row, at in ((hong, f"{hong.pk}:birthday"), (edge, str(edge.pk))):
        page = f"/review/conflicts/?at={at}"
        assert f'value="{Claim.name_of(row)}"' in ada.get(page).content.decode()
        ada.post(reverse("dashboard:claim", args=[user.pk]), {"what": Claim.name_of(row)})
        assert "ada</bdi> is on this" in bob.get(page).content.decode()


@pytest.mark.parametrize(("decision", "said"), [("right", "are right"), ("wrong", "were wrong")])
def test_many_links_are_decided_at_once_and_undone_at_once(
    reviewer: Any, user: EndUser, hong: Contact, decision: str, said: str
) -> None:
    for number in range(3):
        make_memory(user, f"她要去第{number}次", hong)
    Link.objects.update(confidence=0.5)
    first, second, rest = Link.objects.order_by("pk")
    asked = {"link": [str(first.pk), str(second.pk)], "decision": decision}
    page = reviewer.post("/review/links/decide/", asked, follow=True)
    assert f"2 links {said}" in page.content.decode()
    assert [link.pk for link in page.context["queue"]] == [rest.pk]
    assert Link.objects.filter(rejected=True).count() == (0 if decision == "right" else 2)
    changes = [str(change.pk) for change in Change.objects.all()]
    reviewer.post(reverse("dashboard:undo_all", args=[user.pk]), {"change": changes})
    assert len(reviewer.get("/review/links/").context["queue"]) == 3
    none = reviewer.post("/review/links/decide/", {"decision": decision}, follow=True)
    assert "Choose links first." in none.content.decode()
