"""The background linker gives a memory to the person it names, and to nobody when two bear
the name and nothing tells them apart."""

import pytest
from django_q.models import OrmQ

from accounts.models import EndUser
from contacts import store
from contacts.models import Contact
from memories.context import build
from memories.context.request import ContextRequest
from memories.models import Memory
from memories.pipeline import backfill, sync_contacts
from tests.factories import make_contact, make_end_user, make_memory
from tests.queue import queued

pytestmark = pytest.mark.django_db


@pytest.fixture
def end_user() -> EndUser:
    return make_end_user()


def namesakes(end_user: EndUser, name: str, *relationships: str) -> list[Contact]:
    return [
        store.create(end_user, name, relationship=relationship, namesake=True)[0]
        for relationship in relationships
    ]


def linked(*contacts: Contact) -> dict[str, list[str]]:
    """What the linker gives to each of these, by relationship."""
    for contact in contacts:
        backfill.link_contact(contact.id)
    return {
        contact.relationship: list(
            Memory.objects.filter(links__contact=contact)
            .order_by("id")
            .values_list("content", flat=True)
        )
        for contact in contacts
    }


@pytest.mark.parametrize(
    ("name", "first", "second", "content"),
    [
        ("Theo", "cousin", "colleague", "Theo, the user's colleague, resigned"),
        ("Theo", "cousin", "colleague", "The user's colleague Theo resigned"),
        ("周岚", "表妹", "同事", "用户的同事周岚辞职了"),
    ],
)
def test_a_memory_goes_to_the_namesake_whose_role_it_says(end_user, name, first, second, content):
    make_memory(end_user, content)
    assert linked(*namesakes(end_user, name, first, second)) == {first: [], second: [content]}


@pytest.mark.parametrize(
    ("name", "first", "second", "content"),
    [("Theo", "cousin", "colleague", "Theo resigned"), ("周岚", "表妹", "同事", "周岚辞职了")],
)
def test_a_memory_that_may_mean_either_of_two_is_linked_to_neither(
    end_user, name, first, second, content
):
    make_memory(end_user, content)
    assert linked(*namesakes(end_user, name, first, second)) == {first: [], second: []}


@pytest.mark.parametrize(
    ("name", "first", "second", "content"),
    [
        ("Theo", "cousin", "colleague", "Theo, the user's cousin, met Theo"),
        ("Theo", "", "colleague", "Theo resigned"),
        ("周岚", "表妹", "同事", "用户的表妹周岚辞职了"),
    ],
)
def test_a_memory_that_a_namesake_has_is_not_linked_to_the_other(
    end_user, name, first, second, content
):
    one, other = namesakes(end_user, name, first, second)
    memory = make_memory(end_user, content, other)
    backfill.link_contact(one.id)
    assert [link.contact_id for link in memory.links.all()] == [other.id]


@pytest.mark.parametrize(
    ("name", "first", "second", "content", "hers", "message"),
    [
        (
            "Theo", "cousin", "colleague", "Theo resigned", "The user's cousin Theo paints",
            "How is my cousin Theo?",
        ),
        ("周岚", "表妹", "同事", "周岚辞职了", "用户的表妹周岚爱画画", "我表妹周岚最近怎么样"),
    ],
)  # fmt: skip
def test_what_a_namesake_has_is_not_told_of_the_other_nor_handed_to_the_linker(
    end_user, name, first, second, content, hers, message
):
    one, other = namesakes(end_user, name, first, second)
    make_memory(end_user, content, other)
    own = make_memory(end_user, hers)
    found = build.build(end_user, ContextRequest(message, include=("linked",)))
    assert [memory.id for memory in found.memories] == [own.id]
    backfill.link_contact(one.id)
    OrmQ.objects.all().delete()
    build.build(end_user, ContextRequest(message, include=("linked",)))
    assert queued() == []


def test_a_part_of_a_longer_name_is_a_name_shared(end_user):
    short, full = make_contact(end_user, "Theo"), make_contact(end_user, "Theo Brandt")
    memory = make_memory(end_user, "Theo resigned", full)
    assert backfill.link_contact(short.id) == 0
    assert backfill.link_contact(full.id) == 0
    both = make_memory(end_user, "Theo and Theo Brandt play chess")
    assert backfill.link_contact(full.id) == 1
    assert {link.memory_id for link in full.links.all()} == {memory.id, both.id}


@pytest.mark.parametrize(
    ("name", "known", "told", "links"),
    [
        ("Theo", "cousin", "The user's landlord Theo resigned", 0),
        ("Theo", "cousin", "The user's cousin Theo resigned", 1),
        ("Theo", "", "The user's landlord Theo resigned", 1),
        ("Theo", "friend", "The user's colleague Theo resigned", 1),
        ("周岚", "表妹", "用户的房东周岚辞职了", 0),
        ("周岚", "朋友", "用户的同事周岚辞职了", 1),
    ],
)
def test_a_role_that_somebody_cannot_have_says_that_another_is_meant(
    end_user, name, known, told, links
):
    contact = make_contact(end_user, name, relationship=known)
    make_memory(end_user, told)
    assert backfill.link_contact(contact.id) == links


@pytest.mark.parametrize(
    ("name", "content"),
    [("mum", "The user's mum sings"), ("妈妈", "用户的妈妈爱唱歌"), ("妈妈", "妈妈爱唱歌")],
)
def test_whoever_has_no_name_but_a_role_is_linked_by_it(end_user, name, content):
    contact = make_contact(end_user, name)
    make_memory(end_user, content)
    assert backfill.link_contact(contact.id) == 1


def test_a_memory_that_was_merged_or_erased_meanwhile_is_linked_to_nobody(end_user) -> None:
    greta = make_contact(end_user, "Greta")
    into, merged, gone = (make_memory(end_user, f"Greta {n}.") for n in range(3))
    Memory.objects.filter(pk=merged.pk).update(status="archived", merged_into=into)
    Memory.objects.filter(pk=gone.pk).delete()
    pairs = [(memory.pk, greta, 0.7) for memory in (into, merged, gone)]
    assert sync_contacts.link(end_user, pairs, "backfill") == 1
    assert Memory.objects.get(links__contact=greta) == into
