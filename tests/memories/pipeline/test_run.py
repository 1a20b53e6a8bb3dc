"""What becomes of work when the model fails, with a real server that plays the failures."""

import itertools
import re
import signal
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import F
from django.utils import timezone
from django_q.models import OrmQ

from accounts.models import EndUser
from accounts.reasons import read
from contacts.models import Contact
from memories import tasks
from memories.budget import TimeLimitExceeded, time_limit
from memories.erasure import erase
from memories.jobs import job_runs, sweep
from memories.models import Batch, JobRun, Link, Memory, ModelCall, Outage, Work
from memories.pipeline import buffer, catch_up, run
from memories.pipeline.buffer import Incoming, receive
from tests.dashboard.signin import signed_in
from tests.factories import make_app, make_end_user, make_memory
from tests.queue import queued

pytestmark = pytest.mark.django_db

EXTRACTED = {
    "people": [{"id": "n1", "name": "Oliver", "relationship": "colleague"}],
    "memories": [
        {
            "content": "Oliver lives in Madrid",
            "type": "personal",
            "subtype": "colleague",
            "people": ["n1"],
            "turns": [1],
            "facts": [{"person": "n1", "key": "location", "value": "Madrid"}],
        }
    ],
}


@pytest.fixture
def end_user():
    text = "My colleague Oliver lives in Madrid."
    return receive(make_app(), "ann", [Incoming("user", text)]).end_user


def retry_is_due(batch):
    Batch.objects.filter(pk=batch.pk).update(retry_at=timezone.now() - timedelta(seconds=1))


def test_a_model_extracts_and_every_call_is_in_the_ledger(server, end_user):
    server.reply_json(EXTRACTED)
    run.extract_next(end_user.pk, everything=True)
    assert [m.content for m in Memory.objects.all()] == ["Oliver lives in Madrid"]
    assert Link.objects.get().contact.name == "Oliver"
    assert Batch.objects.get().provider == "openai"
    calls = {call.purpose: call for call in ModelCall.objects.all()}
    assert (calls["extract"].provider, calls["extract"].outcome) == ("openai", "ok")
    assert (calls["embed"].provider, calls["embed"].outcome) == ("local", "ok")
    for call in calls.values():
        assert call.tokens_in > 0
        assert not any("Madrid" in str(value) for value in vars(call).values())


@pytest.fixture
def poison(db):
    """An error that nobody foresaw: the database takes no memory of Madrid."""
    with connection.cursor() as cursor:
        cursor.execute(
            "ALTER TABLE memories_memory ADD CONSTRAINT poison CHECK (content NOT LIKE '%Madrid%')"
        )


def test_an_error_of_our_own_ends_in_quarantine_and_later_messages_go_on(
    poison, server, end_user, caplog
):
    server.reply_json(EXTRACTED, times=run.MAX_FAULTS)
    assert catch_up.catch_up(end_user.pk).quarantined == 1
    batch = Batch.objects.get()
    assert (batch.state, batch.attempts) == ("quarantined", run.MAX_FAULTS)
    why = str(read(batch.error))
    assert "IntegrityError at memories/" in why
    assert f"batch {batch.pk} failed" in caplog.text
    assert why in caplog.text
    assert "Madrid" not in batch.error + caplog.text
    receive(end_user.app, "ann", [Incoming("user", "Oliver likes tea.")])
    tea = {"content": "Oliver likes tea", "turns": [2], "facts": []}
    server.reply_json({**EXTRACTED, "memories": [{**EXTRACTED["memories"][0], **tea}]})
    assert catch_up.catch_up(end_user.pk).pending == 0
    assert Memory.objects.get(kind="fact").content == "Oliver likes tea"


@pytest.mark.django_db(transaction=True)
def test_a_failure_is_written_by_the_connection_that_others_use_and_by_a_new_one_when_it_broke(
    server, end_user
):
    server.reply_json({"nonsense": True}, times=9)
    before = connection.connection
    run.extract_next(end_user.pk, everything=True)
    batch = Batch.objects.get()
    assert batch.state == "failed"
    assert connection.connection is before
    batch.state = "running"
    batch.save()
    connection.connection.close()  # as when the server ends it
    connection.errors_occurred = True
    run._write_failure(batch, state="failed")
    assert Batch.objects.get().state == "failed"


def test_a_profile_that_cannot_be_written_ends_in_quarantine(server, end_user):
    server.reply_json(EXTRACTED)
    run.extract_next(end_user.pk, everything=True)
    connection.check_constraints()
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE memories_link ADD CHECK (consolidated_at IS NULL)")
    server.reply_json({"people": []}, times=None)
    assert catch_up.catch_up(end_user.pk).consolidated == 0
    work = Contact.objects.get().consolidations.get()
    assert (work.state, work.attempts) == ("quarantined", run.MAX_FAULTS)


def test_work_that_takes_too_long_is_a_failed_try(server, end_user, monkeypatch):
    monkeypatch.setattr(Batch, "TIME_LIMIT", timedelta(seconds=0.3))
    server.hang()
    run.extract_next(end_user.pk, everything=True)
    batch = Batch.objects.get()
    assert (batch.state, batch.attempts) == ("failed", 1)
    assert "TimeLimitExceeded" in batch.error
    assert batch.retry_at > timezone.now()


def test_a_time_limit_ends_a_pattern_that_explodes_and_gives_back_the_outer_one():
    with time_limit(100):
        with pytest.raises(TimeLimitExceeded), time_limit(0.05):
            re.match(r"(a+)+$", "a" * 40 + "b")
        assert 90 < signal.getitimer(signal.ITIMER_REAL)[0] <= 100
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


def test_a_time_limit_ends_what_a_thread_does_and_nothing_that_it_does_later():
    def work(seconds: float) -> None:
        with time_limit(seconds):
            for _ in itertools.count() if seconds < 1 else range(1000):
                pass

    with ThreadPoolExecutor(1) as thread:
        for _ in range(3):
            with pytest.raises(TimeLimitExceeded):
                thread.submit(work, 0.02).result(timeout=10)
            thread.submit(work, 100).result(timeout=10)


def test_work_whose_worker_always_dies_is_quarantined_by_the_sweep(end_user):
    for _ in range(Work.MAX_ATTEMPTS):
        assert buffer.claim_next(end_user.pk, now=timezone.now(), everything=True)
        Batch.objects.update(leased_until=timezone.now())
    assert buffer.claim_next(end_user.pk, now=timezone.now()) is None
    sweep.sweep()
    batch = Batch.objects.get()
    assert (batch.state, str(read(batch.error))) == (
        "quarantined", "The process that ran it is gone."
    )  # fmt: skip


def test_a_lease_of_before_the_database_was_started_is_void(end_user):
    """However the clocks differ: the server that gave it is told by when it was started."""
    batch = buffer.claim_next(end_user.pk, now=timezone.now(), everything=True)
    run_ = job_runs.claim("rescore", timedelta(hours=1))
    assert job_runs.claim("rescore", timedelta(hours=1)) is None
    assert buffer.claim_next(end_user.pk, now=timezone.now()) is None
    for apart in (timedelta(hours=-1), timedelta(hours=1)):
        for rows in (Batch.objects.filter(pk=batch.pk), JobRun.objects.filter(pk=run_.pk)):
            rows.update(server_start=F("server_start") + apart)
        assert buffer.claim_next(end_user.pk, now=timezone.now()).pk == batch.pk
        run_ = job_runs.claim("rescore", timedelta(hours=1))
        assert run_ is not None


def test_a_refused_key_is_one_cause_and_work_goes_on_by_itself_when_it_is_taken(server, end_user):
    other = receive(make_app(), "ben", [Incoming("user", "I met Oliver.")]).end_user
    server.fail(401, times=4)
    for _ in range(2):
        for user in (end_user, other):
            run.extract_next(user.pk, everything=True)
            Batch.objects.update(retry_at=timezone.now())
    batches = Batch.objects.order_by("pk")
    assert [(b.state, b.attempts) for b in batches] == [("failed", 1), ("failed", 0)]
    outage = Outage.objects.get()
    assert "401" in outage.error
    assert ModelCall.objects.filter(outcome="permanent").count() == 4
    Batch.objects.update(retry_at=timezone.now() + timedelta(minutes=15))
    server.fail(403)
    sweep.sweep()
    assert Outage.objects.exists()
    assert not OrmQ.objects.exists()
    server.reply_text("hello")
    sweep.sweep()
    assert not Outage.objects.exists()
    assert queued() == ["memories.tasks.extract"] * 2
    server.reply_json({"people": [], "memories": []}, times=2)
    for user in (end_user, other):
        tasks.extract(user.pk)
    assert {b.state for b in Batch.objects.all()} == {"done"}


def test_a_batch_that_alone_is_refused_ends_in_quarantine(server, end_user):
    for _ in range(Work.MAX_ATTEMPTS):
        server.fail(403)
        run.extract_next(end_user.pk, everything=True)
        server.reply_text("hello")
        sweep.sweep()
    assert Batch.objects.get().state == "quarantined"


def test_an_outage_of_a_model_that_the_settings_name_no_more_is_over(server, end_user, settings):
    server.fail(404)
    run.extract_next(end_user.pk, everything=True)
    settings.MIO_LLM = "offline"
    sweep.sweep()
    assert not Outage.objects.exists()


def test_an_answer_out_of_form_is_repaired_once_asked_for_again_and_then_quarantined(
    server, end_user
):
    server.reply_text("no JSON at all", times=None)
    for tries in range(1, run.MAX_FAULTS + 1):
        run.extract_next(end_user.pk, everything=True)
        batch = Batch.objects.get()
        assert (batch.attempts, len(server.requests)) == (tries, 2 * tries)
        retry_is_due(batch)
    assert Batch.objects.get().state == "quarantined"
    calls = ModelCall.objects.values_list("outcome", "answer")
    assert set(calls) == {("output", "no JSON at all")}
    shown = {
        role: signed_in(role).get("/pipeline/calls/").content for role in ("viewer", "reviewer")
    }
    assert [b"no JSON at all" in page for page in shown.values()] == [False, True]
    erase.forget_memory(end_user, make_memory(end_user).pk)
    assert set(ModelCall.objects.values_list("answer", flat=True)) == {""}


def test_an_answer_about_turns_of_another_talk_is_asked_for_again(server, end_user):
    server.reply_json({**EXTRACTED, "memories": [{**EXTRACTED["memories"][0], "turns": [99]}]})
    run.extract_next(end_user.pk, everything=True)
    batch = Batch.objects.get()
    assert (batch.state, Memory.objects.count()) == ("failed", 0)
    retry_is_due(batch)
    server.reply_json(EXTRACTED)
    run.extract_next(end_user.pk, everything=True)
    assert (Batch.objects.get().state, Memory.objects.count()) == ("done", 1)


def test_of_an_unusable_answer_nothing_is_kept_that_holds_a_secret(server, end_user):
    server.reply_text("her card is 4111 1111 1111 1111\0", times=None)
    run.extract_next(end_user.pk, everything=True)
    assert (ModelCall.objects.get().outcome, ModelCall.objects.get().answer) == ("output", "")


def test_a_rate_limit_far_away_is_waited_for_without_blocking_a_worker(server, end_user):
    server.fail(429, retry_after=3600, times=1)
    before = timezone.now()
    run.extract_next(end_user.pk, everything=True)
    batch = Batch.objects.get()
    assert batch.state == "failed"
    assert batch.retry_at >= before + timedelta(hours=1)
    assert not run.extract_next(end_user.pk, everything=True)

    retry_is_due(batch)
    server.reply_json(EXTRACTED)
    assert run.extract_next(end_user.pk, everything=True)
    batch.refresh_from_db()
    assert (batch.state, batch.attempts, batch.error) == ("done", 2, "")


def test_what_fails_again_and_again_ends_in_quarantine(server, end_user):
    server.fail(429, retry_after=3600, times=None)
    waits = []
    for attempt in range(1, 8):
        run.extract_next(end_user.pk, everything=True)
        batch = Batch.objects.get()
        assert (batch.state, batch.attempts) == ("failed", attempt)
        waits.append(round((batch.retry_at - timezone.now()) / timedelta(hours=1)))
        retry_is_due(batch)
    assert waits == [1, 1, 1, 1, 4, 6, 6]
    Batch.objects.update(attempts=run.MAX_AWAY - 1)
    run.extract_next(end_user.pk, everything=True)
    assert Batch.objects.get().state == "quarantined"


def test_later_messages_do_not_wait_for_a_quarantined_batch(server, end_user):
    server.fail(400, times=1)
    run.extract_next(end_user.pk, everything=True)
    receive(end_user.app, "ann", [Incoming("user", "Oliver lives in Madrid now.")])
    again = {**EXTRACTED["memories"][0], "turns": [2]}  # turn 1 is the quarantined one
    server.reply_json({**EXTRACTED, "memories": [again]})
    run.extract_next(end_user.pk, everything=True)
    assert Memory.objects.count() == 1


def test_an_operator_can_send_a_quarantined_batch_round_again(server, end_user):
    server.fail(400, times=1)
    run.extract_next(end_user.pk, everything=True)
    run.retry(Batch.objects.get())
    server.reply_json(EXTRACTED)
    assert run.extract_next(end_user.pk)
    assert Batch.objects.get().state == "done"
    assert Memory.objects.count() == 1


def test_a_failed_consolidation_is_tried_again_and_loses_nothing(server, end_user):
    server.reply_json(EXTRACTED)
    run.extract_next(end_user.pk, everything=True)
    server.fail(429, retry_after=3600)
    run.consolidate_user(end_user.pk)
    contact = Contact.objects.get()
    work = contact.consolidations.get()
    assert work.state == "failed"
    assert Link.objects.of(end_user).unconsolidated().exists()
    contact.consolidations.update(retry_at=timezone.now())
    server.reply_json({"people": []})
    run.consolidate_user(end_user.pk)
    work.refresh_from_db()
    assert work.state == "done"
    assert not Link.objects.of(end_user).unconsolidated().exists()


def test_a_task_for_a_forgotten_user_returns_quietly():
    for task in (tasks.extract, tasks.consolidate, tasks.process, tasks.embed):
        task(987654)
    tasks.link_backfill("00000000-0000-0000-0000-000000000000")
    assert not OrmQ.objects.exists()


@pytest.mark.parametrize("task", [tasks.extract, tasks.process])
def test_a_task_does_its_turn_and_leaves_the_rest_to_another(task, settings, monkeypatch):
    settings.MIO_EXTRACT_EVERY = 1
    talk = [Incoming("user", "Oliver likes tea.")] * 10
    end_user = receive(make_app(), "ann", talk).end_user
    monkeypatch.setattr(tasks, "TURN", 0.0)
    task(end_user.pk)
    assert EndUser.objects.get(pk=end_user.pk).extracted_seq == buffer.longest_batch()
    assert queued() == [f"memories.tasks.{task.__name__}"]


@pytest.mark.parametrize(("memories", "left"), [(1, []), (2, ["memories.tasks.read_facts"])])
def test_a_task_that_read_the_last_memory_late_queues_no_other(monkeypatch, memories, left):
    end_user = make_end_user()
    for number in range(memories):
        make_memory(end_user, f"Kim has {number} cats.", unread=True)
    monkeypatch.setattr(tasks, "TURN", 0.0)
    tasks.read_facts(end_user.pk)
    assert queued() == left


def test_the_sweep_hands_on_what_no_message_will_trigger(end_user):
    EndUser.objects.update(last_message_at=timezone.now() - timedelta(minutes=6))
    sweep.sweep()
    sweep.sweep()
    assert queued() == ["memories.tasks.extract"]
    tasks.extract(end_user.pk)
    assert EndUser.objects.get().extracted_seq == 1
    OrmQ.objects.all().delete()
    sweep.sweep()
    assert not OrmQ.objects.exists()


def test_consolidation_is_due_after_its_cadence(settings, end_user):
    EndUser.objects.update(message_seq=60, extracted_seq=60)
    end_user.refresh_from_db()
    assert buffer.consolidation_due(end_user)
    EndUser.objects.update(consolidated_seq=F("extracted_seq") - settings.MIO_CONSOLIDATE_EVERY + 1)
    end_user.refresh_from_db()
    assert not buffer.consolidation_due(end_user)
