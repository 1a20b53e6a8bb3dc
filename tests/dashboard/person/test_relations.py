"""Relations of a person are stated, shown and removed."""

import pytest
from django.test import Client

from accounts.models import EndUser
from contacts import relations
from contacts.models import Contact, Relation
from tests.dashboard.person.pages import at, fresh, page, undo_latest
from tests.factories import make_contact, make_memory

pytestmark = pytest.mark.django_db


def test_a_relation_is_stated_shown_and_removed(
    reviewer: Client, user: EndUser, hong: Contact
) -> None:
    hao = make_contact(user, "陈浩")
    data = {"person": str(hao.pk), "kind": "男朋友", "way": "of"}
    reviewer.post(at(hong, "relations/"), data)
    row = Relation.objects.of(user).get()
    assert (row.subject_id, row.kind, row.object_id) == (hao.pk, "男朋友", hong.pk)
    assert "男朋友：陈浩" in fresh(hong).card
    html = page(reviewer, hong, "?tab=relations")
    assert "陈浩" in html
    reviewer.post(at(hong, f"relations/{row.pk}/remove/"))
    assert not Relation.objects.of(user).exists()
    assert "陈浩" not in fresh(hong).card
    undo_latest(reviewer, user)
    assert Relation.objects.of(user).exists()
    assert "男朋友：陈浩" in fresh(hong).card


def test_stating_a_relation_can_be_undone_and_goes_both_ways(
    reviewer: Client, user: EndUser, hong: Contact
) -> None:
    hao = make_contact(user, "陈浩")
    reviewer.post(at(hong, "relations/"), {"person": str(hao.pk), "kind": "boss", "way": "to"})
    assert Relation.objects.of(user).get().subject_id == hong.pk
    undo_latest(reviewer, user)
    assert not Relation.objects.of(user).exists()
    assert "陈浩" not in fresh(hong).card


def test_a_relation_that_a_memory_stated_survives_it_once_a_person_states_it(
    reviewer: Client, user: EndUser, hong: Contact
) -> None:
    hao = make_contact(user, "陈浩")
    memory = make_memory(user, "陈浩是小红的表哥", hong)
    relations.relate(user, hao, "男朋友", hong, [memory.pk])
    data = {"person": str(hao.pk), "kind": "男朋友", "way": "of"}
    reviewer.post(at(hong, "relations/"), data)
    assert Relation.objects.of(user).get().sources == []
    changes = user.changes.count()
    reviewer.post(at(hong, "relations/"), data)
    assert user.changes.count() == changes


@pytest.mark.parametrize("kind", ["", "  "])
def test_a_relation_of_no_kind_or_to_oneself_is_refused(
    reviewer: Client, user: EndUser, hong: Contact, kind: str
) -> None:
    hao = make_contact(user, "陈浩")
    for data in (
        {"person": str(hao.pk), "kind": kind},
        {"person": str(hong.pk), "kind": "boss"},
        {"person": "nobody", "kind": "boss"},
    ):
        reviewer.post(at(hong, "relations/"), data)
    assert not Relation.objects.of(user).exists()
