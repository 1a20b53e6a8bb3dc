"""A database of its own for each benchmark, so that none ever touches real data."""

from collections.abc import Iterator
from contextlib import contextmanager

from accounts.cells import connection


@contextmanager
def scratch_database() -> Iterator[None]:
    """An empty, migrated database beside the configured one, dropped at the end."""
    test = connection.settings_dict.setdefault("TEST", {})
    real, test["NAME"] = connection.settings_dict["NAME"], "mio_bench"
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    try:
        yield
    finally:
        connection.creation.destroy_test_db(real, verbosity=0)
