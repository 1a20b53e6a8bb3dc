"""A memory as JSON, in both directions."""

from collections.abc import Mapping
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import Prefetch, QuerySet
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers, status
from rest_framework.response import Response

from accounts import time_zones
from accounts.errors import first_or_404, unknown
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
    of_dataclass,
    undo_id,
)
from accounts.models import Change, EndUser
from accounts.paging import PageQuery
from contacts.serializers import Named
from memories.corrections.edit_memories import PINNED
from memories.erasure import erase
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
    happens_until = Moment(required=False, allow_null=True)
    expires_at = Moment(required=False, allow_null=True)
    valid_from = Moment(required=False, allow_null=True)
    valid_to = Moment(required=False, allow_null=True)
    importance = Number(min_value=0, max_value=1, required=False)
    subtype = serializers.ChoiceField(SUBTYPES, required=False)
    metadata = Metadata(required=False, taken=OWN_METADATA)


class NewMemory(_Times):
    content = Text(max_length=MAX_CONTENT)
    type = serializers.ChoiceField(TYPES, default=MemoryType.MISCELLANEOUS.value)
    contacts = BoundedList(child=Identifier(), max_length=MAX_PEOPLE, default=list)


class MemoryEdit(_Times):
    importance = Number(
        min_value=0, max_value=1, required=False, allow_null=True,
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
    contact = serializers.UUIDField(required=False)
    q = serializers.CharField(required=False, allow_blank=True, max_length=200)
    metadata = MetadataQuery()
    valid_at = PastInstant(required=False)


class MemoryFact(serializers.Serializer):
    key = serializers.CharField()
    value = serializers.CharField()
    person = serializers.UUIDField(allow_null=True)
    valid_from = serializers.DateTimeField(default=None, allow_null=True)
    valid_to = serializers.DateTimeField(default=None, allow_null=True)
    outdated_at = serializers.DateTimeField(default=None, allow_null=True)
    superseded_by = serializers.UUIDField(default=None, allow_null=True)


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
    )
    contacts = serializers.SerializerMethodField()
    people = serializers.SerializerMethodField()
    facts = MemoryFact(many=True)
    metadata = serializers.SerializerMethodField()
    superseded_by = serializers.SerializerMethodField()
    said_at = _AsTold()
    happens_at = LocalMoment(source="happens_there", allow_null=True)
    happens_until = LocalMoment(source="happens_until_there", allow_null=True)
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
    include_outdated = Flag(default=False)
    contacts = BoundedList(child=Identifier(), max_length=MAX_PEOPLE, default=list)
    since = Moment(required=False, allow_null=True)
    until = Moment(required=False, allow_null=True)
    valid_at = Moment(required=False, allow_null=True)
    min_importance = Number(min_value=0, max_value=1, default=0.0)
    min_relevance = Number(min_value=0, max_value=1, required=False)
    metadata = Metadata(required=False)
    hops = Whole(min_value=0, max_value=2, default=1)

    def validate(self, asked: dict[str, Any]) -> dict[str, Any]:
        since, until = asked.get("since"), asked.get("until")
        if since and until and since >= until:
            raise serializers.ValidationError({"until": ["This must be after since."]})
        return asked


class PathStep(serializers.Serializer):
    kind = serializers.CharField()
    memory = serializers.UUIDField()


class TimeRange(serializers.Serializer):
    """The time that a query asks about, in the words that say so."""

    since = LocalMoment(allow_null=True)
    until = LocalMoment(allow_null=True)
    words = serializers.CharField()


RELEVANCE = (
    "How likely it has to do with what was asked, 0 to 1: of ten memories with 0.8, about eight "
    "do. Null where that is not known: not embedded yet, with an embedding model that was not "
    "calibrated, or not found by search."
)


class Found(MemorySerializer):
    """A memory with its place in the search, and why it is there."""

    score = serializers.FloatField()
    relevance = serializers.FloatField(allow_null=True)
    bm25_rank = serializers.IntegerField(allow_null=True)
    vector_rank = serializers.IntegerField(allow_null=True)
    reason = serializers.CharField()
    hops = serializers.IntegerField()
    path = PathStep(many=True)
    in_range = serializers.BooleanField(allow_null=True)
    history = serializers.BooleanField()


def with_relations(rows: QuerySet) -> QuerySet:
    """What the serializer reads of each memory, in a fixed number of statements."""
    links = Link.objects.standing().with_people().order_by("pk")
    edges = Edge.objects.filter(kind=Edge.Kind.SUPERSEDES).order_by("pk")
    return rows.defer("tokens").prefetch_related(
        Prefetch("links", links), Prefetch("edges_in", edges)
    )


class TakenAway(serializers.Serializer):
    change_id = serializers.UUIDField()


Forgotten = of_dataclass(erase.Forgotten)


def check_memory(end_user: EndUser, memory_id: UUID) -> None:
    """Raises a 404 where the end user has no such memory."""
    if not Memory.objects.of(end_user).filter(pk=memory_id).exists():
        raise unknown("unknown_memory")


def memory_of(end_user: EndUser, memory_id: UUID) -> Memory:
    """The memory as its serializer reads it. Raises a 404 where there is none."""
    rows = with_relations(Memory.objects.of(end_user)).filter(pk=memory_id)
    return first_or_404(rows, "unknown_memory")


def changed(end_user: EndUser, memory_id: UUID, change: Change | None) -> dict[str, Any]:
    """The memory as it is now, with the change that made it so."""
    return with_change(MemorySerializer(memory_of(end_user, memory_id)).data, change)


def with_change(row: Mapping[str, Any], change: Change | None) -> dict[str, Any]:
    """A row as it is shown, with the change to undo; None where nothing changed."""
    return {**row, "change_id": change.id if change else None}


def stated(row: Mapping[str, Any], change: Change | None) -> Response:
    """Answers with what was stated: 201, or 200 where it had been stated before."""
    code = status.HTTP_201_CREATED if change else status.HTTP_200_OK
    return Response(with_change(row, change), status=code)
