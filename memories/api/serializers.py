"""A memory as JSON, in both directions."""

from typing import Any, ClassVar

from django.db.models import Prefetch, QuerySet
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from accounts import time_zones
from accounts.fields import (
    BoundedList,
    Flag,
    Identifier,
    LocalMoment,
    Metadata,
    MetadataQuery,
    Moment,
    Number,
    PastInstant,
    Reasoned,
    RowSerializer,
    Strict,
    Text,
    Whole,
    undo_id,
)
from accounts.paging import PageQuery
from contacts.serializers import Named
from memories.corrections.edit_memories import PINNED
from memories.models import Edge, Link, Memory
from memories.types import MemoryType, Subtype

MAX_CONTENT = 1000
MAX_PEOPLE = 50
TYPES = [t.value for t in MemoryType]
SUBTYPES = [s.value for s in Subtype]
# What Mio notes of a memory beside what an app does.
_INTERNAL = frozenset(("vcard_note", "vcard_of", "imported", "consolidated_into"))
OWN_METADATA = _INTERNAL | {PINNED}


class _Times(Reasoned):
    """When the event takes place, stops to matter, and from when to when the fact holds."""

    happens_at = Moment(required=False, allow_null=True)
    happens_until = Moment(
        required=False,
        allow_null=True,
        help_text="The beginning of the last day, of a longer time: August, 2027.",
    )
    expires_at = Moment(required=False, allow_null=True)
    valid_from = Moment(required=False, allow_null=True)
    valid_to = Moment(required=False, allow_null=True)
    importance = Number(min_value=0, max_value=1, required=False)
    subtype = serializers.ChoiceField(SUBTYPES, required=False)
    metadata = Metadata(
        required=False,
        taken=OWN_METADATA,
        help_text="Yours; of a correction key by key, null removes one.",
    )


class NewMemory(_Times):
    content = Text(max_length=MAX_CONTENT)
    type = serializers.ChoiceField(TYPES, default=MemoryType.MISCELLANEOUS.value)
    contacts = BoundedList(
        child=Identifier(), max_length=MAX_PEOPLE, default=list, help_text="Whom it is about."
    )


class MemoryEdit(_Times):
    importance = Number(
        min_value=0, max_value=1, required=False, allow_null=True,
        help_text="Never rescored once set; null gives it back to the formula.",
    )  # fmt: skip
    content = Text(max_length=MAX_CONTENT, required=False)
    type = serializers.ChoiceField(TYPES, required=False)
    status = serializers.ChoiceField(Memory.Status.choices, required=False)


class MoveForm(Reasoned):
    """The contact that the memory was thought to be about, and the one it is about."""

    to = Identifier()

    def get_fields(self) -> dict[str, serializers.Field]:
        return {"from": Identifier(), **super().get_fields()}  # from is a keyword


VALID_AT = "What held then, true or no longer: ISO 8601 with a time zone."


class MemoryQuery(PageQuery):
    status = serializers.ChoiceField(
        [*Memory.Status.values, "all"], default=Memory.Status.ACTIVE.value
    )
    kind = serializers.ChoiceField([*Memory.Kind.values, "all"], default=Memory.Kind.FACT.value)
    type = serializers.ChoiceField(TYPES, required=False)
    contact = serializers.UUIDField(required=False, help_text="Only memories about this contact.")
    q = serializers.CharField(
        required=False, allow_blank=True, max_length=200, help_text="Words of the content."
    )
    metadata = MetadataQuery()
    valid_at = PastInstant(required=False, help_text=VALID_AT)


class MemoryFact(serializers.Serializer):
    key = serializers.CharField()
    value = serializers.CharField()
    person = serializers.UUIDField(allow_null=True, help_text="A contact; null for the user.")
    valid_from = serializers.DateTimeField(
        default=None, allow_null=True, help_text="If other than the memory's own."
    )
    valid_to = serializers.DateTimeField(
        default=None, allow_null=True, help_text="It was so until then."
    )
    outdated_at = serializers.DateTimeField(
        default=None, allow_null=True, help_text="When it was learnt that it is no longer true."
    )
    superseded_by = serializers.UUIDField(
        default=None, allow_null=True, help_text="The memory that says what is true instead."
    )


class _AsTold(LocalMoment):
    """A time of a memory by the clock of whoever said it. Only given out."""

    def get_attribute(self, instance: Memory) -> Any:
        moment = super().get_attribute(instance)
        return moment and moment.astimezone(time_zones.fixed(instance.said_offset))


class MemorySerializer(RowSerializer):
    """A memory as clients see it; the row comes from ``with_relations``."""

    brackets = serializers.ListField(
        child=serializers.ListField(
            child=serializers.IntegerField(min_value=0), min_length=2, max_length=2
        ),
        allow_null=True,
        help_text="Of a quote: where in the content, [start, end) in code points, stands what Mio "
        "put into the words of the speaker. null: the content is no quote.",
    )
    contacts = serializers.SerializerMethodField(help_text="Whom it is about.")
    people = serializers.SerializerMethodField(help_text="The same, with their names.")
    facts = MemoryFact(many=True)
    metadata = serializers.SerializerMethodField()
    superseded_by = serializers.SerializerMethodField()
    said_at = _AsTold(help_text="By the clock of whoever said it, as all the times of a memory.")
    happens_at = LocalMoment(source="happens_there", allow_null=True)
    happens_until = LocalMoment(
        source="happens_until_there",
        allow_null=True,
        help_text="The beginning of the last day, where only a longer time is known.",
    )
    expires_at = _AsTold(allow_null=True)
    valid_from = _AsTold(allow_null=True)
    valid_to = _AsTold(allow_null=True)

    class Meta:
        model = Memory
        fields: ClassVar = [
            "id", "kind", "content", "type", "subtype", "status", "importance", "confidence",
            "speaker", "quote", "brackets", "source_message_ids", "contacts", "people", "facts",
            "metadata", "superseded_by", "happens_at", "happens_until", "expires_at", "valid_from",
            "valid_to", "said_at", "access_count", "last_accessed_at", "created_at", "updated_at",
        ]  # fmt: skip

    def get_contacts(self, memory: Memory) -> list[str]:
        return [str(link.contact_id) for link in memory.links.all()]

    @extend_schema_field(Named(many=True))
    def get_people(self, memory: Memory) -> list[dict[str, Any]]:
        return list(Named([link.contact for link in memory.links.all()], many=True).data)

    def get_metadata(self, memory: Memory) -> dict[str, Any]:
        return {key: held for key, held in memory.metadata.items() if key not in _INTERNAL}

    def get_superseded_by(self, memory: Memory) -> list[str]:
        return [str(edge.source_id) for edge in memory.edges_in.all()]


class ChangedMemory(MemorySerializer):
    change_id = undo_id("null when nothing changed")


class SearchForm(Strict):
    query = Text(max_length=10_000)
    intent = serializers.ChoiceField(
        ["recall", "explore", "exact", "general"], required=False, allow_null=True
    )
    limit = Whole(min_value=1, max_value=100, default=10)
    types = BoundedList(child=serializers.ChoiceField(TYPES), max_length=len(TYPES), default=list)
    statuses = BoundedList(
        child=serializers.ChoiceField(Memory.Status.choices),
        min_length=1,
        max_length=3,
        default=[Memory.Status.ACTIVE.value],
    )
    include_outdated = Flag(
        default=False, help_text="What is no longer true as well, marked as `history`."
    )
    contacts = BoundedList(
        child=Identifier(),
        max_length=MAX_PEOPLE,
        default=list,
        help_text="Only memories about one of these.",
    )
    since = Moment(
        required=False,
        allow_null=True,
        help_text="Only what happened, else was said, from then on.",
    )
    until = Moment(required=False, allow_null=True, help_text="… and before then.")
    valid_at = Moment(required=False, allow_null=True, help_text=VALID_AT)
    min_importance = Number(min_value=0, max_value=1, default=0.0)
    min_relevance = Number(
        min_value=0,
        max_value=1,
        required=False,
        help_text="Only results whose `relevance` is at least this, by words or meaning or an edge, "
        "of `contacts` too; one of unknown relevance (null) stays. Unless given: nothing where "
        "nothing found is likely to have to do with the query, or the query means nothing, else the "
        "best, and of `contacts` all. 0: the best, whatever they are.",
    )
    metadata = Metadata(required=False, help_text="Only memories that hold all of this.")
    hops = Whole(
        min_value=0,
        max_value=2,
        default=1,
        help_text="So many edges from the best results memories are shown too, below these.",
    )

    def validate(self, asked: dict[str, Any]) -> dict[str, Any]:
        since, until = asked.get("since"), asked.get("until")
        if since and until and since >= until:
            raise serializers.ValidationError({"until": ["This must be after since."]})
        return asked


class PathStep(serializers.Serializer):
    kind = serializers.CharField(help_text="Of the edge.")
    memory = serializers.UUIDField(help_text="From which it was walked.")


class TimeRange(serializers.Serializer):
    """The time that a query asks about, in the words that say so."""

    since = LocalMoment(allow_null=True, help_text="In the user's time zone.")
    until = LocalMoment(allow_null=True, help_text="Not included.")
    words = serializers.CharField()


RELEVANCE = (
    "How likely it has to do with what was asked, 0 to 1: of ten memories with 0.8, about eight "
    "do. Null where that is not known: not embedded yet, with an embedding model that was not "
    "calibrated, or not found by search."
)


class Found(MemorySerializer):
    """A memory with its place in the search, and why it is there."""

    score = serializers.FloatField(help_text="What they are ordered by, 0 to 1.")
    relevance = serializers.FloatField(allow_null=True, help_text=RELEVANCE)
    bm25_rank = serializers.IntegerField(allow_null=True)
    vector_rank = serializers.IntegerField(allow_null=True)
    reason = serializers.CharField()
    hops = serializers.IntegerField(help_text="Edges from a better result; 0: found by itself.")
    path = PathStep(many=True)
    in_range = serializers.BooleanField(
        allow_null=True, help_text="Of the time asked about; null when none was."
    )
    history = serializers.BooleanField(help_text="No longer true; see `superseded_by`.")


def with_relations(rows: QuerySet) -> QuerySet:
    """What the serializer reads of each memory, in a fixed number of statements."""
    links = Link.objects.standing().with_people().order_by("pk")
    edges = Edge.objects.filter(kind=Edge.Kind.SUPERSEDES).order_by("pk")
    return rows.defer("tokens").prefetch_related(
        Prefetch("links", links), Prefetch("edges_in", edges)
    )
