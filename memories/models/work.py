"""Messages, and the units of pipeline work on them."""

import uuid
from datetime import datetime, timedelta, tzinfo
from typing import Self

from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import ArrayField, RangeOperators
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models import F, Func, Q, Value
from django.utils import timezone

from accounts import time_zones
from accounts.models import EndUser, NumberedRow, ScopedQuerySet, UserRow, reference
from accounts.reasons import Reason
from contacts.models import Contact
from memories.types import CONTACT, Turn
from understanding.statements.client_text import without_client_text


class MessageQuerySet(ScopedQuerySet):
    def not_erased(self) -> Self:
        """Returns messages that were not erased completely."""
        return self.exclude(content="")

    def by_user(self) -> Self:
        """Returns messages that the end users wrote themselves."""
        return self.filter(role=Message.Role.USER, speaker=None)


class Message(NumberedRow):
    """One chat turn. ``seq`` counts an end user's messages without gaps, from 1."""

    MAX_CONTENT = 100_000  # characters that an app may send

    class Role(models.TextChoices):
        USER = "user"
        ASSISTANT = "assistant"
        SYSTEM = "system"
        TOOL = "tool"

    end_user = models.ForeignKey(EndUser, models.CASCADE, related_name="messages")
    seq = models.BigIntegerField()
    client_id = models.CharField(max_length=200, null=True, blank=True)  # noqa: DJ001 NULL is "none given", and not unique
    role = models.CharField(max_length=10, choices=Role)
    content = models.TextField()
    speaker = models.CharField(  # noqa: DJ001 NULL: the end user, or who the role says
        max_length=100,
        null=True,
        blank=True,
        help_text="Who else wrote it, by name: a person of the end user's in a chat with them.",
    )
    session_id = models.CharField(max_length=200, blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now, help_text="When it was said.")
    utc_offset = models.SmallIntegerField(
        null=True, blank=True, help_text="Minutes ahead of UTC where it was said, if that was told."
    )
    received_at = models.DateTimeField(auto_now_add=True)
    metadata = models.JSONField(
        default=dict,
        blank=True,
        db_default=Value({}, models.JSONField()),
        help_text="What the app noted of it.",
    )
    understood = ArrayField(
        models.UUIDField(),
        default=list,
        db_default=Value([], ArrayField(models.UUIDField())),
        blank=True,
        editable=False,
        help_text="The contacts whom extraction found it to be about.",
    )

    objects = MessageQuerySet.as_manager()

    class Meta:
        ordering = ["seq"]
        constraints = [
            models.UniqueConstraint(fields=["end_user", "seq"], name="message_seq_once"),
            models.UniqueConstraint(fields=["end_user", "client_id"], name="message_once"),
            models.CheckConstraint(
                condition=Q(utc_offset=None) | Q(utc_offset__range=time_zones.OFFSETS),
                name="message_offset_in_range",
            ),
            models.CheckConstraint(
                condition=Q(speaker=None) | (Q(role="user") & ~Q(speaker="")),
                name="message_speaker_is_a_person",
            ),
        ]
        indexes = [
            models.Index(fields=["end_user", "session_id", "-seq"], name="message_of_session"),
            GinIndex(
                F("end_user"),
                OpClass("metadata", "jsonb_path_ops"),
                condition=~Q(metadata={}),
                name="message_metadata",
            ),
        ]

    @property
    def by_user(self) -> bool:
        return self.role == Message.Role.USER and self.speaker is None

    def said_in(self, zone: tzinfo) -> datetime:
        """Returns when it was said, by the clock of its place, else in the user's ``zone``."""
        return time_zones.local(self.created_at, self.utc_offset, zone)

    def turn_in(self, zone: tzinfo) -> Turn:
        """Returns this message as steps and providers see it, by the same clock; of the user's
        messages, without the text that a client added."""
        return Turn(
            self.pk,
            CONTACT if self.speaker else self.role,
            without_client_text(self.content) if self.by_user else self.content,
            self.said_in(zone),
            self.session_id,
            self.speaker or "",
        )


class ServerStart(Func):
    """When the database server was started. A lease is valid for one lifetime of the server:
    whatever ended the server also ended the work of its clients."""

    function = "pg_postmaster_start_time"
    output_field = models.DateTimeField()


def lease_is_void(now: datetime) -> Q:
    """Returns the condition that a lease ran out or the server was started since."""
    other_server = Q(server_start__lt=ServerStart()) | Q(server_start__gt=ServerStart())
    return Q(leased_until__lte=now) | other_server


# The beginning of ``error`` if work waits until a model server accepts requests again.
REFUSED = '{"code": "server_refuses"'


class WorkQuerySet(ScopedQuerySet):
    def claimable(self, now: datetime) -> Self:
        """Returns work that no worker does: new, due for another try, or left by a dead worker."""
        return self.filter(
            Q(state=Work.State.PENDING)
            | Q(state=Work.State.FAILED, retry_at__lte=now)
            | (Q(state=Work.State.RUNNING, attempts__lt=Work.MAX_ATTEMPTS) & lease_is_void(now))
        )

    def bury(self, now: datetime) -> int:
        """Quarantines work whose worker died at every try; returns how many rows."""
        dead = self.filter(state=Work.State.RUNNING, attempts__gte=Work.MAX_ATTEMPTS)
        return dead.filter(lease_is_void(now)).update(
            state=Work.State.QUARANTINED,
            error=Reason("process_gone").stored,
            finished_at=now,
            leased_until=None,
        )

    def refused(self) -> Self:
        """Returns work that waits until a model server accepts requests again."""
        return self.filter(state=Work.State.FAILED, error__startswith=REFUSED)

    def claim(self, pk: int, now: datetime) -> bool:
        """Claims the row for this worker; returns False if another worker was quicker."""
        claimed = self.claimable(now).filter(pk=pk)
        return bool(
            claimed.update(
                state=Work.State.RUNNING,
                attempts=F("attempts") + 1,
                leased_until=now + Work.LEASE,
                server_start=ServerStart(),
                started_at=now,
                retry_at=None,
            )
        )


class Work(NumberedRow):
    """A unit of pipeline work. This row has its state; a queue task carries only its id."""

    class State(models.TextChoices):
        PENDING = "pending"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"  # will be tried again at retry_at
        QUARANTINED = "quarantined"  # waits for an operator
        CANCELLED = "cancelled"

    #: Not finished: few of all rows, so that partial indexes cover queries for them.
    OPEN = (State.PENDING, State.RUNNING, State.FAILED, State.QUARANTINED)

    #: Continues, or is tried again, without an operator.
    UNDER_WAY = (State.PENDING, State.RUNNING, State.FAILED)

    #: What an operator may retry, and what an operator may cancel.
    RETRIABLE = (State.FAILED, State.QUARANTINED, State.CANCELLED)
    CANCELLABLE = (State.PENDING, State.FAILED, State.QUARANTINED)

    # Longer than a run may take, so that a run with a valid lease is alive.
    LEASE = timedelta(minutes=10)
    TIME_LIMIT = timedelta(minutes=8)
    MAX_ATTEMPTS = 5

    state = models.CharField(max_length=11, choices=State, default=State.PENDING)
    attempts = models.PositiveSmallIntegerField(default=0)
    error = models.TextField(blank=True, default="")
    provider = models.CharField(max_length=100, blank=True, default="")
    result = models.JSONField(default=dict, blank=True)
    leased_until = models.DateTimeField(null=True, blank=True)
    server_start = models.DateTimeField(null=True, blank=True, editable=False)
    retry_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = WorkQuerySet.as_manager()

    class Meta:
        abstract = True

    @property
    def seconds(self) -> float | None:
        """How long the last try took; None before its end."""
        if not self.started_at or not self.finished_at or self.finished_at < self.started_at:
            return None
        return (self.finished_at - self.started_at).total_seconds()

    @property
    def may_retry(self) -> bool:
        return self.state in self.RETRIABLE

    @property
    def may_cancel(self) -> bool:
        return self.state in self.CANCELLABLE


class Batch(Work):
    """One extraction: a contiguous range of an end user's messages, claimed once."""

    end_user = models.ForeignKey(EndUser, models.CASCADE, related_name="batches")
    first_seq = models.BigIntegerField()
    last_seq = models.BigIntegerField()

    class Meta:
        ordering = ["-last_seq"]
        verbose_name_plural = "batches"
        constraints = [
            models.UniqueConstraint(fields=["end_user", "id"], name="batch_of_user"),
            models.CheckConstraint(
                condition=Q(first_seq__lte=F("last_seq")), name="batch_range_in_order"
            ),
            ExclusionConstraint(
                name="batch_ranges_apart",
                expressions=[
                    ("end_user", RangeOperators.EQUAL),
                    (
                        Func("first_seq", "last_seq", Value("[]"), function="int8range"),
                        RangeOperators.OVERLAPS,
                    ),
                ],
            ),
            models.UniqueConstraint(
                fields=["end_user"], condition=Q(state="running"), name="batch_one_at_a_time"
            ),
        ]
        indexes = [
            models.Index(
                fields=["state", "end_user"],
                condition=Q(state__in=[str(state) for state in Work.OPEN]),
                name="batch_open",
            )
        ]


class Consolidation(Work):
    """One run of the consolidator over a contact's new memories."""

    end_user = models.ForeignKey(EndUser, models.CASCADE, related_name="consolidations")
    contact = reference(Contact, related_name="consolidations")

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["contact"],
                condition=Q(state__in=[str(state) for state in Work.UNDER_WAY]),
                name="consolidation_one_open",
            )
        ]
        indexes = [
            models.Index(fields=["contact", "end_user"], name="consolidation_of_contact"),
            models.Index(
                fields=["state", "end_user"],
                condition=Q(state__in=[str(state) for state in Work.OPEN]),
                name="consolidation_open",
            ),
        ]


class ProcessJob(UserRow):
    """A request of an app to extract, link and consolidate all messages up to ``up_to_seq``, for
    which it can ask how far this is. Batches and consolidations do the work; this row only tracks
    them."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    end_user = models.ForeignKey(EndUser, models.CASCADE, related_name="+")
    up_to_seq = models.BigIntegerField()
    up_to_link = models.BigIntegerField(
        null=True, blank=True, help_text="The newest when all of the messages were extracted."
    )
    result = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["created_at"], name="process_job_old")]
