"""Batches are handed over once, whatever breaks off on the way."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from accounts.reasons import read
from accounts.scope import all_users
from memories.models import Batch, Memory, ModelCall, RemoteBatch
from memories.pipeline.remote import submit
from tests import processes
from tests.memories.pipeline.remote.answers import KEY, extracted, state_of, the_batch, told

pytestmark = pytest.mark.django_db


class TestHandingOver:
    def test_a_refused_upload_fails_its_batches_as_any_call_would(self, server, app, caplog):
        ann = told(app, "ann")
        server.fail(503, on="files", message="Oliver lives in Madrid")
        submit.submit_due()
        batch = Batch.objects.of(ann).get()
        assert (batch.state, str(read(batch.error))) == (
            "failed",
            "The model server answered 503 (error).",
        )
        server.fail(400, on="files", message=KEY)
        Batch.objects.update(retry_at=timezone.now())
        submit.submit_due()
        assert state_of(ann) == "quarantined"
        assert not re.search(f"Oliver|Madrid|{KEY}", caplog.text)

    def test_a_batch_that_was_made_though_its_reply_was_lost_is_adopted(self, server, app):
        ann = told(app, "ann")
        server.lose_reply(on="batches")
        submit.submit_due()
        row = RemoteBatch.objects.get()
        assert (row.state, row.remote_id.partition(":")[0]) == ("open", "unnamed")
        server.remote.end(the_batch(server), extracted)
        submit.poll()
        assert state_of(ann) == "done"
        assert len(server.remote.batches) == 1
        assert server.remote.files == {}

    def test_an_upload_whose_reply_was_lost_leaves_no_file_behind(self, server, app):
        told(app, "ann")
        server.lose_reply(on="files")
        submit.submit_due()
        assert len(server.remote.files) == 1
        submit.poll()
        assert server.remote.files == {}

    def test_what_was_announced_but_never_made_goes_back_after_a_while(self, server, app):
        ann = told(app, "ann")
        server.fail(500, on="batches")
        submit.submit_due()
        submit.poll()
        assert state_of(ann) == "submitted"
        assert len(server.remote.files) == 1
        RemoteBatch.objects.update(created_at=timezone.now() - submit.NAMED_WITHIN)
        submit.poll()
        assert state_of(ann) == "pending"
        assert server.remote.files == {}
        RemoteBatch.objects.update(created_at=timezone.now() - timedelta(hours=2))
        submit.poll()
        assert submit.poll() == {}

    def test_a_batch_of_a_row_that_was_given_up_is_cancelled(self, server, app):
        ann = told(app, "ann")
        server.lose_reply(on="batches")
        submit.submit_due()
        RemoteBatch.objects.all().delete()
        Batch.objects.update(state="pending")
        submit.submit_due()
        RemoteBatch.objects.update(remote_id="unnamed:again")  # so that strays are looked for
        submit.poll()
        first, second = server.remote.batches.values()
        assert (first["status"], second["status"]) == ("cancelling", "in_progress")
        server.remote.end(second["id"], extracted)
        submit.poll()
        assert state_of(ann) == "done"

    def test_batches_of_another_installation_on_the_same_key_are_left_alone(self, server, app):
        other = {"endpoint": "/v1/chat/completions", "completion_window": "24h"}
        server.remote.files["file-other"] = ("mio-000000000000-1.jsonl", "")
        server.remote.answer(
            "POST",
            "/v1/batches",
            {**other, "input_file_id": "file-other", "metadata": {"mio": "000000", "row": "1"}},
        )
        told(app, "ann")
        server.lose_reply(on="batches")
        submit.submit_due()
        submit.poll()
        assert {b["status"] for b in server.remote.batches.values()} == {"in_progress"}
        assert "file-other" in server.remote.files


SUBMIT = """
from memories.pipeline.remote import submit
submit.submit_due()
"""


@pytest.mark.django_db(transaction=True)
@pytest.mark.system
class TestSeveralProcesses:
    def env(self, server):
        return {
            "MIO_LLM": "openai",
            "MIO_LLM_BATCH": "1",
            "MIO_LLM_MODEL": "any-model",
            "OPENAI_API_KEY": KEY,
            "OPENAI_BASE_URL": server.base_url,
            "SECRET_KEY": self.secret,
        }

    @pytest.fixture(autouse=True)
    def _secret(self, settings):
        self.secret = settings.SECRET_KEY

    @pytest.mark.parametrize(("hangs", "asked"), [("files", 1), ("batches", 2)])
    def test_a_submitter_killed_on_its_way_loses_nothing_and_does_nothing_twice(
        self, server, app, hangs, asked
    ):
        ann = told(app, "ann")
        server.hang(on=hangs)
        submitter = processes.start(SUBMIT, **self.env(server))
        for _ in range(asked):
            assert server.arrived.acquire(timeout=60)
        submitter.kill()
        assert state_of(ann) == "submitted"
        assert submit.submit_due() == {"requests": 0}
        RemoteBatch.objects.update(created_at=timezone.now() - submit.NAMED_WITHIN)
        submit.poll()
        assert state_of(ann) == "pending"
        assert server.remote.files == {}
        assert submit.submit_due() == {"requests": 1}
        server.remote.end(the_batch(server), extracted)
        submit.poll()
        assert state_of(ann) == "done"
        assert Memory.objects.filter(kind="fact").count() == 1

    def test_two_submitters_at_once_send_each_batch_once(self, server, app):
        for number in range(6):
            told(app, f"user {number}")
        both = [processes.start(SUBMIT, **self.env(server)) for _ in range(2)]
        for one in both:
            one.finish()
        sent = [
            line["custom_id"]
            for batch_id in server.remote.batches
            for line in server.remote.lines(batch_id)
        ]
        assert len(sent) == len(set(sent)) == 6

    def test_two_pollers_at_once_take_each_answer_in_once(self, server, app):
        users = [told(app, f"user {number}") for number in range(6)]
        submit.submit_due()
        server.remote.end(the_batch(server), extracted)

        @all_users()
        def poll():
            try:
                return submit.poll().get("answered", 0)
            finally:
                connection.close()

        with ThreadPoolExecutor(2) as pool:
            taken = sum(future.result() for future in [pool.submit(poll) for _ in range(2)])
        assert taken == 6
        assert {state_of(user) for user in users} == {"done"}
        assert ModelCall.objects.filter(purpose="extract").count() == 6
        assert Memory.objects.filter(kind="fact").count() == 6
