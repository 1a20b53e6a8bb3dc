"""All regular expressions of the product: in modules, in files of rules, in calls."""

import ast
import inspect
import re
from collections.abc import Iterator
from functools import _lru_cache_wrapper, cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType
from typing import Any

import regex

from understanding.lexicon.rules import Patterns, Rows

PACKAGES = (
    "accounts", "contacts", "dashboard", "gateway", "imports", "mcp_server", "memories", "mio_site",
    "understanding",
    "webhooks",
)  # fmt: skip
_CALLS = {"compile", "search", "match", "fullmatch", "sub", "subn", "split", "findall", "finditer"}
_FLAGS = re.compile(r"(?:(?:re|regex)\.[A-Z]+(?: \| )?)+")
_KINDS = {"re": re, "regex": regex}


# What reads a sentence, a memory or a line of settings: short, whatever was sent.
_READ_SHORT_TEXTS = re.compile(
    r"understanding\.(?:coreference|people|role_mentions|same_person|dates|entities|text_document)\b"
    r"|memories\.providers\.offline\b|mio_site\b"
)
_AT_ONE_PLACE = {"match", "fullmatch"}


@cache
def patterns() -> dict[Any, str]:
    """Every pattern, compiled, with the module where it stands. A pattern that is written in a
    call is one where it needs no local variable."""
    seen: set[int] = set()
    found: dict[Any, str] = {}
    for module in _modules():
        for pattern in [*_held(vars(module), seen), *_written(module)]:
            found.setdefault(pattern, module.__name__)
    return found


def searched() -> dict[Any, str]:
    """Those of ``patterns`` that may be searched for in a long text."""
    return {
        pattern: name
        for pattern, name in patterns().items()
        if not _READ_SHORT_TEXTS.match(name) and not _is_matched(pattern, import_module(name))
    }


def _is_matched(pattern: Any, module: ModuleType) -> bool:
    """Whether a module tries a pattern of its own at the beginning of texts alone."""
    name = next((one for one, value in vars(module).items() if value is pattern), None)
    if name is None:
        return False
    uses = re.findall(rf"\b{name}\b(?:\.(\w+)|(?! = ))", _source(module))
    return set(uses) <= _AT_ONE_PLACE


def _modules() -> Iterator[ModuleType]:
    for name in PACKAGES:
        package = import_module(name)
        for found in walk_packages(package.__path__, f"{name}."):
            if not re.search(r"\.(migrations|__main__)\b", found.name):
                yield import_module(found.name)


def _held(value: Any, seen: set[int]) -> Iterator[Any]:
    """The patterns in a value of a module, also those that it would compile or build later."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if isinstance(value, re.Pattern | regex.Pattern):
        yield value
    elif isinstance(value, Patterns):
        yield from (getattr(value, name) for name in value._file["patterns"])
    elif isinstance(value, dict):
        yield from (found for one in value.values() for found in _held(one, seen))
    elif isinstance(value, list | tuple | set | frozenset | Rows):
        yield from (found for one in value for found in _held(one, seen))
    elif isinstance(value, _lru_cache_wrapper) and _is_table(value):
        yield from _held(value(), seen)


def _is_table(function: Any) -> bool:
    ours = function.__module__.partition(".")[0] in PACKAGES
    return ours and not inspect.signature(function).parameters and _builds_patterns(function)


def _builds_patterns(function: Any) -> bool:
    return bool(re.search(r"\bre\.|regex\.|Row|Pattern", inspect.getsource(function.__wrapped__)))


def _written(module: ModuleType) -> Iterator[Any]:
    for node in ast.walk(_tree(module)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        kind = _KINDS.get(ast.unparse(node.func.value))
        if kind is None or node.func.attr not in _CALLS:
            continue
        given = [*node.args[1:], *(one.value for one in node.keywords if one.arg == "flags")]
        flags = [one for one in given if _FLAGS.fullmatch(ast.unparse(one))]
        names = {one.id for one in ast.walk(node.args[0]) if isinstance(one, ast.Name)}
        if names <= vars(module).keys() | {"re", "regex"} and not names & _locals(module):
            source, *bits = (
                eval(compile(ast.Expression(one), module.__name__, "eval"), dict(vars(module)))
                for one in [node.args[0], *flags]
            )
            yield kind.compile(source, *bits) if isinstance(source, str | bytes) else source


@cache
def _locals(module: ModuleType) -> frozenset[str]:
    """Names that functions of the module assign, which hide its own."""
    tree = _tree(module)
    stored = (one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef))
    return frozenset(
        name.id
        for function in stored
        for name in ast.walk(function)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
    ) | frozenset(one.arg for one in ast.walk(tree) if isinstance(one, ast.arg))


@cache
def _tree(module: ModuleType) -> ast.Module:
    return ast.parse(_source(module))


def _source(module: ModuleType) -> str:
    return Path(module.__file__ or "").read_text(encoding="utf-8")
