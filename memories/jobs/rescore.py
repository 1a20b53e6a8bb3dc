"""Computes the importance of all of a user's memories in the database, in one statement.

The formula, its numbers and their sources are in ``memories.scoring``; the statement that explains
a memory's importance shares its text with the one that rescores. Exceptions from the formula:

- a memory that a profile represents stays at 0.05 (the database enforces this as well);
- a profile memory keeps its 0.8: it sums up many memories, and is found by its person;
- an importance that a person has set (``metadata["pinned_importance"]``) stays as set.

Archived memories are not rescored: nobody looks there."""

from collections.abc import Collection
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef
from django.utils import timezone

from accounts.cells import atomic, connection, fetch
from accounts.models import EndUser
from accounts.sql_files import sql_pieces
from memories import scoring
from memories.budget import Budget
from memories.models import CONSOLIDATED_IMPORTANCE, PROFILE_IMPORTANCE, Memory
from memories.pipeline import sync_contacts
from memories.scoring import Parts

# A smaller change moves no result; not writing it avoids a dead row.
LEAST_CHANGE = 0.0005

_SQL = sql_pieces(
    __file__,
    temporal=" ".join(
        f"WHEN event_in_days <= {days} THEN {lift}" for days, lift in scoring.TEMPORAL
    ),
)
# The numbers of the formula, by the names that the statement uses.
_NUMBERS = {name.lower(): value for name, value in vars(scoring).items() if name.isupper()}


@atomic()
def rescore(end_user: EndUser | int, *, now: datetime | None = None) -> int:
    """Updates the importance of a user's memories; returns how many changed.

    Two statements, whatever the number of memories. ``updated_at`` stays, since nothing that was
    learnt has changed."""
    locked = EndUser.objects.lock(end_user if isinstance(end_user, int) else end_user.pk)
    if locked is None:
        return 0
    with connection.cursor() as cursor:
        cursor.execute(_SQL["rescore"], _parameters(locked, None, now))
        return cursor.rowcount


def users_due() -> list[int]:
    """Returns the ids of all end users with memories: scores change with time alone."""
    with_memories = Memory.objects.filter(end_user=OuterRef("pk"))
    users = EndUser.objects.filter(Exists(with_memories)).order_by("pk")
    return list(users.values_list("pk", flat=True))


def rescore_user(end_user_id: int, budget: Budget) -> dict[str, int]:
    """Rescores a user's memories for the job; returns how many importances ``changed``. Also stores
    anew whether the user has memories about people without a link."""
    changed = rescore(end_user_id)
    sync_contacts.note_unlinked(end_user_id)
    budget.spend(rows=changed)
    return {"changed": changed}


def parts(
    end_user: EndUser, memory_ids: Collection[UUID], *, now: datetime | None = None
) -> dict[UUID, Parts]:
    """Returns the terms of the importance of these memories, by id; archived memories and those of
    other users are left out. One statement."""
    if not memory_ids:
        return {}
    rows = fetch(_SQL["parts"], _parameters(end_user, memory_ids, now))
    return {row[0]: Parts(*row[1:]) for row in rows}


def _parameters(
    end_user: EndUser, memory_ids: Collection[UUID] | None, now: datetime | None
) -> dict[str, Any]:
    now = now or timezone.now()
    return {
        "end_user": end_user.pk,
        "ids": None if memory_ids is None else list(memory_ids),
        "now": now,
        "today": timezone.localdate(now, end_user.zone),
        "least_change": LEAST_CHANGE,
        "consolidated": CONSOLIDATED_IMPORTANCE,
        "profile": PROFILE_IMPORTANCE,
        **_NUMBERS,
    }
