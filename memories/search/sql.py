"""Hand-written statements: read from files, and with QuerySets inside."""

from collections.abc import Collection
from dataclasses import dataclass
from itertools import dropwhile
from pathlib import Path
from typing import Any, Self

from django.db.models import QuerySet

from accounts.models import EndUser


@dataclass(frozen=True, slots=True)
class Subset:
    """The ids of the memories that a search is narrowed to: a SELECT with named parameters, put
    together once for all statements of the search."""

    sql: str
    params: dict[str, Any]

    @classmethod
    def of(cls, ids: QuerySet, name: str = "within", among: Self | None = None) -> Self:
        """That of a QuerySet of ids, as far as they are ``among`` others; ``name`` tells its
        parameters from another's."""
        sql, given = ids.order_by().query.sql_with_params()
        params = {f"{name}_{n}": value for n, value in enumerate(given)}
        sql %= tuple(f"%({one})s" for one in params)
        if among is None:
            return cls(sql, params)
        both = f"SELECT id FROM ({sql}) narrowed WHERE {indexed('id', among.sql)}"  # noqa: S608
        return cls(both, params | among.params)


@dataclass(frozen=True, slots=True)
class Scope:
    """The memories that a search may find: an end user's of these ``statuses``, and where given
    only those ``within``. Of those ``inside``, a part of them, the best ``inside_limit`` are
    ranked besides. ``with_people``: whom each is about is read with it."""

    end_user: EndUser
    statuses: Collection[str]
    within: Subset | None = None
    inside: Subset | None = None
    inside_limit: int = 0
    with_people: bool = False

    @property
    def params(self) -> dict[str, Any]:
        """What statements about them take."""
        return {
            "end_user": self.end_user.pk,
            "statuses": [str(status) for status in self.statuses],
            "inside_limit": self.inside_limit,
            **(self.within.params if self.within else {}),
            **(self.inside.params if self.inside else {}),
        }


def hashed(column: str, ids: str) -> str:
    """That ``column`` is among the ids that a SELECT gives, looked up in a hash of them.

    Not a plain IN: the planner makes that a join, and where it expects few rows it runs the
    SELECT anew for each. ``IS TRUE`` is no join, and of an array it expects so few elements that
    a hash of them is never too large.
    """
    return f"({column} IN (SELECT unnest(ARRAY({ids})))) IS TRUE"


def indexed(column: str, ids: str) -> str:
    """The same where an index leads to each of the ids."""
    return f"{column} = ANY(ARRAY({ids}))"


def statement(module: str, name: str) -> str:
    """The SQL of the file ``name`` beside ``module`` (its ``__file__``), without the comment at its
    head: what is sent begins with its verb."""
    lines = Path(module).with_name(name).read_text(encoding="utf-8").splitlines()
    return "\n".join(dropwhile(lambda line: line.startswith("--"), lines))
