"""Corrections from where one stands: nothing typed is lost, nothing untrue is said."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import Change, EndUser
from contacts.models import Contact, Relation
from dashboard.views import users as users_views
from memories.models import Link
from tests.dashboard.signin import signed_in
from tests.factories import json_value, make_contact, make_memory, make_message


def attribute(client: Client, contact: Contact, **sent: str) -> str:
    at = reverse("dashboard:contact_attribute", args=[contact.end_user_id, contact.pk])
    answer = client.post(at, {"key": "company", **sent}, follow=True)
    return " ".join(str(message) for message in answer.context["messages"])


def employed(user: EndUser, company: str) -> Contact:
    return make_contact(user, "小红", attributes={"company": [json_value(company)]})


def values(contact: Contact) -> list[str]:
    held = Contact.objects.get(pk=contact.pk).attributes.get("company", [])
    return [entry["value"] for entry in held]


def test_a_value_that_is_not_there_is_not_replaced(reviewer: Client, user: EndUser) -> None:
    hong = employed(user, "阿里")
    at = reverse("dashboard:contact_attribute", args=[user.pk, hong.pk])
    answer = reviewer.post(at, {"key": "company", "old": "腾讯", "new": "百度"})
    assert answer.status_code == 404
    assert values(hong) == ["阿里"]
    assert not Change.objects.exists()


def test_a_value_with_odd_spaces_can_be_replaced(reviewer: Client, user: EndUser) -> None:
    hong = employed(user, "Acme  Ltd")
    assert attribute(reviewer, hong, old="Acme  Ltd", new="Brill") == "Saved."
    assert values(hong) == ["Brill"]


def test_what_is_known_already_changes_nothing(reviewer: Client, user: EndUser) -> None:
    hong = employed(user, "腾讯")
    assert attribute(reviewer, hong, new="腾讯") == "This is already known."
    aliases = reverse("dashboard:contact_aliases", args=[user.pk, hong.pk])
    answer = reviewer.post(aliases, {"do": "add", "alias": "小红"}, follow=True)
    assert "This is already known." in answer.content.decode()
    assert not Change.objects.exists()


def test_an_alias_without_a_letter_stays_in_its_field_with_the_reason(
    reviewer: Client, user: EndUser
) -> None:
    hong = make_contact(user, "小红")
    at = reverse("dashboard:contact_aliases", args=[user.pk, hong.pk])
    html = reviewer.post(at, {"do": "add", "alias": "?!"}, follow=True).content.decode()
    assert 'value="?!" aria-invalid="true" aria-describedby="alias-problem"' in html
    assert 'id="alias-problem">A name needs at least one letter or digit.' in html


def test_a_relation_to_nobody_keeps_what_was_typed(reviewer: Client, user: EndUser) -> None:
    hong = make_contact(user, "小红")
    at = reverse("dashboard:contact_relate", args=[user.pk, hong.pk])
    html = reviewer.post(at, {"kind": "boss", "way": "to"}, follow=True).content.decode()
    assert 'value="boss"' in html
    assert '<option value="to" selected>' in html
    assert 'id="person-problem">Choose a person.' in html
    assert not Relation.objects.exists()


def test_a_person_is_compared_with_another_that_is_looked_for(
    reviewer: Client, user: EndUser
) -> None:
    hong, other = make_contact(user, "小红"), make_contact(user, "红红")
    at = reverse("dashboard:contact_merge", args=[user.pk, hong.pk])
    here = reverse("dashboard:contact", args=[user.pk, hong.pk])
    assert f'href="{at}"' in reviewer.get(here).content.decode()
    found = reviewer.get(at, {"q": "hongh"}).content.decode()
    assert f'value="{other.pk}"' in found
    assert f'name="person" value="{hong.pk}"' not in found
    compare = reverse("dashboard:compare", args=[user.pk, hong.pk, other.pk])
    assert reviewer.get(at, {"person": other.pk})["Location"] == compare


def test_a_merge_of_two_that_were_chosen_ends_at_who_stays(reviewer: Client, user: EndUser) -> None:
    hong, other = make_contact(user, "小红"), make_contact(user, "红红")
    at = reverse("dashboard:compare", args=[user.pk, hong.pk, other.pk])
    html = reviewer.get(at, {"keep": hong.pk}).content.decode()
    there = reverse("dashboard:contact", args=[user.pk, hong.pk])
    assert f'name="next" value="{there}"' in html


def doubted(user: EndUser, count: int) -> list[Link]:
    hong = make_contact(user, "小红")
    for number in range(count):
        make_memory(user, f"小红 {number}", hong)
    Link.objects.update(confidence=0.4)
    return list(Link.objects.order_by("-pk"))


def test_skipping_goes_on_from_the_one_in_hand_and_round(reviewer: Client, user: EndUser) -> None:
    first, second, third = doubted(user, 3)
    at = reverse("dashboard:links")
    for one, following in ((first, second), (second, third), (third, first)):
        html = reviewer.get(at, {"at": one.pk}).content.decode()
        assert f'data-key="l" href="?at={following.pk}"' in html
        assert f'name="next" value="{at}?at={following.pk}"' in html


def test_the_only_one_can_not_be_skipped(reviewer: Client, user: EndUser) -> None:
    doubted(user, 1)
    assert 'data-key="l"' not in reviewer.get(reverse("dashboard:links")).content.decode()


def test_a_doubtful_memory_is_given_to_anybody_and_the_queue_goes_on(
    reviewer: Client, user: EndUser
) -> None:
    link, following = doubted(user, 2)
    ming = make_contact(user, "小明")
    queue = f"{reverse('dashboard:links')}?at={following.pk}"
    move = reverse("dashboard:contact_move", args=[user.pk, link.contact_id])
    html = reviewer.get(reverse("dashboard:links")).content.decode()
    assert f"{move}?memory={link.memory_id}&amp;next=" in html
    form = reviewer.get(move, {"memory": link.memory_id, "next": queue}).content.decode()
    assert f'name="next" value="{queue}"' in form
    sent = {"memory": link.memory_id, "person": ming.pk, "next": queue}
    assert reviewer.post(move, sent)["Location"] == queue
    assert Link.objects.standing().get(memory=link.memory_id).contact == ming


def test_moving_does_not_lead_to_another_site(reviewer: Client, user: EndUser) -> None:
    [link] = doubted(user, 1)
    move = reverse("dashboard:contact_move", args=[user.pk, link.contact_id])
    for bad in ("https://evil.example/", "javascript:alert(1)", "//evil.example"):
        html = reviewer.get(move, {"memory": link.memory_id, "next": bad}).content.decode()
        assert f'href="{bad}' not in html
        answer = reviewer.post(move, {"memory": link.memory_id, "next": bad, "person": ""})
        assert f'href="{bad}' not in answer.content.decode()


def test_a_contradiction_opens_what_says_each_value(reviewer: Client, user: EndUser) -> None:
    memory = make_memory(user, "小红在腾讯工作")
    both = [json_value("腾讯", [memory.pk]), json_value("百度")]
    hong = make_contact(user, "小红", attributes={"company": both})
    html = reviewer.get(reverse("dashboard:conflicts")).content.decode()
    sources = reverse("dashboard:contact_sources", args=[user.pk, hong.pk])
    assert f"{sources}?m={memory.pk}" in html
    assert "Entered by an operator or app" in html


def test_a_memory_says_why_it_is_about_somebody_and_is_taken_off_there(
    reviewer: Client, user: EndUser
) -> None:
    memory = make_memory(user, "小红会弹琴", make_contact(user, "小红"))
    Link.objects.update(made_by=Link.MadeBy.BACKFILL, confidence=0.7)
    here = reverse("dashboard:memory", args=[user.pk, memory.pk])
    html = reviewer.get(here).content.decode()
    assert "linked later, because it names this person" in html
    assert "70% sure" in html
    decide = reverse("dashboard:decide-link", args=[user.pk, Link.objects.get().pk])
    assert f'action="{decide}"' in html
    assert reviewer.post(decide, {"decision": "wrong", "next": here})["Location"] == here
    assert "about the user" in reviewer.get(here).content.decode()
    viewer = signed_in("viewer").get(here).content.decode()
    assert decide not in viewer


def test_an_address_that_connects_nothing_stays_in_its_field(
    reviewer: Client, user: EndUser
) -> None:
    memory = make_memory(user, "小红会弹琴")
    at = reverse("dashboard:connect", args=[user.pk, memory.pk])
    answer = reviewer.post(at, {"kind": "causes", "other": "nonsense"})
    html = answer.content.decode()
    assert answer.status_code == 422
    assert 'value="nonsense" aria-invalid="true"' in html
    assert 'role="alert">Paste the address of a memory.' in html
    assert '<option value="causes" selected>' in html


def test_what_waits_is_read_when_somebody_says_so(
    reviewer: Client, user: EndUser, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = reverse("dashboard:user", args=[user.pk])
    at = reverse("dashboard:read-now", args=[user.pk])
    assert at not in reviewer.get(here).content.decode()
    make_message(user, "小红来了")
    assert f'action="{at}"' in reviewer.get(here).content.decode()
    queued: list[tuple[Any, ...]] = []
    monkeypatch.setattr(users_views.queue, "enqueue", lambda *task: queued.append(task))
    assert reviewer.post(at)["Location"] == here
    assert queued == [("process", user.pk)]


def test_who_spoke_last_is_in_hand_before_anybody_was_looked_at(
    reviewer: Client, user: EndUser
) -> None:
    people = reverse("dashboard:contacts", args=[user.pk])
    home = reverse("dashboard:home")
    assert people not in reviewer.get(home).content.decode()
    EndUser.objects.update(last_message_at="2026-03-02T10:00:00Z")
    assert people in reviewer.get(home).content.decode()
    assert people not in signed_in("reviewer", apps=[], name="elsewhere").get(home).content.decode()
