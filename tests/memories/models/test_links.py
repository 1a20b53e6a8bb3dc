import uuid
from datetime import timedelta
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from contacts.models import Contact
from memories.models import Link, Memory
from memories.models.links import card_notes, card_plans
from tests.factories import make_contact, make_end_user, make_memory


def memory_ids(contact):
    return list(Contact.objects.values_list("memory_ids", flat=True).get(pk=contact.pk))


@pytest.mark.django_db
def test_memory_ids_follow_inserts_rejections_and_deletions():
    end_user = make_end_user()
    contact = make_contact(end_user)
    first, second = make_memory(end_user, "a", contact), make_memory(end_user, "b", contact)
    assert memory_ids(contact) == [first.id, second.id]
    Link.objects.filter(memory=first).update(rejected=True)
    assert memory_ids(contact) == [second.id]
    Link.objects.filter(memory=first).update(rejected=False)
    assert memory_ids(contact) == [first.id, second.id]
    second.delete()
    assert memory_ids(contact) == [first.id]


@pytest.mark.django_db
def test_a_contact_without_memories_has_an_empty_array():
    contact = make_contact(make_end_user())
    assert memory_ids(contact) == []
    assert list(Memory.objects.filter(pk__in=memory_ids(contact))) == []


@pytest.mark.django_db
def test_cards_and_queries_take_the_same_for_ahead():
    end_user = make_end_user()
    since, day = end_user.today_began, timedelta(days=1)
    birthday = [{"key": "birthday", "value": "May 3", "person": ""}]
    cases = product(
        ("plan", "personal"), (None, -day, 0 * day, day), (-2 * day, 2 * day), ([], birthday)
    )
    expected = set()
    for number, (kind, begins, said, facts) in enumerate(cases):
        contact = make_contact(end_user, f"Kim {chr(ord('a') + number)}{number}")
        make_memory(
            end_user, contact.name, contact, type=kind, facts=facts, said_at=since + said,
            happens_at=begins if begins is None else since + begins,
        )  # fmt: skip
        to_come = begins is not None and begins >= 0 * day and (kind == "plan" or begins > said)
        if to_come and not facts:
            expected.add(contact.name)
    contacts = list(end_user.contacts.all())
    ahead = Memory.objects.of(end_user).ahead(since)
    assert set(ahead.values_list("content", flat=True)) == expected
    assert {one.name for one in contacts if card_plans(one)} == expected
    assert {one.name for one in contacts if not card_notes(one)} == expected


@pytest.mark.django_db
def test_saving_a_stale_contact_cannot_undo_what_the_links_say():
    end_user = make_end_user()
    contact = make_contact(end_user)
    stale = Contact.objects.get(pk=contact.pk)
    memory = make_memory(end_user, "a", contact)
    stale.memory_ids = [uuid.uuid4()]
    stale.save()
    assert memory_ids(contact) == [memory.id]


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["link", "unlink", "reject", "accept", "move", "consolidate"]),
        st.integers(0, 2),
        st.integers(0, 3),
    ),
    max_size=25,
)


class MemoryIdsEqualLinks(TestCase):
    @given(STEPS)
    def test_whatever_sql_touches_the_links(self, steps):
        end_user = make_end_user()
        contacts = [make_contact(end_user, name) for name in ("Ann", "Ben", "Cat")]
        memories = [make_memory(end_user, f"memory {n}") for n in range(4)]
        for verb, c, m in steps:
            links = Link.objects.filter(contact=contacts[c], memory=memories[m])
            if verb == "link":
                link = Link(
                    end_user=end_user, contact=contacts[c], memory=memories[m], made_by="operator"
                )
                Link.objects.bulk_create([link], ignore_conflicts=True)
            elif verb == "unlink":
                links.delete()
            elif verb == "consolidate":
                links.update(consolidated_at=end_user.created_at)
            elif verb == "move":
                target = contacts[(c + 1) % 3]
                if not Link.objects.filter(contact=target, memory=memories[m]).exists():
                    links.update(contact=target)
            else:
                links.update(rejected=verb == "reject")
        for contact in contacts:
            held = set(
                Link.objects.filter(contact=contact, rejected=False).values_list(
                    "memory", flat=True
                )
            )
            ids = memory_ids(contact)
            assert set(ids) == held
            assert len(ids) == len(held)
            assert all(isinstance(item, uuid.UUID) for item in ids)
