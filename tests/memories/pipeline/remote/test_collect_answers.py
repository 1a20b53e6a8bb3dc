"""What a remote batch leaves unanswered, refuses or garbles costs nobody else anything."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.reasons import read
from memories.models import Batch, Memory, ModelCall, RemoteBatch, Work
from memories.pipeline.remote import submit
from tests.memories.pipeline.remote.answers import (
    KEY,
    at_once,
    extracted,
    state_of,
    the_batch,
    told,
)
from tests.remote_batches import Refused

pytestmark = pytest.mark.django_db


class TestPartialFailure:
    def test_an_answer_to_an_attempt_that_is_over_is_nobodys(self, server, app):
        ann = told(app, "ann")
        submit.submit_due()
        server.remote.end(the_batch(server), extracted)
        Batch.objects.update(attempts=2)
        assert submit.poll() == {"ignored": 1, "returned": 1, "open": 0}
        assert state_of(ann) == "pending"
        assert not Memory.objects.exists()

    def test_what_an_expired_batch_did_not_answer_goes_back_and_the_rest_is_kept(self, server, app):
        ann, ben = told(app, "ann"), told(app, "ben")
        submit.submit_due()
        answers = iter([extracted, lambda _body: None])
        server.remote.end(the_batch(server), lambda body: next(answers)(body), "expired")
        assert submit.poll() == {"answered": 1, "returned": 1, "open": 0}
        assert (state_of(ann), state_of(ben)) == ("done", "pending")
        batch = Batch.objects.of(ben).get()
        assert batch.attempts == 1
        assert "in time" in str(read(batch.error))
        assert RemoteBatch.objects.get().state == "expired"
        assert server.remote.files == {}
        assert submit.submit_due() == {"requests": 1}

    def test_a_refused_line_is_told_apart_from_one_that_may_be_tried_again(self, server, app):
        users = [told(app, name) for name in ("ann", "ben", "cid")]
        submit.submit_due()
        answers = iter([Refused(400, "invalid_value", "Oliver!"), Refused(429), extracted])

        def answer(body):
            found = next(answers)
            return found if isinstance(found, Refused) else found(body)

        server.remote.end(the_batch(server), answer)
        submit.poll()
        assert [state_of(user) for user in users] == ["quarantined", "failed", "done"]
        error = str(read(Batch.objects.of(users[0]).get().error))
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
        submit.submit_due()
        answers = iter([lambda _body: line, extracted])
        server.remote.end(the_batch(server), lambda body: next(answers)(body))
        submit.poll()
        assert (state_of(ann), state_of(ben)) == ("pending", "done")
        assert "could be read" in str(read(Batch.objects.of(ann).get().error))

    def test_an_unusable_answer_is_repaired_by_asking_once(self, server, app):
        ann = told(app, "ann")
        submit.submit_due()
        server.remote.end(the_batch(server), lambda _body: {"people": "?"})
        server.answer_with = at_once
        submit.poll()
        assert state_of(ann) == "done"
        assert len(server.requests_to("chat")) == 1
        assert ModelCall.objects.get(purpose="extract").tokens_in == 22

    def test_a_server_that_refuses_structured_output_in_a_file_is_asked_at_once(self, server, app):
        ann = told(app, "ann")
        submit.submit_due()
        refused = Refused(400, "unsupported", "response_format json_schema is unknown")
        server.remote.end(the_batch(server), lambda _body: refused)
        server.refuse_json_schema()
        server.answer_with = at_once
        submit.poll()
        assert state_of(ann) == "done"

    def test_one_invalid_line_fails_for_good_and_lets_the_others_go_again(self, server, app):
        ann, ben = told(app, "ann"), told(app, "ben")
        submit.submit_due()
        server.remote.refuse(the_batch(server), "invalid_json_line", line=1)
        submit.poll()
        assert (state_of(ann), state_of(ben)) == ("quarantined", "pending")
        assert "invalid_json_line" in str(read(Batch.objects.of(ann).get().error))
        assert RemoteBatch.objects.get().state == "failed"

    def test_a_file_that_is_refused_as_a_whole_is_tried_again_later(self, server, app):
        ann = told(app, "ann")
        submit.submit_due()
        server.remote.refuse(the_batch(server), "token_limit_exceeded")
        submit.poll()
        batch = Batch.objects.of(ann).get()
        assert (batch.state, batch.attempts) == ("failed", 1)
        assert "token_limit_exceeded" in batch.error
        assert batch.retry_at > timezone.now()

    def test_a_request_that_is_never_answered_ends_in_quarantine(self, server, app):
        ann = told(app, "ann")
        for attempt in range(1, Work.MAX_ATTEMPTS + 1):
            assert submit.submit_due() == {"requests": 1}
            assert Batch.objects.of(ann).get().attempts == attempt
            latest = list(server.remote.batches)[-1]
            server.remote.end(latest, status="expired")
            submit.poll()
        assert state_of(ann) == "quarantined"
        assert submit.submit_due() == {"requests": 0}

    def test_a_batch_that_the_server_lost_goes_back(self, server, app):
        ann = told(app, "ann")
        submit.submit_due()
        server.remote.batches.clear()
        submit.poll()
        assert state_of(ann) == "pending"
        assert RemoteBatch.objects.get().state == "failed"
        assert server.remote.files == {}

    def test_what_waits_for_a_remote_batch_that_an_operator_deleted_goes_back(self, server, app):
        ann = told(app, "ann")
        submit.submit_due()
        RemoteBatch.objects.all().delete()
        submit.poll()
        assert state_of(ann) == "pending"

    def test_a_server_that_is_away_is_asked_again_by_the_next_poll(self, server, app):
        ann = told(app, "ann")
        submit.submit_due()
        server.fail(401, on="batches", message=f"{KEY} is wrong")
        assert submit.poll() == {"errors": 1, "open": 1}
        assert (
            str(read(RemoteBatch.objects.get().error)) == "The model server answered 401 (error)."
        )
        server.remote.end(the_batch(server), extracted)
        submit.poll()
        assert state_of(ann) == "done"

    def test_a_batch_that_never_ends_is_given_up(self, server, app):
        ann = told(app, "ann")
        submit.submit_due()
        RemoteBatch.objects.update(created_at=timezone.now() - timedelta(hours=27))
        submit.poll()
        assert state_of(ann) == "pending"
        assert RemoteBatch.objects.get().state == "expired"
