"""Rules of reading as data: the TOML file beside a module holds its patterns.

``[words]`` are lists of the lexicon (a name and its groups) and ``[parts]`` pieces of patterns;
both stand as ``{NAME}`` in what comes after them. A pattern is a text, or a list of texts that
are alternatives. ``[patterns]`` are single ones; every other table is a list of rows, in the
order in which they are tried: a pattern and what it gives.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from contacts.lexicon import alternation, words

Row = Mapping[str, Any]
_PART = re.compile(r"\{([A-Z][A-Z_]*)\}")


class Patterns:
    """Single patterns, each an attribute."""

    def __init__(self, **found: re.Pattern[str]) -> None:
        self.__dict__ = found

    def __getattr__(self, name: str) -> re.Pattern[str]:
        raise AttributeError(f"no pattern {name}")


def patterns(module: str, **parts: str) -> Patterns:
    """The single patterns of the file beside ``module``; ``parts`` are further pieces."""
    known = {**parts_of(module), **parts}
    single = _file(module)["patterns"].items()
    return Patterns(**{name: _compiled(text, known) for name, text in single})


def rows(module: str, table: str, **parts: str) -> tuple[Row, ...]:
    """The rows of a table of the file beside ``module``, the ``pattern`` of each compiled."""
    known = {**parts_of(module), **parts}
    return tuple(
        {**row, "pattern": _compiled(row["pattern"], known)} for row in _file(module)[table]
    )


def sets(module: str, table: str) -> Mapping[str, frozenset[str]]:
    """The sets of words in a table of the file beside ``module``, by name."""
    return {name: frozenset(entries) for name, entries in _file(module)[table].items()}


def parts_of(module: str) -> Mapping[str, str]:
    """The pieces of patterns in the file beside ``module``."""
    file = _file(module)
    known = {name: alternation(words(*entry)) for name, entry in file.get("words", {}).items()}
    for name, text in file.get("parts", {}).items():
        known[name] = _filled(text, known)
    return known


@cache
def _file(module: str) -> Mapping[str, Any]:
    return tomllib.loads(Path(module).with_suffix(".toml").read_text(encoding="utf-8"))


def _compiled(text: str | Sequence[str], parts: Mapping[str, str]) -> re.Pattern[str]:
    return re.compile(_filled(text if isinstance(text, str) else "|".join(text), parts))


def _filled(text: str, parts: Mapping[str, str]) -> str:
    return _PART.sub(lambda match: parts[match[1]], text)
