"""The memories that requests name, and what is refused about them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from drf_spectacular.utils import inline_serializer
from rest_framework import serializers

from accounts.errors import ApiError, conflict
from accounts.models import Change, EndUser
from memories.api.serializers import ChangedMemory, with_relations
from memories.corrections.edit_memories import InvalidCorrection
from memories.models import Memory


class TakenAway(serializers.Serializer):
    change_id = serializers.UUIDField(help_text="Undo it with changes/{id}/undo/.")


Forgotten = inline_serializer(
    "Forgotten",
    {
        "contacts": serializers.IntegerField(),
        "memories": serializers.IntegerField(),
        "messages": serializers.IntegerField(),
        "report": serializers.UUIDField(
            allow_null=True, help_text="Of a person: see forgetting/{id}/."
        ),
        "unsure": serializers.IntegerField(help_text="How much that report leaves undecided."),
    },
)


def unknown_memory() -> ApiError:
    return ApiError(404, "unknown_memory", "This user has no such memory.")


def check_memory(end_user: EndUser, memory_id: UUID) -> None:
    """Raises a 404 where the end user has no such memory."""
    if not Memory.objects.of(end_user).filter(pk=memory_id).exists():
        raise unknown_memory()


def memory_of(end_user: EndUser, memory_id: UUID) -> Memory:
    """The memory as its serializer reads it. Raises a 404 where there is none."""
    memory = with_relations(Memory.objects.of(end_user)).filter(pk=memory_id).first()
    if memory is None:
        raise unknown_memory()
    return memory


def changed(end_user: EndUser, memory_id: UUID, change: Change | None) -> dict[str, Any]:
    """The memory as it is now, with the change that made it so."""
    memory = memory_of(end_user, memory_id)
    memory.change_id = change.id if change else None  # type: ignore[attr-defined]
    return dict(ChangedMemory(memory).data)


@contextmanager
def refusals() -> Iterator[None]:
    """Answers with a 409 where a correction can't be made."""
    try:
        yield
    except InvalidCorrection as error:
        raise conflict(error) from error
