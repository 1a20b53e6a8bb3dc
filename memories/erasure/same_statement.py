"""Memories that state the same: merged from others, or split. Callers of
``all_stating_the_same`` hold the lock."""

from collections.abc import Collection
from uuid import UUID

from accounts.models import Change, EndUser
from accounts.rollback import CannotUndo
from memories.corrections import derived
from memories.corrections.rewrite import copied_link
from memories.corrections.undo import undo_change
from memories.models import Edge, Link, Memory

ACTOR = "forgetting"


def all_stating_the_same(end_user: EndUser, memory_ids: Collection[UUID]) -> set[UUID]:
    """Returns these memories with all that state the same. A memory that was merged from them and
    from others that stay is taken apart first."""
    ids = with_parts(end_user, set(memory_ids))
    while united := _merged_into(end_user, ids) - ids:
        for pk in united:
            _take_apart(end_user, pk, ids)
        ids |= united
    return ids


def with_parts(end_user: EndUser, ids: set[UUID]) -> set[UUID]:
    """Returns these memories, those merged into them, their pieces, and what they are pieces of."""
    parts = Edge.objects.of(end_user).filter(kind=Edge.Kind.PART_OF)
    wholes = set(parts.filter(source__in=ids).values_list("target", flat=True))
    reached = level = set(ids)
    while level:
        merged = Memory.objects.of(end_user).filter(merged_into__in=level)
        pieces = parts.filter(target__in=level).values_list("source", flat=True)
        level = {*merged.values_list("pk", flat=True), *pieces} - reached
        reached = reached | level
    return reached | wholes


def merged_targets(end_user: EndUser, ids: set[UUID]) -> set[UUID]:
    """Returns the other memories into which these were merged, directly or through others."""
    into = derived.follow_merged(end_user, ids)
    return {*into, *into.values()} - ids


def _merged_into(end_user: EndUser, ids: set[UUID]) -> set[UUID]:
    merged = Memory.objects.of(end_user).filter(pk__in=ids).exclude(merged_into=None)
    return {pk for pk in merged.values_list("merged_into", flat=True) if pk}


def _take_apart(end_user: EndUser, memory_id: UUID, erased_ids: Collection[UUID]) -> None:
    """Undoes the merge that made a memory, or else reactivates the other memories merged into
    it."""
    created = {"model": Memory._meta.label_lower, "id": str(memory_id), "before": None}
    for change in Change.objects.of(end_user).filter(undone_at=None, rows__contains=[created]):
        try:
            undo_change(change, actor=ACTOR)
        except CannotUndo:
            continue
        return
    originals = Memory.objects.of(end_user).filter(merged_into=memory_id).exclude(pk__in=erased_ids)
    active_hashes = Memory.objects.of(end_user).active().values("content_hash")
    freed = list(originals.exclude(content_hash__in=active_hashes).values_list("pk", flat=True))
    originals.filter(pk__in=freed).update(status=Memory.Status.ACTIVE, merged_into=None)
    links = Link.objects.of(end_user).filter(memory=memory_id)
    copies = [copied_link(link, pk) for link in links for pk in freed]
    Link.objects.bulk_create(copies, ignore_conflicts=True)
