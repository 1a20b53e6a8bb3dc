"""Handing work to the workers. A task carries ids only; the truth is in our tables."""

from django_q.tasks import async_task


def enqueue(task: str, *ids: int | str) -> None:
    """Queues a function of ``memories.tasks``.

    The broker is a table of the same database, so inside a transaction the task appears
    together with the work that it is about, or not at all.
    """
    async_task(f"memories.tasks.{task}", *ids, task_name=f"{task} {' '.join(map(str, ids))}"[:100])
