"""What a memory said before, and what was known at a moment, over HTTP."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.utils import timezone
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api import UserView, documented
from accounts.errors import ApiError, unknown
from accounts.fields import Identifier, PastInstant, StoredReason, Strict
from accounts.models import EndUser
from accounts.paging import page
from contacts.models import Contact
from memories.api.contacts import PersonView
from memories.api.serializers import VALID_AT, MemorySerializer, with_relations
from memories.history import as_of, changed, versions
from memories.models import Memory


class VersionSerializer(serializers.Serializer):
    """What a memory of the chain said, from when until when."""

    memory_id = serializers.UUIDField()
    content = serializers.CharField()
    status = serializers.ChoiceField(Memory.Status.choices)
    since = serializers.DateTimeField()
    until = serializers.DateTimeField(allow_null=True, help_text="null: still.")
    who = serializers.CharField(help_text="The speaker, or who made the change.")
    why = StoredReason()
    change_id = serializers.UUIDField(allow_null=True, help_text="The change that began it.")
    source_message_ids = serializers.ListField(child=serializers.IntegerField())
    quote = serializers.CharField(help_text="The words it rested on.")


class Versions(serializers.Serializer):
    results = VersionSerializer(many=True, help_text="The earliest first.")


class AsOfQuery(Strict):
    as_of = PastInstant(
        required=False, help_text="ISO 8601 with a time zone, not in the future. Default: now."
    )
    valid_at = PastInstant(required=False, help_text=VALID_AT)


class ValueAsOf(serializers.Serializer):
    value = serializers.CharField()
    sources = serializers.ListField(child=serializers.UUIDField())
    since = serializers.DateTimeField(allow_null=True, help_text="null: it was stated.")


class ContactAsOf(serializers.Serializer):
    """A person as they were known at a moment."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    aliases = serializers.ListField(child=serializers.CharField())
    relationship = serializers.CharField()
    gender = serializers.CharField()
    attributes = serializers.DictField(child=ValueAsOf(many=True))
    personality = serializers.CharField()
    timeline = serializers.ListField(child=serializers.DictField())
    memory_ids = serializers.ListField(child=serializers.UUIDField())


class StepSerializer(serializers.Serializer):
    key = serializers.CharField()
    value = serializers.CharField()
    since = serializers.DateTimeField()
    until = serializers.DateTimeField(allow_null=True, help_text="null: still.")
    memory = serializers.UUIDField()


class ChangedSerializer(serializers.Serializer):
    """What held one after the other: employers, homes, a taste that turned."""

    person = serializers.UUIDField(allow_null=True, help_text="A contact; null for the user.")
    steps = StepSerializer(many=True, help_text="The earliest first.")


class ChangedFacts(serializers.Serializer):
    results = ChangedSerializer(many=True, help_text="The latest change first.")


class ChangedQuery(Strict):
    contact = Identifier(required=False, help_text="Only of this person.")
    limit = serializers.IntegerField(
        required=False, min_value=1, max_value=1000, help_text="Only the latest of them."
    )


class WhatChanged(PersonView):
    @documented(
        responses={200: ChangedFacts},
        parameters=[ChangedQuery],
        operation_id="changed_facts_list",
        summary="What changed in the lives of the user and their people",
        description="Facts that are no longer true beside what took their place.",
    )
    def get(self, _request: Request, **_path: Any) -> Response:
        query = self.query(ChangedQuery)
        who = self.survivor(query["contact"]).id if query.get("contact") else None
        facts = changed.changed(self.end_user, who)[: query.get("limit")]
        return Response(ChangedFacts({"results": [asdict(one) for one in facts]}).data)


class MemoryHistory(UserView):
    @documented(
        responses={200: Versions},
        operation_id="memories_history",
        summary="All versions of a memory: what it replaced, its edits, what replaced it",
    )
    def get(self, _request: Request, memory_id: UUID, **_path: Any) -> Response:
        found = versions.versions(self.end_user, memory_id)
        if not found:
            raise unknown("unknown_memory")
        return Response(Versions({"results": [asdict(version) for version in found]}).data)


class ContactHistory(UserView):
    @documented(
        responses={200: ContactAsOf},
        parameters=[AsOfQuery],
        operation_id="contacts_history",
        summary="A person as they were known at a moment",
        description="404 when they were not known then.",
    )
    def get(self, _request: Request, contact_id: UUID, **_path: Any) -> Response:
        query = self.query(AsOfQuery)
        moment, valid_at = query.get("as_of") or timezone.now(), query.get("valid_at")
        found = as_of.contact_as_of(self.end_user, contact_id, moment, valid_at)
        if found is None:
            raise ApiError(404, "unknown_contact", "This user had no such contact then.")
        return Response(ContactAsOf(asdict(found)).data)


def believed_page(request: Request, end_user: EndUser, query: dict[str, Any]) -> Response:
    """A page of the memories believed at ``query["as_of"]`` (default: now), as they were; those
    that held at ``query["valid_at"]``, where given."""
    if (
        {"q", "metadata"} & query.keys()
        or query.get("status") != Memory.Status.ACTIVE
        or query["kind"] != "fact"
    ):
        problem = "What was believed then is listed by type and contact only."
        raise serializers.ValidationError({"as_of": [problem]})
    then = as_of.at(end_user, query.get("as_of") or timezone.now())
    contact = query.get("contact")
    who = as_of.survivor(then, contact) if contact else None
    rows = as_of.rows(then, who, query.get("valid_at"))
    if "type" in query:
        rows = rows.filter(type=query["type"])

    def show(memories: Sequence[Memory]) -> list[dict[str, Any]]:
        rows_then = as_of.seen(then, memories)
        as_then = MemorySerializer([memory for memory, _ in rows_then], many=True).data
        ids = {pk for _, about in rows_then for pk in about}
        people = Contact.objects.of(end_user).filter(pk__in=ids)
        names = dict(people.values_list("pk", "name"))
        return [
            {
                **row,
                "contacts": [str(pk) for pk in about],
                "people": [{"id": str(pk), "name": names[pk]} for pk in about if pk in names],
                "superseded_by": [],
            }
            for row, (_, about) in zip(as_then, rows_then, strict=True)
        ]

    return page(request, with_relations(rows), "said_at", query, show)
