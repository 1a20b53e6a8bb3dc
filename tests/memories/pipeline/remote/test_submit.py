"""A remote batch through its whole life, and who does not wait for one."""

import pytest
from django.utils import timezone

from memories import tasks
from memories.jobs import sweep
from memories.models import Batch, Memory, ModelCall, RemoteBatch
from memories.pipeline import catch_up
from memories.pipeline.buffer import Incoming, receive
from memories.pipeline.remote import submit
from tests.factories import make_contact
from tests.memories.pipeline.remote.answers import (
    at_once,
    be_idle,
    extracted,
    state_of,
    the_batch,
    told,
)

pytestmark = pytest.mark.django_db


class TestTheWholeLife:
    def test_what_is_due_of_all_users_goes_as_one_file_and_comes_back_as_memories(
        self, server, app
    ):
        ann = told(app, "ann")
        ben = told(app, "ben", "My colleague Petra lives in Turin.")
        assert submit.submit_due() == {"requests": 2}
        assert [state_of(user) for user in (ann, ben)] == ["submitted", "submitted"]
        row = RemoteBatch.objects.get()
        assert (row.remote_id, row.requests, row.state) == (the_batch(server), 2, "open")
        assert row.expires_at > timezone.now()
        lines = server.remote.lines(row.remote_id)
        assert {line["url"] for line in lines} == {"/v1/chat/completions"}
        assert all(line["body"]["response_format"]["json_schema"]["strict"] for line in lines)
        assert not server.requests_to("chat")

        assert submit.poll() == {"open": 1}
        assert not Memory.objects.exists()
        server.remote.end(row.remote_id, extracted)
        assert submit.poll()["answered"] == 2
        assert Memory.objects.of(ann).get(kind="fact").content == "Oliver lives in Madrid"
        assert Memory.objects.of(ben).get(kind="fact").content == "Petra lives in Turin"
        assert [state_of(user) for user in (ann, ben)] == ["done", "done"]
        calls = ModelCall.objects.filter(purpose="extract")
        assert {(c.tokens_in, c.tokens_out, c.outcome, c.model) for c in calls} == {
            (11, 7, "ok", "any-model")
        }
        assert calls.count() == 2

    def test_the_files_are_deleted_at_the_server_when_the_answers_are_in(self, server, app):
        told(app, "ann")
        submit.submit_due()
        server.remote.end(the_batch(server), extracted)
        submit.poll()
        assert server.remote.files == {}
        row = RemoteBatch.objects.get()
        assert (row.state, row.answered, row.failed) == ("done", 1, 0)
        assert row.finished_at is not None

    def test_repeated_polls_do_nothing_twice_and_ask_nothing_when_all_is_settled(self, server, app):
        told(app, "ann")
        submit.submit_due()
        server.remote.end(the_batch(server), extracted)
        submit.poll()
        asked = len(server.requests)
        assert submit.poll() == {}
        assert submit.submit_due() == {"requests": 0}
        assert len(server.requests) == asked
        assert Memory.objects.filter(kind="fact").count() == 1

    def test_an_answer_refers_to_the_people_that_were_shown_whoever_came_since(self, server, app):
        ann = told(app, "ann", "My colleague Oliver lives in Madrid. Mira too.")
        known = make_contact(ann, "Mira")
        submit.submit_due()
        for name in ("Aaron", "Oliver"):  # would be first in a prompt made now
            make_contact(ann, name, last_mentioned_at=timezone.now())

        def about_the_first(body):
            answer = extracted(body)
            answer["memories"][0] |= {"people": ["p1"], "facts": [], "content": "Mira is there"}
            return answer | {"people": []}

        server.remote.end(the_batch(server), about_the_first)
        submit.poll()
        assert [link.contact for link in Memory.objects.get(kind="fact").links.all()] == [known]

    def test_a_batch_in_which_the_user_said_nothing_is_done_without_asking(self, server, app):
        ann = receive(app, "ann", [Incoming("assistant", "Hello!")]).end_user
        be_idle(ann)
        assert submit.submit_due() == {"requests": 0}
        assert state_of(ann) == "done"
        assert server.requests == []

    def test_a_sweep_hands_over_and_leaves_no_task_behind_that_would_ask_at_once(self, server, app):
        ann = told(app, "ann")
        tasks.extract(ann.pk)
        assert not Batch.objects.exists()
        sweep.sweep()
        tasks.extract(ann.pk)
        assert state_of(ann) == "submitted"
        assert not server.requests_to("chat")


class TestWhoWaits:
    def test_a_request_to_process_takes_a_submitted_batch_back(self, server, app):
        ann = told(app, "ann")
        submit.submit_due()
        server.answer_with = at_once
        catch_up.catch_up(ann.pk)
        assert (state_of(ann), Memory.objects.filter(kind="fact").count()) == ("done", 1)
        # Nobody needs the remote batch any more: it is stopped, and a late answer is nobody's.
        submit.poll()
        assert server.remote.batches[the_batch(server)]["status"] == "cancelling"
        server.remote.end(the_batch(server), extracted, "cancelled")
        submit.poll()
        assert ModelCall.objects.filter(purpose="extract").count() == 1
        assert server.remote.files == {}

    def test_what_the_user_wants_forgotten_does_not_wait_for_a_day(self, server, app):
        ann = told(app, "ann")
        submit.submit_due()
        receive(app, "ann", [Incoming("user", "Please forget what I said about Oliver.")])
        server.answer_with = lambda _request: {"people": [], "memories": []}
        assert submit.is_urgent(ann.pk)
        assert submit.submit_due() == {"requests": 0}
        tasks.extract(ann.pk)
        assert set(Batch.objects.of(ann).values_list("state", flat=True)) == {"done"}

    def test_without_the_setting_nothing_is_handed_over(self, server, app, settings):
        settings.MIO_LLM_BATCH = False
        told(app, "ann")
        assert submit.submit_due() == {}
        assert submit.poll() == {}
        assert server.requests == []

    def test_turning_the_setting_off_gives_everything_back(self, server, app, settings):
        ann = told(app, "ann")
        submit.submit_due()
        settings.MIO_LLM_BATCH = False
        submit.poll()
        assert Batch.objects.of(ann).get().attempts == 0
        assert state_of(ann) == "pending"
        assert server.remote.batches[the_batch(server)]["status"] == "cancelling"
        server.answer_with = at_once
        tasks.extract(ann.pk)
        assert state_of(ann) == "done"

    def test_a_request_to_forget_is_never_handed_over(self, server, app):
        ann = told(app, "ann", "Please forget what I said about Oliver.")
        assert submit.submit_due() == {"requests": 0}
        assert not Batch.objects.of(ann).exists()
