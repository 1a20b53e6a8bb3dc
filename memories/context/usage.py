"""Stores which memories a context has shown."""

from django.db.models import F
from django.utils import timezone

from accounts.best_effort import best_effort
from accounts.models import EndUser
from accounts.scope import user_scope
from memories import queue
from memories.context.types import Trace
from memories.models import Injected, Memory, Retrieval


def note_use(end_user: EndUser | None, traced: Trace, session_id: str = "") -> None:
    """Counts the injected memories as used (MIRA: they earn their persistence by it), and queues
    the linking of contacts with memories that name them unlinked. If the database rejects the
    write, that is logged with the end user's id, and the counts are lost."""
    memory_ids = [memory.id for memory in traced.injection.memories]
    if end_user is None or not (traced.about or memory_ids):
        return
    # A request has closed its scope when its answer is sent.
    with user_scope(end_user), best_effort("Use of the context of end user", end_user.pk):
        if traced.about is not None:
            for contact_id in traced.about.unlinked:
                queue.enqueue("link_backfill", str(contact_id), end_user_id=end_user.pk)
            column = "fallback" if traced.about.unlinked else "linked"
            day = Retrieval.objects.of(end_user).filter(day=timezone.localdate())
            if not day.update(**{column: F(column) + 1}):
                row = Retrieval(end_user=end_user, day=timezone.localdate(), **{column: 1})
                Retrieval.objects.bulk_create([row], ignore_conflicts=True)
        if memory_ids:
            Injected.objects.create(end_user=end_user, session_id=session_id, memory_ids=memory_ids)
            # Memories that somebody is writing to are left out: nobody waits for a count, and two
            # that wait for each other would deadlock.
            free = Memory.objects.filter(pk__in=memory_ids)
            free = free.select_for_update(skip_locked=True, no_key=True, of=("self",))
            Memory.objects.filter(pk__in=free.values("pk")).update(
                access_count=F("access_count") + 1,
                last_accessed_at=timezone.now(),
                last_accessed_day=end_user.activity_days,
            )
