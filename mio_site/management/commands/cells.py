"""bin/mio cells list | add, open, close NAME | move NAME TO | move-user APP USER CELL | check"""

import time
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import Error, OperationalError, connections
from django.db.models import Max, Q

from accounts import cells, placement
from accounts.management.command import MioCommand
from accounts.management.schema import missing_migrations
from accounts.models import App, Cell, EndUser, Placement
from memories import portability
from mio_site import cell_check, cell_schema
from webhooks.models import Delivery


class Command(MioCommand):
    help = (
        "The cells: databases, or schemas of one, that hold the end users (docs/scaling.md). "
        "list: which there are, how many users each has and whether it answers. add: makes a cell of "
        "MIO_CELLS ready and opens it to new users; close and open: has it take none, or some again. "
        "move: closes a cell and moves all end users to another one, or, with HOST:PORT, a cell of "
        "Citus to another node. move-user: moves an end user. Run either again where it was broken "
        "off. check: whether every user is in the one cell that is said, with all that is theirs."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        what = parser.add_subparsers(dest="what", required=True)
        for name in ("list", "add", "close", "open", "move", "move-user", "check"):
            one = what.add_parser(name)
            if name == "move-user":
                one.add_argument("of_app", metavar="app", help="the name of the app")
                one.add_argument("of_user", metavar="user", help="the app's own id of the end user")
            if name not in ("list", "check"):
                one.add_argument("cell", help="its name in MIO_CELLS")
            if name == "move":
                one.add_argument("to", help="another cell; or the node of Citus, as HOST:PORT")
            if name == "check":
                one.add_argument(
                    "--fix", action="store_true", help="repair what follows from the rest"
                )
            super().add_arguments(one)

    def handle(self, *, what: str, json: bool, **options: Any) -> None:
        getattr(self, f"_{what.replace('-', '_')}")(json, **options)

    def _list(self, json: bool, **_options: Any) -> None:
        rows = [_state_of(cell) for cell in cells.names()]
        if json:
            self.report(json, cells=rows)
        for row in () if json else rows:
            self.report(json, **row)

    def _add(self, json: bool, *, cell: str, **_options: Any) -> None:
        if cell not in settings.MIO_CELLS:
            raise CommandError(
                f"MIO_CELLS names no cell {cell!r}: say there how it is reached, as "
                f"{cell}=postgres://USER:PASSWORD@HOST/DATABASE, then run this again."
            )
        try:
            cell_schema.make_ready(cell)
            # A cell that is not added yet may lack its schema, and would be taken for another one.
            other_cells = {cells.SHARED, *cell_schema.added()} - {cell}
            for other in other_cells.intersection(cells.reachable()):
                if cell_schema.duplicates([other, cell]):
                    raise CommandError(
                        f"{cell} is the same database and schema as {other}: give it one of its own."
                    )
            call_command("migrate", database=cell, interactive=False, verbosity=0)
        except Error as error:
            raise CommandError(f"{cell} can't be made ready: {error}".strip()) from error
        row = Cell.objects.filter(name=cell).first()
        most = Cell.objects.aggregate(most=Max("number"))["most"] or 0
        number = row.number if row else most + 1
        cell_schema.number_ids(cell, number)
        placement.bring_copies(cell)
        adopted = _adopt_old_users()
        if row is None:
            Cell.objects.create(name=cell, number=number)
        self.report(json, cell=cell, number=number, adopted=adopted)

    def _open(self, json: bool, *, cell: str, closed: bool = False, **_options: Any) -> None:
        if cell == cells.SHARED:
            raise CommandError(
                f"{cell} is what all cells share, and takes new users while no other does: "
                "open another cell instead."
            )
        if not placement.close(cell, closed=closed):
            raise CommandError(
                f"There is no cell {cell!r}: cells list shows those that were added."
            )
        self.report(json, cell=cell, state="closed" if closed else "ready")

    def _close(self, json: bool, **options: Any) -> None:
        self._open(json, closed=True, **options)

    def _move(self, json: bool, *, cell: str, to: str, **_options: Any) -> None:
        _check_answers(cell)
        began = time.monotonic()
        host, colon, port = to.rpartition(":")
        if colon:
            _move_to_node(cell, host, port)
            self.report(json, cell=cell, node=to, seconds=_seconds_since(began))
        else:
            self._move_users(json, cell, to, began)

    def _move_users(self, json: bool, cell: str, to: str, began: float) -> None:
        if cell == to:
            raise CommandError(f"The end users of {cell} are in {cell} already: name another cell.")
        _check_answers(to)
        if cell != cells.SHARED:
            placement.close(cell)
        elif placement.emptiest_cell() == cell:
            raise CommandError(
                f"New users would go to {cell} meanwhile: no other cell is open and answers."
            )
        else:
            _adopt_old_users()
        outcomes: dict[int, portability.Moved | portability.CannotMove] = {}
        with self.bar(Placement.objects.filter(cell=cell).count(), "user") as bar:

            def note(placed: Placement, outcome: Any) -> None:
                bar.update()
                outcomes[placed.pk] = outcome

            try:
                portability.move_all(cell, to, note)
            except Error as error:
                what = type(error.__cause__ or error).__name__
                raise CommandError(f"{cell} is moved in part. {what}: run it again.") from error
        moved = [
            sum(one.rows.values()) for one in outcomes.values() if not isinstance(one, Exception)
        ]
        rows = Placement.objects.filter(Q(cell=cell) | Q(moving_to=cell)).select_related("app")
        left = []
        for one in rows.order_by("pk"):
            why = (
                f"They are on the way to {one.moving_to}."
                if one.moving_to
                else "They came meanwhile."
            )
            why = str(outcomes.get(one.pk, why))
            left.append({"app": one.app.name, "user": one.external_id, "why": why})
        figures = {"users": len(moved), "rows": sum(moved), "seconds": _seconds_since(began)}
        self.report(json, cell=cell, to=to, **figures, left=left if json else len(left))
        for row in () if json else left:
            self.stdout.write("{app} {user}: {why}".format(**row))
        if left:
            raise CommandError(f"{len(left)} end users are not moved: run it again.")
        _check_empty(cell)
        if not json and cell != cells.SHARED:
            self.stdout.write(
                f"{cell} is empty and takes no new users. Take it out of MIO_CELLS and restart web "
                "and workers; then nothing needs its database any more."
            )

    def _move_user(
        self, json: bool, *, of_app: str, of_user: str, cell: str, **_options: Any
    ) -> None:
        app = App.objects.filter(name=of_app).first()
        placed = placement.find(app.pk, of_user) if app else None
        if placed is None:
            raise CommandError(f"The app {of_app!r} has no end user {of_user!r} in any cell.")
        try:
            moved = portability.move(placed, cell)
        except portability.CannotMove as error:
            raise CommandError(f"{of_user} is not moved. {error}") from error
        rows, seconds = sum(moved.rows.values()), round(moved.seconds, 3)
        self.report(json, user=of_user, cell=cell, rows=rows, seconds=seconds)

    def _check(self, json: bool, *, fix: bool, **_options: Any) -> None:
        problems = cell_check.check(fix=fix)
        left = [problem for problem in problems if not problem.mended]
        if json:
            shown = [asdict(problem) for problem in problems]
            self.report(json, ok=not left, cells=len(cells.names()), problems=shown)
        for problem in () if json else problems:
            self.stdout.write(f"{problem}{' (mended)' if problem.mended else ''}")
        if left:
            raise CommandError(f"{len(left)} things are wrong.")
        if not json:
            self.stdout.write(f"All is well in {len(cells.names())} cells.")


def _adopt_old_users() -> int:
    """Stores placements in the shared cell for end users from before there were cells."""
    Cell.objects.get_or_create(name=cells.SHARED, defaults={"number": 0})
    with cells.entered(cells.SHARED):
        return sum(map(placement.adopt, cell_check.chunks(EndUser.objects.all())))


def _state_of(cell: str) -> dict[str, Any]:
    at: dict[str, Any] = connections[cell].settings_dict
    port = f":{at['PORT']}" if at["PORT"] else ""
    server = f"{at['HOST'] or 'localhost'}{port}/{at['NAME']}"
    row = Cell.objects.filter(name=cell).first()
    shown = {"cell": cell, "number": row.number if row else 0, "server": server}
    if cells.is_away(cell):
        return {**shown, "state": "away"}
    shown["schema"] = cell_schema.schema_of(cell)
    if row is None and cell != cells.SHARED:
        return {**shown, "state": "not added"}
    if missing_migrations(connections[cell]):
        return {**shown, "state": "not migrated"}
    try:
        with cells.entered(cell):
            shown["users"] = EndUser.objects.count()
    except OperationalError:  # the node of a cell of Citus
        return {**shown, "state": "away"}
    if cell == cells.SHARED:
        return {**shown, "state": "shared"}
    return {**shown, "state": "closed" if row is not None and row.closed else "ready"}


def _move_to_node(cell: str, host: str, port: str) -> None:
    database = connections[cell]
    try:
        with database.wrap_database_errors:
            # Outside of transactions and without settings: Citus works over sessions of its own.
            database.connection.execute(
                "SELECT citus_schema_move(current_schema()::regnamespace, %s, %s::int)",
                [host, port],
            )
    except Error as error:
        raise CommandError(
            f"{cell} is not moved to another node. If it is not at Citus, move its end users to "
            f"another cell (cells move {cell} CELL). {error}".strip()
        ) from error


def _check_answers(cell: str) -> None:
    """Raises CommandError unless the cell was added and answers."""
    if cell not in cells.names() or not Cell.objects.filter(name=cell).exists():
        raise CommandError(f"There is no cell {cell!r}: cells list shows those that were added.")
    if cells.is_away(cell):
        raise CommandError(f"The cell {cell} does not answer.")


def _check_empty(cell: str) -> None:
    """Raises CommandError if the cell has end users without a placement, or events to send."""
    with cells.entered(cell):
        if EndUser.objects.exists():
            raise CommandError(f"{cell} has end users who are placed nowhere: see cells check.")
        if waiting := Delivery.objects.filter(state=Delivery.State.PENDING).count():
            raise CommandError(
                f"{waiting} events of webhooks are still to be sent from {cell}: "
                "leave it in MIO_CELLS until this says nothing more."
            )


def _seconds_since(began: float) -> float:
    return round(time.monotonic() - began, 3)
