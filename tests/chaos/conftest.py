"""Figures of each fault, printed at the end: a line of JSON each."""

import json
from typing import Any

import pytest

_KEY = pytest.StashKey[dict[str, dict[str, Any]]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_KEY] = {}


@pytest.fixture
def figures(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What a test measured, to be shown."""
    name = request.node.name.removeprefix("test_")
    return request.config.stash[_KEY].setdefault(name, {})


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    for name, told in config.stash[_KEY].items():
        terminalreporter.write_line(json.dumps({"fault": name, **told}))
