"""Admins forget a person or some memories, after they were shown what goes."""

import pytest
from django.test import Client

from accounts.models import EndUser
from contacts.models import Contact
from memories.models import Memory
from tests.dashboard.person.pages import at, ids, links, page, three
from tests.dashboard.signin import signed_in
from tests.factories import make_contact, make_memory, make_message

pytestmark = pytest.mark.django_db


def test_only_admins_forget(reviewer: Client, hong: Contact) -> None:
    assert reviewer.get(at(hong, "forget/")).status_code == 403
    assert reviewer.post(at(hong, "forget/")).status_code == 403
    assert reviewer.post(f"/u/{hong.end_user_id}/memories/forget/").status_code == 403
    assert "forget/" not in page(reviewer, hong)


def test_what_forgetting_a_person_takes_is_shown_exactly_and_then_gone(
    user: EndUser, hong: Contact
) -> None:
    admin = signed_in("admin")
    message = make_message(user, "阿红来了")
    about = make_memory(user, "小红来了", hong, source_message_ids=[message.pk], quote="阿红来了")
    naming = make_memory(user, "张伟认识小红", make_contact(user, "张伟"))
    stays = make_memory(user, "今天下雨")
    response = admin.get(at(hong, "forget/"))
    plan = response.context["plan"]
    assert {memory.pk for memory in response.context["page"].rows} == {about.pk, naming.pk}
    assert (plan.memories, plan.messages, plan.contacts) == (2, 1, 1)
    assert Memory.objects.of(user).filter(kind="fact").count() == 3
    assert Contact.objects.of(user).filter(pk=hong.pk).exists()
    said = admin.post(at(hong, "forget/"), follow=True).content.decode()
    assert "Erased for good: 1 person, 2 memories, 1 message." in said
    assert set(Memory.objects.of(user).filter(kind="fact")) == {stays}
    assert not Contact.objects.of(user).filter(pk=hong.pk).exists()


def test_chosen_memories_are_forgotten_after_they_were_listed(user: EndUser, hong: Contact) -> None:
    admin = signed_in("admin")
    memories = three(user, hong)
    address = f"/u/{user.pk}/memories/forget/"
    response = admin.post(address, ids(memories[:2]))
    assert {m.pk for m in response.context["page"].rows} == {m.pk for m in memories[:2]}
    assert links(hong) == 3
    admin.post(address, {**ids(memories[:2]), "sure": "1"})
    assert set(Memory.objects.of(user).filter(kind="fact")) == {memories[2]}
