"""Contacts, their lookup keys and relations, and suggestions that two of them are one person."""

import uuid
from collections.abc import Iterable
from typing import Any, Self

from django.conf import settings
from django.contrib.postgres.expressions import ArraySubquery
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q, Value
from django.db.models.expressions import RawSQL
from django.db.models.lookups import PostgresOperatorLookup
from django.utils import timezone
from django.utils.module_loading import import_string

from accounts.models import EndUser, ScopedQuerySet, Tracked, UserRow, between_0_and_1, reference
from accounts.reasons import TEMPLATES
from contacts import cards, key_index
from understanding import names
from understanding.attribute_index import company_keys
from understanding.attributes import ATTRIBUTES, is_single
from understanding.types import Person


@models.CharField.register_lookup
class Prefix(PostgresOperatorLookup):
    """``startswith`` by an operator that an index may serve behind row-level security, as it
    reveals nothing about rows that are not shown ("leakproof"); LIKE may not."""

    lookup_name, postgres_operator = "prefix", "^@"


@models.UUIDField.register_lookup
class AnyOf(models.Lookup):
    """As ``in``, for an ArraySubquery that is read as a whole before the rows that it selects."""

    lookup_name = "any_of"

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, Any]:
        column, values = self.process_lhs(compiler, connection)
        array, more = self.process_rhs(compiler, connection)
        return f"{column} = ANY ({array})", (*values, *more)


# Several values of a single attribute: a merge or two statements left both, and nobody stated that
# both are right. A new single attribute needs ``makemigrations contacts`` for the index below.
_SINGLE = " || ".join(f'@.key == "{key}"' for key, known in ATTRIBUTES.items() if known.single)
IN_CONFLICT = RawSQL(  # noqa: S611 a constant
    "jsonb_path_exists(contacts_contact.attributes - contacts_contact.side_by_side, "
    f"'$.keyvalue() ? ({_SINGLE}).value[1]'::jsonpath)",
    [],
    output_field=models.BooleanField(),
)


class ContactQuerySet(ScopedQuerySet):
    def in_conflict(self) -> Self:
        """Returns contacts with several values of a single attribute, unless all were accepted."""
        return self.filter(IN_CONFLICT)

    def standing(self) -> Self:
        """Returns contacts that are not merged into another."""
        return self.filter(merged_into=None)

    def counted(self) -> Self:
        """Adds ``memory_count``: how many memories about each contact are valid now, by the
        expression of the function that a setting names."""
        return self.annotate(memory_count=import_string(settings.MIO_MEMORY_COUNT)())

    def memory_counts(self) -> dict[uuid.UUID, int]:
        """Returns how many memories about each contact are valid now, by contact id."""
        return dict(self.counted().values_list("pk", "memory_count"))

    def listed(self) -> Self:
        """Returns standing contacts that nobody archived."""
        return self.standing().filter(archived_at=None)

    def archived(self) -> Self:
        """Returns standing contacts that somebody archived."""
        return self.standing().exclude(archived_at=None)

    def found_by(self, end_user: EndUser, text: str) -> Self:
        """Returns the user's contacts that a search box finds by ``text``: the beginning of a word
        of a name or alias, in characters, pinyin or initials, or of a company that they work at."""
        keys = ContactKey.objects.of(end_user)
        prefix, company = key_index.typed(text), company_keys(text)
        if not prefix:
            return self.none()
        condition = Q(key__prefix=prefix) | Q(key__in=company[1:])
        if company:
            condition |= Q(key__prefix=company[0])
        # Read at once before the contacts: else these are walked in the order of the page, and the
        # keys of each are searched.
        contact_ids = ArraySubquery(keys.filter(condition).values("contact"))
        return self.of(end_user).filter(pk__any_of=contact_ids)

    def who_are(self, end_user: EndUser, group: str) -> Self:
        """Returns the user's family, friends …: ``group`` is one of ``names.GROUPS``."""
        keys = [names.KIN + kind for kind in names.kinds_of(group)]
        kin = ContactKey.objects.of(end_user).filter(key__in=keys)
        return self.of(end_user).filter(pk__in=kin.values("contact"))

    def all_merged_into(self, contact_ids: Iterable[uuid.UUID]) -> list["Contact"]:
        """Returns all contacts that were merged into these, directly or through another."""
        merged_contacts: list[Contact] = []
        level = list(contact_ids)
        while level:
            merged = self.filter(merged_into__in=level)
            rows: list[Any] = list(merged.order_by("created_at", "pk").light())
            merged_contacts += rows
            level = [row.pk for row in rows]
        return merged_contacts

    def light(self) -> Self:
        """Defers the column that grows with a contact's history."""
        return self.defer("memory_ids")


class SortKey(models.CharField):
    """The key by which lists order a row's ``name``, updated whenever the row is saved."""

    def pre_save(self, model_instance: models.Model, add: bool) -> str:  # noqa: ARG002 Django hook
        key = key_index.sort_key(model_instance.name)  # type: ignore[attr-defined]
        setattr(model_instance, self.attname, key)
        return key


def _texts() -> ArrayField:
    """Returns a column for a list of texts, empty by default."""
    none = Value([], ArrayField(models.TextField()))
    return ArrayField(models.TextField(), default=list, db_default=none, blank=True)


class Contact(Tracked):
    """A person in the end user's life.

    ``attributes`` maps a key to a list of ``{"value", "sources", "since"}``, the current value
    first, and ``side_by_side`` names those of which several values are right though most people
    have one; ``timeline`` is a list of ``{"text", "at", "sources"}`` in order of happening.
    ``references`` is a list of ``{"text", "sources"}``: phrases by which the user may refer to the
    person; ``references_denied`` are phrases that somebody took away, in the form that is compared.
    ``coming`` is derived: plans as ``{"on", "text"}`` and important dates as ``{"kind", "value"}``,
    which the card shows when near. The database keeps ``memory_ids`` equal to unrejected links."""

    # Only of rows that were read with these annotations.
    memory_count: int
    latest_memory_ids: list[uuid.UUID]

    tracked = (
        "name", "name_key", "namesake", "aliases", "relationship", "gender", "attributes",
        "side_by_side", "personality", "personality_sources", "timeline", "first_mentioned_at",
        "last_mentioned_at", "mention_count", "merged_into_id", "archived_at", "end_user_id",
        "references", "references_denied", "note",
    )  # fmt: skip
    counted = ("mention_count",)
    grown = ("aliases",)
    learnt = (
        "name", "name_key", "relationship", "gender", "first_mentioned_at", "last_mentioned_at",
    )  # fmt: skip
    unique_by = ("name_key", "merged_into_id")
    successor = "merged_into_id"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    # Without an index of its own: beside (end_user, id) a planner without statistics takes it.
    end_user = models.ForeignKey(EndUser, models.CASCADE, related_name="contacts", db_index=False)
    name = models.CharField(max_length=200)
    name_key = models.CharField(max_length=200, editable=False)
    sort_key = SortKey(max_length=200, default="", editable=False)
    namesake = models.PositiveSmallIntegerField(
        default=0, help_text="Tells two real people of one name apart: 0, 1, 2 …"
    )
    aliases = ArrayField(models.CharField(max_length=200), default=list, blank=True)
    relationship = models.CharField(max_length=200, blank=True, default="")
    gender = models.CharField(
        max_length=6, choices=[("female", "female"), ("male", "male")], blank=True, default=""
    )
    attributes = models.JSONField(default=dict, blank=True)
    side_by_side = _texts()
    personality = models.TextField(blank=True, default="")
    personality_sources = models.JSONField(default=list, blank=True)
    note = models.TextField(
        blank=True,
        default="",
        db_default="",
        help_text="Of operators, for operators; in no prompt.",
    )
    timeline = models.JSONField(default=list, blank=True)
    references = models.JSONField(
        default=list, db_default=Value([], models.JSONField()), blank=True
    )
    references_denied = _texts()
    memory_ids = ArrayField(models.UUIDField(), default=list, blank=True, editable=False)
    card = models.TextField(blank=True, default="")
    coming = models.JSONField(
        default=list, db_default=Value([], models.JSONField()), blank=True, editable=False
    )
    first_mentioned_at = models.DateTimeField(default=timezone.now)
    last_mentioned_at = models.DateTimeField(default=timezone.now)
    mention_count = models.PositiveIntegerField(default=1)
    merged_into = reference("self", null=True, blank=True, related_name="merged")
    archived_at = models.DateTimeField(
        null=True, blank=True, help_text="Since then known, but neither listed nor injected."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = ContactQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["end_user", "id"], name="contact_of_user"),
            models.UniqueConstraint(
                fields=["end_user", "name_key", "namesake"],
                condition=Q(merged_into=None),
                name="contact_once_per_name",
            ),
            models.CheckConstraint(condition=~Q(name_key=""), name="contact_has_a_name"),
            models.CheckConstraint(
                condition=~Q(merged_into=F("id")), name="contact_not_merged_into_itself"
            ),
        ]
        indexes = [
            models.Index(
                fields=["end_user", "-last_mentioned_at", "id"],
                condition=Q(merged_into=None),
                name="contact_latest",
            ),
            models.Index(
                fields=["end_user", "-mention_count", "id"],
                condition=Q(merged_into=None),
                name="contact_most_mentioned",
            ),
            models.Index(
                fields=["end_user", "sort_key", "name_key", "namesake"],
                condition=Q(merged_into=None),
                name="contact_by_name",
            ),
            models.Index(
                fields=["end_user", "-last_mentioned_at"],
                condition=Q(merged_into=None, archived_at__isnull=False),
                name="contact_archived",
            ),
            models.Index(
                fields=["merged_into", "end_user"],
                condition=Q(merged_into__isnull=False),
                name="contact_merged",
            ),
            models.Index(
                fields=["end_user", "id"],
                condition=Q(IN_CONFLICT, merged_into=None),
                name="contact_in_conflict",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def contradictions(self) -> list[str]:
        """The attributes with several values of which only one can be right."""
        several = [key for key, values in self.attributes.items() if len(values) > 1]
        return [key for key in several if is_single(key) and key not in self.side_by_side]

    @property
    def card_today(self) -> str:
        """The card with what is ahead, on the user's current day."""
        user = self.end_user
        return str(cards.with_coming(self.card, self.coming, user.today, user.writing_language))

    @property
    def person(self) -> Person:
        """This contact as name matching sees it."""
        return Person(self.id, self.name, tuple(self.aliases), self.relationship, self.gender)


class ContactKey(UserRow):
    """One normalised way to find a contact in a text, derived from its names and attributes."""

    end_user = models.ForeignKey(EndUser, models.CASCADE, related_name="+", db_index=False)
    contact = reference(Contact, related_name="keys")
    key = models.CharField(max_length=250)
    how = models.CharField(max_length=10)
    text = models.CharField(max_length=200)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["contact", "end_user", "key", "how"], name="contact_key_once"
            )
        ]
        indexes = [
            # Finds whole keys, and beginnings of keys whatever the database's collation.
            models.Index(
                fields=["end_user", "key"],
                opclasses=["int8_ops", "varchar_pattern_ops"],
                name="contact_key_lookup",
            )
        ]


class RelationQuerySet(ScopedQuerySet):
    def among(self, contact_ids: Iterable[uuid.UUID]) -> Self:
        """Returns the relations that one of these contacts takes part in, with both contacts."""
        return self.concerning(contact_ids).with_people()

    def concerning(self, contact_ids: Iterable[uuid.UUID]) -> Self:
        """Returns the relations that one of these contacts takes part in."""
        ids = list(contact_ids)
        return self.filter(Q(subject__in=ids) | Q(object__in=ids))

    def with_people(self) -> Self:
        """Reads both contacts in the same statement."""
        return self.select_related("subject", "object").defer(
            "subject__memory_ids", "object__memory_ids"
        )


class Relation(Tracked):
    """``subject`` is the ``kind`` of ``object``: 俞慧珍 is the mother of 小棠.

    ``sources`` are the ids of the memories that state it; none if a person did."""

    tracked = ("subject_id", "kind", "object_id", "sources", "end_user_id")
    grown = ("sources",)
    unique_by = ("subject_id", "kind", "object_id")
    found_again = True

    end_user = models.ForeignKey(EndUser, models.CASCADE, related_name="+")
    subject = reference(Contact, related_name="relations_out")
    kind = models.CharField(max_length=50)
    object = reference(Contact, related_name="relations_in")
    sources = ArrayField(models.UUIDField(), default=list, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = RelationQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["subject", "object", "kind"], name="relation_once"),
            models.CheckConstraint(
                condition=~Q(subject=F("object")), name="relation_between_two_people"
            ),
        ]
        indexes = [
            models.Index(fields=["subject", "end_user"], name="relation_outbound"),
            models.Index(fields=["object", "end_user"], name="relation_inbound"),
        ]


class SuggestionQuerySet(ScopedQuerySet):
    def concerning(self, contact_ids: Iterable[uuid.UUID]) -> Self:
        """Returns suggestions about these contacts."""
        ids = list(contact_ids)
        return self.filter(Q(first__in=ids) | Q(second__in=ids))

    def listed(self) -> Self:
        """Returns suggestions about contacts that nobody archived."""
        return self.filter(first__archived_at=None, second__archived_at=None)

    def with_people(self) -> Self:
        """Reads both contacts in the same statement."""
        return self.select_related("first", "second").defer(
            "first__memory_ids", "second__memory_ids"
        )


class Suggestion(Tracked):
    """Two contacts that may be one person. ``first`` has the smaller id, so a pair is one row.

    ``evidence`` is a list of ``{"code", "params", "weight"}``; a negative weight is against one
    person. A pair that an operator called different people is never suggested again. ``judgement``
    is what a model stated about the pair, once, and ``judged_reason`` why."""

    tracked = (
        "first_id", "second_id", "verdict", "confidence", "evidence", "state", "decided_by",
        "decided_at", "judgement", "judged_reason", "judged_by", "judged_at", "end_user_id",
    )  # fmt: skip
    learnt = (
        "verdict", "confidence", "evidence", "judgement", "judged_reason", "judged_by", "judged_at",
    )  # fmt: skip
    unique_by = ("first_id", "second_id")
    found_again = True

    class Verdict(models.TextChoices):
        CERTAIN = "certain"
        LIKELY = "likely"
        AMBIGUOUS = "ambiguous"

    class Judgement(models.TextChoices):
        SAME = "same"
        DIFFERENT = "different"
        UNSURE = "unsure"

    class State(models.TextChoices):
        OPEN = "open"
        LATER = "later"
        MERGED = "merged"
        DIFFERENT = "different"

    end_user = models.ForeignKey(EndUser, models.CASCADE, related_name="suggestions")
    first = reference(Contact)
    second = reference(Contact)
    verdict = models.CharField(max_length=9, choices=Verdict)
    confidence = models.FloatField()
    evidence = models.JSONField(default=list)
    state = models.CharField(max_length=9, choices=State, default=State.OPEN)
    decided_by = models.CharField(max_length=100, blank=True, default="")
    decided_at = models.DateTimeField(null=True, blank=True)
    judgement = models.CharField(
        max_length=9, choices=Judgement, blank=True, default="", db_default=""
    )
    judged_reason = models.TextField(blank=True, default="", db_default="")
    judged_by = models.CharField(max_length=100, blank=True, default="", db_default="")
    judged_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = SuggestionQuerySet.as_manager()

    @property
    def known_evidence(self) -> list[dict[str, Any]]:
        """The evidence without codes that no comparison gives any more; old rows have them."""
        return [row for row in self.evidence if row.get("code", "") in ("", *TEMPLATES)]

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["first", "second"], name="suggestion_once"),
            models.CheckConstraint(
                condition=Q(first__lt=F("second")), name="suggestion_smaller_id_first"
            ),
            between_0_and_1("confidence", "suggestion_confidence_in_0_1"),
        ]
        indexes = [
            models.Index(fields=["end_user", "state", "-confidence"], name="suggestion_queue"),
            models.Index(
                fields=["-state", "-confidence", "id"],
                condition=Q(state__in=["open", "later"]),
                name="suggestion_waiting",
            ),
            models.Index(fields=["first", "end_user"], name="suggestion_of_first"),
            models.Index(fields=["second", "end_user"], name="suggestion_of_second"),
        ]
