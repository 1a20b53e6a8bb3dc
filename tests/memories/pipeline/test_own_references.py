"""References: returned by consolidation, used on the hot path without a model, taken away for good."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import Change, EndUser
from contacts import lookup, store
from contacts.edit import deny_reference
from contacts.models import Contact, ContactKey
from memories.corrections import merge_contacts
from memories.corrections.undo import undo_change
from memories.erasure import erase
from memories.models import Memory
from memories.pipeline import run
from tests.api import ApiClient
from tests.dashboard.signin import signed_in
from tests.factories import make_contact, make_end_user, make_memory
from tests.servers import FakeOpenAI

PHRASE = "the guy who tunes my piano"


@pytest.fixture
def end_user(db: None) -> EndUser:
    return make_end_user(language="en", external_id="zoe")


@pytest.fixture
def marco(end_user: EndUser) -> Contact:
    marco = make_contact(end_user, "Marco", gender="male")
    make_memory(end_user, "Marco cuts the user's hair.", marco)
    return marco


def profile(*phrases: str, source: str = "m1") -> dict[str, Any]:
    """What a model answers that returns nothing but these references."""
    told = [{"text": phrase, "sources": [source]} for phrase in phrases]
    return {"people": [{"id": "p1", "attributes": [], "timeline": [], "references": told}]}


def consolidated(server: FakeOpenAI, contact: Contact, *phrases: str) -> list[str]:
    """The references that a contact has after such an answer."""
    server.reply_json(profile(*phrases))
    run.consolidate_user(contact.end_user_id)
    contact.refresh_from_db()
    return [entry["text"] for entry in contact.references]


def meant(end_user: EndUser, message: str) -> list[tuple[str, str, str]]:
    mentions, *_ = lookup.look_up(end_user, message, lambda: ([], []))
    return [(one.person.name, one.how, one.text) for one in mentions]


def test_a_phrase_finds_its_person_without_a_model_in_as_many_statements(
    server: FakeOpenAI, end_user: EndUser, marco: Contact
) -> None:
    message = f"I saw {PHRASE} at the market"
    with CaptureQueriesContext(connection) as before:
        assert ("Marco", "reference", PHRASE) not in meant(end_user, message)
    assert consolidated(server, marco, PHRASE) == [PHRASE]
    asked = len(server.requests)
    with CaptureQueriesContext(connection) as after:
        assert meant(end_user, message) == [("Marco", "reference", PHRASE)]
    assert len(after) == len(before)
    assert len(server.requests) == asked
    assert ContactKey.objects.get(how="reference").text == PHRASE


def test_what_means_others_or_anybody_is_not_kept(
    server: FakeOpenAI, end_user: EndUser, marco: Contact
) -> None:
    petra = make_contact(end_user, "Petra", relationship="dentist")
    petra.references = [{"text": "the one with the drill", "sources": []}]
    store.save(petra, ["references"])
    kept = consolidated(
        server, marco,
        "he", "that guy", "school", "Petra's neighbour", "the one with the drill", "Marco", PHRASE,
    )  # fmt: skip
    assert kept == [PHRASE]


def test_a_phrase_without_a_source_is_not_taken_and_eight_are_enough(
    server: FakeOpenAI, marco: Contact
) -> None:
    many = [f"the guy with the {n}-string banjo" for n in range(3, 14)]
    assert consolidated(server, marco, *many) == many[:8]


def test_a_phrase_without_a_source_is_left_out(server: FakeOpenAI, marco: Contact) -> None:
    server.reply_json(profile(PHRASE, source="m9"))
    run.consolidate_user(marco.end_user_id)
    marco.refresh_from_db()
    assert marco.references == []


def test_one_that_is_taken_away_stays_away_until_that_is_undone(
    server: FakeOpenAI, end_user: EndUser, marco: Contact
) -> None:
    consolidated(server, marco, PHRASE)
    change = deny_reference(end_user, marco.pk, PHRASE.upper(), actor="operator:ann")
    assert change is not None
    assert meant(end_user, f"I saw {PHRASE}") != [("Marco", "reference", PHRASE)]
    make_memory(end_user, "Marco charges 20 euros a cut.", marco)
    assert consolidated(server, marco, PHRASE, "the barber with the curls") == [
        "the barber with the curls"
    ]
    undo_change(change, actor="operator:ann")
    assert PHRASE in [e["text"] for e in Contact.objects.get(pk=marco.pk).references]
    assert meant(end_user, f"I saw {PHRASE}") == [("Marco", "reference", PHRASE)]
    assert deny_reference(end_user, marco.pk, "the man in the moon", actor="operator:ann") is None


def test_the_page_shows_them_and_takes_one_away_with_an_undo(
    server: FakeOpenAI, end_user: EndUser, marco: Contact
) -> None:
    consolidated(server, marco, PHRASE)
    reviewer = signed_in("reviewer")
    page = reviewer.get(reverse("dashboard:contact", args=[end_user.pk, marco.pk]))
    assert PHRASE in page.content.decode()
    at = reverse("dashboard:contact_reference", args=[end_user.pk, marco.pk])
    answer = reviewer.post(at, {"phrase": PHRASE}, follow=True).content.decode()
    assert "no longer means" in answer
    assert "Undo" in answer
    assert Contact.objects.get(pk=marco.pk).references == []
    undo_change(Change.objects.get(), actor="operator:ann")
    assert len(Contact.objects.get(pk=marco.pk).references) == 1


def test_a_merge_unites_them_and_its_undo_parts_them(
    server: FakeOpenAI, end_user: EndUser, marco: Contact
) -> None:
    consolidated(server, marco, PHRASE)
    barber = make_contact(end_user, "Signor Bellini")
    change = merge_contacts.merge(end_user, marco.pk, barber.pk, actor="operator:ann")
    assert meant(end_user, f"I saw {PHRASE}") == [("Signor Bellini", "reference", PHRASE)]
    undo_change(change, actor="operator:ann")
    assert meant(end_user, f"I saw {PHRASE}") == [("Marco", "reference", PHRASE)]


def test_it_goes_with_the_memory_that_it_rests_on(
    server: FakeOpenAI, end_user: EndUser, marco: Contact
) -> None:
    consolidated(server, marco, PHRASE)
    memory = Memory.objects.facts().get()
    erase.forget_memory(end_user, memory.pk)
    marco.refresh_from_db()
    assert marco.references == []
    assert not ContactKey.objects.filter(how="reference").exists()


def test_the_api_shows_them(server: FakeOpenAI, client: ApiClient) -> None:
    zoe = make_end_user(app=client.app, external_id="zoe", language="en")
    marco = make_contact(zoe, "Marco")
    make_memory(zoe, "Marco cuts the user's hair.", marco)
    consolidated(server, marco, PHRASE)
    _, body = client.get(f"users/zoe/contacts/{marco.pk}/")
    assert body["references"] == [PHRASE]
