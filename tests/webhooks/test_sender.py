"""Sending: signed as receivers verify it, again where it failed, never for ever."""

import json
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.utils import timezone
from standardwebhooks import Webhook
from standardwebhooks.webhooks import WebhookVerificationError

from accounts.encryption import decrypt
from accounts.models import EndUser
from tests.factories import make_contact
from tests.queue import queued
from tests.webhooks.receiver import Receiver
from webhooks import endpoints, sender
from webhooks.models import Delivery, Endpoint

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback")]


@pytest.fixture
def hook(zoe: EndUser, receiver: Receiver) -> SimpleNamespace:
    """An endpoint at the receiver, with one delivery that is due."""
    endpoint, secret = endpoints.create(zoe.app, receiver.url)
    make_contact(zoe, "Anna")
    return SimpleNamespace(endpoint=endpoint, secret=secret)


def tried(hook: SimpleNamespace) -> Delivery:
    """The delivery after one more try, due or not."""
    Endpoint.objects.update(quiet_until=None)
    Delivery.objects.update(next_at=timezone.now())
    sender.send_due(str(hook.endpoint.pk))
    hook.endpoint.refresh_from_db()
    return hook.endpoint.deliveries.get()


def test_the_verifier_of_standard_webhooks_takes_it(
    hook: SimpleNamespace, receiver: Receiver
) -> None:
    sent = tried(hook)
    (request,) = receiver.received
    told = Webhook(hook.secret).verify(request.body, request.headers)
    assert told["type"] == "contact.created"
    assert told["data"] == sent.data
    assert request.headers["webhook-id"] == str(sent.pk)
    assert (sent.state, sent.status, sent.attempts) == ("delivered", 200, 1)
    with pytest.raises(WebhookVerificationError):
        Webhook(hook.secret).verify(request.body + b" ", request.headers)


def test_while_a_secret_is_rotated_both_verify_then_the_new_one_alone(
    hook: SimpleNamespace, receiver: Receiver
) -> None:
    new = endpoints.rotate(hook.endpoint)
    assert new not in (hook.endpoint.secret, hook.endpoint.old_secret)
    assert decrypt(hook.endpoint.secret) == new
    endpoints.resend(tried(hook))
    Endpoint.objects.update(old_secret_until=timezone.now())
    tried(hook)
    first, second = receiver.received
    for secret in (hook.secret, new):
        assert Webhook(secret).verify(first.body, first.headers)
    assert Webhook(new).verify(second.body, second.headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(hook.secret).verify(second.body, second.headers)
    assert first.headers["webhook-id"] == second.headers["webhook-id"]


def test_what_fails_is_tried_ten_times_over_three_days(
    hook: SimpleNamespace, receiver: Receiver
) -> None:
    receiver.answers += [(500, {})] * len(sender.TRIES)
    waits = []
    for _ in sender.TRIES[1:]:
        failed = tried(hook)
        assert (failed.state, failed.status) == ("pending", 500)
        waits.append((failed.next_at - timezone.now()).total_seconds())
    assert all(
        wait == pytest.approx(planned * 1.1, rel=0.12, abs=2)
        for wait, planned in zip(waits, sender.TRIES[1:], strict=True)
    )
    assert sum(sender.TRIES) > 2.9 * 86_400
    assert tried(hook).state == "failed"
    assert len(receiver.received) == len(sender.TRIES)
    endpoints.resend(hook.endpoint.deliveries.get())
    assert (tried(hook).state, hook.endpoint.failing_since) == ("delivered", None)


def test_a_redirect_is_a_failure_and_410_the_end(hook: SimpleNamespace, receiver: Receiver) -> None:
    receiver.answers += [(307, {"Location": receiver.url}), (410, {})]
    assert (tried(hook).status, tried(hook).state) == (307, "failed")
    assert hook.endpoint.disabled_because == "gone"
    assert not Delivery.objects.due().exists()


def test_who_asks_for_a_pause_gets_it(hook: SimpleNamespace, receiver: Receiver) -> None:
    receiver.answers += [(429, {"Retry-After": "900"})]
    make_contact(hook.endpoint.app.end_users.get(), "Oda")
    sender.send_due(str(hook.endpoint.pk))
    assert len(receiver.received) == 1
    assert not Delivery.objects.due().exists()
    hook.endpoint.refresh_from_db()
    pause = hook.endpoint.quiet_until - timezone.now()
    assert timedelta(minutes=14) < pause <= timedelta(minutes=15)
    assert sender.wanted_pause("99999999") == timedelta(hours=1)
    assert sender.wanted_pause("soon") == timedelta(minutes=1)


def test_an_endpoint_that_fails_for_days_is_disabled(
    hook: SimpleNamespace, receiver: Receiver
) -> None:
    receiver.answers += [(500, {})] * 2
    tried(hook)
    Endpoint.objects.update(failing_since=timezone.now() - sender.PATIENCE - timedelta(hours=1))
    assert tried(hook).error == "disabled"
    assert hook.endpoint.disabled_because == "failing"
    endpoints.switch(hook.endpoint, on=True)
    endpoints.send_test(hook.endpoint)
    sender.send_due(str(hook.endpoint.pk))
    assert json.loads(receiver.received[-1].body)["type"] == "webhook.test"


def test_a_claim_is_for_one_worker_and_what_was_erased_meanwhile_stays_so(
    hook: SimpleNamespace,
) -> None:
    claimed = sender._claim(hook.endpoint.pk)
    assert claimed is not None
    assert sender._claim(hook.endpoint.pk) is None
    Delivery.objects.all().delete()
    sender._send(claimed)
    assert not Delivery.objects.exists()


def test_the_sweep_queues_an_endpoint_once_and_clears_what_is_old(hook: SimpleNamespace) -> None:
    assert sender.sweep() == {"webhooks": 1, "deleted": 0}
    assert sender.sweep() == {"webhooks": 0, "deleted": 0}
    assert [name for name, *_ in queued()].count("send_due") <= 1
    old = timezone.now() - sender.KEPT - timedelta(days=1)
    Delivery.objects.update(state="delivered", created_at=old)
    assert sender.sweep()["deleted"] == 1
