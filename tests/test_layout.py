"""The house itself: a folder is a subject of some twenty modules, a name means one module, and no
package knows the tables of one above it."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("accounts", "contacts", "memories", "dashboard", "mio_site", "tools")
MOST_MODULES = 25
# Names that Django gives, and folders in which a module is called after what it is about
# elsewhere: the interfaces, the checks and the benches of that subject, and the two providers,
# which implement one interface.
CONVENTIONS = {"models", "urls", "admin", "api", "views", "apps", "forms", "provider"}
NAMED_AFTER = ("api", "views", "queries", "commands", "doctor", "bench", "models", "openai")

ABOVE = {"accounts": ("contacts", "memories", "dashboard"), "contacts": ("memories", "dashboard")}


def modules() -> list[Path]:
    found = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    return [path for path in found if "migrations" not in path.parts and path.stem[0] != "_"]


def test_no_folder_holds_more_modules_than_one_can_overlook() -> None:
    counts: dict[Path, int] = defaultdict(int)
    for path in modules():
        counts[path.parent] += 1
    assert {str(folder): n for folder, n in counts.items() if n > MOST_MODULES} == {}


def test_a_module_name_means_one_module() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path in modules():
        if path.stem not in CONVENTIONS and path.parent.name not in NAMED_AFTER:
            places[path.stem].append(str(path.relative_to(ROOT)))
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


def forbidden(package: str) -> Iterator[str]:
    """What a string of the package must not say: tables, labels and modules of those above it,
    and the names by which their rows are reached from its own."""
    for above in ABOVE[package]:
        yield rf"\b{above}\.[a-z]"
        for model in apps.get_app_config(above).get_models():
            if not model._meta.proxy:
                yield rf"\b{model._meta.db_table}\b"
    for name in accessors(package):
        yield rf"\b{name}__|^-?{name}$"


def accessors(package: str) -> set[str]:
    names = set()
    for model in apps.get_app_config(package).get_models():
        for relation in model._meta.related_objects:
            if relation.related_model._meta.app_label in ABOVE[package]:
                names |= {relation.get_accessor_name(), relation.name} - {None}
    return names


def strings(tree: ast.Module) -> Iterator[ast.Constant]:
    """The strings of a module but for those that only describe it."""
    told = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield node


@pytest.mark.parametrize("package", ABOVE)
def test_a_package_knows_nothing_of_those_above_it(package: str) -> None:
    said, reached = re.compile("|".join(forbidden(package))), accessors(package)
    assert reached
    found = []
    for path in (ROOT / package).rglob("*.py"):
        if "migrations" in path.parts:
            continue
        tree = ast.parse(path.read_text())
        found += [f"{path}:{n.lineno}: {n.value!r}" for n in strings(tree) if said.search(n.value)]
        found += [
            f"{path}:{node.lineno}: .{node.attr}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and node.attr in reached
        ]
    assert not found, "\n".join(found)
