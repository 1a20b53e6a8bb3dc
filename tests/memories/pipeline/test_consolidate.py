"""Consolidation reads only what is new, whatever is known already."""

from datetime import timedelta

import pytest
from django.utils import timezone

from contacts import store
from contacts.models import Contact
from memories.context import build
from memories.context.request import ContextRequest
from memories.corrections import derived, edit_memories, merge_contacts
from memories.models import Consolidation, Link, Memory, ModelCall
from memories.pipeline import consolidate, run, sync_contacts
from memories.providers.factory import language_provider
from memories.types import AttributeValue, Profile, TimelineEvent
from tests.factories import SOME_DAY, make_contact, make_end_user, make_memory

pytestmark = pytest.mark.django_db
# What is known has a vector already: only the profile is embedded.
SOME_VECTOR = [1.0] + [0.0] * 383


@pytest.fixture
def end_user():
    return make_end_user(language="zh")


def remembers(end_user, contact, count, start=0):
    """``count`` new memories about the contact, each with a fact."""
    memories = [
        make_memory(
            end_user,
            f"{contact.name}喜欢第{n}家店的咖啡",
            said_at=SOME_DAY + timedelta(hours=n),
            embedding=SOME_VECTOR,
            facts=[{"key": "likes", "value": f"第{n}家店的咖啡", "person": str(contact.id)}],
        )
        for n in range(start, start + count)
    ]
    sync_contacts.link(end_user, [(memory, contact, 1.0) for memory in memories], "extractor")
    store.save(contact, [])
    return memories


def test_the_profile_knows_every_value_and_where_it_came_from(end_user):
    contact = make_contact(end_user, "小红")
    memory = make_memory(
        end_user,
        "小红在腾讯当工程师",
        contact,
        type="professional",
        facts=[
            {"key": "company", "value": "腾讯", "person": str(contact.id)},
            {"key": "job_title", "value": "工程师", "person": str(contact.id)},
        ],
    )
    run.consolidate_user(end_user.pk)
    contact.refresh_from_db()
    assert contact.attributes["company"][0]["value"] == "腾讯"
    assert contact.attributes["company"][0]["sources"] == [str(memory.id)]
    assert "腾讯" in contact.card
    memory.refresh_from_db()
    profile = Memory.objects.get(kind="profile")
    assert (memory.consolidated_into, memory.importance) == (profile, 0.05)
    assert profile.vectors.exists()


def test_nothing_new_makes_no_call(end_user):
    contact = make_contact(end_user, "小红")
    remembers(end_user, contact, 3)
    assert run.consolidate_user(end_user.pk) == 1
    calls = ModelCall.objects.count()
    card = Contact.objects.get().card
    assert run.consolidate_user(end_user.pk) == 0
    assert ModelCall.objects.count() == calls
    assert Contact.objects.get().card == card


def test_ten_new_memories_cost_the_same_at_600_known_as_at_50(end_user, server):
    server.reply_json({"people": []}, times=None)
    cost = {}
    for known in (50, 600):
        contact = make_contact(end_user, f"小红{known}号")
        old = remembers(end_user, contact, known)
        Link.objects.filter(contact=contact).update(consolidated_at=SOME_DAY)
        values = [AttributeValue(m.facts[0]["value"], (m.id,)) for m in old]
        events = [
            TimelineEvent(f"第{n}次见面", f"20{10 + n % 15}-05", (old[0].id,)) for n in range(known)
        ]
        derived.set_profile(contact, Profile({"likes": tuple(values)}, "", (), tuple(events)))
        store.save(contact, derived.PROFILE_FIELDS)
        remembers(end_user, contact, 10, start=known)
        assert run.consolidate_user(end_user.pk) == 1
        cost[known] = len(server.requests[-1].prompt)
    assert cost[600] <= 1.2 * cost[50]


def test_no_work_begins_for_who_was_merged_since_it_was_due(end_user):
    ann, anna = make_contact(end_user, "Ann"), make_contact(end_user, "Anna")
    merge_contacts.merge(end_user, ann.pk, anna.pk, actor="app")
    assert consolidate.claim(end_user.pk, ann.pk, timezone.now()) is None
    assert not Consolidation.objects.filter(contact=ann).exists()


def test_a_memory_about_two_people_reaches_both_profiles(end_user):
    ann, ben = make_contact(end_user, "小安"), make_contact(end_user, "小本")
    memory = make_memory(
        end_user,
        "小安和小本都喜欢爬山",
        ann,
        ben,
        facts=[
            {"key": "interests", "value": "爬山", "person": str(ann.id)},
            {"key": "interests", "value": "爬山", "person": str(ben.id)},
        ],
    )
    run.consolidate_contacts(end_user.pk, [ann.id])
    memory.refresh_from_db()
    assert memory.importance > 0.05, "the other profile has not taken it in yet"
    run.consolidate_contacts(end_user.pk, [ben.id])
    memory.refresh_from_db()
    assert memory.importance == 0.05
    for contact in (ann, ben):
        contact.refresh_from_db()
        assert "爬山" in contact.card


def test_forgetting_a_source_rebuilds_what_rested_on_it(end_user):
    contact = make_contact(end_user, "小红")
    first, _ = remembers(end_user, contact, 2)
    run.consolidate_user(end_user.pk)
    contact.refresh_from_db()
    assert "第0家店" in contact.card
    first.refresh_from_db()
    edit_memories.outdate(end_user, [first], actor="operator:ann")
    run.consolidate_user(end_user.pk)
    contact.refresh_from_db()
    assert "第0家店" not in contact.card
    assert "第1家店" in contact.card
    assert str(first.id) not in str(contact.attributes)


def test_a_source_that_is_corrected_while_the_model_reads_does_not_come_in(end_user):
    contact = make_contact(end_user, "小红")
    memory = remembers(end_user, contact, 1)[0]
    work = consolidate.claim(end_user.pk, contact.id, timezone.now())
    request, links = consolidate.request_for(work)
    patch = language_provider().consolidate([request]).value[contact.id]
    edit_memories.outdate(end_user, [memory], actor="operator:ann")
    consolidate.write(work, links, patch)
    contact.refresh_from_db()
    assert "第0家店" not in contact.card
    assert Link.objects.get(memory=memory).consolidated_at is None


def test_after_consolidation_no_fragment_outranks_its_profile(end_user):
    contact = make_contact(end_user, "小红")
    remembers(end_user, contact, 5)
    run.process(end_user.pk)
    found = build.build(end_user, ContextRequest("谁喜欢咖啡", include=("search",))).memories
    kinds = [Memory.objects.get(pk=m.id).kind for m in found]
    assert kinds[0] == "profile"


def test_a_source_that_the_profile_left_out_keeps_its_weight_and_is_never_read_again(end_user):
    contact = make_contact(end_user, "小红")
    told, other = remembers(end_user, contact, 2)
    left_out = make_memory(end_user, "小红说话很快", contact, embedding=SOME_VECTOR, facts=[])
    run.consolidate_user(end_user.pk)
    assert weights(told, other, left_out) == [0.05, 0.05, 0.5]
    assert not Link.objects.filter(consolidated_at=None, memory__kind="fact").exists()
    calls = ModelCall.objects.count()
    assert run.consolidate_user(end_user.pk) == 0
    assert ModelCall.objects.count() == calls

    contact.refresh_from_db()
    contact.attributes["likes"] = [contact.attributes["likes"][0]]
    contact.personality_sources, contact.timeline = [], []
    store.save(contact, derived.PROFILE_FIELDS)
    derived.write_profile_memory(contact)
    assert sorted(weights(told, other, left_out)) == [0.05, 0.5, 0.5]


def weights(*memories):
    rows = Memory.objects.in_bulk([memory.pk for memory in memories])
    held = [rows[memory.pk] for memory in memories]
    assert all((one.importance == 0.05) == bool(one.consolidated_into_id) for one in held)
    return [one.importance for one in held]
