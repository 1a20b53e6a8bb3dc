"""python -m tools sample_functions: functions drawn by chance, without their bodies, to be read blind.

Somebody who has not seen the code says in one sentence what each does; where the code does something
else, the name or the docstring is wrong.
"""

import ast
import subprocess
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from django.core.management.base import BaseCommand

ROOT = Path(__file__).resolve().parent.parent
NOT_PRODUCT = ("tests", "tools", "clients", "benchmark")


class Command(BaseCommand):
    help = "Prints functions of the product without their bodies, drawn by chance."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--count", type=int, default=60)
        parser.add_argument("--places", action="store_true", help="print where each is")

    def handle(self, *, seed: int, count: int, places: bool, **_given: Any) -> None:
        drawn = Random(seed).sample(list(functions()), count)
        for number, (place, shown) in enumerate(drawn, 1):
            self.stdout.write(
                f"{number}. {place}\n{shown}\n" if places else f"{number}.\n{shown}\n"
            )


def functions() -> Iterator[tuple[str, str]]:
    """Place, and signature with docstring, of every function and method of the product but for
    special methods."""
    listed = subprocess.run(
        ["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in listed.stdout.split():
        if name.startswith(NOT_PRODUCT) or "migrations/" in name:
            continue
        tree = ast.parse((ROOT / name).read_text("utf-8"))
        for scope in ast.walk(tree):
            if not isinstance(scope, ast.Module | ast.ClassDef):
                continue
            owner = f"# in class {scope.name}\n" if isinstance(scope, ast.ClassDef) else ""
            for node in scope.body:
                if isinstance(node, ast.FunctionDef) and not node.name.startswith("__"):
                    body = [node.body[0]] if ast.get_docstring(node) else []
                    node.body = [*body, ast.Expr(ast.Constant(...))]
                    yield f"{name}:{node.lineno}", owner + ast.unparse(node)
