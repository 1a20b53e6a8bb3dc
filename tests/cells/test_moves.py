"""An end user moves to another cell with every row, whoever writes and whatever dies meanwhile."""

import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management.base import CommandError
from django.db import connections
from django.db import transaction as django_transaction
from django_q.models import OrmQ

from accounts import cells, fair_queue, placement, scope
from accounts.models import App, Cell, EndUser, Placement
from contacts.models import Contact
from memories import portability, queue
from memories.models import Batch, Message
from memories.pipeline import buffer
from memories.portability import move_user
from tests.api import ApiClient, user_address
from tests.cells.blocked_moves import BLOCKED, MOVE
from tests.cells.filled import SAID, a_user, placed, rows_of
from tests.cells.reached import cells_setting
from tests.commands import run, run_json
from tests.factories import LIFE, make_app, make_life
from tests.processes import end_other_sessions, start, wait_until_blocked


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(move_user, "READS_END", 0.05)
    OrmQ.objects.all().delete()


@pytest.fixture
def app() -> App:
    return make_app()


def test_every_row_moves_as_it_is_and_none_stays(app: App) -> None:
    with cells.entered("c1"):
        make_life(app, "ann", LIFE[2:])
    end_user = a_user(app, "c1")
    with cells.entered("c1"):
        before, counts = portability.export_user(end_user), rows_of("c1", end_user.pk)
    assert counts["memories_vector"] > 0
    users = dict(Cell.objects.values_list("name", "users"))
    told = run_json("cells", "move-user", app.name, "ann", "c2")
    assert told["rows"] == sum(counts.values()) > 20
    assert rows_of("c2", end_user.pk) == counts
    assert rows_of("c1", end_user.pk) == {}
    assert (placed(app).cell, placed(app).moving_to) == ("c2", "")
    with cells.entered("c2"):
        moved = EndUser.objects.get(pk=end_user.pk)
        after = portability.export_user(moved)
        held = Batch.objects.filter(end_user=moved).latest("first_seq")
        assert held.state == Batch.State.PENDING
    for document in (before, after):
        for batch in document["batches"]:
            del batch["state"]
        del document["exported_at"]
    assert after == before
    now = dict(Cell.objects.values_list("name", "users"))
    assert now == users | {"c1": users["c1"] - 1, "c2": users["c2"] + 1}
    assert run_json("cells", "check")["ok"] is True


def test_what_was_changed_before_a_move_is_undone_after_it(app: App) -> None:
    a_user(app, "c2")
    run("cells", "move-user", app.name, "ann", "c1")
    client = ApiClient(app)
    _, changes = client.get(user_address("ann", "changes/"))
    change = next(one for one in changes["results"] if one["verb"] == "edit_contact")
    assert client.post(user_address("ann", f"changes/{change['id']}/undo/"))[0] == 200
    _, people = client.get(user_address("ann", "contacts/"))
    assert [one["relationship"] for one in people["results"]] == [""]
    assert client.post(user_address("ann", "contacts/"), {"name": "小明"})[0] == 201


def test_while_a_user_is_moved_they_are_read_and_not_written(app: App) -> None:
    end_user = a_user(app, "c1")
    Placement.objects.filter(user_pk=end_user.pk).update(moving_to="c2")
    client = ApiClient(app)
    assert client.get(user_address("ann", "contacts/"))[1]["count"] == 1
    status, found = client.post(user_address("ann", "context/"), {"message": "小红"})
    assert (status, len(found["contacts"])) == (200, 1)
    status, refused = client.post(user_address("ann", "contacts/"), {"name": "小明"})
    assert (status, refused["error"]["code"]) == (503, "moving")
    assert client.reply.headers["Retry-After"]
    with cells.entered("c1"), pytest.raises(cells.Moving):
        buffer.receive(app, "ann", SAID)
    OrmQ.objects.all().delete()
    queue.enqueue("extract", end_user.pk)
    [task] = OrmQ.objects.all()
    fair_queue.run_in_cell(*task.task["args"])
    assert OrmQ.objects.order_by("pk").last().lock > task.lock
    run("cells", "move-user", app.name, "ann", "c1")  # called back
    assert client.post(user_address("ann", "contacts/"), {"name": "小明"})[0] == 201


def test_work_that_knows_of_no_move_writes_nothing_where_the_user_was(app: App) -> None:
    end_user = a_user(app, "c1")
    run("cells", "move-user", app.name, "ann", "c2")
    with cells.entered("c1"):
        with pytest.raises(cells.Moving):
            buffer.receive(app, "ann", SAID)
        with cells.atomic(), pytest.raises(cells.Moving):
            EndUser.objects.lock(end_user.pk)
    assert rows_of("c1", end_user.pk) == {}


class Writers:
    """Threads that send messages and read, each of them until it is asked to stop; a refusal that
    asks to try again is tried again."""

    def __init__(self, app: App, count: int) -> None:
        self.stored: list[str] = []
        self.statuses: Counter[int] = Counter()
        self.wrong: list[Any] = []
        self._stop = threading.Event()
        self._client = [ApiClient(app) for _ in range(count)]
        self._threads = [
            threading.Thread(target=self._write, args=(number,)) for number in range(count)
        ]

    def __enter__(self) -> "Writers":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _write(self, writer: int) -> None:
        client, number = self._client[writer], 0
        while not self._stop.is_set():
            number += 1
            name = f"w{writer}-{number}"
            body = {"messages": [{"id": name, "role": "user", "content": f"message {name}"}]}
            while True:
                status, told = client.post(user_address("ann", "messages/"), body)
                self.statuses[status] += 1
                if status == 202:
                    self.stored.append(name)
                    break
                if status != 503:
                    self.wrong.append(told)
                    break
            status, told = client.get(user_address("ann", "messages/?limit=1"))
            self.statuses[status] += 1
            if status not in (200, 503) or (status == 200 and not told["results"]):
                self.wrong.append(told)
        cells.release()


def test_four_threads_write_while_a_user_moves_to_and_fro(app: App) -> None:
    end_user = a_user(app, "c1")
    with Writers(app, 4) as writers:
        for cell in ("c2", "c1", "c2"):
            held = len(writers.stored)
            while len(writers.stored) < held + 8:
                assert not writers.wrong
            portability.move(placed(app), cell)
    assert not writers.wrong
    assert set(writers.statuses) <= {200, 202, 503}
    assert rows_of("c1", end_user.pk) == {}
    with cells.entered("c2"):
        rows = Message.objects.filter(end_user=end_user, client_id__startswith="w")
        assert sorted(rows.values_list("client_id", flat=True)) == sorted(writers.stored)
        seqs = list(Message.objects.filter(end_user=end_user).values_list("seq", flat=True))
        assert sorted(seqs) == list(range(1, len(SAID) + len(writers.stored) + 1))
    assert run_json("cells", "check")["ok"] is True


@pytest.mark.parametrize(("cell", "lock"), BLOCKED.values(), ids=BLOCKED)
def test_a_move_that_is_killed_can_be_made_again(app: App, cell: str, lock: str) -> None:
    end_user = a_user(app, "c1")
    counts = rows_of("c1", end_user.pk)
    with django_transaction.atomic(cell), connections[cell].cursor() as cursor:
        with scope.undeclared():
            cursor.execute("SET LOCAL ROLE NONE; SET LOCAL mio.scope = 'all'")
            connections[cell].connection.execute(lock.format(end_user.pk))
        mover = start(MOVE, app.name, MIO_CELLS=cells_setting())
        wait_until_blocked(cursor)
        mover.kill()
        end_other_sessions(cursor)
    assert ApiClient(app).get(user_address("ann", "contacts/"))[1]["count"] == 1
    run("cells", "move-user", app.name, "ann", "c2")
    assert rows_of("c2", end_user.pk) == counts
    assert rows_of("c1", end_user.pk) == {}
    assert placed(app).cell == "c2"
    assert run_json("cells", "check")["ok"] is True


def test_a_move_to_a_cell_that_is_away_begins_nothing(app: App, stopped_second: None) -> None:
    a_user(app, "c1")
    with pytest.raises(CommandError, match="c2 does not answer"):
        run("cells", "move-user", app.name, "ann", "c2")
    assert (placed(app).cell, placed(app).moving_to) == ("c1", "")
    with pytest.raises(CommandError, match="no cell 'c9'"):
        run("cells", "move-user", app.name, "ann", "c9")
    with pytest.raises(CommandError, match="no end user 'eva'"):
        run("cells", "move-user", app.name, "eva", "c1")


@pytest.fixture
def told_wrong(app: App) -> Iterator[int]:
    """An end user who is placed nowhere, a placement of nobody, rows without their user."""
    end_user = a_user(app, "c1")
    held = placed(app)
    Placement.objects.filter(pk=held.pk).delete()
    Placement.objects.create(app=app, external_id="gone", cell="c2", user_pk=7)
    yield end_user.pk
    Placement.objects.filter(app=app, external_id="gone").delete()


def test_check_says_what_is_wrong_and_mends_what_it_can(app: App, told_wrong: int) -> None:
    with pytest.raises(CommandError, match="4 things are wrong"):
        run("cells", "check")
    told = run_json("cells", "check", "--fix")
    assert {problem["what"] for problem in told["problems"]} >= {
        "is placed in no cell",
        "is placed here, and is not here",
    }
    assert run_json("cells", "check")["ok"] is True
    assert placement.cell_of(told_wrong) == "c1"
    assert Contact.objects.using("c1").db == "c1"


def test_a_user_who_is_not_where_they_are_placed_is_not_deleted_elsewhere(app: App) -> None:
    end_user = a_user(app, "c1")
    counts = rows_of("c1", end_user.pk)
    Placement.objects.filter(user_pk=end_user.pk).update(cell="c2")
    with pytest.raises(CommandError, match="placed in c2, and are not there"):
        run("cells", "move-user", app.name, "ann", "c2")
    assert rows_of("c1", end_user.pk) == counts
    with pytest.raises(CommandError, match="1 things are wrong"):
        run("cells", "check", "--fix")  # whom nobody places is found by the next
    run("cells", "check", "--fix")
    assert placed(app).cell == "c1"
    assert rows_of("c1", end_user.pk) == counts
