"""Handing work to the workers. A task carries ids only; the truth is in our tables."""

from django_q.tasks import async_task

from accounts.fair_queue import of_user


def enqueue(task: str, *ids: int | str, end_user_id: int | None = None) -> None:
    """Queues a function of ``memories.tasks``, in the turn of the end user whose work it is: a
    number in ``ids``, or ``end_user_id``.

    The broker is a table of the same database, so inside a transaction the task appears
    together with the work that it is about, or not at all.
    """
    end_user_id = next((pk for pk in ids if isinstance(pk, int)), end_user_id)
    async_task(
        f"memories.tasks.{task}",
        *ids,
        task_name=f"{task} {' '.join(map(str, ids))}"[:100],
        broker=of_user(end_user_id) if end_user_id else None,
    )
