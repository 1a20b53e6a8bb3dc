"""Extraction by the batch API of a real HTTP server, through its whole life and its accidents."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import EndUser
from memories import catching_up, forget, sweeping, tasks
from memories.models import Batch, Memory, Message, ModelCall, RemoteBatch
from memories.pipeline import remote, run
from memories.pipeline.buffer import Incoming, receive
from tests import processes
from tests.factories import make_app, make_contact
from tests.remote_batches import Refused
from tests.servers import FakeOpenAI

pytestmark = pytest.mark.django_db
KEY = "sk-test-never-shown"


@pytest.fixture
def server(settings):
    with FakeOpenAI() as fake:
        settings.MIO_LLM = "openai"
        settings.MIO_LLM_BATCH = True
        settings.OPENAI_API_KEY = KEY
        settings.OPENAI_BASE_URL = fake.base_url
        settings.MIO_LLM_MODEL = "any-model"
        settings.MIO_LLM_REVIEW_MODEL = "any-model"
        yield fake


@pytest.fixture
def app():
    return make_app()


def told(app, name, text="My colleague Oliver lives in Madrid."):
    """An end user who said something and has been idle since."""
    end_user = receive(app, name, [Incoming("user", text)]).end_user
    be_idle(end_user)
    return end_user


def be_idle(end_user):
    EndUser.objects.filter(pk=end_user.pk).update(
        last_message_at=timezone.now() - timedelta(minutes=6)
    )


def extracted(body):
    """What a model finds in any message that says where somebody lives."""
    said = body["messages"][1]["content"]
    found = re.search(r'"n":(\d+),[^{]*?colleague (\w+) lives in (\w+)', said)
    turn, name, place = found.groups()
    return {
        "people": [{"id": "n1", "name": name, "relationship": "colleague"}],
        "memories": [
            {
                "content": f"{name} lives in {place}",
                "type": "personal",
                "subtype": "colleague",
                "people": ["n1"],
                "turns": [int(turn)],
                "facts": [{"person": "n1", "key": "location", "value": place}],
            }
        ],
    }


def at_once(request):
    """The same model, asked without a batch; profiles it leaves as they are."""
    if "new_memories" in request.data:
        return {"attributes": [], "timeline": []}
    return extracted(request.json)


def the_batch(server):
    (batch_id,) = server.remote.batches
    return batch_id


def state_of(end_user):
    return Batch.objects.of(end_user).get().state


class TestTheWholeLife:
    def test_what_is_due_of_all_users_goes_as_one_file_and_comes_back_as_memories(
        self, server, app
    ):
        ann = told(app, "ann")
        ben = told(app, "ben", "My colleague Petra lives in Turin.")
        assert remote.submit_due() == {"requests": 2}
        assert [state_of(user) for user in (ann, ben)] == ["submitted", "submitted"]
        row = RemoteBatch.objects.get()
        assert (row.remote_id, row.requests, row.state) == (the_batch(server), 2, "open")
        assert row.expires_at > timezone.now()
        lines = server.remote.lines(row.remote_id)
        assert {line["url"] for line in lines} == {"/v1/chat/completions"}
        assert all(line["body"]["response_format"]["json_schema"]["strict"] for line in lines)
        assert not server.requests_to("chat")

        assert remote.poll() == {"open": 1}
        assert not Memory.objects.exists()
        server.remote.end(row.remote_id, extracted)
        assert remote.poll()["answered"] == 2
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
        remote.submit_due()
        server.remote.end(the_batch(server), extracted)
        remote.poll()
        assert server.remote.files == {}
        row = RemoteBatch.objects.get()
        assert (row.state, row.answered, row.failed) == ("done", 1, 0)
        assert row.finished_at is not None

    def test_repeated_polls_do_nothing_twice_and_ask_nothing_when_all_is_settled(self, server, app):
        told(app, "ann")
        remote.submit_due()
        server.remote.end(the_batch(server), extracted)
        remote.poll()
        asked = len(server.requests)
        assert remote.poll() == {}
        assert remote.submit_due() == {"requests": 0}
        assert len(server.requests) == asked
        assert Memory.objects.filter(kind="fact").count() == 1

    def test_an_answer_refers_to_the_people_that_were_shown_whoever_came_since(self, server, app):
        ann = told(app, "ann", "My colleague Oliver lives in Madrid. Mira too.")
        known = make_contact(ann, "Mira")
        remote.submit_due()
        for name in ("Aaron", "Oliver"):  # would be first in a prompt made now
            make_contact(ann, name, last_mentioned_at=timezone.now())

        def about_the_first(body):
            answer = extracted(body)
            answer["memories"][0] |= {"people": ["p1"], "facts": [], "content": "Mira is there"}
            return answer | {"people": []}

        server.remote.end(the_batch(server), about_the_first)
        remote.poll()
        assert [link.contact for link in Memory.objects.get(kind="fact").links.all()] == [known]

    def test_a_batch_in_which_the_user_said_nothing_is_done_without_asking(self, server, app):
        ann = receive(app, "ann", [Incoming("assistant", "Hello!")]).end_user
        be_idle(ann)
        assert remote.submit_due() == {"requests": 0}
        assert state_of(ann) == "done"
        assert server.requests == []

    def test_a_sweep_hands_over_and_leaves_no_task_behind_that_would_ask_at_once(self, server, app):
        ann = told(app, "ann")
        tasks.extract(ann.pk)
        assert not Batch.objects.exists()
        sweeping.sweep()
        tasks.extract(ann.pk)
        assert state_of(ann) == "submitted"
        assert not server.requests_to("chat")


class TestWhoWaits:
    def test_a_request_to_process_takes_a_submitted_batch_back(self, server, app):
        ann = told(app, "ann")
        remote.submit_due()
        server.answer_with = at_once
        catching_up.catch_up(ann.pk)
        assert (state_of(ann), Memory.objects.filter(kind="fact").count()) == ("done", 1)
        # Nobody needs the remote batch any more: it is stopped, and a late answer is nobody's.
        remote.poll()
        assert server.remote.batches[the_batch(server)]["status"] == "cancelling"
        server.remote.end(the_batch(server), extracted, "cancelled")
        remote.poll()
        assert ModelCall.objects.filter(purpose="extract").count() == 1
        assert server.remote.files == {}

    def test_what_the_user_wants_forgotten_does_not_wait_for_a_day(self, server, app):
        ann = told(app, "ann")
        remote.submit_due()
        receive(app, "ann", [Incoming("user", "Please forget what I said about Oliver.")])
        server.answer_with = lambda _request: {"people": [], "memories": []}
        assert remote.is_urgent(ann.pk)
        assert remote.submit_due() == {"requests": 0}
        tasks.extract(ann.pk)
        assert set(Batch.objects.of(ann).values_list("state", flat=True)) == {"done"}

    def test_without_the_setting_nothing_is_handed_over(self, server, app, settings):
        settings.MIO_LLM_BATCH = False
        told(app, "ann")
        assert remote.submit_due() == {}
        assert remote.poll() == {}
        assert server.requests == []

    def test_turning_the_setting_off_gives_everything_back(self, server, app, settings):
        ann = told(app, "ann")
        remote.submit_due()
        settings.MIO_LLM_BATCH = False
        remote.poll()
        assert Batch.objects.of(ann).get().attempts == 0
        assert state_of(ann) == "pending"
        assert server.remote.batches[the_batch(server)]["status"] == "cancelling"
        server.answer_with = at_once
        tasks.extract(ann.pk)
        assert state_of(ann) == "done"

    def test_a_request_to_forget_is_never_handed_over(self, server, app):
        ann = told(app, "ann", "Please forget what I said about Oliver.")
        assert remote.submit_due() == {"requests": 0}
        assert not Batch.objects.of(ann).exists()


class TestPartialFailure:
    def test_an_answer_to_an_attempt_that_is_over_is_nobodys(self, server, app):
        ann = told(app, "ann")
        remote.submit_due()
        server.remote.end(the_batch(server), extracted)
        Batch.objects.update(attempts=2)
        assert remote.poll() == {"ignored": 1, "returned": 1, "open": 0}
        assert state_of(ann) == "pending"
        assert not Memory.objects.exists()

    def test_what_an_expired_batch_did_not_answer_goes_back_and_the_rest_is_kept(self, server, app):
        ann, ben = told(app, "ann"), told(app, "ben")
        remote.submit_due()
        answers = iter([extracted, lambda _body: None])
        server.remote.end(the_batch(server), lambda body: next(answers)(body), "expired")
        assert remote.poll() == {"answered": 1, "returned": 1, "open": 0}
        assert (state_of(ann), state_of(ben)) == ("done", "pending")
        batch = Batch.objects.of(ben).get()
        assert batch.attempts == 1
        assert "no time" in batch.error
        assert RemoteBatch.objects.get().state == "expired"
        assert server.remote.files == {}
        assert remote.submit_due() == {"requests": 1}

    def test_a_refused_line_is_told_apart_from_one_that_may_be_tried_again(self, server, app):
        users = [told(app, name) for name in ("ann", "ben", "cid")]
        remote.submit_due()
        answers = iter([Refused(400, "invalid_value", "Oliver!"), Refused(429), extracted])

        def answer(body):
            found = next(answers)
            return found if isinstance(found, Refused) else found(body)

        server.remote.end(the_batch(server), answer)
        remote.poll()
        assert [state_of(user) for user in users] == ["quarantined", "failed", "done"]
        error = Batch.objects.of(users[0]).get().error
        assert error == "The model server answered 400 (invalid_value)."
        outcomes = ModelCall.objects.filter(purpose="extract").values_list("outcome", flat=True)
        assert sorted(outcomes) == ["ok", "permanent", "transient"]
        row = RemoteBatch.objects.get()
        assert (row.answered, row.failed) == (1, 2)

    @pytest.mark.parametrize(
        "line",
        [
            "no JSON",
            '{"custom_id": 7}',
            '{"custom_id": "1-99", "response": {"status_code": 200, "body": {}}}',
            '{"custom_id": "x", "response": {"status_code": 200, "body": {}}}',
        ],
    )
    def test_a_bad_line_costs_only_its_own_request(self, server, app, line):
        ann, ben = told(app, "ann"), told(app, "ben")
        remote.submit_due()
        answers = iter([lambda _body: line, extracted])
        server.remote.end(the_batch(server), lambda body: next(answers)(body))
        remote.poll()
        assert (state_of(ann), state_of(ben)) == ("pending", "done")
        assert "could be read" in Batch.objects.of(ann).get().error

    def test_an_unusable_answer_is_repaired_by_asking_once(self, server, app):
        ann = told(app, "ann")
        remote.submit_due()
        server.remote.end(the_batch(server), lambda _body: {"people": "?"})
        server.answer_with = at_once
        remote.poll()
        assert state_of(ann) == "done"
        assert len(server.requests_to("chat")) == 1
        assert ModelCall.objects.get(purpose="extract").tokens_in == 22

    def test_a_server_that_refuses_structured_output_in_a_file_is_asked_at_once(self, server, app):
        ann = told(app, "ann")
        remote.submit_due()
        refused = Refused(400, "unsupported", "response_format json_schema is unknown")
        server.remote.end(the_batch(server), lambda _body: refused)
        server.refuse_json_schema()
        server.answer_with = at_once
        remote.poll()
        assert state_of(ann) == "done"

    def test_one_invalid_line_fails_for_good_and_lets_the_others_go_again(self, server, app):
        ann, ben = told(app, "ann"), told(app, "ben")
        remote.submit_due()
        server.remote.refuse(the_batch(server), "invalid_json_line", line=1)
        remote.poll()
        assert (state_of(ann), state_of(ben)) == ("quarantined", "pending")
        assert "invalid_json_line" in Batch.objects.of(ann).get().error
        assert RemoteBatch.objects.get().state == "failed"

    def test_a_file_that_is_refused_as_a_whole_is_tried_again_later(self, server, app):
        ann = told(app, "ann")
        remote.submit_due()
        server.remote.refuse(the_batch(server), "token_limit_exceeded")
        remote.poll()
        batch = Batch.objects.of(ann).get()
        assert (batch.state, batch.attempts) == ("failed", 1)
        assert "token_limit_exceeded" in batch.error
        assert batch.retry_at > timezone.now()

    def test_a_request_that_is_never_answered_ends_in_quarantine(self, server, app):
        ann = told(app, "ann")
        for attempt in range(1, run.MAX_ATTEMPTS + 1):
            assert remote.submit_due() == {"requests": 1}
            assert Batch.objects.of(ann).get().attempts == attempt
            latest = list(server.remote.batches)[-1]
            server.remote.end(latest, status="expired")
            remote.poll()
        assert state_of(ann) == "quarantined"
        assert remote.submit_due() == {"requests": 0}

    def test_a_batch_that_the_server_lost_goes_back(self, server, app):
        ann = told(app, "ann")
        remote.submit_due()
        server.remote.batches.clear()
        remote.poll()
        assert state_of(ann) == "pending"
        assert RemoteBatch.objects.get().state == "failed"
        assert server.remote.files == {}

    def test_what_waits_for_a_remote_batch_that_an_operator_deleted_goes_back(self, server, app):
        ann = told(app, "ann")
        remote.submit_due()
        RemoteBatch.objects.all().delete()
        remote.poll()
        assert state_of(ann) == "pending"

    def test_a_server_that_is_away_is_asked_again_by_the_next_poll(self, server, app):
        ann = told(app, "ann")
        remote.submit_due()
        server.fail(401, on="batches", message=f"{KEY} is wrong")
        assert remote.poll() == {"errors": 1, "open": 1}
        assert RemoteBatch.objects.get().error == "The model server answered 401 (error)."
        server.remote.end(the_batch(server), extracted)
        remote.poll()
        assert state_of(ann) == "done"

    def test_a_batch_that_never_ends_is_given_up(self, server, app):
        ann = told(app, "ann")
        remote.submit_due()
        RemoteBatch.objects.update(created_at=timezone.now() - timedelta(hours=27))
        remote.poll()
        assert state_of(ann) == "pending"
        assert RemoteBatch.objects.get().state == "expired"


class TestHandingOver:
    def test_a_refused_upload_fails_its_batches_as_any_call_would(self, server, app, caplog):
        ann = told(app, "ann")
        server.fail(503, on="files", message="Oliver lives in Madrid")
        remote.submit_due()
        batch = Batch.objects.of(ann).get()
        assert (batch.state, batch.error) == ("failed", "The model server answered 503 (error).")
        server.fail(403, on="files", message=KEY)
        Batch.objects.update(retry_at=timezone.now())
        remote.submit_due()
        assert state_of(ann) == "quarantined"
        assert not re.search(f"Oliver|Madrid|{KEY}", caplog.text)

    def test_a_batch_that_was_made_though_its_reply_was_lost_is_adopted(self, server, app):
        ann = told(app, "ann")
        server.lose_reply(on="batches")
        remote.submit_due()
        row = RemoteBatch.objects.get()
        assert (row.state, row.remote_id.partition(":")[0]) == ("open", "unnamed")
        server.remote.end(the_batch(server), extracted)
        remote.poll()
        assert state_of(ann) == "done"
        assert len(server.remote.batches) == 1
        assert server.remote.files == {}

    def test_an_upload_whose_reply_was_lost_leaves_no_file_behind(self, server, app):
        told(app, "ann")
        server.lose_reply(on="files")
        remote.submit_due()
        assert len(server.remote.files) == 1
        remote.poll()
        assert server.remote.files == {}

    def test_what_was_announced_but_never_made_goes_back_after_a_while(self, server, app):
        ann = told(app, "ann")
        server.fail(500, on="batches")
        remote.submit_due()
        remote.poll()
        assert state_of(ann) == "submitted"
        assert len(server.remote.files) == 1
        RemoteBatch.objects.update(created_at=timezone.now() - remote.NAMED_WITHIN)
        remote.poll()
        assert state_of(ann) == "pending"
        assert server.remote.files == {}
        RemoteBatch.objects.update(created_at=timezone.now() - timedelta(hours=2))
        remote.poll()
        assert remote.poll() == {}

    def test_a_batch_of_a_row_that_was_given_up_is_cancelled(self, server, app):
        ann = told(app, "ann")
        server.lose_reply(on="batches")
        remote.submit_due()
        RemoteBatch.objects.all().delete()
        Batch.objects.update(state="pending")
        remote.submit_due()
        RemoteBatch.objects.update(remote_id="unnamed:again")  # so that strays are looked for
        remote.poll()
        first, second = server.remote.batches.values()
        assert (first["status"], second["status"]) == ("cancelling", "in_progress")
        server.remote.end(second["id"], extracted)
        remote.poll()
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
        remote.submit_due()
        remote.poll()
        assert {b["status"] for b in server.remote.batches.values()} == {"in_progress"}
        assert "file-other" in server.remote.files


SUBMIT = """
from memories.pipeline import remote
remote.submit_due()
"""


@pytest.mark.django_db(transaction=True)
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
        assert remote.submit_due() == {"requests": 0}
        RemoteBatch.objects.update(created_at=timezone.now() - remote.NAMED_WITHIN)
        remote.poll()
        assert state_of(ann) == "pending"
        assert server.remote.files == {}
        assert remote.submit_due() == {"requests": 1}
        server.remote.end(the_batch(server), extracted)
        remote.poll()
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
        remote.submit_due()
        server.remote.end(the_batch(server), extracted)

        def poll():
            try:
                return remote.poll().get("answered", 0)
            finally:
                connection.close()

        with ThreadPoolExecutor(2) as pool:
            taken = sum(future.result() for future in [pool.submit(poll) for _ in range(2)])
        assert taken == 6
        assert {state_of(user) for user in users} == {"done"}
        assert ModelCall.objects.filter(purpose="extract").count() == 6
        assert Memory.objects.filter(kind="fact").count() == 6


class TestForgetting:
    def test_a_forgotten_users_answer_is_dropped_and_the_file_with_it(self, server, app):
        ann, ben = told(app, "ann"), told(app, "ben")
        remote.submit_due()
        forget.forget_everything(ann)
        assert state_of(ben) == "pending"
        assert Batch.objects.of(ben).get().attempts == 0
        remote.poll()
        assert server.remote.batches[the_batch(server)]["status"] == "cancelling"
        server.remote.end(the_batch(server), extracted, "cancelled")
        remote.poll()
        assert server.remote.files == {}
        assert not Memory.objects.exists()
        assert remote.submit_due() == {"requests": 1}

    def test_a_message_erased_since_calls_off_what_was_sent(self, server, app):
        ann = told(app, "ann", "My colleague Oliver lives in Madrid.")
        oliver = make_contact(ann, "Oliver")
        remote.submit_due()
        forget.forget_contact(ann, oliver.id)
        assert state_of(ann) == "pending"
        remote.poll()
        server.remote.end(the_batch(server), extracted, "cancelled")
        remote.poll()
        assert server.remote.files == {}
        assert not Memory.objects.filter(kind="fact").exists()

    def test_an_erasure_that_touches_nothing_that_was_sent_calls_nothing_off(self, server, app):
        ann = told(app, "ann")
        other = make_contact(ann, "Zoltan")
        remote.submit_due()
        Batch.objects.update(result=Batch.objects.get().result | {"shown": []})
        forget.forget_contact(ann, other.id)
        assert state_of(ann) == "submitted"

    def test_an_answer_about_words_that_changed_is_asked_for_again(self, server, app):
        ann = told(app, "ann")
        remote.submit_due()
        Message.objects.update(content="Nothing.")
        server.remote.end(the_batch(server), extracted)
        assert remote.poll()["returned"] == 1
        assert state_of(ann) == "pending"
        assert not Memory.objects.exists()
