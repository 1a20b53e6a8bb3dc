"""A cell is closed to new end users, and all who are in it move to another one, whatever comes between."""

import uuid
from io import StringIO

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connections
from django.db import transaction as django_transaction

from accounts import cells, placement, scope
from accounts.models import App, Cell, EndUser, Placement
from contacts.models import Contact
from memories import portability
from memories.erasure.erase import forget_everything
from memories.models import Receipt
from memories.portability import move_user
from tests.api import ApiClient, user_address
from tests.cells.reached import cells_setting
from tests.cells.test_moves import BLOCKED, a_user, placed, rows_of
from tests.commands import run, run_json
from tests.factories import make_app, make_contact
from tests.processes import end_other_sessions, start, wait_until_blocked
from webhooks.models import Delivery, Endpoint

MOVE = """
from django.core.management import call_command
call_command("cells", "move", "c1", "c2")
"""


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(move_user, "READS_END", 0.05)


@pytest.fixture
def app() -> App:
    return make_app()


def cells_of(app: App) -> dict[str, str]:
    return dict(Placement.objects.filter(app=app).values_list("external_id", "cell"))


def users_in(cell: str) -> int:
    with cells.entered(cell):
        return EndUser.objects.count()


def say_hello(app: App, *users: str) -> None:
    hello = {"messages": [{"role": "user", "content": "hello"}]}
    for user in users:
        assert ApiClient(app).post(user_address(user, "messages/"), hello)[0] == 202


def test_a_closed_cell_takes_no_new_users_until_it_is_opened(app: App) -> None:
    say_hello(app, "ann", "ben")
    assert run_json("cells", "close", "c1")["state"] == "closed"
    say_hello(app, "cleo", "dora", "emil")
    assert [cell for cell in cells_of(app).values() if cell == "c1"] == ["c1"]
    say_hello(app, *cells_of(app))  # whoever is there stays
    states = {row["cell"]: row["state"] for row in run_json("cells", "list")["cells"]}
    assert states == {"default": "shared", "c1": "closed", "c2": "ready"}
    run("cells", "close", "c2")
    say_hello(app, "finn")
    assert cells_of(app)["finn"] == "default"
    run("cells", "open", "c1")
    say_hello(app, "gina")
    assert cells_of(app)["gina"] == "c1"


def test_work_that_chose_a_cell_before_it_was_closed_puts_nobody_there(app: App) -> None:
    with cells.entered("c1"):
        placement.first_seen(app, "ann")
        run("cells", "close", "c1")
        with pytest.raises(cells.Moving):
            placement.first_seen(app, "ben")
        assert placement.first_seen(app, "ann")
    assert cells_of(app) == {"ann": "c1"}


def test_a_cell_is_closed_after_the_user_who_is_being_placed_in_it(app: App) -> None:
    with cells.entered("c1"), django_transaction.atomic(cells.SHARED):
        placement.first_seen(app, "ann")
        closing = start(MOVE, MIO_CELLS=cells_setting())
        with connections["default"].cursor() as cursor:
            wait_until_blocked(cursor)
    closing.finish()
    assert cells_of(app) == {"ann": "c2"}
    assert users_in("c1") == 0


def test_all_users_of_a_cell_move_with_one_wait_for_many(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    users = {name: a_user(app, "c1", name) for name in ("ann", "ben", "cleo")}
    counts = {name: rows_of("c1", user.pk) for name, user in users.items()}
    a_user(app, "c2", "dora")
    with cells.entered("c1"):
        forget_everything(a_user(app, "c1", "zoe"))
        receipt = Receipt.objects.get()
    waits: list[float] = []
    monkeypatch.setattr(move_user, "CHUNK", 2)
    monkeypatch.setattr(move_user.time, "sleep", waits.append)
    told = run("cells", "move", "c1", "c2")
    assert "users: 3" in told
    assert "Take it out of MIO_CELLS" in told
    assert len(waits) == 2
    assert set(cells_of(app).values()) == {"c2"}
    for cell, kept in (("c1", []), ("c2", [receipt.pk])):
        with cells.entered(cell):
            assert [row.pk for row in Receipt.objects.all()] == kept
    for name, user in users.items():
        assert rows_of("c2", user.pk) == counts[name]
        assert rows_of("c1", user.pk) == {}
    assert dict(Cell.objects.values_list("name", "users")) == {"default": 0, "c1": 0, "c2": 4}
    say_hello(app, "emil")
    assert cells_of(app)["emil"] == "c2"
    assert run_json("cells", "check")["ok"] is True
    assert run_json("cells", "move", "c1", "c2")["users"] == 0


def test_who_cannot_be_moved_stays_is_named_and_moves_the_next_time(app: App) -> None:
    for name in ("ann", "ben", "cleo", "dora"):
        a_user(app, "c1", name)
    Placement.objects.filter(app=app, external_id="ann").update(moving_to="default")
    with cells.entered("c1"):
        taken = Contact.objects.get(end_user__external_id="ben").pk
    a_user(app, "c2", "emil")
    with cells.entered("c2"):
        make_contact(EndUser.objects.get(external_id="emil"), "Eve", pk=taken)
    Placement.objects.filter(app=app, external_id="emil").update(moving_to="c1")
    with pytest.raises(CommandError, match="3 end users are not moved: run it again"):
        run("cells", "move", "c1", "c2")
    assert cells_of(app) == {"ann": "c1", "ben": "c1", "cleo": "c2", "dora": "c2", "emil": "c2"}
    assert users_in("c1") == 2
    # Whom a refusal held up is written to where they are.
    assert ApiClient(app).post(user_address("ben", "contacts/"), {"name": "小明"})[0] == 201
    with cells.entered("c2"):
        Contact.objects.filter(pk=taken).delete()
    for name in ("ann", "emil"):
        run("cells", "move-user", app.name, name, cells_of(app)[name])  # called back
    assert run_json("cells", "move", "c1", "c2")["left"] == []
    assert set(cells_of(app).values()) == {"c2"}
    assert run_json("cells", "check")["ok"] is True


def test_those_who_are_left_are_named_with_the_reason(app: App) -> None:
    a_user(app, "c1")
    Placement.objects.filter(app=app).update(moving_to="default")
    said = StringIO()
    with pytest.raises(CommandError):
        call_command("cells", "move", "c1", "c2", stdout=said)
    assert f"{app.name} ann: They are on the way to default" in said.getvalue()


@pytest.mark.parametrize(("cell", "lock"), BLOCKED.values(), ids=BLOCKED)
def test_a_move_of_a_cell_that_is_killed_can_be_made_again(app: App, cell: str, lock: str) -> None:
    users = [a_user(app, "c1", name) for name in ("ann", "ben")]
    counts = [rows_of("c1", user.pk) for user in users]
    with django_transaction.atomic(cell), connections[cell].cursor() as cursor:
        with scope.undeclared():
            cursor.execute("SET LOCAL ROLE NONE; SET LOCAL mio.scope = 'all'")
            connections[cell].connection.execute(lock.format(users[1].pk))
        mover = start(MOVE, MIO_CELLS=cells_setting())
        wait_until_blocked(cursor)
        mover.kill()
        end_other_sessions(cursor)
    assert run_json("cells", "move", "c1", "c2")["left"] == []
    assert [rows_of("c2", user.pk) for user in users] == counts
    assert users_in("c1") == 0
    assert set(cells_of(app).values()) == {"c2"}
    assert run_json("cells", "check")["ok"] is True


@pytest.mark.parametrize("cell", ["c1", "c2"])
def test_a_move_that_another_one_overtook_takes_nothing_away(app: App, cell: str) -> None:
    a_user(app, "c1")
    before = placed(app)
    portability.move(placed(app), "c2")
    assert ApiClient(app).post(user_address("ann", "contacts/"), {"name": "小明"})[0] == 201
    with pytest.raises(portability.CannotMove, match="not in c1 any more"):
        portability.move(before, cell)
    _, people = ApiClient(app).get(user_address("ann", "contacts/"))
    assert {one["name"] for one in people["results"]} == {"小红", "小明"}
    assert (placed(app).cell, placed(app).moving_to) == ("c2", "")


def test_the_shared_database_is_emptied_while_others_take_new_users(app: App) -> None:
    with cells.entered(cells.SHARED):
        EndUser.objects.create(app=app, external_id="old")
    for cell in ("c1", "c2"):
        run("cells", "close", cell)
    with pytest.raises(CommandError, match="no other cell is open"):
        run("cells", "move", "default", "c1")
    run("cells", "open", "c2")
    run("cells", "move", "default", "c1")
    assert cells_of(app) == {"old": "c1"}
    assert users_in(cells.SHARED) == 0


def test_events_that_are_still_to_be_sent_keep_a_cell(app: App) -> None:
    endpoint = Endpoint.objects.create(app=app, url="https://e.org")
    with cells.entered("c1"):
        told = Delivery.objects.create(
            endpoint_id=endpoint.pk, type="ping", subject=uuid.uuid4(), data={}
        )
    with pytest.raises(CommandError, match="1 events of webhooks are still to be sent from c1"):
        run("cells", "move", "c1", "c2")
    with cells.entered("c1"):
        told.delete()
    run("cells", "move", "c1", "c2")


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (("move", "c9", "c1"), "no cell 'c9'"),
        (("move", "c1", "c9"), "no cell 'c9'"),
        (("move", "c1", "c1"), "in c1 already"),
        (("move", "c1", "db2:5432"), "not at Citus.*another cell"),
        (("close", "c9"), "no cell 'c9'"),
        (("open", "default"), "open another cell"),
    ],
)
def test_what_cannot_be_is_refused_with_words_and_changes_nothing(
    asked: tuple[str, ...], told: str
) -> None:
    with pytest.raises(CommandError, match=told):
        run("cells", *asked)
    assert not Cell.objects.filter(closed=True).exists()


def test_nobody_is_moved_to_a_cell_that_is_away(app: App, stopped_second: None) -> None:
    a_user(app, "c1")
    with pytest.raises(CommandError, match="c2 does not answer"):
        run("cells", "move", "c1", "c2")
    assert (placed(app).cell, placed(app).moving_to) == ("c1", "")
    assert not Cell.objects.filter(closed=True).exists()
