"""Endpoints of apps that get events, and the deliveries of events to them."""

import uuid
from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models import App, EndUser, InEveryCell, NumberedRow

MAX_URL = 500


class EndpointQuerySet(models.QuerySet["Endpoint"]):
    def enabled(self) -> Self:
        """The endpoints that get events."""
        return self.filter(disabled_at=None, app__archived_at=None)


class Endpoint(InEveryCell):
    """An address to which an app has its events sent. ``secret`` and ``old_secret`` are encrypted
    (``accounts.encryption``); both sign until ``old_secret_until``. No ``types`` means all."""

    scoped_rights = ("SELECT",)
    encrypted = ("secret", "old_secret")
    copied = (
        "url", "label", "types", "secret", "old_secret", "old_secret_until", "disabled_at",
        "disabled_because",
    )  # fmt: skip

    class Disabled(models.TextChoices):
        ASKED = "asked"  # by the app or an operator
        FAILING = "failing"  # nothing was delivered for days
        GONE = "gone"  # it answered 410

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    app = models.ForeignKey(App, models.CASCADE, related_name="webhooks")
    url = models.CharField(max_length=MAX_URL)
    label = models.CharField(max_length=60, blank=True, default="", help_text="What it is for.")
    types = ArrayField(models.CharField(max_length=30), default=list, blank=True)
    secret = models.TextField(editable=False)
    old_secret = models.TextField(editable=False, blank=True, default="")
    old_secret_until = models.DateTimeField(null=True, blank=True, editable=False)
    failing_since = models.DateTimeField(null=True, blank=True, editable=False)
    quiet_until = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="Until then it has no strength to answer."
    )
    disabled_at = models.DateTimeField(null=True, blank=True)
    disabled_because = models.CharField(max_length=7, choices=Disabled, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = EndpointQuerySet.as_manager()

    def __str__(self) -> str:
        return f"webhook {self.pk}"


class DeliveryQuerySet(models.QuerySet["Delivery"]):
    def due(self) -> Self:
        """The deliveries that are due, of endpoints that accept events now."""
        now = timezone.now()
        able = Endpoint.objects.enabled().filter(Q(quiet_until=None) | Q(quiet_until__lte=now))
        return self.filter(state=Delivery.State.PENDING, next_at__lte=now, endpoint__in=able)

    def with_endpoint(self) -> Self:
        """Loads the endpoints too, without their secrets."""
        hidden = (f"endpoint__{name}" for name in Endpoint.encrypted)
        return self.select_related("endpoint").defer(*hidden)


class Delivery(NumberedRow):
    """One event for one endpoint: an outbox row, which triggers of the database write in the
    transaction of the change (``migrations/0002_outbox.sql``). ``data`` has ids only.

    ``subject`` is the row that the event is about, ``transaction`` the transaction that wrote it,
    so that several updates in one are one event; 0 if no transaction caused it. A pending delivery
    is claimed by moving ``next_at`` ahead; ``attempts`` distinguishes the claims."""

    class State(models.TextChoices):
        PENDING = "pending"
        DELIVERED = "delivered"
        FAILED = "failed"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    endpoint = models.ForeignKey(Endpoint, models.CASCADE, related_name="deliveries")
    # The database deletes them with the user, by a trigger: deleting memories writes some more.
    end_user = models.ForeignKey(
        EndUser, models.DO_NOTHING, null=True, blank=True, related_name="+", db_constraint=False
    )
    type = models.CharField(max_length=30)
    subject = models.UUIDField()
    transaction = models.BigIntegerField(default=0, editable=False)
    data = models.JSONField(encoder=DjangoJSONEncoder)
    state = models.CharField(max_length=9, choices=State, default=State.PENDING)
    attempts = models.PositiveSmallIntegerField(default=0)
    next_at = models.DateTimeField(default=timezone.now)
    last_at = models.DateTimeField(null=True, blank=True)
    status = models.PositiveSmallIntegerField(null=True, blank=True, help_text="Of the last reply.")
    error = models.CharField(max_length=20, blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now)

    objects = DeliveryQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["transaction", "subject", "type", "endpoint"], name="delivery_once"
            )
        ]
        indexes = [
            models.Index(
                fields=["endpoint", "next_at"], condition=Q(state="pending"), name="delivery_due"
            ),
            models.Index(fields=["endpoint", "-created_at", "id"], name="delivery_latest"),
        ]
