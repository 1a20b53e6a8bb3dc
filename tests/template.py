"""A migrated database that test databases are copied from: a copy takes a second, migrations ten."""

import fcntl
import hashlib
from importlib.metadata import version
from pathlib import Path

from django.conf import settings
from django.db import connection

from dashboard.models import install_roles

ROOT = Path(__file__).resolve().parents[1]
NAMED = "mio_template_"
# Whose migrations are no files of ours.
BESIDE = ("django", "django-q2", "django-axes", "django-pgtrigger")
# What is done after them.
AFTER = (
    "accounts/row_security.py",
    "accounts/row_security.sql",
    "dashboard/permissions.py",
    "tests/template.py",
)


def ready() -> str:
    """The name of the one that the migrations and policies of today make; made anew when they
    change."""
    name = f"{NAMED}{_digest()}"
    real = connection.settings_dict["NAME"]
    settings.MIO_HOME.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (settings.MIO_HOME / "template.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        before = _templates()
        if name not in before:
            _make(name, real)
            _drop(before)
    _wait_until_unused(name)
    return name


def _digest() -> str:
    told = hashlib.sha256("".join(map(version, BESIDE)).encode())
    for path in [*sorted(ROOT.glob("*/migrations/*")), *(ROOT / name for name in AFTER)]:
        if path.is_file():
            told.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    return told.hexdigest()[:16]


def _make(name: str, real: str) -> None:
    """Under another name until it is whole."""
    test = connection.settings_dict["TEST"]
    named, test["NAME"] = test["NAME"], f"{name}_begun"
    try:
        connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
        install_roles()
    finally:
        connection.close()
        connection.settings_dict["NAME"] = real
        test["NAME"] = named
    with connection._nodb_cursor() as cursor:
        cursor.execute(f'ALTER DATABASE "{name}_begun" RENAME TO "{name}"')


def _wait_until_unused(name: str) -> None:
    """No copy is made while somebody is connected: autovacuum is, for a while after it was made."""
    with connection._nodb_cursor() as cursor:
        for _ in range(600):
            cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = %s", [name])
            if not cursor.fetchone()[0]:
                return
            cursor.execute("SELECT pg_sleep(0.1)")


def _templates() -> list[str]:
    with connection._nodb_cursor() as cursor:
        cursor.execute("SELECT datname FROM pg_database WHERE datname LIKE %s", [f"{NAMED}%"])
        return [name for (name,) in cursor.fetchall()]


def _drop(names: list[str]) -> None:
    with connection._nodb_cursor() as cursor:
        for name in names:
            cursor.execute(f'DROP DATABASE "{name}"')
