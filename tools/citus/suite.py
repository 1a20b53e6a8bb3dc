"""A plugin of pytest that runs tests of the suite in a cell of Citus, which is migrated already
(see README.md). It is the database that tests use, and empty after them; who waits for a lock is
asked of the workers too.
"""

import os

import pytest
from django.db.backends.base.creation import BaseDatabaseCreation
from django.db.backends.utils import CursorWrapper

_HERE = "SELECT count(*) FROM ({others}) WHERE wait_event_type = 'Lock'"
_AT_WORKERS = """
SELECT sum(result::int) FROM run_command_on_workers($$
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' $$)
"""


@pytest.hookimpl(trylast=True)
def pytest_sessionstart() -> None:
    from tests import processes, template  # once Django is set up

    patch = pytest.MonkeyPatch()
    patch.setattr(template, "ready", lambda: None)
    patch.setattr(BaseDatabaseCreation, "create_test_db", _as_it_is)
    patch.setattr(BaseDatabaseCreation, "destroy_test_db", lambda *_, **__: None)
    patch.setattr(processes, "database_url", lambda: os.environ["DATABASE_URL"])
    patch.setattr(processes, "wait_until_blocked", _wait_until_blocked)


def _as_it_is(creation: BaseDatabaseCreation, *_: object, **__: object) -> str:
    return str(creation.connection.settings_dict["NAME"])


def _wait_until_blocked(cursor: CursorWrapper, sessions: int = 1, tries: int = 3000) -> None:
    from accounts import scope
    from tests import processes

    with scope.undeclared():
        for _ in range(tries):
            cursor.execute("SELECT pg_stat_clear_snapshot() FROM pg_sleep(0.01)")
            cursor.execute(_HERE.format(others=processes._OTHERS))
            here = cursor.fetchone()[0]
            cursor.execute(_AT_WORKERS)
            if here + cursor.fetchone()[0] >= sessions:
                return
    raise AssertionError("the workers never came to their write")
