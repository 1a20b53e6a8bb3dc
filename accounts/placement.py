"""The cell of each end user, and the choice of one for new users; with one cell nothing is asked."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction  # noqa: TID251 of the database that all share
from django.db.models import F

from accounts import cells
from accounts.models import App, Cell, EndUser, InEveryCell, Placement
from accounts.scope import all_users


@contextmanager
def entered(app: App, external_id: str, *, writes: bool = True) -> Iterator[None]:
    """Runs the block in the cell of an app's end user, or in the one that takes new ones. Raises
    Moving where the work ``writes`` and they are being moved."""
    if not cells.several():
        yield
        return
    placed = find(app.pk, external_id)
    if placed is not None and placed.moving_to and writes:
        raise cells.Moving
    with cells.entered(placed.cell if placed else roomiest()):
        yield


def find(app_id: int, external_id: str) -> Placement | None:
    """The placement of an end user; None for one who was never seen."""
    placed = _placed(app_id, external_id)
    if placed is None:  # they may be from before there were cells
        with cells.entered(cells.SHARED), all_users():
            before = list(EndUser.objects.filter(app=app_id, external_id=external_id))
        placed = _placed(app_id, external_id) if adopt(before) else None
    return placed


def _placed(app_id: int, external_id: str) -> Placement | None:
    return Placement.objects.filter(app=app_id, external_id=external_id).first()


def cell_of(end_user_id: int) -> str:
    """The cell in which an end user is; where their id was given for one who is nowhere."""
    if not cells.several():
        return cells.SHARED
    placed = Placement.objects.filter(user_pk=end_user_id).first()
    if placed is not None:
        return placed.cell
    born = Cell.objects.filter(number=end_user_id >> cells.COUNTED_BITS).first()
    return born.name if born is not None and born.name in cells.names() else cells.SHARED


def is_moving(end_user_id: int) -> bool:
    """Whether an end user is on the way to another cell, so that nothing of theirs is written."""
    return Placement.objects.filter(user_pk=end_user_id).exclude(moving_to="").exists()


def has_left(app: App, external_id: str, *, writes: bool) -> bool:
    """Whether an end user has left the current cell, or can't be written to there any more."""
    if not cells.several() or (placed := _placed(app.pk, external_id)) is None:
        return False
    return placed.cell != cells.current() or bool(placed.moving_to and writes)


def roomiest() -> str:
    """The cell with the fewest end users of those that are open and answer; SHARED without one."""
    added = Cell.objects.filter(name__in=cells.names()).exclude(name=cells.SHARED)
    waiting = added.filter(closed=False).order_by("users", "number").values_list("name", flat=True)
    return next((name for name in waiting if not cells.is_away(name)), cells.SHARED)


def close(cell: str, *, closed: bool = True) -> bool:
    """Closes a cell to new end users, or opens it again. Returns whether there is such a cell."""
    return bool(Cell.objects.filter(name=cell).update(closed=closed))


@all_users()
def claim(app: App, external_id: str) -> int | None:
    """The id for a new end user, placed in the current cell; None with one cell. Raises Moving."""
    if not cells.several():
        return None
    cell, placed = cells.current(), _placed(app.pk, external_id)
    if placed is None:
        app.copy_to(cell)
        number = "SELECT nextval(pg_get_serial_sequence(%s, 'id'))"
        [(pk,)] = cells.fetch(number, ["accounts_enduser"])
        new = Placement(app=app, external_id=external_id, cell=cell, user_pk=pk)
        with transaction.atomic(cells.SHARED):
            # Nobody closes it meanwhile.
            row = Cell.objects.select_for_update(no_key=True).filter(name=cell).first()
            if row is not None and row.closed:
                raise cells.Moving
            if _place([new]):
                return pk
        placed = _placed(app.pk, external_id)
    if placed is None or placed.moving_to or placed.cell != cell:
        raise cells.Moving
    return placed.user_pk


def first_seen(app: App, external_id: str) -> EndUser:
    """The end user in the current cell, made where they were never seen. Raises Moving."""
    given = {}
    if cells.several():
        if known := EndUser.objects.filter(app=app, external_id=external_id).first():
            return known
        given = {"pk": claim(app, external_id)}
    end_user, _ = EndUser.objects.get_or_create(app=app, external_id=external_id, defaults=given)
    return end_user


@all_users()
def _place(rows: list[Placement]) -> int:
    """Stores the placements of end users of one cell who have none, and returns how many."""
    known = Placement.objects.filter(user_pk__in=[row.user_pk for row in rows])
    before = known.count()
    Placement.objects.bulk_create(rows, ignore_conflicts=True)
    count = known.count() - before
    if count:
        Cell.objects.filter(name=rows[0].cell).update(users=F("users") + count)
    return count


def adopt(end_users: list[EndUser]) -> int:
    """Stores placements for end users of one cell who have none, and returns how many."""
    return _place(
        [
            Placement(
                app_id=each.app_id,
                external_id=each.external_id,
                cell=each._state.db or cells.SHARED,
                user_pk=each.pk,
            )
            for each in end_users
        ]
    )


@contextmanager
def forgetting(end_user: EndUser) -> Iterator[None]:
    """Ends the placement of an end user who is erased within the block, unless that fails."""
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
    """Copies the rows that every cell has from SHARED to a cell. Deletes no app with all its rows."""
    for model in InEveryCell.__subclasses__():
        there = {row.pk: row for row in model._base_manager.using(cell)}
        for row in model._base_manager.using(cells.SHARED):
            copy = there.pop(row.pk, None)
            if copy is None or any(getattr(copy, n) != getattr(row, n) for n in row.copied):
                row.copy_to(cell)
        if there and model is not App:
            model._base_manager.using(cell).filter(pk__in=there).delete()
