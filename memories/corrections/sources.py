"""What profiles rest on: a memory that a profile speaks for steps back behind it, one that all
profiles left out keeps its weight.

A profile speaks for a memory that one of its values, events or relations names among its sources.
Callers hold the end user's lock.
"""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from accounts.cells import connection
from accounts.changes import UNRECORDED, Recorder
from accounts.models import EndUser
from memories.models import CONSOLIDATED_IMPORTANCE, INITIAL_IMPORTANCE, Memory
from memories.search.sql import statement

_MISPLACED = statement(__file__, "sources.sql")


def misplaced(scope: str, **parameters: Any) -> list[tuple[int, UUID, UUID | None]]:
    """The facts ``m`` of a ``scope`` in SQL that do not point at a profile that speaks for them:
    the end user, the fact, and the profile that does, if any."""
    with connection.cursor() as cursor:
        cursor.execute(_MISPLACED.replace("{scope}", scope), parameters)
        return cursor.fetchall()


def point_at_profiles(
    end_user: EndUser,
    memory_ids: Collection[UUID] = (),
    *,
    of: Memory | None = None,
    without_profile: Collection[UUID] = (),
    recorder: Recorder = UNRECORDED,
) -> None:
    """Lets these memories, and those that point at the profile memory ``of``, step back behind a
    profile that speaks for them when all whom they are about have read them; else they stand for
    themselves again. The profile memory of those in
    ``without_profile`` was deleted."""
    found = misplaced(
        "m.end_user_id = %(end_user)s"
        " AND (m.id = ANY (%(ids)s::uuid[]) OR m.consolidated_into_id = %(of)s::uuid)",
        end_user=end_user.pk,
        ids=[*memory_ids, *without_profile],
        of=of and of.pk,
    )
    now: dict[UUID, UUID | None] = {pk: profile for _, pk, profile in found}
    # The database itself has taken the pointer from these.
    left = (
        Memory.objects.of(end_user).facts().filter(pk__in=without_profile, consolidated_into=None)
    )
    now = dict.fromkeys(left.values_list("pk", flat=True)) | now
    rows = list(Memory.objects.of(end_user).filter(pk__in=now).only("pk", *Memory.tracked))
    recorder.watch(rows)
    for memory in rows:
        memory.consolidated_into_id = now[memory.pk]
        memory.importance = CONSOLIDATED_IMPORTANCE if now[memory.pk] else INITIAL_IMPORTANCE
    Memory.objects.bulk_update(rows, ["consolidated_into", "importance"], batch_size=500)
