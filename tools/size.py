"""python -m tools size: lines of product Python, and the longest chain of imports."""

import subprocess
import tomllib
from pathlib import Path
from typing import Any

import grimp
import networkx as nx
from django.core.management.base import BaseCommand

ROOT = Path(__file__).resolve().parent.parent
NO_PRODUCT = {"tests", "tools", "clients", "corpus", "benchmark"}


def product_files() -> list[Path]:
    """The modules of the product, without migrations."""
    listed = subprocess.run(
        ["git", "ls-files", "*.py"],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    paths = map(Path, listed.stdout.splitlines())
    return [p for p in paths if p.parts[0] not in NO_PRODUCT and "migrations" not in p.parts]


def longest_chain() -> list[str]:
    """The longest chain of modules of which each imports the next, anywhere in its code."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        packages = tomllib.load(file)["tool"]["importlinter"]["root_packages"]
    graph = grimp.build_graph(*packages)
    product = {".".join(path.with_suffix("").parts) for path in product_files()}
    imports = nx.DiGraph(
        (one, other)
        for one in graph.modules & product
        for other in graph.find_modules_directly_imported_by(one) & product
    )
    return list(nx.dag_longest_path(imports))


class Command(BaseCommand):
    help = __doc__

    def handle(self, **_options: Any) -> None:
        lines = sum(len((ROOT / path).read_text("utf-8").splitlines()) for path in product_files())
        chain = longest_chain()
        self.stdout.write(f"product Python: {lines} lines in {len(product_files())} modules")
        self.stdout.write(f"longest chain of imports: {len(chain)} modules")
        self.stdout.write("\n".join(f"  {module}" for module in chain))
