"""What was asked in a chat to be forgotten is put away, and comes back only by an undo."""

import pytest

from accounts.models import Change
from contacts import relations
from contacts.models import Contact, ContactKey
from memories.corrections.undo import undo_change
from memories.models import Link, Memory
from memories.pipeline import sync_contacts
from memories.pipeline.forget_requests import forget_asked
from memories.types import ForgetRequest
from tests.factories import make_contact, make_end_user, make_memory

pytestmark = pytest.mark.django_db


@pytest.fixture
def end_user():
    return make_end_user(language="zh")


def told(end_user, contact, content, **columns):
    memory = make_memory(end_user, content, **columns)
    sync_contacts.link(end_user, [(memory.id, contact, 1.0)], Link.MadeBy.EXTRACTOR)
    return memory


def status(memory):
    memory.refresh_from_db()
    return memory.status


def test_everything_about_a_person_goes_with_the_person(end_user):
    ex, friend = make_contact(end_user, "老范"), make_contact(end_user, "阿梅")
    linked = told(end_user, ex, "老范在卖保险")
    named = make_memory(end_user, "用户在火车站遇到老范")
    other = told(end_user, friend, "阿梅在卖茶叶")
    relations.relate(end_user, ex, "brother", friend, [linked.id])
    assert forget_asked(end_user, [ForgetRequest(ex.id)]) == 2
    assert (status(linked), status(named), status(other)) == ("archived", "archived", "active")
    assert not Contact.objects.filter(pk=ex.pk).exists()
    assert not ContactKey.objects.filter(contact=ex.pk).exists()
    assert "老范" not in Contact.objects.get(pk=friend.pk).card


def test_an_undo_brings_memories_links_and_the_person_back(end_user):
    ex = make_contact(end_user, "老范")
    memory = told(end_user, ex, "老范在卖保险")
    forget_asked(end_user, [ForgetRequest(ex.id)])
    undo_change(Change.objects.get(verb="hide"), actor="operator:eva")
    back = Contact.objects.get(pk=ex.pk)
    assert (back.name, back.memory_ids) == ("老范", [memory.id])
    assert ContactKey.objects.filter(contact=ex.pk, key="老范").exists()
    assert status(memory) == "active"


def test_only_the_matter_named_is_hidden(end_user):
    friend = make_contact(end_user, "阿梅")
    pills = told(
        end_user,
        friend,
        "阿梅一直在吃安定片",
        facts=[{"key": "medication", "value": "安定片", "person": str(friend.id)}],
    )
    walk = told(end_user, friend, "阿梅爱爬山")
    forget_asked(end_user, [ForgetRequest(friend.id, ("吃药",), ("medication",))])
    assert (status(pills), status(walk)) == ("archived", "active")
    assert "安定" not in Contact.objects.get(pk=friend.pk).card


def test_a_person_of_whom_more_is_stated_stays(end_user):
    friend = make_contact(end_user, "阿梅")
    friend.attributes = {"location": [{"value": "苏州", "sources": [], "since": None}]}
    friend.save()
    told(end_user, friend, "阿梅离婚了")
    forget_asked(end_user, [ForgetRequest(friend.id)])
    assert Contact.objects.filter(pk=friend.pk).exists()


def test_words_without_a_person_hide_only_the_closest(end_user):
    meant = make_memory(end_user, "用户的离职补偿谈了三个月")
    near = make_memory(end_user, "用户的同事离职了")
    forget_asked(end_user, [ForgetRequest(words=("离职", "补偿"))])
    assert (status(meant), status(near)) == ("archived", "active")


def test_nothing_is_hidden_of_other_users(end_user):
    stranger = make_end_user()
    theirs = make_memory(stranger, "老范在卖保险")
    forget_asked(end_user, [ForgetRequest(words=("老范",))])
    assert Memory.objects.get(pk=theirs.pk).status == "active"


def test_the_users_names_are_learnt_once_and_at_most_five(end_user):
    sync_contacts.learn_user_names(end_user, ("林晓舟", "林曉舟", "Joe"))
    sync_contacts.learn_user_names(end_user, ("joe", "A", "B", "C", "D"))
    end_user.refresh_from_db()
    assert end_user.names == ["林晓舟", "Joe", "A", "B", "C"]
