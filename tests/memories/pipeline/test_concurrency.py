"""Eight real processes on one end user, and workers that are killed at the worst moment."""

import json
from collections import Counter
from functools import cache

import pytest
from django.db import connection, transaction
from django.utils import timezone

from accounts.models import EndUser
from contacts.models import Contact
from memories.models import Batch, Consolidation, Link, Memory, Message
from memories.pipeline import run
from memories.pipeline.buffer import receive
from tests.factories import make_app
from tests.memories.pipeline.worker_process import PROCESS, TALK, incoming
from tests.processes import end_other_sessions, start, wait_until_blocked

pytestmark = [pytest.mark.system, pytest.mark.django_db(transaction=True)]


def knowledge(end_user):
    """What is known, without ids: equal for two users who were told the same."""
    contacts = {
        c.name: (sorted(c.aliases), c.relationship, c.card)
        for c in Contact.objects.of(end_user).standing()
    }
    memories = Counter(
        Memory.objects.of(end_user).values_list("content", "status", "importance", "kind")
    )
    links = Counter(Link.objects.of(end_user).values_list("contact__name", "memory__content"))
    return contacts, memories, links


@cache
def undisturbed():
    """What a run without any accident knows; the same in every test."""
    end_user = receive(make_app(), "undisturbed", incoming()).end_user
    run.process(end_user.pk)
    return knowledge(end_user)


INGEST_AND_EXTRACT = """
import json
from accounts.models import App
from memories.pipeline import run
from memories.pipeline.buffer import Incoming, receive
from tests.factories import SOME_DAY
app, worker, texts = App.objects.get(pk=sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
for n, text in enumerate(texts):
    mine = Incoming("user", text, id=f"{worker}-{n}", created_at=SOME_DAY)
    shared = Incoming("user", text, id=f"shared-{n}", created_at=SOME_DAY)
    end_user = receive(app, "ann", [mine, shared]).end_user
    if n % 4 == 3:
        run.extract_next(end_user.pk)
"""


def test_eight_processes_lose_nothing_and_do_nothing_twice():
    app = make_app()
    workers = [
        start(INGEST_AND_EXTRACT, app.pk, n, json.dumps(TALK, ensure_ascii=False)) for n in range(8)
    ]
    for worker in workers:
        worker.finish()
    end_user = EndUser.objects.get(app=app, external_id="ann")
    run.process(end_user.pk)

    seqs = list(Message.objects.of(end_user).values_list("seq", flat=True))
    assert seqs == list(range(1, 9 * len(TALK) + 1))
    assert not Batch.objects.exclude(state="done").exists()
    covered = [
        seq
        for batch in Batch.objects.of(end_user)
        for seq in range(batch.first_seq, batch.last_seq + 1)
    ]
    assert sorted(covered) == seqs
    active = Memory.objects.of(end_user).active().values_list("content_hash", flat=True)
    assert len(active) == len(set(active)) > 0
    names = Contact.objects.of(end_user).standing().values_list("name_key", flat=True)
    assert len(names) == len(set(names))
    contacts, memories, _ = knowledge(end_user)
    once = undisturbed()
    assert contacts.keys() == once[0].keys()
    assert {text for text, *_ in memories} >= {
        text for text, _, _, kind in once[1] if kind == "fact"
    }


def kill_a_worker_at_its_write(end_user, table):
    """Starts a worker on all that waits, lets it come to where it writes ``table``, and
    kills it there, in the middle of its transaction."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"LOCK TABLE {table} IN EXCLUSIVE MODE")  # reads pass, writes wait
        worker = start(PROCESS, end_user.pk)
        wait_until_blocked(cursor)
        worker.kill()
    with connection.cursor() as cursor:
        end_other_sessions(cursor)


def time_passes(model):
    """The lease of a dead worker runs out."""
    model.objects.filter(state="running").update(leased_until=timezone.now())


@pytest.mark.parametrize("table", ["contacts_contact", "memories_memory", "memories_link"])
def test_a_worker_killed_in_the_middle_of_extraction_leaves_no_trace(table):
    end_user = receive(make_app(), "ann", incoming()).end_user
    kill_a_worker_at_its_write(end_user, table)
    assert Batch.objects.get(end_user=end_user).state == "running"
    assert not Memory.objects.of(end_user).exists()
    run.process(end_user.pk)
    assert not Memory.objects.of(end_user).exists(), "the lease still holds"

    time_passes(Batch)
    run.process(end_user.pk)
    assert Batch.objects.get(end_user=end_user).attempts == 2
    assert knowledge(end_user) == undisturbed()


def test_a_worker_killed_in_the_middle_of_consolidation_leaves_no_trace():
    end_user = receive(make_app(), "ann", incoming()).end_user
    while run.extract_next(end_user.pk, everything=True):
        pass
    before = knowledge(end_user)
    kill_a_worker_at_its_write(end_user, "memories_link")
    assert knowledge(end_user) == before
    assert {*Consolidation.objects.values_list("state", flat=True)} == {"running"}

    time_passes(Consolidation)
    run.process(end_user.pk)
    assert not Consolidation.objects.exclude(state="done").exists()
    assert knowledge(end_user) == undisturbed()


def test_a_worker_that_lost_its_connection_goes_on_at_once():
    end_user = receive(make_app(), "ann", incoming()).end_user
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("LOCK TABLE memories_memory IN EXCLUSIVE MODE")
        worker = start(PROCESS, end_user.pk)
        wait_until_blocked(cursor)
        end_other_sessions(cursor)  # as when the server recovers from a crash
    worker.finish()
    batch = Batch.objects.get(end_user=end_user)
    assert (batch.state, batch.attempts) == ("done", 2)
    assert knowledge(end_user) == undisturbed()


def test_a_worker_that_lost_its_claim_writes_nothing():
    end_user = receive(make_app(), "ann", incoming()).end_user
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("LOCK TABLE contacts_contact IN EXCLUSIVE MODE")
        worker = start(PROCESS, end_user.pk)
        wait_until_blocked(cursor)
        # Another worker has taken the batch over meanwhile, and is at work on it.
        Batch.objects.filter(end_user=end_user).update(attempts=2)
    worker.finish()
    batch = Batch.objects.get(end_user=end_user)
    assert (batch.state, batch.attempts) == ("running", 2)
    assert not Memory.objects.of(end_user).exists()
