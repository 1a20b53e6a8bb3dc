"""What can go wrong in a healthy database of Greta, and which checks see it."""

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID, uuid4

import pgtrigger
from django.db import connection
from django.utils import timezone
from django_q.models import Schedule

from contacts.models import Contact, ContactKey
from memories.models import Batch, Corpus, Edge, JobRun, Link, Memory, Message, Posting, Vector
from tests.factories import json_value, make_contact, make_end_user, make_memory

LONG_AGO = timezone.now() - timedelta(days=1)


def greta() -> Contact:
    return Contact.objects.get(name="Greta")


def hums() -> Memory:
    return Memory.objects.get(content="Greta hums.")


def without_keys(table: str, *columns: str) -> None:
    """As if the database did not enforce isolation."""
    connection.check_constraints()
    with connection.cursor() as cursor:
        for column in columns:
            cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT {table}_{column}_same_user")


def set_memory_ids(ids: list[UUID]) -> None:
    with pgtrigger.ignore("memories.LinkedContact:memory_ids_guard"):
        Contact.objects.filter(name="Greta").update(memory_ids=ids)


def lose_a_memory_id() -> None:
    set_memory_ids(greta().memory_ids[:1])


def add_a_stranger_to_memory_ids() -> None:
    set_memory_ids([*greta().memory_ids, greta().id])


def turn_memory_ids_around() -> None:
    set_memory_ids(greta().memory_ids[::-1])


def spoil_a_card() -> None:
    Contact.objects.filter(name="Greta").update(card="### Greta\nLocation: Rome")


def lose_a_key() -> None:
    ContactKey.objects.filter(contact=greta()).delete()


def leave_a_key() -> None:
    ContactKey.objects.create(
        end_user=greta().end_user, contact=greta(), key="rapunzel", how="alias", text="Rapunzel"
    )


def key_a_merged_contact() -> None:
    merged = Contact.objects.get(name="Gretel")
    ContactKey.objects.create(
        end_user=merged.end_user, contact=merged, key="gretel", how="name", text="Gretel"
    )


def spoil_tokens() -> None:
    Memory.objects.filter(content="Greta hums.").update(tokens=["greta"])


def lose_an_embedding() -> None:
    Vector.objects.filter(memory=hums()).delete()


def use_another_model() -> None:
    Memory.objects.filter(content="Greta hums.").update(embedding_model="older")


def use_another_size() -> None:
    Vector.objects.filter(memory=hums()).update(space="multilingual-e5-small/2")


def lose_a_word() -> None:
    Posting.objects.filter(memory=hums(), token="hum").delete()


def count_a_word_twice() -> None:
    Posting.objects.filter(memory=hums(), token="hum").update(times=2)


def leave_a_word_behind() -> None:
    Posting.objects.create(
        end_user=greta().end_user,
        memory_id=uuid4(),
        token="hum",
        status="active",
        times=1,
        length=3,
    )


def miscount_memories() -> None:
    Corpus.objects.update(size=99)


def mistake_a_status() -> None:
    Vector.objects.filter(memory=hums()).update(status="archived")


def outdate_a_source() -> None:
    Memory.objects.filter(content="Greta lives in Oslo.").update(status="outdated")


def spoil_a_profile_memory() -> None:
    Memory.objects.filter(kind="profile").update(content="Greta: Rome", tokens=["greta", "rome"])


def lose_a_profile_memory() -> None:
    Memory.objects.filter(kind="profile").delete()


def consolidate_into_a_fact() -> None:
    fact = hums()
    Memory.objects.filter(content="Greta lives in Oslo.").update(consolidated_into=fact)


def leave_a_source_out() -> None:
    Link.objects.filter(memory__content="Greta hums.").update(consolidated_at=LONG_AGO)
    profile = Memory.objects.get(kind="profile")
    behind = {"consolidated_into": profile, "importance": 0.05}
    Memory.objects.filter(content="Greta hums.").update(**behind)


def link_across_users() -> None:
    other = make_contact(make_end_user(), "Oda")
    memory = hums()
    without_keys("memories_link", "contact_id", "memory_id")
    Link.objects.create(
        end_user=memory.end_user, contact=other, memory=memory, made_by="extractor", rejected=True
    )


def edge_across_users() -> None:
    other = make_memory(make_end_user(), "Oda sings.")
    memory = hums()
    without_keys("memories_edge", "source_id", "target_id")
    Edge.objects.create(end_user=memory.end_user, source=memory, target=other, kind="supersedes")


def lose_a_message() -> None:
    Message.objects.filter(seq=2).delete()


def lose_the_last_message() -> None:
    Message.objects.filter(seq=3).delete()


def renumber_a_message() -> None:
    Message.objects.filter(seq=2).update(seq=9)


def lose_a_batch() -> None:
    Batch.objects.filter(first_seq=1).delete()


def lose_the_last_batch() -> None:
    Batch.objects.filter(first_seq=3).delete()


def abandon_a_batch() -> None:
    Batch.objects.filter(first_seq=3).update(state="running", leased_until=LONG_AGO)


def forget_a_try() -> None:
    Batch.objects.filter(first_seq=3).update(state="failed", retry_at=LONG_AGO)


def abandon_a_job() -> None:
    JobRun.objects.create(job="rescore", leased_until=LONG_AGO)


def lose_the_schedules() -> None:
    Schedule.objects.all().delete()


def change_a_schedule() -> None:
    Schedule.objects.update(minutes=60)


def gretel() -> Contact:
    return Contact.objects.exclude(merged_into=None).get()


def link_a_merged_contact() -> None:
    memory = hums()
    Link.objects.create(
        end_user=memory.end_user, contact=gretel(), memory=memory, made_by="backfill"
    )


def speak_of_a_merged_contact() -> None:
    fact = {"key": "habit", "value": "humming", "person": str(gretel().id)}
    Memory.objects.filter(content="Greta hums.").update(facts=[fact])


def merge_in_a_circle() -> None:
    ContactKey.objects.all().delete()
    Contact.objects.filter(name="Greta").update(merged_into=gretel())


def keep_a_password() -> None:
    Memory.objects.filter(content="Greta hums.").update(
        quote="The password of the wifi is hunter2."
    )


def know_a_pin() -> None:
    known = greta().attributes | {"pin": [json_value("4711")]}
    Contact.objects.filter(name="Greta").update(attributes=known)


def reject_a_source() -> None:
    Link.objects.filter(memory__content="Greta lives in Oslo.").update(rejected=True)


# damage -> (the checks that see it, whether a machine can mend it)
DAMAGE: dict[Callable[[], None], tuple[set[str], bool]] = {
    lose_a_memory_id: ({"memory_ids_equal_links"}, True),
    turn_memory_ids_around: ({"memory_ids_equal_links"}, True),
    add_a_stranger_to_memory_ids: ({"memory_ids_equal_links"}, True),
    spoil_a_card: ({"cards_are_current"}, True),
    lose_a_key: ({"keys_are_current"}, True),
    leave_a_key: ({"keys_are_current"}, True),
    key_a_merged_contact: ({"keys_are_current"}, True),
    spoil_tokens: ({"tokens_are_current"}, True),
    lose_an_embedding: ({"embeddings_are_current"}, True),
    use_another_model: ({"embeddings_are_current"}, True),
    use_another_size: ({"embeddings_are_current"}, True),
    lose_a_word: ({"postings_equal_tokens"}, True),
    count_a_word_twice: ({"postings_equal_tokens"}, True),
    leave_a_word_behind: ({"postings_equal_tokens"}, True),
    miscount_memories: ({"corpora_count_memories"}, True),
    mistake_a_status: ({"postings_equal_tokens"}, True),
    link_a_merged_contact: ({"merged_contacts_hold_nothing"}, True),
    speak_of_a_merged_contact: ({"merged_contacts_hold_nothing"}, True),
    merge_in_a_circle: ({"merged_contacts_hold_nothing"}, False),
    reject_a_source: ({"profiles_rest_on_their_own_memories", "sources_step_back"}, True),
    outdate_a_source: ({"profiles_rest_on_their_own_memories"}, True),
    spoil_a_profile_memory: ({"profile_memories_are_current"}, True),
    consolidate_into_a_fact: ({"sources_step_back"}, True),
    leave_a_source_out: ({"sources_step_back", "cards_are_current"}, True),
    link_across_users: ({"rows_stay_with_their_user"}, False),
    edge_across_users: ({"rows_stay_with_their_user"}, False),
    lose_a_message: ({"messages_have_no_gaps"}, False),
    lose_the_last_message: ({"messages_have_no_gaps"}, False),
    renumber_a_message: ({"messages_have_no_gaps"}, False),
    lose_a_batch: ({"batches_have_no_gaps"}, False),
    lose_the_last_batch: ({"batches_have_no_gaps"}, False),
    forget_a_try: ({"no_work_is_abandoned"}, False),
    abandon_a_batch: ({"no_work_is_abandoned"}, False),
    abandon_a_job: ({"no_job_is_abandoned"}, True),
    lose_the_schedules: ({"schedules_are_installed"}, True),
    change_a_schedule: ({"schedules_are_installed"}, True),
    keep_a_password: ({"nothing_tells_a_secret"}, False),
    know_a_pin: ({"nothing_tells_a_secret"}, False),
}
