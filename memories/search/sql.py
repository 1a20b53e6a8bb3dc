"""Hand-written SQL statements: read from files, and with QuerySets inside."""

from collections.abc import Collection
from dataclasses import dataclass
from itertools import dropwhile
from pathlib import Path
from typing import Any, Self

from django.db.models import QuerySet

from accounts.models import EndUser


@dataclass(frozen=True, slots=True)
class Subset:
    """The ids of the memories to which a search is restricted: a SELECT with named parameters,
    built once for all statements of the search."""

    sql: str
    params: dict[str, Any]

    @classmethod
    def of(cls, ids: QuerySet, name: str = "within", among: Self | None = None) -> Self:
        """Returns the subset of a QuerySet of ids that are also ``among`` others; ``name`` prefixes
        its parameters, to distinguish them from another subset's."""
        sql, values = ids.order_by().query.sql_with_params()
        params = {f"{name}_{n}": value for n, value in enumerate(values)}
        sql %= tuple(f"%({one})s" for one in params)
        if among is None:
            return cls(sql, params)
        both = f"SELECT id FROM ({sql}) narrowed WHERE {indexed('id', among.sql)}"  # noqa: S608
        return cls(both, params | among.params)


@dataclass(frozen=True, slots=True)
class Scope:
    """The memories that a search may find: an end user's with these ``statuses`` and, if given,
    only those ``within``. Of a part of them, ``inside``, the best ``inside_limit`` are ranked
    separately as well. ``with_people``: the contacts that each is about are read with it."""

    end_user: EndUser
    statuses: Collection[str]
    within: Subset | None = None
    inside: Subset | None = None
    inside_limit: int = 0
    with_people: bool = False

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of statements about these memories."""
        return {
            "end_user": self.end_user.pk,
            "statuses": [str(status) for status in self.statuses],
            "inside_limit": self.inside_limit,
            **(self.within.params if self.within else {}),
            **(self.inside.params if self.inside else {}),
        }


def hashed(column: str, ids: str) -> str:
    """Returns the condition that ``column`` is among the ids that a SELECT returns, found with a
    hash. Not a plain IN: the planner makes that a join, and if it expects few rows it runs the
    SELECT again for each. ``IS TRUE`` is no join, and of an array it expects so few elements that a
    hash of them is never too large."""
    return f"({column} IN (SELECT unnest(ARRAY({ids})))) IS TRUE"


def indexed(column: str, ids: str) -> str:
    """Returns the same condition for ids that an index finds."""
    return f"{column} = ANY(ARRAY({ids}))"


def statement(module: str, name: str) -> str:
    """Returns the SQL of the file ``name`` beside ``module`` (its ``__file__``), without the
    comment at its head: what is sent begins with its verb."""
    lines = Path(module).with_name(name).read_text(encoding="utf-8").splitlines()
    return "\n".join(dropwhile(lambda line: line.startswith("--"), lines))
