"""The files of the embedded PostgreSQL, their owner, and its locks."""

import fcntl
import hashlib
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

ROLE = "mio"
PORT = "5432"  # only names the socket file: nothing listens on a port
SOCKET_PATH_LIMIT = 107  # bytes of sockaddr_un.sun_path without its final NUL, unix(7)
TEMPORARY = Path("/tmp")  # noqa: S108 - not $TMPDIR: all processes of a home must agree


class ServerError(Exception):
    """The server cannot be had; the message says why and what to do."""


class PostgresHome:
    """The files of one server, all in ``home/postgres``.

    ``data`` belongs to the user that runs the server, everything else to this process's.
    """

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
        """Makes the folders. Refuses those that others own or could change; widens none."""
        self.home.mkdir(mode=0o700, parents=True, exist_ok=True)
        _check_owner(self.home, forbidden=0o022)
        self.folder.mkdir(mode=0o700, exist_ok=True)
        _check_owner(self.folder, forbidden=0o077)

    def make_sockets(self) -> None:
        """Makes the folder of the socket; in the temp folder nobody else may have made it."""
        if self.sockets != self.data:
            self.sockets.parent.mkdir(mode=0o700, exist_ok=True)
            _check_owner(self.sockets.parent, forbidden=0o077)
            self.sockets.mkdir(mode=0o700, exist_ok=True)

    def password(self) -> str:
        """The password of the role."""
        return kept_secret(self.folder / "password", 32)


def kept_secret(path: Path, size: int) -> str:
    """The secret in a file, of ``size`` random bytes; whichever process comes first makes it."""
    with usable(path.parent):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            fresh = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
            fresh.touch(mode=0o600)
            fresh.write_text(secrets.token_urlsafe(size) + "\n")
            try:
                path.hardlink_to(fresh)  # whoever links first wins; all read the same
            except FileExistsError:
                pass
            finally:
                fresh.unlink()
        return path.read_text().strip()


@contextmanager
def usable(folder: Path) -> Iterator[None]:
    """Turns what the file system refuses into a ServerError that says what to do."""
    try:
        yield
    except OSError as error:
        raise ServerError(
            f"{error.filename or folder}: {error.strerror or error}. "
            "Set MIO_HOME to a folder that this user may write to."
        ) from error


def lock(path: Path, kind: int) -> BinaryIO:
    """Waits for the lock; closing the file, or the end of the process, gives it back."""
    file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "r+b", 0)
    fcntl.flock(file, kind)
    return file


def try_lock(path: Path, kind: int) -> BinaryIO | None:
    """The lock, or None when it can't be had at once."""
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
