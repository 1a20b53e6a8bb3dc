"""The importance of all of a user's memories, computed by the database in one statement.

The formula, its numbers and what they rest on are in ``memories.scoring``; the statement that
explains a memory's importance is the text that rescoring runs. What holds whatever the
formula says:

- a memory that a profile speaks for stays at 0.05 (the database insists on that as well);
- a profile memory keeps its 0.8: it sums up many memories, and is found by its person;
- an importance that a person has set (``metadata["pinned_importance"]``) stays as set.

Archived memories are left alone: nobody looks there.
"""

from collections.abc import Collection
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef
from django.utils import timezone

from accounts.cells import atomic, connection, fetch
from accounts.models import EndUser
from memories import scoring
from memories.budget import Budget
from memories.models import CONSOLIDATED_IMPORTANCE, PROFILE_IMPORTANCE, Memory
from memories.pipeline import sync_contacts
from memories.scoring import Parts
from memories.sql_files import sql_pieces

# A smaller change moves no result; not writing it leaves no dead row behind.
LEAST_CHANGE = 0.0005

_SQL = sql_pieces(
    __file__,
    temporal=" ".join(
        f"WHEN event_in_days <= {days} THEN {lift}" for days, lift in scoring.TEMPORAL
    ),
)
# The numbers of the formula, by which the statement calls them.
_NUMBERS = {name.lower(): value for name, value in vars(scoring).items() if name.isupper()}


@atomic()
def rescore(end_user: EndUser | int, *, now: datetime | None = None) -> int:
    """Brings the importance of a user's memories up to date; returns how many it changed.

    Two statements, whatever the number of memories. ``updated_at`` stays: nothing that was
    learnt has changed.
    """
    locked = EndUser.objects.lock(end_user if isinstance(end_user, int) else end_user.pk)
    if locked is None:
        return 0
    with connection.cursor() as cursor:
        cursor.execute(_SQL["rescore"], _parameters(locked, None, now))
        return cursor.rowcount


def users_due() -> list[int]:
    """All end users with memories: what time does to a score leaves no other trace."""
    with_memories = Memory.objects.filter(end_user=OuterRef("pk"))
    users = EndUser.objects.filter(Exists(with_memories)).order_by("pk")
    return list(users.values_list("pk", flat=True))


def rescore_user(end_user_id: int, budget: Budget) -> dict[str, int]:
    """``rescore`` as a job does it; returns how many importances ``changed``. Looks as well whether
    what was linked to nobody still is."""
    changed = rescore(end_user_id)
    sync_contacts.note_unlinked(end_user_id)
    budget.spend(rows=changed)
    return {"changed": changed}


def parts(
    end_user: EndUser, memory_ids: Collection[UUID], *, now: datetime | None = None
) -> dict[UUID, Parts]:
    """Why these memories are as important as they are; archived ones and those of others
    are left out. One statement."""
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
