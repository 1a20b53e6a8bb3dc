from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone
from django_q.models import OrmQ

from accounts.models import EndUser
from contacts.edit import create_contact
from contacts.models import Contact
from memories import tasks
from memories.models import Batch, Message
from memories.pipeline import buffer, run
from memories.pipeline.buffer import Incoming, detect_language, receive
from tests.factories import make_app, make_contact, make_end_user
from tests.memories.snapshots import assert_sound
from tests.queue import queued

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)


def talk(count, **fields):
    return [Incoming("user", f"message {n}", **fields) for n in range(count)]


def test_the_first_message_makes_the_end_user():
    received = receive(make_app(), "ann", talk(1))
    assert (received.accepted, received.duplicates) == (1, 0)
    assert EndUser.objects.get().external_id == "ann"


def test_a_client_id_is_stored_once_within_and_across_requests():
    app = make_app()
    twice = [Incoming("user", "a", id="1"), Incoming("user", "a", id="1")]
    assert receive(app, "ann", twice).duplicates == 1
    again = receive(app, "ann", [*twice, Incoming("user", "b", id="2")])
    assert (again.accepted, again.duplicates) == (1, 2)
    assert list(Message.objects.values_list("seq", "client_id")) == [(1, "1"), (2, "2")]


def test_messages_without_an_id_are_never_duplicates():
    received = receive(make_app(), "ann", [Incoming("user", "hi"), Incoming("user", "hi")])
    assert received.accepted == 2


def test_extraction_is_due_when_a_full_cadence_waits(settings):
    app = make_app()
    assert not receive(app, "ann", talk(settings.MIO_EXTRACT_EVERY - 1)).extraction_due
    assert receive(app, "ann", talk(1)).extraction_due


def test_a_day_counts_once_and_only_when_the_user_wrote():
    app = make_app()
    receive(app, "ann", [Incoming("user", "hi", created_at=NOW)])
    receive(app, "ann", [Incoming("user", "again", created_at=NOW + timedelta(hours=1))])
    receive(app, "ann", [Incoming("assistant", "hello", created_at=NOW + timedelta(days=3))])
    assert EndUser.objects.get().activity_days == 1
    receive(app, "ann", [Incoming("user", "back", created_at=NOW + timedelta(days=14))])
    assert EndUser.objects.get().activity_days == 2


def test_fewer_messages_than_the_cadence_wait_until_the_user_is_idle():
    end_user = receive(make_app(), "ann", talk(3)).end_user
    assert buffer.claim_next(end_user.pk, now=timezone.now()) is None
    batch = buffer.claim_next(end_user.pk, now=timezone.now() + buffer.IDLE)
    assert (batch.first_seq, batch.last_seq, batch.state) == (1, 3, "running")


def test_what_waits_can_be_asked_for_at_once():
    end_user = receive(make_app(), "ann", talk(3)).end_user
    assert buffer.claim_next(end_user.pk, now=timezone.now(), everything=True) is not None


def test_a_backlog_becomes_contiguous_batches(settings):
    end_user = receive(make_app(), "ann", talk(95)).end_user
    ranges = []
    while batch := buffer.claim_next(end_user.pk, now=timezone.now(), everything=True):
        ranges.append((batch.first_seq, batch.last_seq))
        Batch.objects.filter(pk=batch.pk).update(state="done")
    assert ranges == [(1, 40), (41, 80), (81, 95)]


def test_one_batch_of_a_user_runs_at_a_time_and_a_dead_workers_is_taken_over():
    end_user = receive(make_app(), "ann", talk(95)).end_user
    first = buffer.claim_next(end_user.pk, now=timezone.now())
    assert buffer.claim_next(end_user.pk, now=timezone.now()) is None
    later = timezone.now() + Batch.LEASE
    again = buffer.claim_next(end_user.pk, now=later)
    assert (again.pk, again.attempts) == (first.pk, 2)


def test_a_forgotten_user_has_nothing_to_claim():
    assert buffer.claim_next(12345, now=timezone.now()) is None


def test_a_provider_sees_the_batch_and_a_little_before(settings):
    end_user = receive(make_app(), "ann", talk(50)).end_user
    buffer.claim_next(end_user.pk, now=timezone.now())
    Batch.objects.update(state="done")
    request = buffer.request_for(buffer.claim_next(end_user.pk, now=timezone.now()))
    assert [t.content for t in request.turns] == [f"message {n}" for n in range(40, 50)]
    assert [t.content for t in request.context] == [f"message {n}" for n in range(34, 40)]


def test_those_named_in_the_batch_come_first_however_many_are_known(settings):
    settings.MIO_EXTRACT_EVERY = 2
    end_user = receive(make_app(), "ann", [Incoming("user", "小红 called")]).end_user
    receive(end_user.app, "ann", [Incoming("user", "Old Marek wrote me")])
    for name, seen in (("小红", 400), ("Marek", 500), ("Lately", 0)):
        seen_at = timezone.now() - timedelta(days=seen)
        make_contact(end_user, name, last_mentioned_at=seen_at)
    for number in range(buffer.KNOWN_CONTACTS + 5):
        seen_at = timezone.now() - timedelta(days=1 + number)
        make_contact(end_user, f"Nobody{number}", last_mentioned_at=seen_at)
    request = buffer.request_for(buffer.claim_next(end_user.pk, now=timezone.now()))
    names = [person.name for person in request.people]
    assert set(names[:2]) == {"小红", "Marek"}
    assert names[2] == "Lately"
    assert len(names) == len(set(names)) == buffer.KNOWN_CONTACTS + 2


@pytest.mark.parametrize(
    ("texts", "current", "expected"),
    [
        ([], "", "en"),
        (["我喜欢喝茶"], "", "zh"),
        (["I like tea"], "", "en"),
        (["我明天要 review 一下 deck"], "", "zh"),
        (["ok", "我喜欢", "你好"], "", "zh"),
        (["I like tea", "me too", "你好"], "zh", "zh"),
        (["I like tea", "me too", "and this", "你好"], "zh", "en"),
        (["👍", "123"], "zh", "zh"),
    ],
)
def test_the_language_is_the_users_own_and_does_not_flicker(texts, current, expected):
    assert detect_language(texts, current) == expected


def test_cards_made_before_the_language_was_known_are_rendered_in_it():
    end_user = make_end_user()
    contact, _ = create_contact(
        end_user, "小红", actor="app:chat", attributes={"company": ["Acme"]}
    )
    receive(end_user.app, end_user.external_id, [Incoming("user", "我喜欢喝乌龙茶。")])
    OrmQ.objects.all().delete()
    run.process(end_user.pk)
    assert "memories.tasks.render_cards" in queued()
    tasks.render_cards(end_user.pk)
    assert_sound(end_user)
    assert "公司" in Contact.objects.get(pk=contact.pk).card
