"""Handing work to the workers. A task carries ids only; the truth is in our tables."""

from accounts.fair_queue import put


def enqueue(task: str, *ids: int | str, end_user_id: int | None = None) -> None:
    """Queues a function of ``memories.tasks``, in the turn of the end user whose work it is: a
    number in ``ids``, or ``end_user_id``.

    Inside a transaction the task appears together with the work that it is about, or follows it.
    """
    end_user_id = next((pk for pk in ids if isinstance(pk, int)), end_user_id)
    put(f"memories.tasks.{task}", *ids, end_user_id=end_user_id)
