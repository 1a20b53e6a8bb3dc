"""Runs tests on mutants, for ``python -m tools mutate``, in the copy of the repository that it is
started in. The libraries are loaded once, and each run is a fork.

Reads a line for each run: a JSON object with ``files`` of tests and, but for the first run, the
``seconds`` of those tests that count. Answers with a line: the exit code of pytest (negative for a
run that took too long) and the seconds of each test that passed.
"""

import contextlib
import json
import os
import resource
import sys
from pathlib import Path
from typing import Any

import hypothesis
import pytest

# Neither Django nor a database: what passes without tests pure modules.
OPTIONS = (
    "-q --noconftest -o addopts= --continue-on-collection-errors -p no:django -p no:xdist "
    "-p no:faker -p no:langsmith_plugin -p no:cacheprovider"
).split()
LIBRARIES = ("jieba.posseg", "nicknames", "numpy", "openai", "phonenumbers", "pypinyin", "regex")
# What a mutant may take of the processor, in times of the tests unmutated and seconds besides: it
# may never end. Not of the clock, which says nothing on a busy machine.
TIMES, SECONDS = 3, 30


class Selection:
    """The tests that passed unmutated, the fastest first, and how long each took now."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self._expected, self.seconds = seconds, dict[str, float]()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if self._expected:
            items[:] = [item for item in items if item.nodeid in self._expected]
            items.sort(key=lambda item: self._expected[item.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self.seconds[report.nodeid] = round(report.duration, 4)


def main() -> None:
    for name in LIBRARIES:
        with contextlib.suppress(ImportError):
            __import__(name)
    hypothesis.settings.register_profile(
        "mutants", deadline=None, derandomize=True, database=None, max_examples=25
    )
    for line in sys.stdin:
        print(json.dumps(_run(**json.loads(line))), flush=True)


def _run(files: list[str], seconds: dict[str, float]) -> tuple[int, dict[str, float]]:
    """In a fork: what a mutant does to this process ends with it."""
    result = Path("passed.json")
    result.write_text("{}")
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
            hypothesis.settings.load_profile("mutants")
            selection = Selection(seconds)
            code = pytest.main([*OPTIONS, *(["-x"] if seconds else []), *files], [selection])
            result.write_text(json.dumps(selection.seconds))
        finally:
            os._exit(int(code))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code, json.loads(result.read_text())


if __name__ == "__main__":
    sys.path.insert(0, str(Path.cwd()))
    main()
