"""Work that died of what passes gets another chance, and a poison batch not for ever."""

import pytest
from django_q.models import OrmQ

from accounts.models import EndUser
from memories.jobs import retry
from memories.models import Batch, Consolidation, Memory, Work
from memories.pipeline import run
from memories.pipeline.buffer import Incoming, receive
from tests.factories import make_app, make_contact, make_memory
from tests.queue import queued
from tests.servers import FakeOpenAI

pytestmark = pytest.mark.django_db


@pytest.fixture
def end_user() -> EndUser:
    text = "My colleague Oliver lives in Madrid."
    return receive(make_app(), "ann", [Incoming("user", text)]).end_user


@pytest.fixture
def batch(end_user: EndUser) -> Batch:
    """A batch that used up its tries while the model server was away."""
    EndUser.objects.update(extracted_seq=1)
    return Batch.objects.create(
        end_user=end_user,
        first_seq=1,
        last_seq=1,
        state="quarantined",
        attempts=Work.MAX_ATTEMPTS,
        error="The model server is away.",
    )


def test_a_batch_that_used_up_its_tries_is_extracted_when_the_server_is_back(
    batch: Batch,
) -> None:
    assert retry.retry_failed() == {"batches": 1, "consolidations": 0}
    assert queued() == ["memories.tasks.extract"]
    batch.refresh_from_db()
    assert (batch.state, batch.error) == ("pending", "The model server is away.")

    assert run.extract_next(batch.end_user_id)
    batch.refresh_from_db()
    assert (batch.state, batch.error) == ("done", "")
    assert Memory.objects.exists()
    assert retry.retry_failed()["batches"] == 0


def test_a_poison_batch_gets_so_many_rounds_of_one_try_and_stays_in_sight(
    batch: Batch, server: FakeOpenAI
) -> None:
    Batch.objects.update(attempts=Work.MAX_ATTEMPTS + retry.ROUNDS - 2)
    for _ in range(2):
        server.fail(status=500, times=20)
        assert retry.retry_failed()["batches"] == 1
        assert run.extract_next(batch.end_user_id)
        assert not run.extract_next(batch.end_user_id)
        batch.refresh_from_db()
        assert batch.state == "quarantined"
        assert batch.error
    assert batch.attempts == Work.MAX_ATTEMPTS + retry.ROUNDS
    assert retry.retry_failed()["batches"] == 0


def test_what_another_try_cannot_help_is_left_to_the_operators(batch: Batch) -> None:
    Batch.objects.update(attempts=1, error="The key is wrong.")
    assert retry.retry_failed()["batches"] == 0
    assert not OrmQ.objects.exists()


def test_an_operators_retry_starts_the_rounds_anew(batch: Batch) -> None:
    Batch.objects.update(attempts=Work.MAX_ATTEMPTS + retry.ROUNDS)
    assert retry.retry_failed()["batches"] == 0
    batch.refresh_from_db()
    assert run.retry(batch)
    Batch.objects.update(state="quarantined", attempts=Work.MAX_ATTEMPTS)
    assert retry.retry_failed()["batches"] == 1


def test_a_consolidation_is_tried_again_only_while_there_is_something_to_consolidate(
    end_user: EndUser,
) -> None:
    idle = make_contact(end_user, "Greta")
    busy = make_contact(end_user, "Otto")
    make_memory(end_user, "Otto hums.", busy)
    for contact in (idle, busy):
        Consolidation.objects.create(
            end_user=end_user, contact=contact, state="quarantined", attempts=Work.MAX_ATTEMPTS
        )
    assert retry.retry_failed() == {"batches": 0, "consolidations": 1}
    assert Consolidation.objects.get(contact=idle).state == "quarantined"
    assert run.consolidate_user(end_user.pk) == 1
    assert Consolidation.objects.get(contact=busy).state == "done"


def test_a_consolidation_whose_contact_has_another_open_one_is_left(end_user: EndUser) -> None:
    otto = make_contact(end_user, "Otto")
    make_memory(end_user, "Otto hums.", otto)
    for state in ("quarantined", "pending"):
        Consolidation.objects.create(
            end_user=end_user, contact=otto, state=state, attempts=Work.MAX_ATTEMPTS
        )
    assert retry.retry_failed()["consolidations"] == 0
    assert not OrmQ.objects.exists()
