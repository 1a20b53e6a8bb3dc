"""Three cells on two real servers: what all share and ``c1`` on the suite's own, ``c2`` as a schema
on another one that a test may stop."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import connections, router
from django.test import override_settings
from django_q.models import OrmQ

from accounts import cells, scope
from accounts.models import Cell, EndUser, Placement
from mio_site.cell_settings import read_cells
from mio_site.postgres import server
from mio_site.postgres.dump import drop_database
from mio_site.postgres.server import PostgresHome
from tests import template


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Servers are slow to start: one worker has them for all of these tests."""
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.xdist_group("cells"))


@pytest.fixture(scope="session")
def second_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The home of the second server, which runs."""
    home = tmp_path_factory.mktemp("second")
    server.ensure_running(home)
    yield home
    server.leave(home)


@contextmanager
def _spread(directory: str, second_home: Path) -> Iterator[None]:
    """The process as with MIO_CELLS set, and ``default`` another database than other tests have.
    Other tests know nothing of the cells: who empties databases between them asks for all."""
    own = connections["default"]
    second = server.connection(second_home)
    options = read_cells("c2=postgres:///x?schema=cell_02")["c2"]["OPTIONS"]
    connections.settings["c1"] = {**own.settings_dict, "NAME": f"{directory}_c1"}
    connections.settings["c2"] = {**own.settings_dict, **second, "OPTIONS": options}
    before = own.settings_dict["NAME"]
    own.close()
    own.settings_dict["NAME"] = directory
    router.routers = [cells.Router()]
    try:
        with override_settings(MIO_CELLS=["c1", "c2"]):
            yield
    finally:
        del router.routers
        for each in connections.all():
            each.close()
        for cell in ("c1", "c2"):
            del connections[cell], connections.settings[cell]
        own.settings_dict["NAME"] = before


@pytest.fixture(scope="session")
def _directory(django_db_blocker: Any, second_home: Path) -> Iterator[str]:
    """The name of the database that all share; both cells are added as an operator does."""
    name = f"test_cells_{os.getpid()}"
    with django_db_blocker.unblock():
        _on_server(f"CREATE DATABASE {name} TEMPLATE {template.ready()}")
        _on_server(f"CREATE DATABASE {name}_c1 TEMPLATE {template.ready()}")
        with _spread(name, second_home):
            _drop_what_is_shared("c1")
            call_command("install_schedules", verbosity=0)
            for cell in settings.MIO_CELLS:
                call_command("cells", "add", cell, verbosity=0)
        yield name
        for each in (f"{name}_c1", name):
            drop_database(connections["default"], each)
        connections["default"].close()


def _on_server(*statements: str) -> None:
    with connections["default"].cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
    connections["default"].close()


def _drop_what_is_shared(cell: str) -> None:
    """Leaves a copy of the template as migrations leave a cell."""
    models = apps.get_models(include_auto_created=True)
    shared = {
        model._meta.db_table for model in models if model._meta.app_label not in settings.CELL_APPS
    }
    with connections[cell].cursor() as cursor:
        cursor.execute(f"DROP TABLE {', '.join(sorted(shared))} CASCADE")


@pytest.fixture(autouse=True)
def _several(_directory: str, second_home: Path, django_db_blocker: Any) -> Iterator[None]:
    with django_db_blocker.unblock(), _spread(_directory, second_home):
        yield
        _empty()


def _empty() -> None:
    """Nobody is left in any cell, so that tests may come in any order."""
    for cell in cells.names():
        with cells.entered(cell), scope.all_users():
            EndUser.objects.all().delete()
    Placement.objects.all().delete()
    Cell.objects.update(users=0, closed=False)
    OrmQ.objects.all().delete()


@pytest.fixture
def stopped_second(second_home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The second server is stopped, and comes back after the test."""
    monkeypatch.setattr(cells, "ASK_AGAIN", 0.0)
    connections["c2"].close()
    server.stop(PostgresHome(second_home))
    yield
    server.ensure_running(second_home)
    connections["c2"].close()
