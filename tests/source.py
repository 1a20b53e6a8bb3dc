"""The product's own source as syntax trees, parsed once a process for the tests that read it."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def nodes(*packages: str) -> Iterator[tuple[Path, ast.AST]]:
    """Every node of the modules of these packages, with the path of its module."""
    for package in packages:
        for path, of_module in _modules(package):
            for node in of_module:
                yield path, node


@cache
def _modules(package: str) -> list[tuple[Path, list[ast.AST]]]:
    return [
        (path, list(ast.walk(ast.parse(path.read_text(encoding="utf-8")))))
        for path in sorted((ROOT / package).rglob("*.py"))
    ]


def dotted(node: ast.AST | None) -> str:
    """A name or a chain of attributes as it is written; nothing of any other expression."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=name):
            return f"{before}.{name}" if (before := dotted(value)) else ""
        case _:
            return ""
