"""What: messages, the memories drawn from them, and whom these are about."""

import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Self

import pgtrigger
from django.contrib.postgres.constraints import ExclusionConstraint
from django.contrib.postgres.fields import ArrayField, RangeOperators
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models import F, Func, Q, Value
from django.utils import timezone
from pgvector.django import CosineDistance, VectorField

from accounts.models import EndUser, ScopedQuerySet
from contacts.models import Contact
from memories.types import MemoryType, StoredFact, StoredMemory, Subtype, Turn

# A memory that consolidation has spoken for: low enough to stay out of every top-K (seed 001).
CONSOLIDATED_IMPORTANCE = 0.05
# sigmoid(2.0 - 2.0): what MIRA's formula gives a memory on the day it is learnt.
INITIAL_IMPORTANCE = 0.5
# A profile speaks for many memories: above any single new one.
PROFILE_IMPORTANCE = 0.8


class Message(models.Model):
    """One chat turn. ``seq`` counts an end user's messages without gaps, from 1."""

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
    session_id = models.CharField(max_length=200, blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now, help_text="When it was said.")
    received_at = models.DateTimeField(auto_now_add=True)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        ordering = ["seq"]
        constraints = [
            models.UniqueConstraint(fields=["end_user", "seq"], name="message_seq_once"),
            models.UniqueConstraint(fields=["end_user", "client_id"], name="message_once"),
        ]
        indexes = [
            models.Index(fields=["end_user", "session_id", "-seq"], name="message_of_session")
        ]

    def __str__(self) -> str:
        return f"message {self.pk}"

    @property
    def turn(self) -> Turn:
        return Turn(self.pk, self.role, self.content, self.created_at, self.session_id)


class WorkQuerySet(ScopedQuerySet):
    def claimable(self, now: datetime) -> Self:
        """Work that nobody does: new, due for another try, or left by a dead worker."""
        return self.filter(
            Q(state=Work.State.PENDING)
            | Q(state=Work.State.FAILED, retry_at__lte=now)
            | Q(state=Work.State.RUNNING, leased_until__lte=now)
        )

    def claim(self, pk: int, now: datetime) -> bool:
        """Takes the row for this worker; False when another was quicker."""
        return bool(
            self.claimable(now)
            .filter(pk=pk)
            .update(
                state=Work.State.RUNNING,
                attempts=F("attempts") + 1,
                leased_until=now + Work.LEASE,
                started_at=now,
                retry_at=None,
            )
        )


class Work(models.Model):
    """A unit of pipeline work: its state lives here, the queue only carries its id."""

    class State(models.TextChoices):
        PENDING = "pending"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"  # will be tried again at retry_at
        QUARANTINED = "quarantined"  # waits for an operator
        CANCELLED = "cancelled"

    # Longer than the slowest honest run: a model call with all its tries and its repair.
    LEASE = timedelta(minutes=10)

    state = models.CharField(max_length=11, choices=State, default=State.PENDING)
    attempts = models.PositiveSmallIntegerField(default=0)
    error = models.TextField(blank=True, default="")
    provider = models.CharField(max_length=100, blank=True, default="")
    result = models.JSONField(default=dict, blank=True)
    leased_until = models.DateTimeField(null=True, blank=True)
    retry_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = WorkQuerySet.as_manager()

    class Meta:
        abstract = True


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
                        Func(
                            "first_seq",
                            "last_seq",
                            Value("[]"),
                            function="int8range",
                        ),
                        RangeOperators.OVERLAPS,
                    ),
                ],
            ),
            models.UniqueConstraint(
                fields=["end_user"], condition=Q(state="running"), name="batch_one_at_a_time"
            ),
        ]

    def __str__(self) -> str:
        return f"messages {self.first_seq}–{self.last_seq}"


class Consolidation(Work):
    """One run of the consolidator over a contact's new memories."""

    end_user = models.ForeignKey(EndUser, models.CASCADE, related_name="consolidations")
    contact = models.ForeignKey(
        Contact, models.DO_NOTHING, related_name="consolidations", db_constraint=False
    )

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["contact"],
                condition=Q(state__in=["pending", "running", "failed"]),
                name="consolidation_one_open",
            )
        ]

    def __str__(self) -> str:
        return f"consolidation {self.pk}"


class MemoryQuerySet(ScopedQuerySet):
    def active(self) -> Self:
        return self.filter(status=Memory.Status.ACTIVE)

    def about(self, contact_id: uuid.UUID) -> Self:
        """Memories linked to the contact."""
        return self.filter(links__contact=contact_id, links__rejected=False)

    def nearest(self, vector: Sequence[float]) -> Self:
        """Embedded memories, nearest by cosine first, with their ``distance``."""
        return (
            self.exclude(embedding=None)
            .annotate(distance=CosineDistance("embedding", vector))
            .order_by("distance", "id")
        )


class Memory(models.Model):
    """One fact about the end user's world, or a contact's whole profile as text.

    ``facts`` is a list of ``{"key", "value", "person"}`` (person: a contact id, or null for
    the end user). ``valid_from``/``valid_to`` say when it holds, ``said_at`` when it was learnt.
    """

    class Status(models.TextChoices):
        ACTIVE = "active"
        OUTDATED = "outdated"
        ARCHIVED = "archived"

    class Kind(models.TextChoices):
        FACT = "fact"
        PROFILE = "profile"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    end_user = models.ForeignKey(EndUser, models.CASCADE, related_name="memories")
    kind = models.CharField(max_length=7, choices=Kind, default=Kind.FACT)
    content = models.TextField()
    content_hash = models.CharField(max_length=64, editable=False)
    type = models.CharField(max_length=13, choices=[(t.value, t.value) for t in MemoryType])
    subtype = models.CharField(max_length=9, choices=[(s.value, s.value) for s in Subtype])
    status = models.CharField(max_length=8, choices=Status, default=Status.ACTIVE)
    importance = models.FloatField(default=INITIAL_IMPORTANCE)
    confidence = models.FloatField(default=1.0)
    speaker = models.CharField(max_length=100, default="user", help_text="Who said it.")
    quote = models.TextField(blank=True, default="", help_text="The words it rests on.")
    source_message_ids = ArrayField(models.BigIntegerField(), default=list, blank=True)
    batch = models.ForeignKey(
        Batch,
        models.DO_NOTHING,
        null=True,
        blank=True,
        related_name="memories",
        db_constraint=False,
    )
    facts = models.JSONField(default=list, blank=True)
    metadata = models.JSONField(default=dict, blank=True)
    consolidated_into = models.ForeignKey(
        "self",
        models.DO_NOTHING,
        null=True,
        blank=True,
        related_name="sources",
        db_constraint=False,
    )
    embedding = VectorField(null=True, blank=True)
    embedding_model = models.CharField(max_length=100, blank=True, default="")
    tokens = ArrayField(models.TextField(), default=list, blank=True, editable=False)
    access_count = models.PositiveIntegerField(default=0)
    last_accessed_at = models.DateTimeField(null=True, blank=True)
    last_accessed_day = models.IntegerField(null=True, blank=True, help_text="Activity day.")
    learnt_day = models.IntegerField(default=0, help_text="Activity day on which it was learnt.")
    happens_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    valid_from = models.DateTimeField(null=True, blank=True)
    valid_to = models.DateTimeField(null=True, blank=True)
    said_at = models.DateTimeField(default=timezone.now)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = MemoryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "memories"
        constraints = [
            models.UniqueConstraint(fields=["end_user", "id"], name="memory_of_user"),
            models.UniqueConstraint(
                fields=["end_user", "content_hash"],
                condition=Q(status="active"),
                name="memory_once",
            ),
            models.CheckConstraint(
                condition=Q(importance__gte=0, importance__lte=1), name="importance_in_0_1"
            ),
            models.CheckConstraint(
                condition=Q(confidence__gte=0, confidence__lte=1), name="confidence_in_0_1"
            ),
            models.CheckConstraint(
                condition=Q(consolidated_into=None) | Q(importance__lte=CONSOLIDATED_IMPORTANCE),
                name="consolidated_source_stays_low",
            ),
        ]
        indexes = [
            models.Index(fields=["end_user", "-said_at", "id"], name="memory_latest"),
            GinIndex(F("end_user"), F("tokens"), name="memory_tokens"),
            models.Index(
                fields=["end_user"], condition=Q(embedding=None), name="memory_unembedded"
            ),
            models.Index(
                fields=["consolidated_into"],
                name="memory_sources",
                condition=Q(consolidated_into__isnull=False),
            ),
            GinIndex(F("end_user"), F("source_message_ids"), name="memory_messages"),
            GinIndex(F("end_user"), OpClass("facts", "jsonb_path_ops"), name="memory_facts"),
        ]

    def __str__(self) -> str:
        return f"memory {self.pk}"

    def as_stored(self, similarity: float = 0.0) -> StoredMemory:
        """This memory as a provider sees it."""
        return StoredMemory(
            id=self.id,
            content=self.content,
            type=MemoryType(self.type),
            said_at=self.said_at,
            happens_at=self.happens_at,
            facts=tuple(
                StoredFact(f["key"], f["value"], uuid.UUID(f["person"]) if f["person"] else None)
                for f in self.facts
            ),
            similarity=similarity,
        )


# The array of the seeds is derived from the links by the database itself, so no code path
# can let the two disagree. One UPDATE per contact and statement, whatever the rows.
_ADDED = """
    UPDATE contacts_contact c SET memory_ids = c.memory_ids || added.ids
    FROM (SELECT contact_id, array_agg(memory_id ORDER BY id) AS ids
          FROM new_rows WHERE NOT rejected GROUP BY contact_id) added
    WHERE c.id = added.contact_id;
    RETURN NULL;
"""
_REMOVED = """
    UPDATE contacts_contact c
    SET memory_ids = ARRAY(
        SELECT kept FROM unnest(c.memory_ids) WITH ORDINALITY AS old (kept, place)
        WHERE kept <> ALL (removed.ids) ORDER BY place)
    FROM (SELECT contact_id, array_agg(memory_id) AS ids
          FROM old_rows WHERE NOT rejected GROUP BY contact_id) removed
    WHERE c.id = removed.contact_id;
    RETURN NULL;
"""
_CHANGED = """
    UPDATE contacts_contact c
    SET memory_ids = ARRAY(
        SELECT link.memory_id FROM memories_link link
        WHERE link.contact_id = c.id AND NOT link.rejected ORDER BY link.id)
    WHERE c.id IN (
        SELECT unnest(ARRAY[was.contact_id, now.contact_id])
        FROM old_rows was JOIN new_rows now USING (id)
        WHERE (was.contact_id, was.memory_id, was.rejected)
              IS DISTINCT FROM (now.contact_id, now.memory_id, now.rejected));
    RETURN NULL;
"""


class LinkQuerySet(ScopedQuerySet):
    def standing(self) -> Self:
        """Links that no operator has rejected."""
        return self.filter(rejected=False)

    def unconsolidated(self) -> Self:
        """Links to current facts that the contact's profile has not taken in."""
        return self.standing().filter(
            consolidated_at=None,
            memory__status=Memory.Status.ACTIVE,
            memory__kind=Memory.Kind.FACT,
        )


class Link(models.Model):
    """This memory is about this contact.

    ``rejected``: an operator said that it is not, and no machine makes the link again.
    """

    class MadeBy(models.TextChoices):
        EXTRACTOR = "extractor"
        CONSOLIDATOR = "consolidator"
        BACKFILL = "backfill"
        OPERATOR = "operator"

    end_user = models.ForeignKey(EndUser, models.CASCADE, related_name="+")
    contact = models.ForeignKey(
        Contact, models.DO_NOTHING, related_name="links", db_constraint=False
    )
    memory = models.ForeignKey(Memory, models.DO_NOTHING, related_name="links", db_constraint=False)
    made_by = models.CharField(max_length=12, choices=MadeBy)
    confidence = models.FloatField(default=1.0)
    rejected = models.BooleanField(default=False)
    consolidated_at = models.DateTimeField(
        null=True, blank=True, help_text="When the contact's profile took the memory in."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = LinkQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["contact", "memory"], name="link_once"),
            models.CheckConstraint(
                condition=Q(confidence__gte=0, confidence__lte=1), name="link_confidence_in_0_1"
            ),
        ]
        indexes = [
            models.Index(
                fields=["contact", "-id"], condition=Q(rejected=False), name="link_latest"
            ),
            models.Index(fields=["memory"], name="link_of_memory"),
            models.Index(
                fields=["end_user", "contact"],
                condition=Q(rejected=False, consolidated_at=None),
                name="link_unconsolidated",
            ),
        ]
        triggers = [
            pgtrigger.Trigger(
                name="memory_ids_added",
                level=pgtrigger.Statement,
                when=pgtrigger.After,
                operation=pgtrigger.Insert,
                referencing=pgtrigger.Referencing(new="new_rows"),
                func=_ADDED,
            ),
            pgtrigger.Trigger(
                name="memory_ids_removed",
                level=pgtrigger.Statement,
                when=pgtrigger.After,
                operation=pgtrigger.Delete,
                referencing=pgtrigger.Referencing(old="old_rows"),
                func=_REMOVED,
            ),
            pgtrigger.Trigger(
                name="memory_ids_changed",
                level=pgtrigger.Statement,
                when=pgtrigger.After,
                operation=pgtrigger.Update,
                referencing=pgtrigger.Referencing(old="old_rows", new="new_rows"),
                func=_CHANGED,
            ),
        ]

    def __str__(self) -> str:
        return f"link {self.pk}"


class Edge(models.Model):
    """A relation between two memories: the newer ``source`` supersedes the ``target`` …"""

    class Kind(models.TextChoices):
        SUPERSEDES = "supersedes"
        COMPLEMENTS = "complements"

    end_user = models.ForeignKey(EndUser, models.CASCADE, related_name="+")
    source = models.ForeignKey(
        Memory, models.DO_NOTHING, related_name="edges_out", db_constraint=False
    )
    target = models.ForeignKey(
        Memory, models.DO_NOTHING, related_name="edges_in", db_constraint=False
    )
    kind = models.CharField(max_length=100)
    reason = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ScopedQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["source", "target", "kind"], name="edge_once"),
            models.CheckConstraint(condition=~Q(source=F("target")), name="edge_between_two"),
        ]
        indexes = [models.Index(fields=["target"], name="edge_inbound")]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"


class ModelCall(models.Model):
    """The ledger of model calls: what was asked of whom and what it cost, never the text."""

    class Outcome(models.TextChoices):
        OK = "ok"
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
    latency_ms = models.FloatField(default=0)
    outcome = models.CharField(max_length=9, choices=Outcome)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["-created_at"], name="model_call_latest")]

    def __str__(self) -> str:
        return f"{self.purpose} by {self.provider}"


class Retrieval(models.Model):
    """A day's count of how people's memories were found, to watch the text fallback fade."""

    end_user = models.ForeignKey(EndUser, models.CASCADE, related_name="retrievals")
    day = models.DateField()
    linked = models.PositiveIntegerField(default=0, help_text="Answered by links alone.")
    fallback = models.PositiveIntegerField(default=0, help_text="Needed the text fallback.")

    objects = ScopedQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["end_user", "day"], name="retrieval_once_a_day")
        ]

    def __str__(self) -> str:
        return str(self.day)
