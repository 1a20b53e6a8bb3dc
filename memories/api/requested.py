"""The memories that requests name, and how what was done to them is answered."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from drf_spectacular.utils import inline_serializer
from rest_framework import serializers, status
from rest_framework.response import Response

from accounts.errors import first_or_404, unknown
from accounts.models import Change, EndUser
from memories.api.serializers import MemorySerializer, with_relations
from memories.models import Memory


class TakenAway(serializers.Serializer):
    change_id = serializers.UUIDField()


Forgotten = inline_serializer(
    "Forgotten",
    {
        "contacts": serializers.IntegerField(),
        "memories": serializers.IntegerField(),
        "messages": serializers.IntegerField(),
        "report": serializers.UUIDField(allow_null=True),
        "unsure": serializers.IntegerField(),
        "receipt": serializers.UUIDField(
            allow_null=True,
        ),
    },
)


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
