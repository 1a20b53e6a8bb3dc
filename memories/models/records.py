"""Records: of model calls, of what was found and injected, of erasures, and of job runs."""

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from accounts.models import App, Change, EndUser, NumberedRow, ScopedQuerySet, UserRow, reference


class ModelCall(NumberedRow):
    """One call of a model: its purpose, what it cost and how it ended. Never the text, except an
    answer that could not be used, which is kept for some days."""

    class Outcome(models.TextChoices):
        OK = "ok"
        CHANGED = "changed"  # answered, and differently from the result without a model
        LATE = "late"  # answered when nobody waited any more
        TRANSIENT = "transient"
        PERMANENT = "permanent"
        OUTPUT = "output"

    end_user = models.ForeignKey(
        EndUser, models.CASCADE, null=True, blank=True, related_name="model_calls"
    )
    provider = models.CharField(max_length=50)
    model = models.CharField(max_length=100)
    purpose = models.CharField(max_length=20)
    tokens_in = models.PositiveIntegerField(default=0)
    tokens_out = models.PositiveIntegerField(default=0)
    messages = models.PositiveSmallIntegerField(
        default=0, db_default=0, help_text="How many new ones an extraction read."
    )
    latency_ms = models.FloatField(default=0)
    outcome = models.CharField(max_length=9, choices=Outcome)
    answer = models.TextField(
        blank=True, default="", db_default="", help_text="What came, where it was of no use."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    FINE = (Outcome.OK, Outcome.CHANGED, Outcome.LATE)

    class Meta:
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["-created_at"], name="model_call_latest")]


class Outage(models.Model):
    """A model whose server refuses all requests, from the first refusal until it accepts one
    again."""

    scoped_rights = ("SELECT", "INSERT")
    provider = models.CharField(max_length=50)
    model = models.CharField(max_length=100)
    error = models.TextField()
    since = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["since", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["provider", "model"], name="outage_once_a_model")
        ]

    def __str__(self) -> str:
        return f"{self.provider} {self.model}"


class SlowModel(models.Model):
    """A model that was too often too late to say which people messages refer to. It is not asked
    for a while after ``since`` (memories.context.pace)."""

    scoped_rights = ("SELECT",)
    model = models.CharField(max_length=100, primary_key=True)
    since = models.DateTimeField()

    def __str__(self) -> str:
        return self.model


class Tally(NumberedRow):
    """The ``sums`` of a ledger's rows before the day ``until``, stored by memories.tallies."""

    ledger = models.CharField(max_length=20, primary_key=True)
    until = models.DateField()
    sums = models.JSONField(default=list)

    class Meta:
        verbose_name_plural = "tallies"


class Retrieval(UserRow):
    """Counts of one day: how memories about people were found, to watch the text fallback fade."""

    end_user = models.ForeignKey(EndUser, models.CASCADE, related_name="retrievals")
    day = models.DateField()
    linked = models.PositiveIntegerField(default=0, help_text="Answered by links alone.")
    fallback = models.PositiveIntegerField(default=0, help_text="Needed the text fallback.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["end_user", "day"], name="retrieval_once_a_day")
        ]
        indexes = [models.Index(fields=["day"], name="retrieval_of_day")]


class Injected(UserRow):
    """The memories that went into one prompt. Those that the reply uses are context for what is
    learnt from the exchange."""

    end_user = models.ForeignKey(EndUser, models.CASCADE, related_name="+")
    session_id = models.CharField(max_length=200, blank=True, default="")
    memory_ids = ArrayField(models.UUIDField(), default=list)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = [
            models.Index(fields=["end_user", "session_id", "-created_at"], name="injected_latest"),
            models.Index(fields=["created_at"], name="injected_old"),
        ]


class GatewayTurnQuerySet(ScopedQuerySet):
    def forget_blocks(self) -> int:
        """Clears what was added to messages, which may contain what is erased or hidden now, so
        that it is never added again; returns the number of messages. They are still recognised."""
        return self.exclude(injected="").update(injected="", contact_ids=[])


class GatewayTurn(NumberedRow):
    """A user message that came through the gateway, and what was added to it. The same characters
    are added whenever the message is sent again, so that prompt caches of models stay valid.
    ``chain_id`` is a keyed hash of the message and all before it, which identifies a conversation
    that is sent again. A row may also be for a response or conversation that the upstream stores,
    with a hash of its name; then ``injected`` is everything that was added to it."""

    end_user = models.ForeignKey(EndUser, models.CASCADE, related_name="+")
    session_id = models.CharField(max_length=200)
    chain_id = models.CharField(max_length=64)
    injected = models.TextField(blank=True, default="")
    contact_ids = ArrayField(models.UUIDField(), default=list, help_text="Whom that tells of.")
    created_at = models.DateTimeField(default=timezone.now)

    objects = GatewayTurnQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["end_user", "chain_id", "session_id"], name="gateway_turn_once"
            )
        ]


class Erasure(UserRow):
    """What a user asked in a chat to forget: hidden at once by ``change``, erased at ``due_at``
    unless the change is undone before. Also the report of a person's erasure: what somebody still
    has to decide, and hashes of the names, so that older messages that are read later do not create
    the contact again."""

    class State(models.TextChoices):
        PENDING = "pending"
        ERASED = "erased"
        CANCELLED = "cancelled"  # the hiding was undone
        NOT_FOUND = "not_found"  # nothing stored matched
        UNCLEAR = "unclear"  # what was meant, or whether anything was, is unclear

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    end_user = models.ForeignKey(EndUser, models.CASCADE, related_name="erasures")
    change = reference(Change, null=True, blank=True, related_name="erasures")
    state = models.CharField(max_length=9, choices=State, default=State.PENDING)
    memory_ids = ArrayField(models.UUIDField(), default=list)
    contact_ids = ArrayField(models.UUIDField(), default=list)
    message_ids = ArrayField(
        models.BigIntegerField(), default=list, help_text="Which hold the words; the request too."
    )
    words = ArrayField(
        models.TextField(), default=list, help_text="What it is about; gone when it is erased."
    )
    names = ArrayField(
        models.TextField(), default=list, help_text="Of the people; gone when it is erased."
    )
    missing = ArrayField(
        models.TextField(),
        default=list,
        help_text="For what nothing kept was found; gone after a day.",
    )
    name_hashes = ArrayField(
        models.CharField(max_length=64), default=list, help_text="Keyed by this installation."
    )
    unsure_message_ids = ArrayField(
        models.BigIntegerField(), default=list, help_text="May mean them: to be decided."
    )
    unsure_contact_ids = ArrayField(
        models.UUIDField(), default=list, help_text="May be the same people: to be decided."
    )
    session_id = models.CharField(max_length=200, blank=True, default="")
    requested_at = models.DateTimeField(default=timezone.now)
    due_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-requested_at"]
        indexes = [
            models.Index(fields=["due_at"], condition=Q(state="pending"), name="erasure_due"),
            models.Index(fields=["change", "end_user"], name="erasure_of_change"),
        ]


class Receipt(UserRow):
    """Proof of an erasure: who asked, who did it, when, and how many rows of each kind were erased.
    It contains nothing of what was erased. It remains when the end user is erased, who is then only
    identified by a keyed hash of their id. The receipt of an Erasure has its id."""

    class What(models.TextChoices):
        USER = "user"
        PERSON = "person"
        MEMORIES = "memories"
        MESSAGES = "messages"
        REQUEST = "request"  # made in a chat

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    end_user = models.ForeignKey(
        EndUser, models.SET_NULL, null=True, blank=True, related_name="receipts"
    )
    app = models.ForeignKey(App, models.SET_NULL, null=True, blank=True, related_name="+")
    user_digest = models.CharField(max_length=64, help_text="A keyed hash of the user's id.")
    what = models.CharField(max_length=8, choices=What)
    asked_by = models.CharField(max_length=100, blank=True, default="")
    done_by = models.CharField(max_length=100, blank=True, default="")
    requested_at = models.DateTimeField()
    erased_at = models.DateTimeField()
    contacts = models.PositiveIntegerField(default=0)
    memories = models.PositiveIntegerField(default=0)
    messages = models.PositiveIntegerField(default=0)
    undecided = models.PositiveIntegerField(
        default=0, help_text="Messages and contacts that may have been meant."
    )

    class Meta:
        ordering = ["-erased_at", "id"]
        indexes = [
            models.Index(fields=["-erased_at", "id"], name="receipt_latest"),
            models.Index(fields=["user_digest"], name="receipt_of_user"),
        ]


class Claim(UserRow):
    """An operator's claim on a row of the review queue, so that no other decides it meanwhile. It
    expires by itself (``dashboard.queries.review``). Stored by name: operators are in no cell."""

    end_user = models.ForeignKey(EndUser, models.CASCADE, related_name="+")
    what = models.CharField(max_length=60, help_text="The model and the id of the row.")
    operator = models.CharField(max_length=150)
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["end_user", "what"], name="claim_once")]

    @staticmethod
    def name_of(row: models.Model) -> str:
        """Returns the value of ``what`` for a row."""
        return f"{row._meta.label_lower}:{row.pk}"


class JobRun(NumberedRow):
    """One run of a maintenance job: its progress, its effect and its result. If it stopped at its
    limit, the next run continues at ``cursor``."""

    class State(models.TextChoices):
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"

    job = models.CharField(max_length=40)
    state = models.CharField(max_length=7, choices=State, default=State.RUNNING)
    cursor = models.JSONField(default=dict, blank=True)
    effect = models.JSONField(default=dict, blank=True, help_text="Counts of what it did.")
    error = models.TextField(blank=True, default="")
    started_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)
    leased_until = models.DateTimeField(null=True, blank=True)
    server_start = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ["-started_at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["job"], condition=Q(state="running"), name="job_one_at_a_time"
            )
        ]
        indexes = [models.Index(fields=["job", "-started_at"], name="job_run_latest")]
