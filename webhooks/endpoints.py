"""The verbs on webhooks: create, edit, rotate, switch, test, and resend."""

import uuid
from collections.abc import Collection
from datetime import timedelta
from typing import Any

from django.utils import timezone

from accounts.cells import atomic
from accounts.encryption import encrypt
from accounts.models import App
from webhooks.event_types import TEST, TYPES
from webhooks.models import Delivery, Endpoint
from webhooks.safe_post import check_url
from webhooks.sender import disable, enqueue
from webhooks.signing import new_secret

MAX_ENDPOINTS = 20  # of an app
# How long the old secret still signs, so that receivers can change to the new one.
OVERLAP = timedelta(hours=24)


class TooMany(Exception):
    """The app has as many endpoints as it may have."""


@atomic()
def create(
    app: App, url: str, types: Collection[str] = (), label: str = ""
) -> tuple[Endpoint, str]:
    """Creates an endpoint; returns it and its secret. Raises Refused (for the address) and TooMany."""
    check_url(url)
    App.objects.select_for_update().get(pk=app.pk)
    if app.webhooks.count() >= MAX_ENDPOINTS:
        raise TooMany
    secret = new_secret()
    endpoint = Endpoint.objects.create(
        app=app, url=url, types=_in_order(types), label=label, secret=encrypt(secret)
    )
    return endpoint, secret


def edit(endpoint: Endpoint, **values: Any) -> None:
    """Changes those of url, types and label that are given. Raises Refused for an unusable address."""
    if "url" in values:
        check_url(values["url"])
    if "types" in values:
        values["types"] = _in_order(values["types"])
    for name, value in values.items():
        setattr(endpoint, name, value)
    endpoint.save(update_fields=values)


def _in_order(types: Collection[str]) -> list[str]:
    return [name for name in TYPES if name in types]


def rotate(endpoint: Endpoint) -> str:
    """Replaces the secret and returns the new one, which is shown this once. Both sign for a day."""
    secret = new_secret()
    endpoint.old_secret, endpoint.secret = endpoint.secret, encrypt(secret)
    endpoint.old_secret_until = timezone.now() + OVERLAP
    endpoint.save(update_fields=["secret", "old_secret", "old_secret_until"])
    return secret


def switch(endpoint: Endpoint, *, on: bool) -> None:
    """Stops an endpoint because somebody asked, or starts it again with events from now on."""
    if not on:
        disable(endpoint, Endpoint.Disabled.ASKED)
        return
    endpoint.disabled_at = endpoint.failing_since = endpoint.quiet_until = None
    endpoint.disabled_because = ""
    endpoint.save(update_fields=["disabled_at", "failing_since", "quiet_until", "disabled_because"])


@atomic()
def send_test(endpoint: Endpoint) -> Delivery:
    """Queues an event that reports no change, to see whether it arrives."""
    test = Delivery.objects.create(
        endpoint=endpoint, type=TEST, subject=uuid.uuid4(), data={"endpoint": endpoint.pk}
    )
    enqueue(endpoint.pk)
    return test


@atomic()
def resend(delivery: Delivery) -> None:
    """Queues a delivery once more, with the same id, whatever its state."""
    rows = Delivery.objects.filter(pk=delivery.pk)
    rows.update(state=Delivery.State.PENDING, attempts=0, next_at=timezone.now(), error="")
    Endpoint.objects.filter(pk=delivery.endpoint_id).update(quiet_until=None)
    enqueue(delivery.endpoint_id)
