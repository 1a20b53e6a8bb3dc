"""The cell of each end user, and the choice of one for new users. With one cell nothing is read."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction  # noqa: TID251 of the database that all share
from django.db.models import F

from accounts import cells
from accounts.models import App, Cell, EndUser, InEveryCell, Placement
from accounts.scope import all_users


@contextmanager
def entered(app: App, external_id: str, *, writes: bool = True) -> Iterator[None]:
    """Runs the block in the cell of an app's end user, or in the one for new users. Raises Moving
    if the work ``writes`` and the user is being moved."""
    if not cells.several():
        yield
        return
    placed = find(app.pk, external_id)
    if placed is not None and placed.moving_to and writes:
        raise cells.Moving
    with cells.entered(placed.cell if placed else emptiest_cell()):
        yield


def find(app_id: int, external_id: str) -> Placement | None:
    """Returns the placement of an end user, also of one from before there were cells; else None."""
    placed = _placed(app_id, external_id)
    if placed is None:  # they may be from before there were cells
        with cells.entered(cells.SHARED), all_users():
            unplaced = list(EndUser.objects.filter(app=app_id, external_id=external_id))
        placed = _placed(app_id, external_id) if adopt(unplaced) else None
    return placed


def _placed(app_id: int, external_id: str) -> Placement | None:
    return Placement.objects.filter(app=app_id, external_id=external_id).first()


def cell_of(end_user_id: int) -> str:
    """Returns the cell of an end user; for one without a placement, the cell that issued the id."""
    if not cells.several():
        return cells.SHARED
    placed = Placement.objects.filter(user_pk=end_user_id).first()
    if placed is not None:
        return placed.cell
    issuer = Cell.objects.filter(number=end_user_id >> cells.COUNTED_BITS).first()
    return issuer.name if issuer is not None and issuer.name in cells.names() else cells.SHARED


def is_moving(end_user_id: int) -> bool:
    """Whether an end user is being moved to another cell, so that no row of theirs may be written."""
    return Placement.objects.filter(user_pk=end_user_id).exclude(moving_to="").exists()


def has_left(app: App, external_id: str, *, writes: bool) -> bool:
    """Whether an end user has left the current cell, or can no longer be written to there."""
    if not cells.several() or (placed := _placed(app.pk, external_id)) is None:
        return False
    return placed.cell != cells.current() or bool(placed.moving_to and writes)


def emptiest_cell() -> str:
    """Returns the open cell with the fewest end users that answers; SHARED if there is none."""
    added = Cell.objects.filter(name__in=cells.names()).exclude(name=cells.SHARED)
    names = added.filter(closed=False).order_by("users", "number").values_list("name", flat=True)
    return next((name for name in names if not cells.is_away(name)), cells.SHARED)


def close(cell: str, *, closed: bool = True) -> bool:
    """Closes a cell to new end users, or opens it again. Returns whether there is such a cell."""
    return bool(Cell.objects.filter(name=cell).update(closed=closed))


@all_users()
def claim(app: App, external_id: str) -> int | None:
    """Returns the id of a new user, placed in the current cell; None with one cell. Raises Moving."""
    if not cells.several():
        return None
    cell, placed = cells.current(), _placed(app.pk, external_id)
    if placed is None:
        app.copy_to(cell)
        number = "SELECT nextval(pg_get_serial_sequence(%s, 'id'))"
        [(pk,)] = cells.fetch(number, ["accounts_enduser"])
        placement = Placement(app=app, external_id=external_id, cell=cell, user_pk=pk)
        with transaction.atomic(cells.SHARED):
            # The lock keeps the cell open meanwhile.
            row = Cell.objects.select_for_update(no_key=True).filter(name=cell).first()
            if row is not None and row.closed:
                raise cells.Moving
            if _place([placement]):
                return pk
        placed = _placed(app.pk, external_id)
    if placed is None or placed.moving_to or placed.cell != cell:
        raise cells.Moving
    return placed.user_pk


def first_seen(app: App, external_id: str) -> EndUser:
    """Returns the end user in the current cell, created if needed. Raises Moving."""
    defaults = {}
    if cells.several():
        if end_user := EndUser.objects.filter(app=app, external_id=external_id).first():
            return end_user
        defaults = {"pk": claim(app, external_id)}
    end_user, _ = EndUser.objects.get_or_create(app=app, external_id=external_id, defaults=defaults)
    return end_user


@all_users()
def _place(rows: list[Placement]) -> int:
    """Stores the placements of end users of one cell who have none, and returns how many."""
    stored = Placement.objects.filter(user_pk__in=[row.user_pk for row in rows])
    previous = stored.count()
    Placement.objects.bulk_create(rows, ignore_conflicts=True)
    count = stored.count() - previous
    if count:
        Cell.objects.filter(name=rows[0].cell).update(users=F("users") + count)
    return count


def adopt(end_users: list[EndUser]) -> int:
    """Stores placements for end users of one cell who have none, and returns how many."""
    return _place(
        [
            Placement(
                app_id=user.app_id,
                external_id=user.external_id,
                cell=user._state.db or cells.SHARED,
                user_pk=user.pk,
            )
            for user in end_users
        ]
    )


@contextmanager
def forgetting(end_user: EndUser) -> Iterator[None]:
    """Deletes the placement of an end user who is erased in the block; restores it if that fails."""
    if not cells.several():
        yield
        return
    with all_users():  # placements are of no end user's scope
        placements = list(Placement.objects.filter(user_pk=end_user.pk))
        if placements and Placement.objects.filter(pk=placements[0].pk).delete()[0]:
            Cell.objects.filter(name=placements[0].cell).update(users=F("users") - 1)
    try:
        yield
    except BaseException:
        if placements:
            _place(placements)
        raise


def bring_copies(cell: str) -> None:
    """Copies the rows that every cell has from SHARED to a cell, and deletes rows that SHARED
    lacks; never an app, with which all its rows would go."""
    for model in InEveryCell.__subclasses__():
        rows_there = {row.pk: row for row in model._base_manager.using(cell)}
        for row in model._base_manager.using(cells.SHARED):
            copy = rows_there.pop(row.pk, None)
            if copy is None or any(getattr(copy, n) != getattr(row, n) for n in row.copied):
                row.copy_to(cell)
        if rows_there and model is not App:
            model._base_manager.using(cell).filter(pk__in=rows_there).delete()
