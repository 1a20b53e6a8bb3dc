"""Memories that say the same: merged from others, or split. Callers of ``of`` hold the lock."""

from collections.abc import Collection
from copy import copy
from uuid import UUID

from accounts.models import Change, EndUser
from accounts.rollback import CannotUndo
from memories.corrections.undo import undo_change
from memories.models import Edge, Link, Memory

ACTOR = "forgetting"


def of(end_user: EndUser, memory_ids: Collection[UUID]) -> set[UUID]:
    """These memories with all that says the same. A memory that says it together with others that
    stay is taken apart first."""
    ids = below(end_user, set(memory_ids))
    while united := _merged_into(end_user, ids) - ids:
        for pk in united:
            _take_apart(end_user, pk, ids)
        ids |= united
    return ids


def below(end_user: EndUser, ids: set[UUID]) -> set[UUID]:
    """With what they were merged from and split into, and what they are a piece of."""
    parts = Edge.objects.of(end_user).filter(kind=Edge.Kind.PART_OF)
    wholes = set(parts.filter(source__in=ids).values_list("target", flat=True))
    reached = level = set(ids)
    while level:
        merged = Memory.objects.of(end_user).filter(merged_into__in=level)
        pieces = parts.filter(target__in=level).values_list("source", flat=True)
        level = {*merged.values_list("pk", flat=True), *pieces} - reached
        reached = reached | level
    return reached | wholes


def above(end_user: EndUser, ids: set[UUID]) -> set[UUID]:
    """What any of these was merged into, and that again, up to the last."""
    reached: set[UUID] = set()
    while ids := _merged_into(end_user, ids) - reached:
        reached |= ids
    return reached


def _merged_into(end_user: EndUser, ids: set[UUID]) -> set[UUID]:
    merged = Memory.objects.of(end_user).filter(pk__in=ids).exclude(merged_into=None)
    return {pk for pk in merged.values_list("merged_into", flat=True) if pk}


def _take_apart(end_user: EndUser, memory_id: UUID, gone: Collection[UUID]) -> None:
    """Undoes the merge that made a memory, or makes those that it speaks for active again."""
    made = {"model": Memory._meta.label_lower, "id": str(memory_id), "before": None}
    for change in Change.objects.of(end_user).filter(undone_at=None, rows__contains=[made]):
        try:
            undo_change(change, actor=ACTOR)
        except CannotUndo:
            continue
        return
    left = Memory.objects.of(end_user).filter(merged_into=memory_id).exclude(pk__in=gone)
    said = Memory.objects.of(end_user).active().values("content_hash")
    freed = list(left.exclude(content_hash__in=said).values_list("pk", flat=True))
    left.filter(pk__in=freed).update(status=Memory.Status.ACTIVE, merged_into=None)
    links = []
    for link in Link.objects.of(end_user).filter(memory=memory_id):
        for pk in freed:
            again = copy(link)
            again.pk, again.memory_id, again.consolidated_at = None, pk, None
            again._state.adding = True
            links.append(again)
    Link.objects.bulk_create(links, ignore_conflicts=True)
