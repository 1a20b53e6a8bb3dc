"""What waits in the queue."""

from django_q.models import OrmQ


def queued() -> list[str]:
    """The functions that workers are to call, in alphabetical order."""
    return sorted(task.func() for task in OrmQ.objects.all())
