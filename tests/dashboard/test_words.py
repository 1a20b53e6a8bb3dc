"""The machine's words as pages say them hold together with where they come from."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from dashboard.words import ACTORS, COUNTS, JOBS, PURPOSES, VERBS
from memories.context import pace
from memories.jobs import schedules

ROOT = Path(__file__).resolve().parents[2]


@cache
def tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def recorded_verbs() -> set[str]:
    """The verbs given to ``recording(…)`` anywhere in the code, as literals or constants."""
    found = set()
    for app in ("accounts", "understanding", "contacts", "memories", "dashboard"):
        for file in (ROOT / app).rglob("*.py"):
            tree = tree_of(file)
            names = {
                target.id: node.value.value
                for node in ast.walk(tree)
                if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
                for target in node.targets
                if isinstance(target, ast.Name)
            }
            for node in ast.walk(tree):
                called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
                if called and node.func.id == "recording" and len(node.args) > 1:
                    verb = node.args[1]
                    if isinstance(verb, ast.Constant):
                        found.add(verb.value)
                    elif isinstance(verb, ast.Name) and verb.id in names:
                        found.add(names[verb.id])
    return found


def test_every_verb_of_a_change_has_words() -> None:
    assert {"merge"} <= recorded_verbs() <= set(VERBS)


def test_every_job_has_the_words_of_the_table() -> None:
    assert {name: job.does for name, job in schedules.JOBS.items()} == JOBS


def parsed(*apps: str) -> Iterator[ast.AST]:
    """Every node of the code of these apps."""
    for app in apps:
        for file in (ROOT / app).rglob("*.py"):
            if "/bench/" not in str(file) and "/management/" not in str(file):
                yield from ast.walk(tree_of(file))


def literal(node: ast.expr | None) -> set[str]:
    return {node.value} if isinstance(node, ast.Constant) and isinstance(node.value, str) else set()


def test_every_purpose_of_a_model_call_has_words() -> None:
    found: set[str] = set()
    writers = ("model_calls.ask", "model_calls.write", "write")
    for node in parsed("memories"):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in writers:
            for given in node.args[2:3]:
                found |= literal(given)
    assert found | {pace.PURPOSE} == set(PURPOSES)


ACTING = ("ACTOR", "MACHINE")


def test_every_machine_that_changes_something_has_words() -> None:
    found: set[str] = set()
    for node in parsed("understanding", "contacts", "memories"):
        given = isinstance(node, ast.keyword) and node.arg == "actor"
        named = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in ACTING
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
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("Counter", "_finish"):
            found |= {word.arg for word in node.keywords if word.arg}
        elif isinstance(node, ast.Subscript) and ast.unparse(node.value) in COUNTERS:
            found |= literal(node.slice)
    return found


COUNTERS = ("effect", "self.effect", "done")
ANSWERS = ("dict[str, int]", "Effect", "Counter[str]")


def test_every_count_of_a_job_has_words() -> None:
    found: set[str] = set()
    for node in parsed("memories"):
        if isinstance(node, ast.FunctionDef):
            answers = ast.unparse(node.returns) if node.returns else ""
            touches = any(name in ast.unparse(node) for name in ("effect[", "done[", "_finish("))
            if answers in ANSWERS or touches:
                found |= counted(node)
    assert found - set(COUNTS) == set()
    assert {"users", "left_out", "repeated", "entities", "returned"} <= found
