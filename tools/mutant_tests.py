"""Runs tests on mutants, for ``python -m tools mutate``, in the copy of the repository that it is
started in. The libraries are loaded once, and each run is a fork.

Reads a line for each run: a JSON object with ``files`` of tests and, for the first run, the
``measured`` modules, or else the ``seconds`` of the tests to run, in their order. Answers with a
line: the exit code of pytest (negative for a run that took too long), the seconds of processor time
of each test that passed, and for each measured module which of them run which lines.
"""

import contextlib
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from coverage import Coverage

OPTIONS = (
    "-q -o addopts= -p no:xdist -p no:faker -p no:langsmith_plugin -p no:cacheprovider".split()
)
LIBRARIES = (
    "django.db.models", "jieba.posseg", "nicknames", "numpy", "openai", "phonenumbers", "psycopg",
    "pydantic", "pypinyin", "regex",
)  # fmt: skip
# The fixtures of pytest-django that use the database.
DATABASE = {"db", "transactional_db", "django_db_setup", "live_server"}
# Files that cannot be imported are left out of the first run; a mutant that cannot is caught.
FIRST_RUN, MUTANT_RUN = ["--continue-on-collection-errors"], ["-x"]
# What a mutant may take of the processor, in times of the tests unmutated and seconds besides: it
# may never end. A mutant that waits for ever ends by the clock, which says less on a busy machine.
TIMES, SECONDS, CLOCK = 3, 15, 10


class Selection:
    """The tests to run, in their order, where none are named all that need no database; and how
    long each took that passed."""

    def __init__(self, expected: Sequence[str], coverage: Coverage | None) -> None:
        self._order = {test: place for place, test in enumerate(expected)}
        self._coverage = coverage
        self.seconds: dict[str, float] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self._order:
            items[:] = [item for item in items if item.nodeid in self._order]
            items.sort(key=lambda item: self._order[item.nodeid])
        else:
            items[:] = [item for item in items if not _needs_database(item)]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        if self._coverage:
            self._coverage.switch_context(item.nodeid)
        begun = time.process_time()
        try:
            yield
            self.seconds[item.nodeid] = round(time.process_time() - begun, 4)
        finally:
            if self._coverage:
                self._coverage.switch_context("")


def _needs_database(item: pytest.Item) -> bool:
    fixtures = DATABASE.intersection(getattr(item, "fixturenames", ()))
    return bool(fixtures) or item.get_closest_marker("django_db") is not None


def main() -> None:
    for name in LIBRARIES:
        with contextlib.suppress(ImportError):
            __import__(name)
    hypothesis.settings.register_profile(
        "mutants", deadline=None, derandomize=True, database=None, max_examples=25
    )
    for line in sys.stdin:
        print(json.dumps(_run(**json.loads(line))), flush=True)


def _run(
    files: Sequence[str], seconds: Mapping[str, float] = {}, measured: Sequence[str] = ()
) -> tuple[int, Any]:
    """In a fork: what a mutant does to this process ends with it."""
    result = Path("passed.json")
    result.write_text("[{}, {}]")
    child = os.fork()
    if not child:
        out = os.open("tests.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(out, 1)
        os.dup2(out, 2)
        code: Any = 3
        try:
            if seconds:
                most = int(TIMES * sum(seconds.values())) + SECONDS
                resource.setrlimit(resource.RLIMIT_CPU, (most, most))
                signal.alarm(CLOCK * most)
            hypothesis.settings.load_profile("mutants")
            coverage = Coverage(data_file=None, config_file=False, include=[*measured])
            selection = Selection([*seconds], coverage if measured else None)
            with coverage.collect() if measured else contextlib.nullcontext():
                code = pytest.main(
                    [*OPTIONS, *(MUTANT_RUN if seconds else FIRST_RUN), *files], [selection]
                )
            ran = {
                path: coverage.get_data().contexts_by_lineno(str(Path(path).resolve()))
                for path in measured
            }
            result.write_text(json.dumps([selection.seconds, ran]))
        finally:
            os._exit(int(code))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code, *json.loads(result.read_text())


if __name__ == "__main__":
    sys.path.insert(0, str(Path.cwd()))
    main()
