"""A backup holds every cell, of one moment, and a restore puts all of them back or none."""

import json
import re
import subprocess
import threading
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import connections
from django.db import transaction as django_transaction
from django.test import override_settings
from django_q.models import OrmQ

from accounts import cells, row_security, scope
from accounts.models import App, Cell, EndUser, Placement
from memories import portability
from memories.models import Memory
from memories.portability import move_user
from mio_site import backups
from mio_site.cell_settings import read_cells
from mio_site.postgres import dump
from mio_site.postgres.server import PostgresHome, program
from tests.api import ApiClient, user_address
from tests.cells.blocked_moves import BLOCKED, MOVE
from tests.cells.filled import a_user, placed, rows_of
from tests.cells.reached import cells_setting
from tests.commands import run, run_json
from tests.factories import make_app
from tests.processes import end_other_sessions, start, wait_until_blocked


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(move_user, "READS_END", 0.05)
    monkeypatch.setattr(backups, "LOCK_TIMEOUT", 0.1)
    OrmQ.objects.all().delete()


@pytest.fixture
def app() -> App:
    return make_app()


@pytest.fixture
def c3() -> Iterator[None]:
    """One more cell, a schema of the database that all share, where it stays: another test adds it
    again in no time."""
    options = read_cells("c3=postgres:///x?schema=cell_03")["c3"]["OPTIONS"]
    connections.settings["c3"] = {**connections["default"].settings_dict, "OPTIONS": options}
    with override_settings(MIO_CELLS=[*settings.MIO_CELLS, "c3"]):
        run("cells", "add", "c3")
        yield
        with cells.entered("c3"), scope.all_users():
            EndUser.objects.all().delete()
    Placement.objects.filter(cell="c3").delete()
    Cell.objects.filter(name="c3").delete()
    connections["c3"].close()
    del connections["c3"], connections.settings["c3"]


def statements(cell: str, *sent: str) -> None:
    own = connections[cell]
    with scope.all_users_of_session(own), own.cursor() as cursor:
        for one in sent:
            cursor.execute(one)


_SCHEMA = """
SELECT contype::text || ' ' || conname FROM pg_constraint
    WHERE connamespace = current_schema()::regnamespace AND convalidated
UNION ALL SELECT indexname FROM pg_indexes WHERE schemaname = current_schema()
UNION ALL SELECT relname || ' ' || tgname || tgenabled::text FROM pg_trigger t
    JOIN pg_class c ON c.oid = tgrelid
    WHERE relnamespace = current_schema()::regnamespace AND NOT tgisinternal
UNION ALL SELECT tablename || ' ' || policyname FROM pg_policies WHERE schemaname = current_schema()
UNION ALL SELECT sequencename || ' ' || coalesce(last_value::text, '') FROM pg_sequences
    WHERE schemaname = current_schema()
UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
    AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e')
ORDER BY 1
"""


def everything(cell: str) -> dict[str, Any]:
    """What is in a cell: the rows of every table, and what is said of tables."""
    own, found = connections[cell], {}
    with scope.all_users_of_session(own), own.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
        for (table,) in cursor.fetchall():
            cursor.execute(
                f"SELECT count(*), sum(hashtextextended(t::text, 0)::numeric) FROM {table} t"
            )
            found[table] = cursor.fetchone()
        cursor.execute(_SCHEMA)
        found["said of tables"] = cursor.fetchall()
    return found


def differing(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    keys = one.keys() | other.keys()
    return {key: (one.get(key), other.get(key)) for key in keys if one.get(key) != other.get(key)}


def destroy() -> None:
    """Every server as it was before Mio."""
    for each in connections.all(initialized_only=True):
        each.close()
    for cell in ("default", "c1"):
        own = connections[cell]
        name = own.settings_dict["NAME"]
        own.settings_dict["NAME"] = "mio"
        dump.drop_database(own, name)
        statements(cell, f"CREATE DATABASE {name}")
        own.close()
        own.settings_dict["NAME"] = name
    statements("c2", "DROP SCHEMA cell_02 CASCADE", "DROP EXTENSION vector, btree_gin, btree_gist")


def schemas_in(dumped: bytes) -> set[str]:
    """Whose tables pg_dump wrote."""
    listed = subprocess.run(
        [program("pg_restore"), "--list"], input=dumped, capture_output=True, check=True
    )
    return set(re.findall(r" 1259 \d+ TABLE (\w+) ", listed.stdout.decode()))


@pytest.mark.usefixtures("c3")
def test_every_cell_comes_back_as_it_was_on_empty_servers(app: App, tmp_path: Path) -> None:
    held = {cell: a_user(app, cell, f"of {cell}") for cell in cells.names()}
    file = tmp_path / "all.backup"
    assert "of 4 databases" in run("backup", str(file))
    assert file.stat().st_mode & 0o777 == 0o600
    before = {cell: everything(cell) for cell in cells.names()}
    counts = {cell: rows_of(cell, held[cell].pk) for cell in cells.names()}
    with zipfile.ZipFile(file) as archive:
        manifest = json.loads(archive.read("manifest.json"))
    assert [(one["name"], one["schema"]) for one in manifest["cells"]] == [
        ("c1", "public"), ("c2", "cell_02"), ("c3", "cell_03"),
    ]  # fmt: skip
    for one in manifest["cells"]:
        assert one["rows"]["accounts_enduser"] == 1
        assert one["rows"]["memories_message"] == counts[one["name"]]["memories_message"]
        assert one["postgres"].startswith("18")
    with zipfile.ZipFile(file) as archive:
        assert schemas_in(archive.read("database.dump")) == {"public"}
        assert schemas_in(archive.read("cells/c3.dump")) == {"cell_03"}
    destroy()
    run("restore", str(file), "--yes")
    for cell in cells.names():
        assert differing(everything(cell), before[cell]) == {}, cell
    assert {cell: rows_of(cell, held[cell].pk) for cell in cells.names()} == counts
    assert run_json("doctor")["ok"] is True
    assert run_json("cells", "check")["ok"] is True
    for cell in cells.names():
        assert ApiClient(app).get(user_address(f"of {cell}", "contacts/"))[1]["count"] == 1


@contextmanager
def away(cell: str) -> Iterator[None]:
    """A cell whose server nobody listens at."""
    own = connections[cell]
    real = own.settings_dict["HOST"]
    own.close()
    own.settings_dict["HOST"] = "/nowhere"
    try:
        yield
    finally:
        own.close()
        own.settings_dict["HOST"] = real
        cells._away_until.clear()


def with_manifest(file: Path, to: Path, change: Any) -> Path:
    """A copy whose manifest says something else."""
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(to, "w") as new:
        for name in old.namelist():
            text = old.read(name)
            if name == "manifest.json":
                told = json.loads(text)
                change(told)
                text = json.dumps(told).encode()
            new.writestr(name, text)
    return to


def refused(file: Path, *option: str) -> str:
    with pytest.raises(CommandError) as error:
        run("restore", str(file), *(option or ("--yes",)))
    return str(error.value)


def test_a_restore_that_has_no_place_for_a_cell_changes_nothing(app: App, tmp_path: Path) -> None:
    for cell in ("c1", "c2"):
        a_user(app, cell, f"of {cell}")
    file, alone = tmp_path / "all.backup", tmp_path / "alone.backup"
    run("backup", str(file))
    later = make_app()
    unnamed = "End users are in c2, which MIO_CELLS does not name"
    with override_settings(MIO_CELLS=["c1"]), pytest.raises(CommandError, match=unnamed):
        run("backup", str(alone))
    with away("c2"):
        with pytest.raises(CommandError, match=r"not answer: c2\. No backup was made"):
            run("backup", str(alone))
        assert "not answer: c2. Nothing was changed" in refused(file)
    assert list(tmp_path.iterdir()) == [file]
    with override_settings(MIO_CELLS=["c1"]):
        assert "as c2=postgres://…?schema=cell_02. Nothing was changed" in refused(file)
    with override_settings(MIO_CELLS=[]):
        assert "as c1=postgres://…,c2=postgres://…?schema=cell_02" in refused(file)

    def without_c2(told: dict[str, Any]) -> None:
        told["cells"] = [one for one in told["cells"] if one["name"] != "c2"]

    def elsewhere(told: dict[str, Any]) -> None:
        told["cells"][1]["schema"] = "cell_05"

    def of_a_newer_mio(told: dict[str, Any]) -> None:
        told["cells"][1]["migrations"].append(["memories", "9999_then"])

    for change, said in (
        (without_c2, "The backup does not hold c2: take them out of MIO_CELLS"),
        (elsewhere, "let its address end in ?schema=cell_05"),
        (of_a_newer_mio, "newer Mio"),
    ):
        told = refused(with_manifest(file, tmp_path / "changed", change))
        assert said in told
        assert "Nothing was changed" in told
    cut = tmp_path / "cut"
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(cut, "w") as new:
        for name in ("manifest.json", "database.dump", "cells/c1.dump"):
            new.writestr(name, old.read(name))
    assert "cells/c2.dump is missing" in refused(cut)
    assert App.objects.filter(pk=later.pk).exists()
    assert run_json("cells", "check")["ok"] is True


def test_what_can_not_be_loaded_into_one_cell_replaces_none(app: App, tmp_path: Path) -> None:
    held = {cell: a_user(app, cell, f"of {cell}") for cell in ("c1", "c2")}
    file = tmp_path / "all.backup"
    run("backup", str(file))
    with cells.entered("c1"):
        Memory.objects.all().delete()
    statements("c2", "CREATE SCHEMA other", "CREATE TABLE other.about AS SELECT 1 AS n")
    before = {cell: everything(cell) for cell in cells.names()}
    broken = tmp_path / "broken"
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(broken, "w") as new:
        for name in old.namelist():
            text = old.read(name)
            # The shared one is loaded last: its data end too early, in a whole file.
            new.writestr(name, text[: len(text) // 2] if name == "database.dump" else text)
    assert "The shared database: " in (told := refused(broken))
    assert "Nothing was changed" in told
    for cell in cells.names():
        assert differing(everything(cell), before[cell]) == {}, cell

    run("restore", str(file), "--yes")
    assert rows_of("c1", held["c1"].pk) == rows_of("c2", held["c2"].pk)
    statements("c2", "SELECT n FROM other.about", "DROP SCHEMA other CASCADE")
    assert run_json("cells", "check")["ok"] is True


END_PSQL = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE application_name = 'psql' AND datname = current_database()
"""


def test_a_cell_that_is_lost_while_others_are_loaded_leaves_all_as_they_were(
    app: App, tmp_path: Path
) -> None:
    a_user(app, "c1")
    file = tmp_path / "all.backup"
    run("backup", str(file))
    with cells.entered("c1"):
        Memory.objects.all().delete()
    before, held = everything("c1"), threading.Event()

    def cut() -> None:
        """While the shared database, which is the last, waits for a table."""
        with django_transaction.atomic("default"), connections["default"].cursor() as cursor:
            cursor.execute("LOCK TABLE accounts_app IN ACCESS SHARE MODE")
            held.set()
            wait_until_blocked(cursor)
            connections["c1"].ensure_connection()
            connections["c1"].connection.execute(END_PSQL)
        cells.release()

    thread = threading.Thread(target=cut)
    thread.start()
    held.wait()
    told = refused(file)
    thread.join()
    assert "The cell c1: " in told
    assert "Nothing was changed" in told
    assert differing(everything("c1"), before) == {}


RESTORE = """
import sys
from django.core.management import call_command
call_command("restore", sys.argv[1], yes=True)
"""


def test_a_restore_that_is_killed_has_changed_nothing(app: App, tmp_path: Path) -> None:
    a_user(app, "c1")
    file = tmp_path / "all.backup"
    run("backup", str(file))
    with cells.entered("c1"):
        Memory.objects.all().delete()
    before = {cell: everything(cell) for cell in cells.names()}
    with django_transaction.atomic("default"), connections["default"].cursor() as cursor:
        cursor.execute("LOCK TABLE accounts_app IN ACCESS SHARE MODE")
        restorer = start(RESTORE, file, MIO_CELLS=cells_setting())
        wait_until_blocked(cursor)  # the cells are loaded by now
        restorer.kill()
    # What psql was sent it does to its end, holding tables that are waited for here.
    for cell in cells.names():
        assert differing(everything(cell), before[cell]) == {}, cell


def test_where_a_server_dies_between_two_commits_it_is_told_which_are_replaced(
    app: App, tmp_path: Path
) -> None:
    a_user(app, "c1")
    file = tmp_path / "all.backup"
    run("backup", str(file))
    before = everything("c1")
    with cells.entered("c1"):
        Memory.objects.all().delete()
    with ExitStack() as stack:
        loads = {}
        for one in backups.read_manifest(file).databases:
            dumped = stack.enter_context(backups.dumped(file, one))
            load = dump.loaded(connections[one.name], dumped, one.schema_name)
            loads[one.name] = stack.enter_context(load)
        statements("c2", END_PSQL)
        with pytest.raises(CommandError) as error:
            backups.commit(loads)
    assert "The cell c2: " in str(error.value)
    assert "Replaced: c1. Perhaps: c2. Not replaced: default." in str(error.value)
    assert differing(everything("c1"), before) == {}
    run("restore", str(file), "--yes")
    assert differing(everything("c1"), before) == {}
    assert run_json("cells", "check")["ok"] is True


def scratch_databases(cell: str) -> list[str]:
    with cells.entered(cell), connections[cell].cursor() as cursor:
        cursor.execute("SELECT datname FROM pg_database WHERE datname LIKE 'mio_scratch%%'")
        return cursor.fetchall()


def test_a_backup_is_verified_in_scratch_databases_of_every_server(
    app: App, tmp_path: Path
) -> None:
    for cell in ("c1", "c2"):
        a_user(app, cell, f"of {cell}")
    call_command("install_schedules", verbosity=0)
    file = tmp_path / "all.backup"
    assert "can be restored" in run("backup", str(file), "--verify")
    before = {cell: everything(cell) for cell in cells.names()}

    def one_row_more(told: dict[str, Any]) -> None:
        told["cells"][1]["rows"]["memories_message"] += 1

    less = with_manifest(file, tmp_path / "less", one_row_more)
    told = refused(less, "--verify")
    assert "The cell c2: Rows are missing, or too many: memories_message (" in told
    with cells.entered("c2"):
        Memory.objects.update(tokens=[])
    with pytest.raises(CommandError, match=r"c2: \d+ things are wrong in \d of \d+ checks"):
        run("backup", str(tmp_path / "damaged"), "--verify")
    statements("c2", "SELECT setval('memories_message_id_seq', 1::bigint << 52)")
    with pytest.raises(CommandError, match="c2: memories_message_id_seq gives ids of another"):
        run("backup", str(tmp_path / "astray"), "--verify")
    run("restore", str(file), "--yes")
    assert scratch_databases("default") == scratch_databases("c2") == []
    for cell in cells.names():
        assert differing(everything(cell), before[cell]) == {}, cell


@pytest.mark.parametrize("again", [False, True], ids=["settled", "made again"])
@pytest.mark.parametrize(("cell", "lock"), BLOCKED.values(), ids=BLOCKED)
def test_a_move_under_way_is_in_one_cell_after_the_restore(
    app: App, tmp_path: Path, cell: str, lock: str, again: bool
) -> None:
    end_user = a_user(app, "c1")
    counts, file = rows_of("c1", end_user.pk), tmp_path / "all.backup"
    with django_transaction.atomic(cell), connections[cell].cursor() as cursor:
        with scope.undeclared():
            cursor.execute("SET LOCAL ROLE NONE; SET LOCAL mio.scope = 'all'")
            connections[cell].connection.execute(lock.format(end_user.pk))
        mover = start(MOVE, app.name, MIO_CELLS=cells_setting())
        wait_until_blocked(cursor)
        mover.kill()
        end_other_sessions(cursor)
    run("backup", str(file))
    moved = placed(app).cell
    if again:
        backups.restore_backup(file, backups.read_manifest(file))
        call_command("migrate", verbosity=0)
        run("cells", "move-user", app.name, "ann", "c2")
        moved = "c2"
    else:
        run("restore", str(file), "--yes")
    assert (placed(app).cell, placed(app).moving_to) == (moved, "")
    assert rows_of(moved, end_user.pk) == counts
    assert rows_of("c1" if moved == "c2" else "c2", end_user.pk) == {}
    assert run_json("cells", "check")["ok"] is True


class Beside:
    """Threads that move an end user around all cells, and bring new ones, until they are asked to
    stop."""

    def __init__(self, app: App) -> None:
        self._app, self._stop = app, threading.Event()
        self.statuses: set[int] = set()
        self.moves = 0
        self._client = ApiClient(app)
        self._threads = [threading.Thread(target=each) for each in (self._move, self._come)]

    def __enter__(self) -> "Beside":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _move(self) -> None:
        with scope.all_users():
            while not self._stop.is_set():
                portability.move(placed(self._app), ("c2", "default", "c1")[self.moves % 3])
                self.moves += 1
        cells.release()

    def _come(self) -> None:
        number = 0
        while not self._stop.is_set():
            number += 1
            new = user_address(f"user {number}", "contacts/")
            self.statuses.add(self._client.post(new, {"name": "小红"})[0])
        cells.release()


def test_backups_beside_moves_and_new_users_have_everybody_once(app: App, tmp_path: Path) -> None:
    end_user = a_user(app, "c1")
    counts = rows_of("c1", end_user.pk)
    files = [tmp_path / f"{number}.backup" for number in range(4)]
    with Beside(app) as others:
        for file in files:
            run("backup", str(file))
    assert others.moves > len(files)
    assert others.statuses == {201}
    for file in files:
        run("restore", str(file), "--yes")
        found = {cell: rows_of(cell, end_user.pk) for cell in cells.names()}
        assert {cell: rows for cell, rows in found.items() if rows} == {placed(app).cell: counts}
        assert run_json("cells", "check")["ok"] is True


@contextmanager
def placement_written(app: App) -> Iterator[None]:
    """Somebody writes in which cell users are, and does not come to an end."""
    held, stop = threading.Event(), threading.Event()

    def write() -> None:
        with scope.all_users(), django_transaction.atomic("default"):
            Placement.objects.filter(app=app).update(moving_to="")
            held.set()
            stop.wait()
        cells.release()

    thread = threading.Thread(target=write)
    thread.start()
    held.wait()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def test_a_lock_that_is_not_to_be_had_ends_the_backup_and_holds_nobody_up(
    app: App, tmp_path: Path
) -> None:
    a_user(app, "c1")
    with placement_written(app):
        with pytest.raises(CommandError, match=r"when that is done\. No backup was made"):
            run("backup", str(tmp_path / "all.backup"))
        assert list(tmp_path.iterdir()) == []
        assert ApiClient(app).post(user_address("eva", "contacts/"), {"name": "小红"})[0] == 201
    run("backup", str(tmp_path / "all.backup"))


OF_THE_FIRST_FORM = ("format", "made_at", "postgres", "migrations", "rows")


@pytest.mark.usefixtures("c3")
def test_a_file_from_before_there_were_cells_restores_the_shared_database_alone(
    tmp_path: Path,
) -> None:
    made, old = tmp_path / "made", tmp_path / "old"
    kept = make_app()
    with override_settings(MIO_CELLS=[]):
        run("backup", str(made))

    def as_it_was(told: dict[str, Any]) -> None:
        assert told["format"] == 1
        for key in told.keys() - set(OF_THE_FIRST_FORM):
            del told[key]

    with_manifest(made, old, as_it_was)
    with override_settings(MIO_CELLS=[]):
        assert "can be restored" in run("restore", str(old), "--verify")
    later = make_app()
    assert "The backup does not hold c1, c2, c3" in refused(old)
    before = {cell: everything(cell) for cell in settings.MIO_CELLS}
    with override_settings(MIO_CELLS=[]):
        run("restore", str(old), "--yes")
    assert App.objects.filter(pk__in=[kept.pk, later.pk]).get() == kept
    for cell in settings.MIO_CELLS:
        assert differing(everything(cell), before[cell]) == {}, cell
        run("cells", "add", cell)
    assert run_json("cells", "check")["ok"] is True


@pytest.fixture
def named_citus(second_home: Path) -> Iterator[None]:
    """The second server has an extension of this name, with nothing in it."""
    folder = PostgresHome(second_home).folder / "extension"
    (folder / "citus.control").write_text("default_version = '1'\ntrusted = true\n")
    (folder / "citus--1.sql").write_text("SELECT 1;\n")
    statements("c2", "CREATE EXTENSION citus SCHEMA public")
    row_security._logins.clear()
    yield
    statements("c2", "DROP EXTENSION citus")
    row_security._logins.clear()


def test_what_citus_keeps_is_refused(app: App, tmp_path: Path, named_citus: None) -> None:
    with pytest.raises(CommandError, match="Citus keeps c2: back up every node by"):
        run("backup", str(tmp_path / "all.backup"))
    assert list(tmp_path.iterdir()) == []
