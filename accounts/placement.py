"""In which cell an end user is, and which takes one who is new: the one place that chooses.

With one cell there is nothing to choose, and nothing is asked.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction  # noqa: TID251 of the database that all share
from django.db.models import F

from accounts import cells
from accounts.models import App, Cell, EndUser, InEveryCell, Placement
from accounts.scope import all_users


@contextmanager
def entered(app: App, external_id: str, *, writes: bool = True) -> Iterator[None]:
    """What runs in it is in the cell of an app's end user, or in the one that takes them in.

    Raises Moving where the work ``writes`` and they are on the way to another cell.
    """
    if not cells.several():
        yield
        return
    held = find(app.pk, external_id)
    if held is not None and held.moving_to and writes:
        raise cells.Moving
    with cells.entered(held.cell if held else roomiest()):
        yield


def find(app_id: int, external_id: str) -> Placement | None:
    """Where the end user is, None for one who was never seen."""
    if held := _placed(app_id, external_id):
        return held
    with cells.entered(cells.SHARED), all_users():
        before = EndUser.objects.filter(app=app_id, external_id=external_id).first()
    if before is None:
        return None
    adopt([before])
    return _placed(app_id, external_id)


def _placed(app_id: int, external_id: str) -> Placement | None:
    return Placement.objects.filter(app=app_id, external_id=external_id).first()


def cell_of(end_user_id: int) -> str:
    """The cell in which an end user is; where their id was given for one who is nowhere."""
    if not cells.several():
        return cells.SHARED
    held = Placement.objects.filter(user_pk=end_user_id).first()
    if held is not None:
        return held.cell
    born = Cell.objects.filter(number=end_user_id >> cells.COUNTED_BITS).first()
    return born.name if born is not None and born.name in cells.names() else cells.SHARED


def is_moving(end_user_id: int) -> bool:
    """Whether an end user is on the way to another cell, so that nothing of theirs is written."""
    return Placement.objects.filter(user_pk=end_user_id).exclude(moving_to="").exists()


def has_left(app: App, external_id: str, *, writes: bool) -> bool:
    """Whether the work of now is in a cell that an end user has left, or where they are not
    written to any more."""
    if not cells.several() or (held := _placed(app.pk, external_id)) is None:
        return False
    return held.cell != cells.current() or bool(held.moving_to and writes)


def roomiest() -> str:
    """The cell with the fewest end users, among equals the one that was added first, of those that
    are open and answer; SHARED where there is none."""
    added = Cell.objects.filter(name__in=cells.names()).exclude(name=cells.SHARED)
    waiting = added.filter(closed=False).order_by("users", "number").values_list("name", flat=True)
    return next((name for name in waiting if not cells.is_away(name)), cells.SHARED)


def close(cell: str, *, closed: bool = True) -> bool:
    """Has a cell take no new end users, not by work that had chosen it before either; or take them
    again. Whether there is such a cell."""
    return bool(Cell.objects.filter(name=cell).update(closed=closed))


def check_here(end_user: EndUser) -> None:
    """Raises Moving unless the end user, whose lock is held, stays in the current cell."""
    if cells.several():
        Placement.check_here(end_user.pk)


@all_users()
def claim(app: App, external_id: str) -> int | None:
    """The id for the row of an end user in the current cell, who is placed there from now on; None
    with one cell, where the database gives it.

    Raises Moving where they are in another cell by now, or this one was closed meanwhile.
    """
    if not cells.several():
        return None
    held = _placed(app.pk, external_id)
    if held is None:
        app.copy_to(cells.current())
        held = Placement(app=app, external_id=external_id, cell=cells.current(), user_pk=_next_id())
        with transaction.atomic(cells.SHARED):
            _check_open(held.cell)
            made = _place([held])
        if made:
            return held.user_pk
        held = _placed(app.pk, external_id)
    if held is None or held.moving_to or held.cell != cells.current():
        raise cells.Moving
    return held.user_pk


def _check_open(cell: str) -> None:
    """Raises Moving where a cell takes no new end users; nobody closes it before the transaction
    ends."""
    held = Cell.objects.select_for_update(no_key=True).filter(name=cell).first()
    if held is not None and held.closed:
        raise cells.Moving


def first_seen(app: App, external_id: str) -> EndUser:
    """The end user in the current cell, made where they were never seen. Raises Moving."""
    given = {}
    if cells.several():
        if known := EndUser.objects.filter(app=app, external_id=external_id).first():
            return known
        given = {"pk": claim(app, external_id)}
    made, _ = EndUser.objects.get_or_create(app=app, external_id=external_id, defaults=given)
    return made


def _next_id() -> int:
    with cells.connection.cursor() as cursor:
        cursor.execute("SELECT nextval(pg_get_serial_sequence(%s, 'id'))", ["accounts_enduser"])
        (pk,) = cursor.fetchone()
    return int(pk)


@all_users()
def _place(rows: list[Placement]) -> int:
    """Keeps the placements of end users of one cell who have none; how many these are."""
    known = Placement.objects.filter(user_pk__in=[row.user_pk for row in rows])
    before = known.count()
    Placement.objects.bulk_create(rows, ignore_conflicts=True)
    made = known.count() - before
    if made:
        Cell.objects.filter(name=rows[0].cell).update(users=F("users") + made)
    return made


def adopt(end_users: list[EndUser]) -> int:
    """Places end users of one cell, which has them, where nobody has placed them; how many."""
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
    """Ends the placement of an end user, who is erased within it; where that fails they have it
    again."""
    if not cells.several():
        yield
        return
    with all_users():  # placements are of no end user's scope
        held = list(Placement.objects.filter(user_pk=end_user.pk))
        if held and Placement.objects.filter(pk=held[0].pk).delete()[0]:
            Cell.objects.filter(name=held[0].cell).update(users=F("users") - 1)
    try:
        yield
    except BaseException:
        if held:
            _place(held)
        raise


def bring_copies(cell: str) -> None:
    """Has a cell hold what every cell holds of apps, as it is in SHARED. Of apps themselves none is
    deleted, since all that is theirs would go with it."""
    for model in InEveryCell.__subclasses__():
        there = {row.pk: row for row in model._base_manager.using(cell)}
        for row in model._base_manager.using(cells.SHARED):
            held = there.pop(row.pk, None)
            if held is None or any(getattr(held, n) != getattr(row, n) for n in row.copied):
                row.copy_to(cell)
        if there and model is not App:
            model._base_manager.using(cell).filter(pk__in=there).delete()
