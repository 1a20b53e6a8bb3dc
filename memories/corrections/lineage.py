"""The lineage of memories that were split, trimmed or merged: which memory speaks for which."""

from collections.abc import Collection
from uuid import UUID

from accounts.models import EndUser
from memories.models import Memory

MERGE, SPLIT, TRIM = "merge memories", "split memory", "trim"
MACHINE = "refiner"


def follow(end_user: EndUser, sources: Collection[UUID]) -> dict[UUID, UUID]:
    """For each of these memories that was merged: the memory that speaks for it now."""
    into: dict[UUID, UUID] = {}
    level = set(sources)
    while level:
        rows = Memory.objects.of(end_user).filter(pk__in=level).exclude(merged_into=None)
        found = {pk: end for pk, end in rows.values_list("pk", "merged_into") if end}
        into |= found
        level = {*found.values()} - into.keys()

    def end(pk: UUID) -> UUID:
        return end(into[pk]) if pk in into else pk

    return {pk: end(pk) for pk in into}
