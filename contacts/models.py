"""Who: a person in an end user's life, and the ways to find them in a text."""

import uuid
from collections.abc import Iterable
from typing import Any, Self

from django.conf import settings
from django.contrib.postgres.expressions import ArraySubquery
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q, Value
from django.db.models.expressions import Expression, RawSQL
from django.utils import timezone
from django.utils.module_loading import import_string

from accounts.models import EndUser, ScopedQuerySet, Tracked, UserRow, between_0_and_1, reference
from accounts.reasons import TEMPLATES
from contacts import cards, key_index
from understanding import names
from understanding.attribute_index import company_keys
from understanding.attributes import ATTRIBUTES, is_single
from understanding.types import Person


class _Operator(models.Lookup):
    sql = ""

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, Any]:
        column, values = self.process_lhs(compiler, connection)
        other, more = self.process_rhs(compiler, connection)
        return f"{column} {self.sql.format(other)}", (*values, *more)


@models.CharField.register_lookup
class Prefix(_Operator):
    """``startswith`` by an operator that an index may serve behind row-level security, as it
    tells nothing of rows that are not shown ("leakproof"); LIKE may not."""

    lookup_name, sql = "prefix", "^@ {}"


@models.UUIDField.register_lookup
class AnyOf(_Operator):
    """As ``in``, of an ArraySubquery that is read whole before the rows that it chooses."""

    lookup_name, sql = "any_of", "= ANY ({})"


# More than one value where a person has one at a time: a merge or two tellings left both, and
# nobody said that both are right. Of the single attributes, so that another one makes a migration
# (``makemigrations contacts``) of the index that holds these contacts.
_SINGLE = " || ".join(f'@.key == "{key}"' for key, known in ATTRIBUTES.items() if known.single)
IN_CONFLICT = RawSQL(  # noqa: S611 a constant
    "jsonb_path_exists(contacts_contact.attributes - contacts_contact.side_by_side, "
    f"'$.keyvalue() ? ({_SINGLE}).value[1]'::jsonpath)",
    [],
    output_field=models.BooleanField(),
)


def memory_count() -> Expression:
    """How many memories about a contact hold now, for a query of contacts."""
    count: Expression = import_string(settings.MIO_MEMORY_COUNT)()
    return count


class ContactQuerySet(ScopedQuerySet):
    def in_conflict(self) -> Self:
        """Contacts with several values for an attribute that has one at a time, of whom nobody
        said that all are right."""
        return self.filter(IN_CONFLICT)

    def standing(self) -> Self:
        """Contacts that are not merged into another."""
        return self.filter(merged_into=None)

    def counted(self) -> Self:
        """With ``memory_count``: how many memories about each hold now."""
        return self.annotate(memory_count=memory_count())

    def memory_counts(self) -> dict[uuid.UUID, int]:
        """The same counts by the contacts' ids."""
        return dict(self.counted().values_list("pk", "memory_count"))

    def listed(self) -> Self:
        """Standing contacts that nobody archived."""
        return self.standing().filter(archived_at=None)

    def archived(self) -> Self:
        """Standing contacts that somebody archived."""
        return self.standing().exclude(archived_at=None)

    def found_by(self, end_user: EndUser, text: str) -> Self:
        """The end user's contacts that a search box finds by ``text``: the beginning of a word of a
        name or alias, in characters, pinyin or initials, or a company that they work at."""
        keys = ContactKey.objects.of(end_user)
        wanted, company = key_index.typed(text), company_keys(text)
        if not wanted:
            return self.none()
        asked = Q(key__prefix=wanted) | Q(key__in=company[1:])
        if company:
            asked |= Q(key__prefix=company[0])
        # Read whole before the contacts: else these are walked in the order of the page, and the
        # keys of each looked through.
        found = ArraySubquery(keys.filter(asked).values("contact"))
        return self.of(end_user).filter(pk__any_of=found)

    def who_are(self, end_user: EndUser, group: str) -> Self:
        """The end user's family, friends, colleagues …: ``group`` is one of ``names.GROUPS``."""
        keys = [names.KIN + kind for kind in names.kinds_of(group)]
        kin = ContactKey.objects.of(end_user).filter(key__in=keys)
        return self.of(end_user).filter(pk__in=kin.values("contact"))

    def all_merged_into(self, contact_ids: Iterable[uuid.UUID]) -> list["Contact"]:
        """All that was merged into these contacts, directly or through another."""
        found: list[Contact] = []
        level = list(contact_ids)
        while level:
            merged = self.filter(merged_into__in=level)
            rows: list[Any] = list(merged.order_by("created_at", "pk").light())
            found += rows
            level = [row.pk for row in rows]
        return found

    def light(self) -> Self:
        """Without the column that grows with a contact's history."""
        return self.defer("memory_ids")


class SortKey(models.CharField):
    """What a list orders a row's ``name`` by, brought up to date whenever it is saved."""

    def pre_save(self, model_instance: models.Model, add: bool) -> str:  # noqa: ARG002 Django's
        key = key_index.sort_key(model_instance.name)  # type: ignore[attr-defined]
        setattr(model_instance, self.attname, key)
        return key


def _texts() -> ArrayField:
    """A column of texts, empty unless told otherwise."""
    none = Value([], ArrayField(models.TextField()))
    return ArrayField(models.TextField(), default=list, db_default=none, blank=True)


class Contact(Tracked):
    """A person in the end user's life.

    ``attributes`` maps a key to a list of ``{"value", "sources", "since"}``, the current
    value first, and ``side_by_side`` names those of which several values are right though most
    people have one; ``timeline`` is a list of ``{"text", "at", "sources"}`` in order of
    happening. ``references`` is a list of ``{"text", "sources"}``: phrases by which the user may
    mean the person; ``references_denied`` are those that somebody took away, as they are compared.
    ``coming`` is derived: plans as ``{"on", "text"}`` and important dates as ``{"kind",
    "value"}``, which the card shows when they are near. ``memory_ids`` is kept equal to the
    unrejected links by the database."""

    # Of rows that were read with them.
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
        """The card with what is to come, on the user's day."""
        user = self.end_user
        return str(cards.stored_with_coming(self.card, self.coming, user.today, user.reads))

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
            ),
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
        """The relations that one of these contacts takes part in, with both of their people."""
        return self.concerning(contact_ids).with_people()

    def concerning(self, contact_ids: Iterable[uuid.UUID]) -> Self:
        """The relations that one of these contacts takes part in."""
        ids = list(contact_ids)
        return self.filter(Q(subject__in=ids) | Q(object__in=ids))

    def with_people(self) -> Self:
        """With both of their people, in the same statement."""
        return self.select_related("subject", "object").defer(
            "subject__memory_ids", "object__memory_ids"
        )


class Relation(Tracked):
    """``subject`` is the ``kind`` of ``object``: 俞慧珍 is the mother of 小棠.

    ``sources`` are the ids of the memories that say so; none means that an operator did."""

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
    def listed(self) -> Self:
        """Those of people whom nobody archived."""
        return self.filter(first__archived_at=None, second__archived_at=None)

    def with_people(self) -> Self:
        """With both contacts, in the same statement."""
        return self.select_related("first", "second").defer(
            "first__memory_ids", "second__memory_ids"
        )


class Suggestion(Tracked):
    """Two contacts that may be one person. ``first`` has the smaller id, so a pair is one row.

    ``evidence`` is a list of ``{"code", "params", "weight"}``; a negative weight speaks
    against. A pair that an operator called different people is never suggested again.
    ``judgement`` is what a model said of the pair, once, and ``judged_reason`` why."""

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
        """The evidence without what no comparison says any more: old rows and undone changes keep
        codes that are gone."""
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


def json_value(value: str, sources: Iterable[Any] = (), since: str | None = None) -> dict[str, Any]:
    """One attribute value as Contact.attributes holds it."""
    return {"value": value, "sources": [str(s) for s in sources], "since": since}
