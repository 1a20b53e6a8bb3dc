"""Hands work to the workers. A task carries only ids; the state of the work is in our tables."""

from accounts.fair_queue import put


def enqueue(task: str, *ids: int | str, end_user_id: int | None = None) -> None:
    """Queues a function of ``memories.tasks`` in the turn of the end user whose work it is: the
    first number in ``ids``, else ``end_user_id``.

    Inside a transaction the task becomes visible together with the work that it is about, or later.
    """
    end_user_id = next((pk for pk in ids if isinstance(pk, int)), end_user_id)
    put(f"memories.tasks.{task}", *ids, end_user_id=end_user_id)
