"""Memories as JSON, and the answers to changes of them."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import Prefetch, QuerySet
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers, status
from rest_framework.response import Response

from accounts import fields, time_zones
from accounts.errors import first_or_404, unknown
from accounts.models import Change, EndUser
from contacts import store
from contacts.models import Contact
from contacts.serializers import Named
from memories.corrections.edit_memories import PINNED
from memories.erasure import receipts
from memories.models import Edge, Link, Memory
from memories.types import MemoryType

MAX_PEOPLE = 50
TYPES = [t.value for t in MemoryType]
# Metadata that Mio itself sets and apps do not see.
_INTERNAL = frozenset(("vcard_note", "vcard_of", "imported", "consolidated_into"))
OWN_METADATA = _INTERNAL | {PINNED}


class MemoryFact(serializers.Serializer):
    key = serializers.CharField()
    value = serializers.CharField()
    person = serializers.UUIDField(allow_null=True)
    valid_from = serializers.DateTimeField(default=None, allow_null=True)
    valid_to = serializers.DateTimeField(default=None, allow_null=True)
    outdated_at = serializers.DateTimeField(default=None, allow_null=True)
    superseded_by = serializers.UUIDField(default=None, allow_null=True)


class _SpeakerTime(fields.LocalMoment):
    """A time of a memory in the UTC offset of its speaker. Output only."""

    def get_attribute(self, instance: Memory) -> Any:
        moment = super().get_attribute(instance)
        return moment and moment.astimezone(time_zones.fixed(instance.said_offset))


class MemorySerializer(fields.RowSerializer):
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
    said_at = _SpeakerTime()
    happens_at = fields.LocalMoment(source="happens_there", allow_null=True)
    happens_until = fields.LocalMoment(source="happens_until_there", allow_null=True)
    expires_at = _SpeakerTime(allow_null=True)
    valid_from = _SpeakerTime(allow_null=True)
    valid_to = _SpeakerTime(allow_null=True)

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
        return {key: value for key, value in memory.metadata.items() if key not in _INTERNAL}

    def get_superseded_by(self, memory: Memory) -> list[str]:
        return [str(edge.source_id) for edge in memory.edges_in.all()]


class ChangedMemory(MemorySerializer):
    change_id = fields.undo_id("null when nothing changed")


def with_relations(rows: QuerySet) -> QuerySet:
    """Returns ``rows`` with what the serializer reads of each, in a fixed number of statements."""
    links = Link.objects.standing().with_people().order_by("pk")
    edges = Edge.objects.filter(kind=Edge.Kind.SUPERSEDES).order_by("pk")
    return rows.defer("tokens").prefetch_related(
        Prefetch("links", links), Prefetch("edges_in", edges)
    )


class TakenAway(serializers.Serializer):
    change_id = serializers.UUIDField()


Forgotten = fields.of_dataclass(receipts.Forgotten)


def named_contacts(end_user: EndUser, ids: Iterable[UUID]) -> list[Contact]:
    """Returns the contacts whose ids a body lists as ``contacts``, for merged ones their survivors.
    Raises ValidationError."""
    survivors = [store.survivor(end_user, pk) for pk in ids]
    contacts = [contact for contact in survivors if contact]
    if len(contacts) < len(survivors):
        raise serializers.ValidationError({"contacts": ["This user has no such contact."]})
    return contacts


def check_memory(end_user: EndUser, memory_id: UUID) -> None:
    """Raises a 404 if the end user has no such memory."""
    if not Memory.objects.of(end_user).filter(pk=memory_id).exists():
        raise unknown("unknown_memory")


def memory_of(end_user: EndUser, memory_id: UUID) -> Memory:
    """Returns the memory as its serializer reads it. Raises a 404 if there is none."""
    rows = with_relations(Memory.objects.of(end_user)).filter(pk=memory_id)
    return first_or_404(rows, "unknown_memory")


def changed(end_user: EndUser, memory_id: UUID, change: Change | None) -> dict[str, Any]:
    """Returns the current memory as JSON, with the id of the change that was made."""
    return with_change(MemorySerializer(memory_of(end_user, memory_id)).data, change)


def with_change(row: Mapping[str, Any], change: Change | None) -> dict[str, Any]:
    """Returns a row as JSON with the id of the change, None if nothing changed."""
    return {**row, "change_id": change.id if change else None}


def stated(row: Mapping[str, Any], change: Change | None) -> Response:
    """Returns the answer with what was stated: 201, or 200 if it had been stated before."""
    code = status.HTTP_201_CREATED if change else status.HTTP_200_OK
    return Response(with_change(row, change), status=code)
