"""python -m tools mutate: changes the pure modules at random places, and says which changes no
test notices. The operators are those of cosmic-ray, and two for what its own leave out."""

import ast
import difflib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import tomllib
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import get_operator
from django.core.management.base import BaseCommand, CommandError

ROOT = Path(__file__).parent.parent
CONTRACT = "pure modules know nothing of Django"
# As pure, in other packages.
MORE = ["accounts.reasons", "gateway.sse", "webhooks.signing"]
# Those of cosmic-ray whose mutants differ from the program; not, for one, `is` for `==`.
OPERATORS = [
    "AddNot", "NumberReplacer", "ReplaceAndWithOr", "ReplaceBreakWithContinue",
    "ReplaceContinueWithBreak", "ReplaceFalseWithTrue", "ReplaceOrWithAnd", "ReplaceTrueWithFalse",
    "ReplaceUnaryOperator_Delete_Not", "ReplaceUnaryOperator_Delete_USub", "ZeroIterationForLoop",
    *(f"ReplaceBinaryOperator_{pair}" for pair in (
        "Add_Sub", "BitAnd_BitOr", "BitOr_BitAnd", "Div_Mul", "FloorDiv_Mul", "Mod_Mul", "Mul_Div",
        "Sub_Add",
    )),
    *(f"ReplaceComparisonOperator_{pair}" for pair in (
        "Eq_NotEq", "Gt_GtE", "GtE_Gt", "GtE_LtE", "Is_IsNot", "IsNot_Is", "Lt_Gt", "Lt_LtE",
        "LtE_Lt", "NotEq_Eq",
    )),
]  # fmt: skip
# Keywords that guard those who write code, or say how much a cache holds: no test would notice.
GUARDS = ("frozen", "slots", "strict", "maxsize")
# Seconds of processor time of the tests of a mutant, and files of tests, which take a tenth of a
# second each to load: a hundred mutants would wait for more.
MOST, FILES = 12.0, 12


class First(Operator):
    """``min(a, b)`` and ``max(a, b)`` become ``a``: what bounds is left out."""

    def mutation_positions(self, node: Any) -> Iterator[tuple[Any, Any]]:
        if node.type in ("power", "atom_expr") and node.get_first_leaf().value in ("min", "max"):
            trailer = node.children[1]
            inside = trailer.children[1]
            plain = len(node.children) == 2 and trailer.children[0].value == "("
            if plain and inside.type == "arglist" and inside.children[0].type != "argument":
                yield node.start_pos, node.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        first = node.children[1].children[1].children[0]
        first.get_first_leaf().prefix = node.get_first_leaf().prefix
        return first

    @classmethod
    def examples(cls) -> Sequence[Any]:
        return ()


class NoReturn(Operator):
    """``return value`` becomes ``return None``."""

    def mutation_positions(self, node: Any) -> Iterator[tuple[Any, Any]]:
        if node.type == "return_stmt" and node.children[-1].get_code().strip() != "None":
            yield node.start_pos, node.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        # Parsed without its indentation, which would be a statement of its own.
        nothing = get_ast("return None").children[0]
        nothing.get_first_leaf().prefix = node.get_first_leaf().prefix
        return nothing

    @classmethod
    def examples(cls) -> Sequence[Any]:
        return ()


@dataclass(frozen=True, slots=True)
class Mutant:
    """What an operator makes of a module, at its place of this number."""

    path: Path
    operator: Operator
    occurrence: int

    def source(self, original: str) -> str:
        return str(mutate_code(original, self.operator, self.occurrence))


class Command(BaseCommand):
    help = (
        "Changes the pure modules at random places, one at a time in a copy of the working tree, "
        "and runs the tests of the module that need no database. Prints each "
        "change that no test notices, and ends with 1 when fewer are caught than --least."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--seed", type=int, default=1, help="of the sample (default 1)")
        parser.add_argument("--count", type=int, default=100, help="of mutants (default 100)")
        parser.add_argument("--least", type=int, default=90, help="per cent caught (default 90)")
        parser.add_argument("modules", nargs="*", help="only these, e.g. understanding.names")

    def handle(
        self, *, seed: int, count: int, least: int, modules: Sequence[str], **_options: Any
    ) -> None:
        paths = sorted({path for name in modules or pure_modules() for path in files_of(name)})
        mutants = sample(paths, count, random.Random(seed))  # noqa: S311 a sample, no secret
        with tempfile.TemporaryDirectory(prefix="mio-mutants-") as folder:
            caught = list(self._try(Path(folder), mutants))
        share = 100 * sum(caught) / max(len(caught), 1)
        self.stdout.write(f"{sum(caught)} of {len(caught)} caught ({share:.0f} %), seed {seed}")
        if share < least:
            sys.exit(1)

    def _try(self, folder: Path, mutants: Sequence[Mutant]) -> Iterator[bool]:
        """Whether each is caught; says so, with the diff of those that are not."""
        paths = sorted({mutant.path for mutant in mutants})
        copy_tree(folder)
        # Which starts the database.
        (folder / "tests/conftest.py").unlink(missing_ok=True)
        with subprocess.Popen(
            [sys.executable, "-m", "tools.mutant_tests"],
            cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=environment(),
        ) as runner:  # fmt: skip
            files = sorted({file for path in paths for file in tests_of(path)})
            _, passed, ran = ask(runner, files=files, measured=[str(path) for path in paths])
            self.stdout.write(f"{len(passed)} tests in {len(files)} files pass without a database")
            for mutant in mutants:
                original = (folder / mutant.path).read_text(encoding="utf-8")
                mutated = mutant.source(original)
                tests = tests_that_run(lines_of(original, mutated), ran[str(mutant.path)], passed)
                (folder / mutant.path).write_text(mutated, encoding="utf-8")
                files = sorted({test.partition("::")[0] for test in tests})
                code = ask(runner, files=files, seconds=tests)[0] if tests else 0
                (folder / mutant.path).write_text(original, encoding="utf-8")
                word = "survived" if code == 0 else "caught" if code > 0 else "never ends"
                self.stdout.write(
                    f"{word}: {mutant.path} {type(mutant.operator).__name__} ({len(tests)} tests)"
                )
                if code == 0:
                    self.stdout.write(difference(mutant.path, original, mutated))
                self.stdout.flush()
                yield code != 0
            _pipes(runner)[0].close()


def lines_of(original: str, mutated: str) -> set[int]:
    """The lines of the statements of ``original`` that a mutant changes, of one with a body those
    of its head."""
    matcher = difflib.SequenceMatcher(None, original.splitlines(), mutated.splitlines())
    changed = {
        line for kind, begin, end, _, _ in matcher.get_opcodes() if kind != "equal"
        for line in range(begin + 1, end + 1)
    }  # fmt: skip
    found = set()
    for node in ast.walk(ast.parse(original)):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if body else node.end_lineno or node.lineno
            lines = set(range(node.lineno, max(node.lineno, last) + 1))
            found |= lines if lines & changed else set()
    return found


def tests_that_run(
    lines: set[int], ran: Mapping[str, Sequence[str]], seconds: Mapping[str, float]
) -> dict[str, float]:
    """Tests and their seconds, at most MOST together and of FILES files: those that run one of
    ``lines``, then others that run the module, for what is cached runs in the first test alone;
    the fastest first."""
    nearest = {test for line, tests in ran.items() if int(line) in lines for test in tests}
    tests = {test for tests in ran.values() for test in tests} & set(seconds)
    found: dict[str, float] = {}
    files: set[str] = set()
    for test in sorted(tests, key=lambda test: (test not in nearest, seconds[test], test)):
        file = test.partition("::")[0]
        room = file in files or len(files) < FILES
        if room and sum(found.values()) + seconds[test] <= MOST:
            found[test] = seconds[test]
            files.add(file)
    return found


def ask(runner: subprocess.Popen[str], **what: Any) -> tuple[int, Any, Any]:
    """The exit code of pytest, the seconds of each test that passed, and of the first run which
    tests run which lines of each module."""
    to, back = _pipes(runner)
    print(json.dumps(what), file=to, flush=True)
    code, passed, ran = json.loads(back.readline())
    return code, passed, ran


def _pipes(runner: subprocess.Popen[str]) -> tuple[IO[str], IO[str]]:
    if runner.stdin is None or runner.stdout is None:
        raise CommandError("The process that runs the tests has no pipes.")
    return runner.stdin, runner.stdout


def environment() -> dict[str, str]:
    """That of the tests: their settings are those of the project, if it has any; no key."""
    offline = {"MIO_LLM": "offline", "MIO_EMBEDDINGS": "local", "OPENAI_API_KEY": ""}
    kept = {key: value for key, value in os.environ.items() if key != "DJANGO_SETTINGS_MODULE"}
    return kept | offline


def pure_modules() -> list[str]:
    """Those of the contract of import-linter, and MORE."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = config["tool"]["importlinter"]["contracts"]
    found = next(one["source_modules"] for one in contracts if one["name"] == CONTRACT)
    return [*found, *MORE]


def files_of(module: str) -> list[Path]:
    """The file of a module, or those of all modules of a package."""
    path = Path(*module.split("."))
    if (ROOT / path).is_dir():
        return [file.relative_to(ROOT) for file in (ROOT / path).rglob("*.py")]
    return [path.with_suffix(".py")]


def tests_of(path: Path) -> list[str]:
    """The test files that import the module of ``path``, and those of the folder that mirrors its
    own or is named after it."""
    package = ".".join(path.parts[:-1])
    names = {f"{package}.{path.stem}", package} if path.stem == "__init__" else {
        f"{package}.{path.stem}"
    }  # fmt: skip
    mirrored = ROOT / "tests" / path.parent
    found = set(mirrored.glob("test_*.py")) if len(path.parts) > 2 else set()
    found |= set((ROOT / "tests" / path.with_suffix("")).rglob("test_*.py"))
    for file in (ROOT / "tests").rglob("test_*.py"):
        if names & imported(file):
            found.add(file)
    return sorted(str(file.relative_to(ROOT)) for file in found)


@cache
def imported(file: Path) -> frozenset[str]:
    """The modules that a file imports; of `from a import b`, both a and a.b."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{name.name}" for name in node.names)}
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names}
    return frozenset(found)


def sample(paths: Sequence[Path], count: int, chance: random.Random) -> list[Mutant]:
    """``count`` mutants at places drawn from all, with one operator drawn for each place."""
    places: dict[tuple[Path, Any], list[Mutant]] = {}
    operators = [First(), NoReturn(), *(get_operator(f"core/{name}")() for name in OPERATORS)]
    for path in paths:
        nodes = list(ast_nodes(get_ast((ROOT / path).read_text(encoding="utf-8"))))
        for operator in operators:
            spots = [spot for node in nodes for spot in operator.mutation_positions(node)]
            for occurrence, spot in enumerate(spots):
                places.setdefault((path, spot[0]), []).append(Mutant(path, operator, occurrence))
    keys = sorted(places, key=str)
    chance.shuffle(keys)
    found: list[Mutant] = []
    while keys and len(found) < count:
        mutant = chance.choice(places[keys.pop()])
        if changes_what_runs(mutant):
            found.append(mutant)
    return found


def changes_what_runs(mutant: Mutant) -> bool:
    """Whether more changed than annotations, GUARDS and the numbers of a module's tables. The
    tables are tuned by benches; a test that repeats their numbers would say nothing."""
    original = (ROOT / mutant.path).read_text(encoding="utf-8")
    try:
        return _running(original) != _running(mutant.source(original))
    except SyntaxError:
        return False


def _running(source: str) -> str:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.arg | ast.AnnAssign):
            node.annotation = ast.Constant(None)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
        elif isinstance(node, ast.keyword) and node.arg in GUARDS:
            node.value = ast.Constant(None)
    for statement in tree.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            for node in ast.walk(statement):
                if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
                    node.value = 0
    return ast.dump(tree)


def copy_tree(folder: Path) -> None:
    """The files of the working tree that git knows."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],  # noqa: S607
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)


def difference(path: Path, original: str, mutated: str) -> str:
    lines = difflib.unified_diff(
        original.splitlines(), mutated.splitlines(), str(path), str(path), n=1, lineterm=""
    )
    return "\n".join(lines)
