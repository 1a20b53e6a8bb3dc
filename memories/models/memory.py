"""A memory: one fact about the end user's world."""

import hashlib
import json
import re
import uuid
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Self

import pgtrigger
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.db import models
from django.db.models import F, Q
from django.db.models.base import ModelState
from django.db.models.expressions import RawSQL
from django.db.models.functions import Coalesce, Greatest, Least
from django.db.models.lookups import IsNull
from django.utils import timezone, translation
from django.utils.dateparse import parse_date
from django.utils.formats import date_format
from pgvector.django import CosineDistance

from accounts import cells, time_zones
from accounts.models import EndUser, ScopedQuerySet, Tracked, between_0_and_1, reference
from memories.models import own_facts, search_index
from memories.models.work import Batch
from memories.types import (
    ANSWER_DASH,
    OF_PEOPLE,
    ROLE,
    MemoryType,
    StoredFact,
    StoredMemory,
    Subtype,
)
from understanding.attributes import YEARLY
from understanding.text import folded, is_chinese

# What Mio adds to a quote stands in brackets, with its dates.
_BRACKETS = re.compile(r"[（\[][^（）\[\]]*[）\]]")
_ISO_DATE = re.compile(r"(?<!\d)\d{4}-\d\d(?:-\d\d)?(?!\d)")
# A memory that consolidation has spoken for: low enough to stay out of every top-K (Mio v2).
CONSOLIDATED_IMPORTANCE = 0.05
# sigmoid(2.0 - 2.0): what MIRA's formula gives a memory on the day it is learnt.
INITIAL_IMPORTANCE = 0.5
# A profile speaks for many memories: above any single new one.
PROFILE_IMPORTANCE = 0.8
# What follows all search tokens of roles in their order: row-level security lets no LIKE look into an
# index.
AFTER_ROLE = "role;"
# The key in Memory.metadata of what an operator said to be about the end user alone.
ABOUT_USER = "about_user"
# A memory that waits longer for whom it is about got nobody.
LINKED_WITHIN = timedelta(minutes=5)


_ENDS = Greatest("happens_at", "happens_until", "valid_from")
# What ``ahead`` takes: parameters are since when, and TELL_DATES.
AHEAD = """(type = 'plan' OR GREATEST(happens_at, valid_from) > said_at)
    AND GREATEST(happens_at, happens_until, valid_from) >= %s AND NOT facts @> ANY (%s::jsonb[])"""
_TELLS_STATE = """type <> 'plan' AND jsonb_path_exists(facts, '$[*] ? (
    @.key != "plan" && !(@.valid_from > $at))',
    jsonb_build_object('at', %s::text))"""
TELL_DATES = [json.dumps([{"key": key}]) for key in YEARLY]


class MemoryQuerySet(ScopedQuerySet):
    def active(self) -> Self:
        return self.filter(status=Memory.Status.ACTIVE)

    def facts(self) -> Self:
        """Without the profiles that are told as memories."""
        return self.filter(kind=Memory.Kind.FACT)

    def of_nobody(self, users: Any) -> Self:
        """Current facts of these end users that mention a friend, relative, colleague or partner and
        are linked to no contact, though workers had the time, and of which nobody said whom they
        are about."""
        return self.unlinked(users).filter(created_at__lte=timezone.now() - LINKED_WITHIN)

    def unlinked(self, users: Any) -> Self:
        """The same, whether or not workers had the time. Looked up by the indexes of memories of
        people and of words, so that all other memories cost nothing."""
        people = Memory.objects.active().facts().filter(end_user__in=users)
        people = people.filter(subtype__in=[str(subtype) for subtype in OF_PEOPLE])
        words = search_index.Posting.objects.filter(end_user__in=users, status=Memory.Status.ACTIVE)
        roles = words.filter(token__gte=ROLE, token__lt=AFTER_ROLE, times__gte=1)
        ids = people.order_by().values("pk").union(roles.values("memory"))
        rows = self.active().facts().filter(end_user__in=users, pk__in=ids, unread=False)
        return rows.filter(links=None).exclude(metadata__has_key=ABOUT_USER)

    def ahead(self, since: datetime) -> Self:
        """Memories of what takes place, or begins to hold, at ``since`` or later; but not of what
        had happened that day when it was told, nor of an important date, which is known before
        it comes."""
        condition = RawSQL(AHEAD, [since, TELL_DATES], output_field=models.BooleanField())  # noqa: S611 a constant
        return self.filter(condition)

    def without_states(self, at: datetime) -> Self:
        """Those that tell nothing that holds ``at`` a time: plans, and what has no fact that began
        by then."""
        since = at.astimezone(UTC).isoformat()
        condition = RawSQL(_TELLS_STATE, [since], output_field=models.BooleanField())  # noqa: S611 a constant
        return self.exclude(condition)

    def about(self, contact_id: uuid.UUID) -> Self:
        """Memories linked to the contact."""
        return self.filter(links__contact=contact_id, links__rejected=False)

    def held_at(self, moment: datetime) -> Self:
        """Those of what held then, whatever is true now: from its known beginning, else when it
        happened or was said, until its end."""
        began = Coalesce("valid_from", Least("happens_at", "said_at"))
        ended = Q(valid_to__isnull=False, valid_to__lte=moment)
        return self.alias(began=began).filter(~ended, began__lte=moment)

    def holding(self, end_user: EndUser | int, tokens: Iterable[str]) -> Self:
        """The end user's memories that hold all of these search tokens themselves."""
        words = search_index.Posting.objects.of(end_user).filter(times__gte=1)
        rows = self.of(end_user)
        for token in tokens:
            rows = rows.filter(pk__in=words.filter(token=token).values("memory"))
        return rows

    def nearest(self, space: str, vector: Sequence[float]) -> Self:
        """The memories with a vector in ``space``, nearest by cosine first, with their
        ``distance``."""
        return (
            self.filter(vectors__end_user=F("end_user"), vectors__space=space)
            .annotate(distance=CosineDistance("vectors__embedding", vector))
            .order_by("distance", "id")
        )


_MemoryManager = models.Manager.from_queryset(MemoryQuerySet)


class MemoryManager(_MemoryManager):
    """Reads no embeddings unless they are asked for: each is larger than all else of a row."""

    def get_queryset(self) -> MemoryQuerySet:
        return MemoryQuerySet(self.model, using=self._db).defer("embedding")


class Memory(Tracked):
    """One fact about the end user's world, or a contact's whole profile as text.

    ``facts`` is a list of ``{"key", "value", "person"}`` (person: a contact id, or null for
    the end user). ``valid_from``/``valid_to`` say when it holds, ``said_at`` when it was learnt.
    A fact may have a ``valid_from``/``valid_to`` of its own; one that a later memory contradicts
    has its ``outdated_at``, when that was learnt, and ``superseded_by``, that memory.
    The offsets (minutes ahead of UTC) are those of the clocks by which it was told: a date means
    the same day wherever its user goes.
    """

    # Of rows that ``nearest`` read.
    distance: float
    # Of rows that a search or a context read: whether it took the place of another (None: that was not
    # read), and the contacts that it is about, as the index of names gives them, where asked for.
    supersedes: bool | None = None
    people: tuple[dict[str, Any], ...] = ()

    tracked = (
        "kind", "content", "content_hash", "type", "subtype", "status", "importance",
        "confidence", "speaker", "quote", "brackets", "source_message_ids", "facts", "metadata",
        "consolidated_into_id", "happens_at", "happens_until", "expires_at", "valid_from", "valid_to",
        "said_at", "said_offset", "happens_offset", "learnt_day", "merged_into_id", "outdated_at", "outdated_confidence",
        "unread", "end_user_id",
    )  # fmt: skip
    grown = ("source_message_ids",)
    learnt = ("confidence",)
    unique_by = ("content_hash", "status")
    together = (("consolidated_into_id", "importance"),)
    successor = "merged_into_id"

    # What finding it and telling it in a prompt go by, in the order of the fields; a row has three
    # times as many.
    SHOWN = (
        "id", "content", "content_hash", "status", "importance", "facts", "brackets", "speaker",
        "consolidated_into_id", "tokens", "valid_to", "outdated_at", "outdated_confidence", "said_at", "said_offset",
        "updated_at",
    )  # fmt: skip

    class Status(models.TextChoices):
        ACTIVE = "active"
        OUTDATED = "outdated"
        ARCHIVED = "archived"

    class Kind(models.TextChoices):
        FACT = "fact"
        PROFILE = "profile"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    # Without an index of its own: beside (end_user, id) a planner without statistics takes it.
    end_user = models.ForeignKey(EndUser, models.CASCADE, related_name="memories", db_index=False)
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
    brackets = models.JSONField(
        null=True,
        blank=True,
        editable=False,
        help_text="Of a quote: [start, end] of each piece of the content that Mio put into it.",
    )
    source_message_ids = ArrayField(models.BigIntegerField(), default=list, blank=True)
    batch = reference(Batch, null=True, blank=True, related_name="memories")
    facts = models.JSONField(default=list, blank=True)
    metadata = models.JSONField(default=dict, blank=True)
    consolidated_into = reference("self", null=True, blank=True, related_name="sources")
    embedding_model = models.CharField(
        max_length=120,
        blank=True,
        default="",
        help_text="The space of its embedding, '' while it waits.",
    )
    # Out of line, so that a row stays small; what ranks by it reads the search index.
    embedding = search_index.EmbeddingField(null=True, blank=True, editable=False)
    tokens = ArrayField(models.TextField(), default=list, blank=True, editable=False)
    merged_into = reference(
        "self",
        null=True,
        blank=True,
        related_name="merged_from",
        help_text="The memory that says what this one and others overlapping with it said.",
    )
    access_count = models.PositiveIntegerField(default=0)
    mention_count = models.PositiveIntegerField(
        default=0, help_text="How often it was said again, or used in a reply."
    )
    last_accessed_at = models.DateTimeField(null=True, blank=True)
    last_accessed_day = models.IntegerField(null=True, blank=True, help_text="Activity day.")
    learnt_day = models.IntegerField(default=0, help_text="Activity day on which it was learnt.")
    happens_at = models.DateTimeField(null=True, blank=True)
    happens_until = models.DateTimeField(
        null=True,
        blank=True,
        help_text="The beginning of the last day, where no day but a longer time is known.",
    )
    happens_offset = models.SmallIntegerField(default=0, db_default=0)
    expires_at = models.DateTimeField(null=True, blank=True)
    valid_from = models.DateTimeField(null=True, blank=True)
    valid_to = models.DateTimeField(null=True, blank=True)
    outdated_at = models.DateTimeField(
        null=True, blank=True, help_text="When it was found to be no longer true."
    )
    outdated_confidence = models.FloatField(
        default=1.0, help_text="How certain it is that it is no longer true."
    )
    unread = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Its words wait to be read for facts, or these to be compared with others.",
    )
    related_at = models.DateTimeField(
        null=True, blank=True, help_text="When its entities and its edges were looked for."
    )
    refined_at = models.DateTimeField(
        null=True, blank=True, help_text="When it was last considered for splitting."
    )
    compared_at = models.DateTimeField(
        null=True, blank=True, help_text="When its words were compared with others' for overlaps."
    )
    said_at = models.DateTimeField(default=timezone.now)
    said_offset = models.SmallIntegerField(default=0, db_default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = MemoryManager()

    class Meta:
        verbose_name_plural = "memories"
        base_manager_name = "objects"
        constraints = [
            models.UniqueConstraint(fields=["end_user", "id"], name="memory_of_user"),
            models.UniqueConstraint(
                fields=["end_user", "content_hash"],
                condition=Q(status="active"),
                name="memory_once",
            ),
            between_0_and_1("importance", "importance_in_0_1"),
            between_0_and_1("confidence", "confidence_in_0_1"),
            between_0_and_1("outdated_confidence", "outdated_confidence_in_0_1"),
            models.CheckConstraint(
                condition=Q(consolidated_into=None) | Q(importance__lte=CONSOLIDATED_IMPORTANCE),
                name="consolidated_source_stays_low",
            ),
            models.CheckConstraint(
                condition=Q(embedding_model="", embedding=None)
                | ~Q(embedding_model="") & Q(embedding__isnull=False),
                name="embedding_says_its_space",
            ),
            models.CheckConstraint(
                condition=Q(said_offset__range=time_zones.OFFSETS)
                & Q(happens_offset__range=time_zones.OFFSETS),
                name="memory_offsets_in_range",
            ),
        ]
        indexes = [
            models.Index(fields=["end_user", "-said_at", "id"], name="memory_latest"),
            models.Index(
                fields=["end_user", "type", "-said_at", "id"], name="memory_latest_of_type"
            ),
            models.Index(
                fields=["end_user", "status", "-said_at", "id"],
                condition=~Q(status="active"),
                name="memory_latest_inactive",
            ),
            # The key of a profile is "profile:ID", that of a fact 64 hexadecimal digits.
            models.Index(
                fields=["end_user", "content_hash"],
                condition=Q(content_hash__gte="profile"),
                name="memory_profiles",
            ),
            models.Index(
                "end_user",
                _ENDS,
                condition=Q(IsNull(_ENDS, False), status="active"),
                name="memory_ahead",
            ),
            models.Index(
                fields=["end_user", "id"],
                condition=Q(
                    subtype__in=[str(subtype) for subtype in OF_PEOPLE],
                    status="active",
                    kind="fact",
                ),
                name="memory_of_people",
            ),
            models.Index(fields=["embedding_model", "end_user"], name="memory_embedded"),
            models.Index(
                fields=["end_user", "id"],
                condition=Q(related_at=None, status="active", kind="fact"),
                name="memory_unrelated",
            ),
            models.Index(fields=["end_user", "id"], condition=Q(unread=True), name="memory_unread"),
            models.Index(
                fields=["end_user", "id"],
                condition=Q(compared_at=None, status="active", kind="fact"),
                name="memory_uncompared",
            ),
            models.Index(
                fields=["merged_into", "end_user"],
                name="memory_merged",
                condition=Q(merged_into__isnull=False),
            ),
            models.Index(
                fields=["consolidated_into", "end_user"],
                name="memory_sources",
                condition=Q(consolidated_into__isnull=False),
            ),
            models.Index(
                fields=["batch", "end_user"],
                name="memory_of_batch",
                condition=Q(batch__isnull=False),
            ),
            GinIndex(F("end_user"), F("source_message_ids"), name="memory_messages"),
            GinIndex(F("end_user"), OpClass("facts", "jsonb_path_ops"), name="memory_facts"),
            GinIndex(
                F("end_user"),
                OpClass("metadata", "jsonb_path_ops"),
                condition=~Q(metadata={}),
                name="memory_metadata",
            ),
        ]
        triggers = [
            *search_index.TRIGGERS,
            # Words that changed are compared anew, whoever changed them.
            pgtrigger.Trigger(
                name="compared_anew",
                when=pgtrigger.Before,
                operation=pgtrigger.UpdateOf("content"),
                condition=pgtrigger.Q(old__content__df=pgtrigger.F("new__content")),
                func="NEW.compared_at = NULL; RETURN NEW;",
            ),
            *own_facts.TRIGGERS,
        ]

    @property
    def displayed_content(self) -> str:
        """The content as a page shows it on a line: a quote in quotation marks, a profile with its
        lines apart, and the dates that Mio added to a quote in the language of the quote."""
        if self.kind == self.Kind.PROFILE:
            lines = " · ".join(filter(None, map(str.strip, self.content.splitlines())))
            return _with_readable_dates(lines.replace("： · ", "：").replace(": · ", ": "))
        if self.brackets is None:
            return self.content
        # A question that is answered stands before the user's words.
        first_end = next((end for start, end in self.brackets if start == 0), 0)
        question, answer = self.content[:first_end], self.content[first_end:]
        has_question = question.endswith(tuple(ANSWER_DASH.values()))
        shown = f"{question}“{answer}”" if has_question else f"“{self.content}”"
        with translation.override("zh-hans" if is_chinese(self.content) else "en"):
            return _BRACKETS.sub(lambda note: _with_readable_dates(note[0]), shown)

    def say(self, at: datetime) -> None:
        """Notes when it was said (unsaved), by the clock that ``at`` is told by."""
        self.said_at, self.said_offset = at.astimezone(UTC), time_zones.minutes(at)

    def happen(self, at: datetime | None, until: datetime | None = None) -> None:
        """Notes when it takes place (unsaved), by the clock that ``at`` is told by; ``until`` as
        ``happens_until``."""
        self.happens_at = at and at.astimezone(UTC)
        self.happens_until = at and until and until.astimezone(UTC)
        self.happens_offset = time_zones.minutes(at) if at else 0

    @property
    def began_at(self) -> datetime:
        """From when it is known to hold: as was told, else when it happened or was said."""
        return self.valid_from or min(self.said_at, self.happens_at or self.said_at)

    @property
    def said_there(self) -> datetime:
        """When it was said, by the clock there."""
        return self.said_at.astimezone(time_zones.fixed(self.said_offset))

    @property
    def happens_there(self) -> datetime | None:
        """When it takes place, by the clock there."""
        return self.happens_at and self.happens_at.astimezone(time_zones.fixed(self.happens_offset))

    @property
    def happens_until_there(self) -> datetime | None:
        """The beginning of the last day when it may take place, by the clock there."""
        until = self.happens_until
        return until and until.astimezone(time_zones.fixed(self.happens_offset))

    def as_stored(self, similarity: float = 0.0) -> StoredMemory:
        """This memory as a provider sees it."""
        return StoredMemory(
            id=self.id,
            content=self.content,
            type=MemoryType(self.type),
            said_at=self.said_there,
            happens_at=self.happens_there,
            facts=tuple(self.stored_fact(fact) for fact in self.facts),
            similarity=similarity,
            confidence=self.confidence,
            happens_until=self.happens_until_there,
            valid_from=self._there(self.valid_from),
            valid_to=self._there(self.valid_to),
        )

    @classmethod
    def shown(cls, columns: Sequence[Any]) -> Self:
        """The memory whose columns SHOWN a statement gave. Put together by hand, since a context reads
        eighty: ``from_db`` takes five times as long, for the fields that are not read."""
        memory = cls.__new__(cls)
        vars(memory).update(zip(cls.SHOWN, columns, strict=True))
        memory.facts = json.loads(memory.facts)
        memory.brackets = memory.brackets and json.loads(memory.brackets)
        memory._state = ModelState()
        memory._state.db, memory._state.adding = cells.current(), False
        return memory

    def _there(self, at: datetime | None) -> datetime | None:
        """A moment by the clock where the memory was said: its day there is the one meant."""
        return at and at.astimezone(time_zones.fixed(self.said_offset))

    def stored_fact(self, fact: dict[str, Any]) -> StoredFact:
        """One of the facts as a provider sees it; it holds as long as the memory does, unless
        it says otherwise."""
        told = any(name in fact for name in FACT_TIMES)
        since, until = (
            self._there(
                (at := fact.get(name)) and datetime.fromisoformat(at)
                if told
                else getattr(self, name)
            )
            for name in FACT_TIMES
        )
        person = uuid.UUID(fact["person"]) if fact["person"] else None
        outdated = "outdated_at" in fact
        return StoredFact(fact["key"], fact["value"], person, since, until, outdated)


# Of a fact that has times of its own.
FACT_TIMES = ("valid_from", "valid_to")


def fact_row(fact: StoredFact) -> dict[str, Any]:
    """A new fact as ``Memory.facts`` holds it."""
    person = str(fact.person) if fact.person else None
    times = {name: at for name in FACT_TIMES if (at := getattr(fact, name))}
    row = {"key": fact.key, "value": fact.value, "person": person}
    return row | {name: at.astimezone(UTC).isoformat() for name, at in times.items()}


def resting_on(message_ids: Iterable[int]) -> Q:
    """The memories that rest on these messages alone."""
    ids = list(message_ids)
    return Q(source_message_ids__overlap=ids, source_message_ids__contained_by=ids)


def content_hash(content: str) -> str:
    """SHA-256 of the normalised content: equal for what differs only in case, width, accents,
    traditional or simplified script, or white space."""
    return hashlib.sha256(folded(content).encode()).hexdigest()


def _with_readable_dates(text: str) -> str:
    return _ISO_DATE.sub(lambda iso: readable_date(iso[0]), text)


def readable_date(text: str) -> str:
    """An ISO day or month as the reader writes it; other words as they are."""
    is_day = len(text) == len("2026-03-02")
    is_month = len(text) == len("2026-03")
    try:
        day = parse_date(f"{text}-01" if is_month else text) if is_day or is_month else None
    except ValueError:
        day = None
    return date_format(day, "DATE_FORMAT" if is_day else "YEAR_MONTH_FORMAT") if day else text
