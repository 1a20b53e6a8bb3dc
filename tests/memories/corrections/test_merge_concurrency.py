"""Merges beside real processes that extract, merge and consolidate at the same time."""

import pytest
from django.db import connection, transaction

from accounts.models import EndUser
from contacts import store
from contacts.merge import InvalidMerge
from contacts.models import Contact
from memories.corrections import merge_contacts
from memories.corrections.undo import undo_change
from memories.models import Batch, Link, Memory
from memories.pipeline import run
from memories.pipeline.buffer import Incoming, receive
from tests.factories import SOME_DAY, make_app, make_contact, make_end_user, make_memory
from tests.memories.pipeline.worker_process import PROCESS, TALK, incoming
from tests.memories.snapshots import assert_sound
from tests.processes import start, wait_until_blocked

pytestmark = [pytest.mark.system, pytest.mark.django_db(transaction=True)]
ANN = "operator:ann"


MERGE = """
from uuid import UUID
from accounts.models import EndUser
from contacts.merge import InvalidMerge
from memories.corrections import merge_contacts
from memories.corrections.undo import undo_change
end_user = EndUser.objects.get(pk=sys.argv[1])
try:
    merge_contacts.merge(end_user, UUID(sys.argv[2]), UUID(sys.argv[3]), actor="operator:bob")
    print("merged")
except InvalidMerge as error:
    print(error)
"""


def told():
    """An end user who spoke of 小梅 and of 梅姐 before, and has spoken of both again since."""
    app = make_app()
    end_user = receive(app, "ann", incoming()).end_user
    run.process(end_user.pk)
    mei = Contact.objects.of(end_user).get(name="小梅")
    jie = make_contact(end_user, "梅姐")
    make_memory(end_user, "梅姐会弹古筝", jie)
    news = [*TALK, "梅姐最近在学做蛋糕。", "梅姐搬到了佛山。", "梅姐的生日是7月2日。"]
    receive(
        app,
        "ann",
        [Incoming("user", text, id=f"new{n}", created_at=SOME_DAY) for n, text in enumerate(news)],
    )
    return end_user, mei, jie


def facts(end_user):
    return set(Memory.objects.of(end_user).filter(kind="fact").values_list("content", flat=True))


def test_a_merge_in_the_middle_of_an_extraction_loses_no_link_and_leaves_none_behind():
    end_user, mei, jie = told()
    with transaction.atomic(), connection.cursor() as cursor:
        # The worker has asked the model who is who, and now waits to write.
        EndUser.objects.lock(end_user.pk)
        worker = start(PROCESS, end_user.pk)
        wait_until_blocked(cursor)
        change = merge_contacts.merge(end_user, jie.id, mei.id, actor=ANN)
    worker.finish()
    run.process(end_user.pk)

    assert not Batch.objects.exclude(state="done").exists()
    assert not Link.objects.filter(contact=jie).exists()
    about = set(Memory.objects.about(mei.id).values_list("content", flat=True))
    assert {text for text in facts(end_user) if "梅姐" in text or "小梅" in text} <= about
    assert not Contact.objects.of(end_user).standing().filter(name="梅姐").exists()
    assert_sound(end_user)

    later = set(Memory.objects.about(mei.id).values_list("pk", flat=True))
    undo_change(change, actor=ANN, with_later=True)  # what the batch outdated came after
    apart = {
        pk
        for contact in (jie, mei)
        for pk in Memory.objects.about(contact.id).values_list("pk", flat=True)
    }
    kept = Memory.objects.filter(pk__in=later, kind="fact").values_list("pk", flat=True)
    assert set(kept) <= apart
    assert_sound(end_user)


def test_merges_that_cross_end_with_one_merge_and_one_clear_error():
    end_user = make_end_user(language="zh")
    for n in range(3):
        one, other = make_contact(end_user, f"阿兰{n}"), make_contact(end_user, f"兰兰{n}")
        for contact in (one, other):
            make_memory(end_user, f"{contact.name}爱看书", contact)
        with transaction.atomic(), connection.cursor() as cursor:
            EndUser.objects.lock(end_user.pk)
            workers = [
                start(MERGE, end_user.pk, loser.id, survivor.id)
                for loser, survivor in ((one, other), (other, one))
            ]
            wait_until_blocked(cursor, sessions=2)
        said = sorted(worker.finish() for worker in workers)
        assert sum(line == "merged\n" for line in said) == 1, said
        assert sum("already" in line for line in said) == 1, said
        left = Contact.objects.of(end_user).standing().get(pk__in=[one.id, other.id])
        assert len(left.memory_ids) == 2
    assert_sound(end_user)


def test_a_consolidation_that_has_read_before_a_merge_writes_nothing_after_it():
    end_user, mei, jie = told()
    while run.extract_next(end_user.pk, everything=True):
        pass
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("LOCK TABLE memories_modelcall IN EXCLUSIVE MODE")
        worker = start(PROCESS, end_user.pk)
        wait_until_blocked(cursor)  # a model has answered, and nothing is written yet
        merge_contacts.merge(end_user, jie.id, mei.id, actor=ANN)
    worker.finish()
    run.process(end_user.pk)
    assert not Link.objects.due(end_user).exists()
    assert store.survivor(end_user, jie.id) == mei
    assert_sound(end_user)
    with pytest.raises(InvalidMerge):
        merge_contacts.merge(end_user, mei.id, jie.id, actor=ANN)
