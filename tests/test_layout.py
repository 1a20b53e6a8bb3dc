"""The house itself: a folder is a subject of some twenty modules, a name means one module, no
package knows the tables of one above it, and words stand in the lexicons."""

import ast
import re
import shutil
import subprocess
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from django.apps import apps

from understanding import lexicon

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = (
    "accounts",
    "contacts",
    "understanding",
    "memories",
    "webhooks",
    "imports",
    "dashboard",
    "mcp_server",
    "gateway",
    "mio_site",
    "tools",
)
MOST_MODULES = 25
# Names that Django gives, the typed values and the errors of a package, and folders in which a
# module is called after what it is about elsewhere: the interfaces, the checks and the benches
# of that subject.
CONVENTIONS = {"models", "urls", "admin", "api", "views", "apps", "forms", "types", "errors"}
NAMED_AFTER = ("api", "views", "queries", "commands", "doctor", "bench", "models")
LEXICON = ROOT / "understanding" / "lexicon"
# As many words of one data file in a literal are a copy of it.
COPIED = 8
# A list of all that is frequent, and so of nearly every English word.
FREQUENT = "english_words.txt"
ABOVE = {"accounts": ("contacts", "memories", "dashboard"), "contacts": ("memories", "dashboard")}


# All that the repository holds at its top: neither data of a run nor what a tool left.
TOP = {*PACKAGES, "benchmark", ".ci", ".dockerignore", ".env.example", ".gitignore", "CHANGELOG.md", "Dockerfile", "LICENSE", "Makefile", "README.md", "bin",
       "clients", "corpus", "deploy", "docs", "locale", "manage.py", "mcp_server", "pyproject.toml", "requirements-dev.txt",
       "requirements.txt", "templates", "tests"}  # fmt: skip


def modules() -> list[Path]:
    found = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    return [path for path in found if "migrations" not in path.parts and path.stem[0] != "_"]


@pytest.mark.skipif(
    not (ROOT / ".git").exists() or not shutil.which("git"), reason="this is no checkout of git"
)
def test_nothing_else_lies_at_the_top_of_the_repository() -> None:
    listed = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-tree", "--name-only", "HEAD"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert set(listed.stdout.split()) == TOP


def test_no_folder_holds_more_modules_than_a_reader_can_survey() -> None:
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


def _texts(node: ast.AST) -> list[str]:
    """The strings of a list, tuple, set or dict (its keys), or the words of a string that is
    split or that is one alternation."""
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        entries = node.elts
    elif isinstance(node, ast.Dict):
        entries = [key for key in node.keys if key is not None]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        held = node.func.value
        split = node.func.attr == "split" and isinstance(held, ast.Constant)
        return str(held.value).split() if split else []
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.split("|") if "|" in node.value else []
    else:
        return []
    texts = [entry.value for entry in entries if isinstance(entry, ast.Constant)]
    return [text for text in texts if isinstance(text, str)]


def _copies(source: str) -> Iterator[tuple[int, str]]:
    """The lines of literals all of whose words stand in one data file, with its name."""
    for node in ast.walk(ast.parse(source)):
        texts = set(_texts(node))
        if len(texts) >= COPIED:
            yield from ((node.lineno, name) for name, held in _lexicons().items() if texts <= held)


@cache
def _lexicons() -> dict[str, frozenset[str]]:
    files = (path for path in sorted(LEXICON.iterdir()) if _is_data(path))
    return {path.name: _words(path) for path in files if path.name != FREQUENT}


def _is_data(path: Path) -> bool:
    return path.suffix in (".txt", ".tsv")


def _words(path: Path) -> frozenset[str]:
    if path.suffix == ".txt":
        return lexicon.words(path.stem)
    return frozenset(next(iter(row.values())) for row in lexicon.rows(path.stem))


def test_no_list_of_words_in_code_stands_in_a_lexicon() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line} is in {name}"
        for path in modules()
        for line, name in _copies(path.read_text(encoding="utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    "copy",
    [
        "X = '王 李 张 刘 陈 杨 黄 赵'.split()",
        "X = {'王', '李', '张', '刘', '陈', '杨', '黄', '赵'}",
        "X = '王|李|张|刘|陈|杨|黄|赵'",
        "X = {'王': 1, '李': 1, '张': 1, '刘': 1, '陈': 1, '杨': 1, '黄': 1, '赵': 1}",
    ],
)
def test_a_copied_list_of_words_is_seen(copy: str) -> None:
    assert (1, "surnames.txt") in set(_copies(copy))


@pytest.mark.parametrize(
    "path", sorted(filter(_is_data, LEXICON.iterdir())), ids=lambda path: path.name
)
def test_a_lexicon_is_well_formed(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("# "), "the first line says what it holds and its source"
    assert all(line.strip() for line in lines), "no empty line"
    if path.suffix == ".tsv":
        rows = [tuple(row.values()) for row in lexicon.rows(path.stem)]
        assert rows
        assert len(set(rows)) == len(rows), "no row twice"
        assert all(row[0] and cell == cell.strip() for row in rows for cell in row)
        return
    groups = lexicon.groups(path.stem)
    for name, words in groups.items():
        assert len(set(words)) == len(words), f"a word twice in {name}"
    if not groups:
        words = [word for line in lines if not line.startswith("#") for word in line.split()]
        assert words == sorted(set(words)), "a list without groups is sorted, no word twice"


def test_a_role_word_is_of_a_known_role() -> None:
    kinds = lexicon.mapping("role_kinds", "kind")
    for row in lexicon.rows("roles"):
        assert row["role"] in kinds
        assert row["language"] in ("zh", "en")
        assert row["level"] in ("kin", "unique", "common")


@pytest.mark.parametrize(
    "path",
    sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.toml")),
    ids=lambda path: path.name,
)
def test_a_table_says_what_it_holds(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("# "), "the first line says what it holds and its source"
    assert tomllib.loads("\n".join(lines))
