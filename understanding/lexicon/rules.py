"""Rules for reading text as data: regular expressions in a TOML file, which is beside the module
that reads it, or in the lexicon if several modules share it.

``[words]`` are lists of the lexicon (a name and its groups) as alternatives, ``[parts]`` pieces of
patterns, and code may give more of these; ``{NAME}`` is replaced by one, as a group, in parts and
patterns. A pattern is a text, or a list of texts that are put together, so that the next
alternative begins with ``|``. ``[patterns]`` are single ones; every other table is a list of rows,
in the order in which they are tried (a pattern and what it gives), or sets of words.

``file`` is the path of the module beside the file (``__file__``), or the name of a lexicon file."""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from understanding.lexicon import alternation, words

Row = Mapping[str, Any]
# A piece of patterns, or a function that makes it when it is first needed.
Part = str | Callable[[], str]
_HERE = Path(__file__).parent
_PART = re.compile(r"\{([A-Z][A-Z_]*)\}")


class Patterns:
    """Single patterns, each an attribute; one is compiled when it is first used."""

    def __init__(self, file: Mapping[str, Any], parts: Mapping[str, Part]) -> None:
        self._file, self._parts = file, parts

    def __getattr__(self, name: str) -> re.Pattern[str]:
        if name not in self._file["patterns"]:
            raise AttributeError(f"no pattern {name}")
        compiled = re.compile(_filled(self._file["patterns"][name], self._file, self._parts))
        setattr(self, name, compiled)
        return compiled


@cache
def patterns(file: str, **parts: Part) -> Patterns:
    """Returns the single patterns of a file; ``parts`` are further pieces."""
    return Patterns(content(file), parts)


class Rows(Sequence[Row]):
    """The rows of a table, the ``pattern`` of each compiled when the first row is asked for."""

    def __init__(self, file: str, table: str, parts: Mapping[str, Part]) -> None:
        self._file, self._table, self._parts = file, table, parts

    @cached_property
    def _rows(self) -> tuple[Row, ...]:
        read = content(self._file)
        return tuple(
            {**row, "pattern": re.compile(_filled(row["pattern"], read, self._parts))}
            for row in read[self._table]
        )

    def __getitem__(self, place: Any) -> Any:
        return self._rows[place]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)


def rows(file: str, table: str, **parts: Part) -> Rows:
    """Returns the rows of a table; ``parts`` are further pieces of their patterns."""
    return Rows(file, table, parts)


def sets(file: str, table: str) -> Mapping[str, frozenset[str]]:
    """Returns the sets of words in a table, by name."""
    return {name: frozenset(entries) for name, entries in content(file)[table].items()}


def parts_of(file: str) -> Mapping[str, str]:
    """Returns the pieces of patterns in a file."""
    read = content(file)
    return {
        name: _part(name, read, {}) for table in ("words", "parts") for name in read.get(table, ())
    }


@cache
def content(file: str) -> Mapping[str, Any]:
    """Returns what a file contains, by table."""
    path = (_HERE / file).with_suffix(".toml")  # a module's path is absolute and stays as it is
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _filled(text: str | Sequence[str], file: Mapping[str, Any], parts: Mapping[str, Part]) -> str:
    """The text of a pattern with each ``{NAME}`` replaced by its piece."""
    return _PART.sub(lambda match: f"(?:{_part(match[1], file, parts)})", "".join(text))


def _part(name: str, file: Mapping[str, Any], parts: Mapping[str, Part]) -> str:
    """The text of a piece: from code, of the words of a list, or of the file."""
    if name in parts:
        part = parts[name]
        return part if isinstance(part, str) else part()
    if name in file.get("words", ()):
        return alternation(words(*file["words"][name]))
    return _filled(file["parts"][name], file, parts)
