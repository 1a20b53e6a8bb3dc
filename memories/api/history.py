"""What a memory said before, and which facts took each other's place, over HTTP."""

from dataclasses import asdict
from typing import Any
from uuid import UUID

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api import UserView, operation
from accounts.errors import unknown
from accounts.fields import Identifier, StoredReason, Strict
from memories.api.contacts import PersonView
from memories.history import changed, versions
from memories.models import Memory


class VersionSerializer(serializers.Serializer):
    """What a memory of the chain said, from when until when."""

    memory_id = serializers.UUIDField()
    content = serializers.CharField()
    status = serializers.ChoiceField(Memory.Status.choices)
    since = serializers.DateTimeField()
    until = serializers.DateTimeField(allow_null=True)
    who = serializers.CharField()
    why = StoredReason()
    change_id = serializers.UUIDField(allow_null=True)
    source_message_ids = serializers.ListField(child=serializers.IntegerField())
    quote = serializers.CharField()


class Versions(serializers.Serializer):
    results = VersionSerializer(many=True)


class StepSerializer(serializers.Serializer):
    key = serializers.CharField()
    value = serializers.CharField()
    since = serializers.DateTimeField()
    until = serializers.DateTimeField(allow_null=True)
    memory = serializers.UUIDField()


class ChangedSerializer(serializers.Serializer):
    """What held one after the other: employers, homes, a taste that turned."""

    person = serializers.UUIDField(allow_null=True)
    steps = StepSerializer(many=True)


class ChangedFacts(serializers.Serializer):
    results = ChangedSerializer(many=True)


class ChangedQuery(Strict):
    contact = Identifier(required=False)
    limit = serializers.IntegerField(required=False, min_value=1, max_value=1000)


class WhatChanged(PersonView):
    @operation("changed_facts_list", ChangedFacts, query=ChangedQuery)
    def get(self, _request: Request, **_path: Any) -> Response:
        """What changed in the lives of the user and their people

        Facts that are no longer true beside what took their place."""
        query = self.query(ChangedQuery)
        who = self.survivor(query["contact"]).id if query.get("contact") else None
        facts = changed.changed(self.end_user, who)[: query.get("limit")]
        return Response(ChangedFacts({"results": [asdict(one) for one in facts]}).data)


class MemoryHistory(UserView):
    @operation("memories_history", Versions)
    def get(self, _request: Request, memory_id: UUID, **_path: Any) -> Response:
        """All versions of a memory: what it replaced, its edits, what replaced it"""
        found = versions.versions(self.end_user, memory_id)
        if not found:
            raise unknown("unknown_memory")
        return Response(Versions({"results": [asdict(version) for version in found]}).data)
