"""Memories that say the same in other words: merged from others, or split into pieces.

Callers hold the end user's lock.
"""

from collections.abc import Collection
from uuid import UUID

from accounts.changes import CannotUndo
from accounts.models import Change, EndUser
from memories.corrections import edit_memories
from memories.models import Edge, Memory

ACTOR = "forgetting"


def of(end_user: EndUser, memory_ids: Collection[UUID]) -> set[UUID]:
    """These memories with all that says the same: what they were merged from or split into,
    and the whole of a piece. A memory that says it together with others that stay is taken
    apart first, so that these stand for themselves again."""
    ids = below(end_user, set(memory_ids))
    while united := _above(end_user, ids):
        for pk in united:
            _take_apart(end_user, pk, ids)
        ids |= united
    return ids


def below(end_user: EndUser, ids: set[UUID]) -> set[UUID]:
    """With what they were merged from and split into, and what they are a piece of."""
    parts = Edge.objects.of(end_user).filter(kind=Edge.Kind.PART_OF)
    wholes = set(parts.filter(source__in=ids).values_list("target", flat=True))
    level = set(ids)
    while level:
        merged = Memory.objects.of(end_user).filter(merged_into__in=level)
        pieces = parts.filter(target__in=level)
        level = {
            *merged.values_list("pk", flat=True),
            *pieces.values_list("source", flat=True),
        } - ids
        ids = ids | level
    return ids | wholes


def _above(end_user: EndUser, ids: set[UUID]) -> set[UUID]:
    """What any of them was merged into."""
    merged = Memory.objects.of(end_user).filter(pk__in=ids).exclude(merged_into=None)
    return {pk for pk in merged.values_list("merged_into", flat=True) if pk} - ids


def _take_apart(end_user: EndUser, memory_id: UUID, gone: Collection[UUID]) -> None:
    """Undoes the merge that made a memory; where that can't be, those it speaks for that stay
    speak for themselves."""
    made = {"model": Memory._meta.label_lower, "id": str(memory_id), "before": None}
    changes = Change.objects.of(end_user).filter(undone_at=None, rows__contains=[made])
    for change in changes:
        try:
            edit_memories.undo(change, actor=ACTOR)
        except CannotUndo:
            continue
        return
    left = Memory.objects.of(end_user).filter(merged_into=memory_id).exclude(pk__in=gone)
    said = Memory.objects.of(end_user).active().values_list("content_hash", flat=True)
    left.exclude(content_hash__in=said).update(status=Memory.Status.ACTIVE, merged_into=None)
