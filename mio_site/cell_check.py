"""Whether every end user is in the one cell that their placement names, with all that is theirs."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from django.db import connections

from accounts import cells, placement, row_security, scope
from accounts.management.schema import missing_migrations
from accounts.models import Cell, EndUser, Placement
from mio_site import cell_schema

CHUNK = 5000

# Rows of nobody who is in this cell.
_STRAY = """
SELECT end_user_id, count(*) FROM {table} t WHERE end_user_id IS NOT NULL
    AND NOT EXISTS (SELECT FROM accounts_enduser u WHERE u.id = t.end_user_id)
GROUP BY end_user_id
"""
_OUT_OF_RANGE = """
SELECT seqrelid::regclass::text FROM pg_sequence JOIN pg_class ON pg_class.oid = seqrelid
WHERE relnamespace = current_schema()::regnamespace AND seqtypid = 'bigint'::regtype
    AND coalesce(pg_sequence_last_value(seqrelid), %(first)s) NOT BETWEEN %(first)s AND %(last)s
"""


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem of a cell, or of an end user in it; ``mended`` when it was fixed."""

    cell: str
    user_pk: int | None
    what: str
    mended: bool = False

    def __str__(self) -> str:
        whose = f" user {self.user_pk}" if self.user_pk else ""
        return f"{self.cell}{whose}: {self.what}"


def check(*, fix: bool = False) -> list[Problem]:
    """All that is wrong; with ``fix`` what follows from the rest is put right: end users without a
    placement get one, placements of nobody go, and so do rows that a move has left behind."""
    problems = [
        Problem(cell, None, "it does not answer") for cell in cells.names() if cells.is_away(cell)
    ]
    here = [cell for cell in (cells.SHARED, *cell_schema.added()) if not cells.is_away(cell)]
    behind = {cell: missing_migrations(connections[cell]) for cell in here}
    problems += [
        Problem(cell, None, f"lacks migrations: {', '.join(missing)}")
        for cell, missing in behind.items()
        if missing
    ]
    here = [cell for cell in here if not behind[cell]]
    problems += _the_same(here)
    for cell in here:
        with cells.entered(cell), scope.all_users():
            problems += [*_out_of_range(cell), *_users(cell, fix=fix), *_strays(cell, fix=fix)]
    problems += _placements(here, fix=fix)
    problems += _counts(here, fix=fix)
    return problems


def _the_same(here: list[str]) -> Iterator[Problem]:
    for one, other in combinations(here, 2):
        if cell_schema.identity(one) == cell_schema.identity(other):
            yield Problem(other, None, f"is the same database and schema as {one}")


def _out_of_range(cell: str) -> Iterator[Problem]:
    """Sequences that give ids of another cell."""
    number = Cell.objects.filter(name=cell).values_list("number", flat=True).first() or 0
    first = number << cells.COUNTED_BITS
    last = first + (1 << cells.COUNTED_BITS) - 1
    with scope.all_users_of_session(connections[cell]), cells.connection.cursor() as cursor:
        cursor.execute(_OUT_OF_RANGE, {"first": first, "last": last})
        for (name,) in cursor.fetchall():
            yield Problem(cell, None, f"{name} gives ids of another cell: run manage.py migrate")


def _users(cell: str, *, fix: bool) -> Iterator[Problem]:
    """End users of a cell who are placed nowhere, or elsewhere."""
    last = 0
    while rows := list(EndUser.objects.filter(pk__gt=last).order_by("pk")[:CHUNK]):
        last = rows[-1].pk
        placements = Placement.objects.in_bulk([row.pk for row in rows], field_name="user_pk")
        for row in rows:
            placed = placements.get(row.pk)
            if placed is None:
                taken = Placement.objects.filter(app=row.app_id, external_id=row.external_id)
                mended = fix and not taken.exists() and bool(placement.adopt([row]))
                yield Problem(cell, row.pk, "is placed in no cell", mended)
            elif cell not in (placed.cell, placed.moving_to):
                yield Problem(cell, row.pk, f"is here, and placed in {placed.cell}")


def _strays(cell: str, *, fix: bool) -> Iterator[Problem]:
    """Rows of users who are not in this cell; an interrupted move has left them."""
    for table in row_security.user_tables():
        if table == "accounts_enduser":
            continue
        with cells.connection.cursor() as cursor:
            cursor.execute(_STRAY.format(table=table))
            for user_pk, count in cursor.fetchall():
                placed = Placement.objects.filter(user_pk=user_pk, moving_to="")
                elsewhere = placed.exclude(cell=cell).exists()
                if fix and elsewhere:
                    cursor.execute(f"DELETE FROM {table} WHERE end_user_id = %s", [user_pk])  # noqa: S608
                what = f"{count} rows of {table} are of a user who is not here"
                yield Problem(cell, user_pk, what, fix and elsewhere)


def _placements(here: list[str], *, fix: bool) -> Iterator[Problem]:
    """Placements of end users who are not there, and moves that were broken off."""
    for cell in here:
        placed, last = Placement.objects.filter(cell=cell).order_by("pk"), 0
        while rows := list(placed.filter(pk__gt=last)[:CHUNK]):
            last = rows[-1].pk
            with cells.entered(cell), scope.all_users():
                known = set(
                    EndUser.objects.filter(pk__in=[row.user_pk for row in rows]).values_list(
                        "pk", flat=True
                    )
                )
            for row in rows:
                if row.moving_to:
                    what = f"is on the way to {row.moving_to}: run cells move-user again"
                    yield Problem(cell, row.user_pk, what)
                elif row.user_pk not in known:
                    mended = fix and bool(Placement.objects.filter(pk=row.pk).delete()[0])
                    yield Problem(cell, row.user_pk, "is placed here, and is not here", mended)
    named = set(cells.names())
    for name, count in Counter(
        Placement.objects.exclude(cell__in=named).values_list("cell", flat=True)
    ).items():
        yield Problem(name, None, f"has {count} end users, and MIO_CELLS does not name it")


def _counts(here: list[str], *, fix: bool) -> Iterator[Problem]:
    """Cells that are chosen by a wrong number of end users."""
    for row in Cell.objects.filter(name__in=here):
        count = Placement.objects.filter(cell=row.name).count()
        if row.users != count:
            if fix:
                Cell.objects.filter(pk=row.pk).update(users=count)
            yield Problem(row.name, None, f"counts {row.users} end users, not {count}", fix)
