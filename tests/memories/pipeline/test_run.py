"""What becomes of work when the model fails, with a real server that plays the failures."""

from datetime import timedelta

import pytest
from django.db.models import F
from django.utils import timezone
from django_q.models import OrmQ

from accounts.models import EndUser
from accounts.reasons import read
from contacts.models import Contact
from memories import tasks
from memories.jobs import sweep
from memories.models import Batch, Link, Memory, ModelCall
from memories.pipeline import cadence, run
from memories.pipeline.buffer import Incoming, receive
from tests.factories import make_app
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


def test_a_refused_key_quarantines_the_batch_where_an_operator_sees_it(server, end_user, caplog):
    server.fail(401, times=None)
    run.extract_next(end_user.pk, everything=True)
    batch = Batch.objects.get()
    assert batch.state == "quarantined"
    assert batch.error
    assert "Oliver" not in batch.error + caplog.text
    assert str(read(batch.error)) in caplog.text
    assert ModelCall.objects.get(purpose="extract").outcome == "permanent"


def test_an_answer_out_of_form_is_repaired_once_and_then_quarantined(server, end_user):
    server.reply_text("no JSON at all", times=None)
    run.extract_next(end_user.pk, everything=True)
    assert Batch.objects.get().state == "quarantined"
    assert ModelCall.objects.get().outcome == "output"
    assert len(server.requests) == 2


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
    for attempt in range(1, run.MAX_ATTEMPTS + 1):
        run.extract_next(end_user.pk, everything=True)
        batch = Batch.objects.get()
        assert batch.attempts == attempt
        retry_is_due(batch)
    assert Batch.objects.get().state == "quarantined"


def test_later_messages_do_not_wait_for_a_quarantined_batch(server, end_user):
    server.fail(401, times=1)
    run.extract_next(end_user.pk, everything=True)
    receive(end_user.app, "ann", [Incoming("user", "Oliver lives in Madrid now.")])
    again = {**EXTRACTED["memories"][0], "turns": [2]}  # turn 1 is the quarantined one
    server.reply_json({**EXTRACTED, "memories": [again]})
    run.extract_next(end_user.pk, everything=True)
    assert Memory.objects.count() == 1


def test_an_operator_can_send_a_quarantined_batch_round_again(server, end_user):
    server.fail(401, times=1)
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
    source = {"personality": None, "attributes": [], "timeline": []}
    server.reply_json(source)
    run.consolidate_user(end_user.pk)
    work.refresh_from_db()
    assert work.state == "done"
    assert not Link.objects.of(end_user).unconsolidated().exists()


def test_a_task_for_a_forgotten_user_returns_quietly():
    for task in (tasks.extract, tasks.consolidate, tasks.process, tasks.embed):
        task(987654)
    tasks.link_backfill("00000000-0000-0000-0000-000000000000")
    assert not OrmQ.objects.exists()


def test_the_sweep_hands_on_what_no_message_will_trigger(end_user):
    EndUser.objects.update(last_message_at=timezone.now() - timedelta(minutes=6))
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
    assert cadence.consolidation_due(end_user)
    EndUser.objects.update(consolidated_seq=F("extracted_seq") - settings.MIO_CONSOLIDATE_EVERY + 1)
    end_user.refresh_from_db()
    assert not cadence.consolidation_due(end_user)
