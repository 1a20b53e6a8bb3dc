"""What a check of the doctor says, and how it reads the database."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import connection

CHUNK = 500
# What workers may still be about to do on a live system is not wrong yet.
GRACE = timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong. ``subject`` is the id of the row to repair, where there is one."""

    end_user_id: int | None
    subject: Any
    problem: str


Check = Callable[[], Iterator[Finding]]
Fix = Callable[[Sequence[Finding]], object]


def rows(sql: str, *parameters: Any, **named: Any) -> Iterator[tuple[Any, ...]]:
    """The rows of a statement, with parameters by place or by name."""
    with connection.cursor() as cursor:
        cursor.execute(sql, named or parameters)
        yield from cursor.fetchall()
