"""What is written of a context that went out: memories count as used, people whom links don't
suffice for go to the linker."""

from collections.abc import Sequence

from django.db.models import F
from django.utils import timezone

from accounts.best_effort import best_effort
from accounts.cells import atomic
from accounts.models import EndUser
from accounts.scope import user_scope
from memories.context import linked
from memories.context.render import InjectedMemory
from memories.context.result import Trace
from memories.models import Injected, Memory


def note_use(end_user: EndUser | None, traced: Trace, session_id: str = "") -> None:
    """Counts the memories injected as used, and people whom links don't suffice for go to the
    linker. What the database doesn't take is logged with the end user's id, and lost."""
    if end_user is None or not (traced.about or traced.injection.memories):
        return
    # A request has closed its scope when its answer is sent.
    with user_scope(end_user), best_effort("Use of the context of end user", end_user.pk):
        if traced.about is not None:
            linked.note(end_user, traced.about)
        _note_access(end_user, traced.injection.memories, session_id)


def _note_access(end_user: EndUser, memories: Sequence[InjectedMemory], session_id: str) -> None:
    """Memories earn their persistence by being used (MIRA); the reply will show which ones
    it made use of."""
    if memories:
        Injected.objects.create(
            end_user=end_user, session_id=session_id, memory_ids=[memory.id for memory in memories]
        )
        with atomic():
            # What somebody writes to at this moment is left out: nobody waits for a count, and
            # two that wait for each other would be a deadlock.
            free = Memory.objects.filter(pk__in=[memory.id for memory in memories])
            free = free.select_for_update(skip_locked=True, no_key=True, of=("self",))
            Memory.objects.filter(pk__in=free.values("pk")).update(
                access_count=F("access_count") + 1,
                last_accessed_at=timezone.now(),
                last_accessed_day=end_user.activity_days,
            )
