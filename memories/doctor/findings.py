"""What a check of the doctor says, and how it reads the database."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from accounts.cells import connection
from memories.search.sql import statement

CHECKS = Path(__file__).with_name("checks")
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


def rows(sql: str, **parameters: Any) -> Iterator[tuple[Any, ...]]:
    """The rows of a statement with these parameters."""
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        yield from cursor.fetchall()


def stated(name: str, problem: str, **parameters: Any) -> Check:
    """The check whose statement lies in ``checks/NAME.sql``: it selects the end user and the
    subject of each row that is wrong."""
    sql = statement(str(CHECKS / name), f"{name}.sql")

    def check() -> Iterator[Finding]:
        for end_user, subject in rows(sql, **parameters):
            yield Finding(end_user, subject, problem)

    check.__name__ = name
    return check
