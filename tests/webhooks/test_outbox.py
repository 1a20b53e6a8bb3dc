"""What is noted for an endpoint: in the transaction of the change, ids only, gone with the erased."""

import json
from typing import Any

import pytest
from django.db import transaction

from accounts.models import EndUser
from accounts.scope import user_scope
from contacts.models import Contact
from memories.budget import Budget
from memories.corrections import edit_dates, merge_contacts
from memories.corrections.undo import undo_change
from memories.erasure import erase
from memories.models import Batch, Memory
from tests.factories import make_contact, make_end_user, make_memory, make_message, make_suggestion
from understanding.dates.important_dates import yearly_day
from webhooks import coming_dates, endpoints
from webhooks.models import Delivery, Endpoint

pytestmark = pytest.mark.django_db


@pytest.fixture
def endpoint(zoe: EndUser) -> Endpoint:
    return endpoints.create(zoe.app, "https://hook.example/")[0]


def noted(endpoint: Endpoint) -> list[tuple[str, dict[str, Any]]]:
    rows = endpoint.deliveries.order_by("created_at", "type")
    return [(row.type, row.data) for row in rows]


def types(endpoint: Endpoint) -> set[str]:
    return {kind for kind, _ in noted(endpoint)}


def test_people_and_memories_are_told_of_by_ids_alone(zoe: EndUser, endpoint: Endpoint) -> None:
    with user_scope(zoe):
        anna = make_contact(zoe, "Anna")
        memory = make_memory(zoe, "Anna sings.", anna)
    told = dict(noted(endpoint))
    assert told["contact.created"] == {"user": "zoe", "id": str(anna.pk)}
    assert told["memory.created"] == {"user": "zoe", "id": str(memory.pk)}
    assert "Anna" not in json.dumps(told)


def test_a_merge_and_its_undo_are_told_of_with_the_change(zoe: EndUser, endpoint: Endpoint) -> None:
    one, other = make_contact(zoe, "Anna"), make_contact(zoe, "Anne")
    suggestion = make_suggestion(one, other)
    change = merge_contacts.merge(zoe, other.pk, one.pk, actor="app:x")
    told = dict(noted(endpoint))
    assert told["suggestion.created"]["id"] == suggestion.pk
    assert told["contact.merged"] == {
        "user": "zoe", "id": str(other.pk), "into": str(one.pk), "change_id": str(change.pk)
    }  # fmt: skip
    undo_change(change, actor="app:x")
    assert dict(noted(endpoint))["contact.unmerged"]["from"] == str(one.pk)


def test_only_what_is_wanted_is_noted_and_nothing_for_others(zoe: EndUser) -> None:
    wanted, _ = endpoints.create(zoe.app, "https://a.example/", ["memory.created"])
    stopped, _ = endpoints.create(zoe.app, "https://b.example/")
    endpoints.switch(stopped, on=False)
    foreign, _ = endpoints.create(make_end_user().app, "https://c.example/")
    make_memory(zoe, "Anna sings.", make_contact(zoe, "Anna"))
    assert types(wanted) == {"memory.created"}
    assert types(stopped) == types(foreign) == set()


def test_what_is_rolled_back_was_never_noted(zoe: EndUser, endpoint: Endpoint) -> None:
    with transaction.atomic():
        make_contact(zoe, "Anna")
        assert endpoint.deliveries.exists()
        transaction.set_rollback(True)
    assert not endpoint.deliveries.exists()


def test_work_on_numbers_and_vectors_is_no_event(zoe: EndUser, endpoint: Endpoint) -> None:
    memory = make_memory(zoe, "Anna sings.", make_contact(zoe, "Anna"))
    Delivery.objects.all().delete()
    Memory.objects.filter(pk=memory.pk).update(importance=0.3)
    Contact.objects.update(mention_count=7)
    assert noted(endpoint) == []
    Memory.objects.filter(pk=memory.pk).update(status="outdated")
    assert types(endpoint) == {"memory.outdated"}


def test_erasing_a_person_takes_what_is_undelivered_of_them(
    zoe: EndUser, endpoint: Endpoint
) -> None:
    anna = make_contact(zoe, "Anna")
    memory = make_memory(zoe, "Anna sings.", anna)
    other = make_contact(zoe, "Oda")
    erase.forget_contact(zoe, anna.pk)
    told = noted(endpoint)
    assert {kind for kind, _ in told} == {
        "contact.created",
        "memory.forgotten",
        "forgetting.erased",
    }
    assert str(anna.pk) not in json.dumps(told)
    assert dict(told)["memory.forgotten"]["id"] == str(memory.pk)
    assert dict(told)["contact.created"]["id"] == str(other.pk)


def test_erasing_a_user_leaves_nothing(zoe: EndUser, endpoint: Endpoint) -> None:
    make_memory(zoe, "Anna sings.", make_contact(zoe, "Anna"))
    erase.forget_everything(zoe)
    assert noted(endpoint) == []


def test_the_end_of_reading_is_told_once_all_is_read(zoe: EndUser, endpoint: Endpoint) -> None:
    for text in ("a", "b"):
        make_message(zoe, text)
    first = Batch.objects.create(end_user=zoe, first_seq=1, last_seq=1)
    second = Batch.objects.create(end_user=zoe, first_seq=2, last_seq=2)
    EndUser.objects.filter(pk=zoe.pk).update(extracted_seq=2)
    Batch.objects.filter(pk=first.pk).update(state="done")
    assert types(endpoint) == set()
    Batch.objects.filter(pk=second.pk).update(state="done")
    assert dict(noted(endpoint))["user.processed"] == {"user": "zoe", "id": None, "messages": 2}


def test_a_date_is_told_of_once_before_it_comes(zoe: EndUser, endpoint: Endpoint) -> None:
    anna = make_contact(zoe, "Anna")
    day = yearly_day(zoe.today.month, zoe.today.day)
    assert day
    edit_dates.set_date(zoe, anna.pk, "birthday", day, actor="app:x")
    budget = Budget(1, 1000)
    assert [coming_dates.tell(zoe.pk, budget)["dates"] for _ in range(2)] == [1, 0]
    assert budget.rows == 999
    (told,) = [data for kind, data in noted(endpoint) if kind == "date.upcoming"]
    assert (told["kind"], told["on"]) == ("birthday", zoe.today.isoformat())
    assert coming_dates.users_due() == [zoe.pk]
