"""The suite's database server is Mio's own, and its models need no key."""

import gc
import os
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "mio_site.settings")
os.environ.update(MIO_LLM="offline", MIO_EMBEDDINGS="local", OPENAI_API_KEY="", OPENAI_BASE_URL="")
# How fast a context is says nothing on a busy machine: servers that tests start wait for searches.
os.environ["MIO_CONTEXT_DEADLINE_MS"] = "0"

import pytest
from django.conf import settings
from django.db import connection
from django.test.client import ClientHandler
from hypothesis import settings as hypothesis

from accounts import scope
from mio_site import database
from mio_site.static_files import StaticFiles

# How long an example takes says nothing on a busy machine. More examples, for whoever has the time:
# pytest --hypothesis-profile=thorough.
hypothesis.register_profile("mio", deadline=None, max_examples=30)
hypothesis.register_profile("thorough", deadline=None, max_examples=500)
hypothesis.load_profile("mio")
# Tests of whole servers, processes and browsers, which `make test-system` runs, and those of
# several database servers, which `make test-release` runs with the other ones marked so.
SYSTEM_FOLDERS = {Path(__file__).parent / name for name in ("clients", "deploy", "e2e", "system")}
RELEASE_FOLDERS = {Path(__file__).parent / "cells"}
# Tests look at everybody's rows. What a request does begins with nothing declared, as in a server.
_TESTS = ExitStack()
_read_static_files = StaticFiles.add_files_from_finders
_static_files: dict[tuple[Any, ...], dict[str, Any]] = {}


def pytest_configure() -> None:
    # What is collected stays: to look through it for garbage would be a fifth of that time.
    gc.disable()
    # Hashing passwords as well as the product does would be a quarter of the suite's time.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    database.ensure_running()
    _TESTS.enter_context(scope.all_users())
    StaticFiles.add_files_from_finders = _share_static_files
    ClientHandler.__call__ = scope.undeclared()(ClientHandler.__call__)


def pytest_make_parametrize_id(val: object) -> str | None:
    """Its length for a text of many: ids travel between processes with every report."""
    return f"{len(val)} long" if isinstance(val, str | bytes) and len(val) > 200 else None


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """True for what would be imported only to be deselected."""
    if config.option.markexpr == "not system and not release":
        return collection_path in SYSTEM_FOLDERS | RELEASE_FOLDERS or None
    marked = config.option.markexpr in ("system", "release")
    if marked and collection_path.name.startswith("test_"):
        whole = (SYSTEM_FOLDERS | RELEASE_FOLDERS).intersection(collection_path.parents)
        mark = f"pytest.mark.{config.option.markexpr}"
        return None if whole or mark in collection_path.read_text(encoding="utf-8") else True
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # The longest first: at the end one worker would wait for the other.
    items.sort(key=lambda item: "first_day" not in item.path.parts)
    for item in items:
        if not RELEASE_FOLDERS.isdisjoint(item.path.parents):
            item.add_marker("release")
        elif not SYSTEM_FOLDERS.isdisjoint(item.path.parents) and not item.get_closest_marker(
            "release"
        ):
            item.add_marker("system")


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def _texts_are_embedded_once() -> None:
    # Not imported above, where workers wait for their controller to begin.
    from tests.embedding import embed_once

    embed_once()


@pytest.fixture(scope="session", autouse=True)
def _certificates_are_read_once() -> None:
    """Each HTTP client reads all certificates of the machine: a fifth of the time of tests that
    speak to a model server on loopback, which has none."""
    import httpcore2

    httpcore2.default_ssl_context = cache(httpcore2.default_ssl_context)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, django_db_blocker: Any
) -> None:
    """Test databases are copies of a migrated one."""
    from tests import emptying, template

    emptying.delete_instead_of_flushing()
    with django_db_blocker.unblock():
        settings.DATABASES["default"]["TEST"]["TEMPLATE"] = template.ready()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> None:
    """Commits of tests don't wait for the disk: a power cut may lose a test database."""
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        name = connection.ops.quote_name(connection.settings_dict["NAME"])
        cursor.execute(f"ALTER DATABASE {name} SET synchronous_commit = off")
        connection.close()


def _share_static_files(self: StaticFiles) -> None:
    """Each client loads the middleware anew: reading the files each time would be a tenth of the
    suite's time."""
    key = (self.static_prefix, self.max_age, self.autorefresh)
    if key not in _static_files:
        _read_static_files(self)
        _static_files[key] = {"files": self.files, "directories": self.directories}
    vars(self).update(_static_files[key])
