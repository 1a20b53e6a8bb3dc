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
from memories.types import OF_PEOPLE, ROLE, MemoryType, StoredFact, StoredMemory, Subtype
from understanding.attributes import YEARLY
from understanding.languages import LANGUAGES, language_of_text, locale, wording
from understanding.text import folded

# Between a question and the quote that answers it.
ANSWER_DASHES = tuple(wording(language)["dash"] for language in LANGUAGES)
# Text that Mio adds to a quote is in brackets, dates included.
_BRACKETS = re.compile(r"[（\[][^（）\[\]]*[）\]]")
_ISO_DATE = re.compile(r"(?<!\d)\d{4}-\d\d(?:-\d\d)?(?!\d)")
# A memory that a profile represents: low enough to stay out of every top-K (Mio v2).
CONSOLIDATED_IMPORTANCE = 0.05
# sigmoid(2.0 - 2.0): what MIRA's formula gives a memory on the day it is learnt.
INITIAL_IMPORTANCE = 0.5
# A profile represents many memories: above any single new one.
PROFILE_IMPORTANCE = 0.8
# Sorts after all search tokens of roles: under row-level security, LIKE can't use an index.
AFTER_ROLE = "role;"
# The key in Memory.metadata that an operator sets if a memory is about the end user alone.
ABOUT_USER = "about_user"
# A memory that has no link after this time will not get one.
LINKED_WITHIN = timedelta(minutes=5)


_ENDS = Greatest("happens_at", "happens_until", "valid_from")
# The condition of ``ahead``; its parameters are the moment and STATES_IMPORTANT_DATE.
AHEAD = """(type = 'plan' OR GREATEST(happens_at, valid_from) > said_at)
    AND GREATEST(happens_at, happens_until, valid_from) >= %s AND NOT facts @> ANY (%s::jsonb[])"""
_STATES_CURRENT = """type <> 'plan' AND jsonb_path_exists(facts, '$[*] ? (
    @.key != "plan" && !(@.valid_from > $at))',
    jsonb_build_object('at', %s::text))"""
STATES_IMPORTANT_DATE = [json.dumps([{"key": key}]) for key in YEARLY]


class MemoryQuerySet(ScopedQuerySet):
    def active(self) -> Self:
        return self.filter(status=Memory.Status.ACTIVE)

    def facts(self) -> Self:
        """Returns memories without the profile memories."""
        return self.filter(kind=Memory.Kind.FACT)

    def of_nobody(self, users: Any) -> Self:
        """Returns current facts of these end users that mention a friend, relative, colleague or
        partner but are linked to no contact, though workers had the time and no operator marked
        them as being about the user alone."""
        return self.unlinked(users).filter(created_at__lte=timezone.now() - LINKED_WITHIN)

    def unlinked(self, users: Any) -> Self:
        """Returns the same as ``of_nobody``, whether or not workers had the time. Uses the indexes
        of memories about people and of words, so that all other memories cost nothing."""
        people = Memory.objects.active().facts().filter(end_user__in=users)
        people = people.filter(subtype__in=[str(subtype) for subtype in OF_PEOPLE])
        words = search_index.Posting.objects.filter(end_user__in=users, status=Memory.Status.ACTIVE)
        roles = words.filter(token__gte=ROLE, token__lt=AFTER_ROLE, times__gte=1)
        ids = people.order_by().values("pk").union(roles.values("memory"))
        rows = self.active().facts().filter(end_user__in=users, pk__in=ids, unread=False)
        return rows.filter(links=None).exclude(metadata__has_key=ABOUT_USER)

    def ahead(self, since: datetime) -> Self:
        """Returns memories about what takes place, or begins to be true, at ``since`` or later;
        except what had happened already when it was said, and important dates, which are known
        before they come."""
        params = [since, STATES_IMPORTANT_DATE]
        condition = RawSQL(AHEAD, params, output_field=models.BooleanField())  # noqa: S611 a constant
        return self.filter(condition)

    def without_states(self, at: datetime) -> Self:
        """Returns memories that state nothing true ``at`` this time: plans, and memories without a
        fact that began by then."""
        since = at.astimezone(UTC).isoformat()
        condition = RawSQL(_STATES_CURRENT, [since], output_field=models.BooleanField())  # noqa: S611 a constant
        return self.exclude(condition)

    def about(self, contact_id: uuid.UUID) -> Self:
        """Returns memories linked to the contact."""
        return self.filter(links__contact=contact_id, links__rejected=False)

    def true_at(self, moment: datetime) -> Self:
        """Returns memories of what was true at ``moment``, whatever is true now: from its known
        beginning, else from when it happened or was said, until its end."""
        began = Coalesce("valid_from", Least("happens_at", "said_at"))
        ended = Q(valid_to__isnull=False, valid_to__lte=moment)
        return self.alias(began=began).filter(~ended, began__lte=moment)

    def holding(self, end_user: EndUser | int, tokens: Iterable[str]) -> Self:
        """Returns the end user's memories that contain all of these search tokens themselves."""
        words = search_index.Posting.objects.of(end_user).filter(times__gte=1)
        rows = self.of(end_user)
        for token in tokens:
            rows = rows.filter(pk__in=words.filter(token=token).values("memory"))
        return rows

    def nearest(self, space: str, vector: Sequence[float]) -> Self:
        """Returns the memories with a vector in ``space``, nearest by cosine first, with their
        ``distance``."""
        return (
            self.filter(vectors__end_user=F("end_user"), vectors__space=space)
            .annotate(distance=CosineDistance("vectors__embedding", vector))
            .order_by("distance", "id")
        )


_MemoryManager = models.Manager.from_queryset(MemoryQuerySet)


class MemoryManager(_MemoryManager):
    """Defers embeddings, each of which is larger than the rest of a row."""

    def get_queryset(self) -> MemoryQuerySet:
        return MemoryQuerySet(self.model, using=self._db).defer("embedding")


class Memory(Tracked):
    """One fact about the end user's world, or a contact's whole profile as text. ``facts`` is a
    list of ``{"key", "value", "person"}`` (person: a contact id, or null for the end user).
    ``valid_from``/``valid_to`` say when it is true, ``said_at`` when it was learnt. A fact may have
    its own ``valid_from``/``valid_to``; one that a later memory contradicts has ``outdated_at``,
    when that was learnt, and ``superseded_by``, that memory. The offsets (minutes ahead of UTC) are
    those of the clocks by which the times were stated: a date means the same day wherever its user
    goes."""

    # Set by ``nearest``.
    distance: float
    # Set by a search or a context: whether it supersedes another (None: not read), and the contacts
    # that it is about, as in the index of names, if requested.
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

    # The columns that a search and a prompt need, in the order of the fields: a third of a row's.
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
    # No index of its own: without statistics the planner would prefer it to (end_user, id).
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
    # Stored out of line, so that a row stays small; rankings read the search index.
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
            # Changed content is compared again, whoever changed it.
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
        """The content as a page shows it on one line: a quote in quotation marks, a profile with
        its lines separated by dots, and the dates that Mio added to a quote in its language."""
        if self.kind == self.Kind.PROFILE:
            lines = " · ".join(filter(None, map(str.strip, self.content.splitlines())))
            return _with_readable_dates(lines.replace("： · ", "：").replace(": · ", ": "))
        if self.brackets is None:
            return self.content
        # The question that a quote answers is before the user's words.
        first_end = next((end for start, end in self.brackets if start == 0), 0)
        question, answer = self.content[:first_end], self.content[first_end:]
        has_question = question.endswith(ANSWER_DASHES)
        shown = f"{question}“{answer}”" if has_question else f"“{self.content}”"
        with translation.override(locale(language_of_text(self.content))):
            return _BRACKETS.sub(lambda note: _with_readable_dates(note[0]), shown)

    def set_said_at(self, at: datetime) -> None:
        """Sets when it was said (unsaved), with the UTC offset of ``at``."""
        self.said_at, self.said_offset = at.astimezone(UTC), time_zones.minutes(at)

    def set_happens_at(self, at: datetime | None, until: datetime | None = None) -> None:
        """Sets when it takes place (unsaved), with the UTC offset of ``at``; ``until`` is stored as
        ``happens_until``."""
        self.happens_at = at and at.astimezone(UTC)
        self.happens_until = at and until and until.astimezone(UTC)
        self.happens_offset = time_zones.minutes(at) if at else 0

    @property
    def began_at(self) -> datetime:
        """From when it is known to be true: as stated, else when it happened or was said."""
        return self.valid_from or min(self.said_at, self.happens_at or self.said_at)

    @property
    def said_there(self) -> datetime:
        """When it was said, by the speaker's clock."""
        return self.said_at.astimezone(time_zones.fixed(self.said_offset))

    @property
    def happens_there(self) -> datetime | None:
        """When it takes place, by the clock by which that was stated."""
        return self.happens_at and self.happens_at.astimezone(time_zones.fixed(self.happens_offset))

    @property
    def happens_until_there(self) -> datetime | None:
        """The beginning of the last day when it may take place, by the same clock."""
        until = self.happens_until
        return until and until.astimezone(time_zones.fixed(self.happens_offset))

    def as_stored(self, similarity: float = 0.0) -> StoredMemory:
        """Returns this memory as a provider sees it."""
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
            valid_from=self._at_said_offset(self.valid_from),
            valid_to=self._at_said_offset(self.valid_to),
        )

    @classmethod
    def shown(cls, columns: Sequence[Any]) -> Self:
        """Returns a memory with the columns SHOWN of a statement. Built by hand, since a context
        reads eighty: ``from_db`` takes five times as long, for the fields that are not read."""
        memory = cls.__new__(cls)
        vars(memory).update(zip(cls.SHOWN, columns, strict=True))
        memory.facts = json.loads(memory.facts)
        memory.brackets = memory.brackets and json.loads(memory.brackets)
        memory._state = ModelState()
        memory._state.db, memory._state.adding = cells.current(), False
        return memory

    def _at_said_offset(self, at: datetime | None) -> datetime | None:
        """Returns a moment by the clock where the memory was said, which defines its day."""
        return at and at.astimezone(time_zones.fixed(self.said_offset))

    def stored_fact(self, fact: dict[str, Any]) -> StoredFact:
        """Returns a fact as a provider sees it, valid as long as the memory unless it has its own
        times."""
        own_times = any(name in fact for name in FACT_TIMES)
        since, until = (
            self._at_said_offset(
                (at := fact.get(name)) and datetime.fromisoformat(at)
                if own_times
                else getattr(self, name)
            )
            for name in FACT_TIMES
        )
        person = uuid.UUID(fact["person"]) if fact["person"] else None
        outdated = "outdated_at" in fact
        return StoredFact(fact["key"], fact["value"], person, since, until, outdated)


# The keys of a fact's own times.
FACT_TIMES = ("valid_from", "valid_to")


def fact_row(fact: StoredFact) -> dict[str, Any]:
    """Returns a new fact as an item of ``Memory.facts``."""
    person = str(fact.person) if fact.person else None
    times = {name: at for name in FACT_TIMES if (at := getattr(fact, name))}
    row = {"key": fact.key, "value": fact.value, "person": person}
    return row | {name: at.astimezone(UTC).isoformat() for name, at in times.items()}


def resting_on(message_ids: Iterable[int]) -> Q:
    """Returns the condition that memories rest on these messages alone."""
    ids = list(message_ids)
    return Q(source_message_ids__overlap=ids, source_message_ids__contained_by=ids)


def content_hash(content: str) -> str:
    """Returns the SHA-256 of the normalised content: equal for texts that differ only in case,
    width, accents, traditional or simplified script, or white space."""
    return hashlib.sha256(folded(content).encode()).hexdigest()


def _with_readable_dates(text: str) -> str:
    return _ISO_DATE.sub(lambda iso: readable_date(iso[0]), text)


def readable_date(text: str) -> str:
    """Returns an ISO day or month in the reader's date format; any other text unchanged."""
    is_day = len(text) == len("2026-03-02")
    is_month = len(text) == len("2026-03")
    try:
        day = parse_date(f"{text}-01" if is_month else text) if is_day or is_month else None
    except ValueError:
        day = None
    return date_format(day, "DATE_FORMAT" if is_day else "YEAR_MONTH_FORMAT") if day else text
