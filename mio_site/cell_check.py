"""Checks that every end user is in the one cell that their placement names, with all their rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db import connections
from django.db.models import Count, QuerySet

from accounts import cells, placement, row_security, scope
from accounts.management.schema import missing_migrations
from accounts.models import Cell, EndUser, Placement
from accounts.sql_files import sql_pieces
from mio_site import cell_schema

_SQL = sql_pieces(__file__)

CHUNK = 1000


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem of a cell, or of an end user in it; ``mended`` if it was fixed."""

    cell: str
    user_pk: int | None
    what: str
    mended: bool = False

    def __str__(self) -> str:
        user = f" user {self.user_pk}" if self.user_pk else ""
        return f"{self.cell}{user}: {self.what}"


def check(*, fix: bool = False) -> list[Problem]:
    """Returns all problems. With ``fix``, users without a placement get one, placements of nobody
    and rows that a move has left behind are deleted, and counts are corrected."""
    problems = [
        Problem(cell, None, "it does not answer") for cell in cells.names() if cells.is_away(cell)
    ]
    ready = [cell for cell in (cells.SHARED, *cell_schema.added()) if not cells.is_away(cell)]
    missing_by_cell = {cell: missing_migrations(connections[cell]) for cell in ready}
    problems += [
        Problem(cell, None, f"lacks migrations: {', '.join(missing)}")
        for cell, missing in missing_by_cell.items()
        if missing
    ]
    ready = [cell for cell in ready if not missing_by_cell[cell]]
    problems += [
        Problem(other, None, f"is the same database and schema as {one}")
        for one, other in cell_schema.duplicates(ready)
    ]
    for cell in ready:
        with cells.entered(cell), scope.all_users():
            problems += [*_out_of_range(cell), *_users(cell, fix=fix), *_strays(cell, fix=fix)]
    problems += _placements(ready, fix=fix)
    problems += _counts(ready, fix=fix)
    return problems


def _out_of_range(cell: str) -> Iterator[Problem]:
    """Yields the sequences that issue ids of another cell."""
    number = Cell.objects.filter(name=cell).values_list("number", flat=True).first() or 0
    first = number << cells.COUNTED_BITS
    last = first + (1 << cells.COUNTED_BITS) - 1
    with scope.all_users_of_session(connections[cell]), cells.connection.cursor() as cursor:
        cursor.execute(_SQL["out_of_range"], {"first": first, "last": last})
        for (name,) in cursor.fetchall():
            yield Problem(cell, None, f"{name} gives ids of another cell: run bin/mio migrate")


def chunks(rows: QuerySet) -> Iterator[list[Any]]:
    """Yields rows by their keys, CHUNK at a time."""
    last = 0
    while part := list(rows.filter(pk__gt=last).order_by("pk")[:CHUNK]):
        yield part
        last = part[-1].pk


def _users(cell: str, *, fix: bool) -> Iterator[Problem]:
    """Yields the end users of a cell who are placed nowhere, or elsewhere."""
    for rows in chunks(EndUser.objects.all()):
        placements = Placement.objects.in_bulk([row.pk for row in rows], field_name="user_pk")
        for row in rows:
            placed = placements.get(row.pk)
            if placed is None:
                others = Placement.objects.filter(app=row.app_id, external_id=row.external_id)
                mended = fix and not others.exists() and bool(placement.adopt([row]))
                yield Problem(cell, row.pk, "is placed in no cell", mended)
            elif cell not in (placed.cell, placed.moving_to):
                yield Problem(cell, row.pk, f"is here, and placed in {placed.cell}")


def _strays(cell: str, *, fix: bool) -> Iterator[Problem]:
    """Yields rows of users who are not in this cell, which an interrupted move has left."""
    for table in row_security.user_tables():
        if table == "accounts_enduser":
            continue
        with cells.connection.cursor() as cursor:
            cursor.execute(_SQL["stray"].format(table=table))
            for user_pk, count in cursor.fetchall():
                placed = Placement.objects.filter(user_pk=user_pk, moving_to="")
                elsewhere = placed.exclude(cell=cell).exists()
                if fix and elsewhere:
                    cursor.execute(f"DELETE FROM {table} WHERE end_user_id = %s", [user_pk])  # noqa: S608
                what = f"{count} rows of {table} are of a user who is not here"
                yield Problem(cell, user_pk, what, fix and elsewhere)


def _placements(ready: list[str], *, fix: bool) -> Iterator[Problem]:
    """Yields placements of end users who are not in that cell, and moves that were broken off."""
    for cell in ready:
        for rows in chunks(Placement.objects.filter(cell=cell)):
            with cells.entered(cell), scope.all_users():
                users = EndUser.objects.in_bulk([row.user_pk for row in rows])
            for row in rows:
                if row.moving_to:
                    what = f"is on the way to {row.moving_to}: run cells move-user again"
                    yield Problem(cell, row.user_pk, what)
                elif row.user_pk not in users:
                    mended = fix and bool(Placement.objects.filter(pk=row.pk).delete()[0])
                    yield Problem(cell, row.user_pk, "is placed here, and is not here", mended)
    unnamed = Placement.objects.exclude(cell__in=cells.names()).values_list("cell")
    for name, count in unnamed.annotate(Count("pk")).order_by("cell"):
        yield Problem(name, None, f"has {count} end users, and MIO_CELLS does not name it")


def _counts(ready: list[str], *, fix: bool) -> Iterator[Problem]:
    """Yields the cells that are chosen by a wrong number of end users."""
    for row in Cell.objects.filter(name__in=ready):
        count = Placement.objects.filter(cell=row.name).count()
        if row.users != count:
            if fix:
                Cell.objects.filter(pk=row.pk).update(users=count)
            yield Problem(row.name, None, f"counts {row.users} end users, not {count}", fix)
