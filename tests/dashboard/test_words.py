"""The machine's words as pages say them hold together with where they come from."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from dashboard.words import ACTORS, COUNTS, JOBS, PURPOSES, VERBS
from memories.context import pace
from memories.jobs import schedules
from tests import source
from tests.source import dotted

# Together with others that read the source: it is parsed once.
pytestmark = pytest.mark.xdist_group("source")


def recorded_verbs() -> set[str]:
    """The verbs given to ``recording(…)`` anywhere in the code, as literals or constants."""
    constants: dict[tuple[Path, str], str] = {}
    given: list[tuple[Path, ast.expr]] = []
    for path, node in source.nodes("accounts", "contacts", "memories", "dashboard"):
        match node:
            case ast.Assign(targets=targets, value=ast.Constant(value=str(value))):
                constants |= {(path, dotted(target)): value for target in targets}
            case ast.Call(func=ast.Name(id="recording"), args=[_, verb, *_]):
                given.append((path, verb))
    return {
        verb.value if isinstance(verb, ast.Constant) else constants[path, dotted(verb)]
        for path, verb in given
        if isinstance(verb, ast.Constant) or (path, dotted(verb)) in constants
    }


def test_every_verb_of_a_change_has_words() -> None:
    assert {"merge"} <= recorded_verbs() <= set(VERBS)


def test_every_job_has_the_words_of_the_table() -> None:
    assert {name: job.does for name, job in schedules.JOBS.items()} == JOBS


def parsed(*packages: str) -> Iterator[ast.AST]:
    """Every node of the code of these packages, but for benches and commands."""
    for path, node in source.nodes(*packages):
        if not {"bench", "management"} & set(path.parts):
            yield node


def literal(node: ast.expr | None) -> set[str]:
    return {node.value} if isinstance(node, ast.Constant) and isinstance(node.value, str) else set()


def test_every_purpose_of_a_model_call_has_words() -> None:
    found: set[str] = set()
    writers = ("model_calls.ask", "model_calls.write", "write")
    for node in parsed("memories"):
        if isinstance(node, ast.Call) and dotted(node.func) in writers:
            for given in node.args[2:3]:
                found |= literal(given)
    assert found | {pace.PURPOSE} == set(PURPOSES)


ACTING = ("ACTOR", "MACHINE")


def test_every_machine_that_changes_something_has_words() -> None:
    found: set[str] = set()
    for node in parsed("understanding", "contacts", "memories"):
        given = isinstance(node, ast.keyword) and node.arg == "actor"
        named = isinstance(node, ast.Assign) and dotted(node.targets[0]) in ACTING
        if given or named:
            found |= literal(node.value)  # type: ignore[attr-defined]
    machines = {name for name in found if ":" not in name}
    assert machines <= set(ACTORS)
    assert {"extractor", "refiner"} <= machines


def counted(function: ast.FunctionDef) -> set[str]:
    """What a function counts that returns how many of what, or adds to such counts."""
    found: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Dict):
            for key in node.value.keys:
                found |= literal(key)
        elif isinstance(node, ast.Call) and dotted(node.func) in ("Counter", "_finish"):
            found |= {word.arg for word in node.keywords if word.arg}
        elif isinstance(node, ast.Subscript) and dotted(node.value) in COUNTERS:
            found |= literal(node.slice)
    return found


def counts(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return dotted(node.func).endswith("_finish")
    return isinstance(node, ast.Subscript) and dotted(node.value) in COUNTERS


COUNTERS = ("effect", "self.effect", "done")
ANSWERS = ("dict[str, int]", "Effect", "Counter[str]")


def test_every_count_of_a_job_has_words() -> None:
    found: set[str] = set()
    for node in parsed("memories"):
        if isinstance(node, ast.FunctionDef):
            answers = ast.unparse(node.returns) if node.returns else ""
            if answers in ANSWERS or any(map(counts, ast.walk(node))):
                found |= counted(node)
    assert found - set(COUNTS) == set()
    assert {"users", "left_out", "repeated", "entities"} <= found
