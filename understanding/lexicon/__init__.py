"""Lexicons: the Chinese and English words that all readers of text use, as data files.

A list is ``NAME.txt``: words between white space (``_`` is a space inside a word), in groups under
a line ``[group …]``, which may name several. A table is ``NAME.tsv``: a row of column names, then
one row per entry; ``-`` is an empty cell. ``NAME.toml`` has patterns
(:mod:`understanding.lexicon.rules`). Lines that start with # state what a file contains and its
source. Each file is read once."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import resources
from typing import NamedTuple

_HERE = resources.files(__package__)


@cache
def _groups(name: str) -> Mapping[str, tuple[str, ...]]:
    """The words of a list by group, in the order of the file; "" is all of them."""
    words_by_group: dict[str, list[str]] = {"": []}
    current: tuple[str, ...] = ()
    for line in _lines(f"{name}.txt"):
        if line.startswith("["):
            current = tuple(line[1:-1].split())
            continue
        entries = line.split()
        if "_" in line:
            entries = [word.replace("_", " ") for word in entries]
        for group in ("", *current):
            words_by_group.setdefault(group, []).extend(entries)
    return {group: tuple(entries) for group, entries in words_by_group.items()}


def _lines(file: str) -> list[str]:
    """The lines of a file that are neither empty nor comments."""
    text = _HERE.joinpath(file).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


@cache
def words(name: str, *groups: str) -> frozenset[str]:
    """Returns the words of the list ``name`` in any of ``groups``, or in the whole file."""
    return frozenset(word for group in groups or ("",) for word in _groups(name)[group])


@cache
def word_sets(name: str) -> Mapping[str, frozenset[str]]:
    """Returns the words of each group of the list ``name``."""
    return {group: frozenset(entries) for group, entries in groups(name).items()}


def groups(name: str) -> Mapping[str, tuple[str, ...]]:
    """Returns the words of each group of the list ``name``, in the order of the file."""
    return {group: entries for group, entries in _groups(name).items() if group}


@cache
def rows(name: str) -> tuple[Mapping[str, str], ...]:
    """Returns the rows of the table ``name``, each by column."""
    header, *entries = (line.split("\t") for line in _lines(f"{name}.tsv"))
    return tuple(
        dict(zip(header, ("" if cell == "-" else cell for cell in entry), strict=True))
        for entry in entries
    )


@cache
def mapping(name: str, value: str, language: str = "") -> Mapping[str, str]:
    """Maps the first column of a table to the column ``value``, for the rows in ``language``."""
    chosen = (row for row in rows(name) if not language or row["language"] == language)
    return {next(iter(row.values())): row[value] for row in chosen}


class GroupFinder:
    """Finds the words of a list in a text, by group; without ``groups`` those of the whole file. A
    word in Latin letters counts only if it stands alone, a Chinese one anywhere."""

    def __init__(self, name: str, *groups: str) -> None:
        self._groups: dict[str, tuple[str, ...]] = {}
        for group in groups or filter(None, _groups(name)):
            for word in _groups(name)[group]:
                self._groups[word] = (*self._groups.get(word, ()), group)
        sizes: dict[str, set[int]] = {}
        for word in self._groups:
            sizes.setdefault(word[0], set()).add(len(word))
        self._sizes = {char: sorted(each, reverse=True) for char, each in sizes.items()}

    def __call__(self, text: str) -> dict[str, list[tuple[int, int]]]:
        """Returns the spans of the words of each group in ``text`` (in lower case, simplified),
        from left to right, the longest first; those of one group do not overlap."""
        spans_by_group: dict[str, list[tuple[int, int]]] = {}
        for start, char in enumerate(text):
            for size in self._sizes.get(char, ()):
                end = start + size
                groups = self._groups.get(text[start:end])
                if groups is None or not _stands_alone(text, start, end):
                    continue
                for group in groups:
                    spans = spans_by_group.setdefault(group, [])
                    if not spans or spans[-1][1] <= start:
                        spans.append((start, end))
        return spans_by_group


finder = cache(GroupFinder)


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether no Latin letter touches a Latin word at [start, end)."""
    if not (text[start].isascii() and text[start].isalnum()):
        return True
    before, after = text[start - 1 : start], text[end : end + 1]
    return not ("a" <= before <= "z" or before == "'" or "a" <= after <= "z")


def alternation(entries: Iterable[str]) -> str:
    """Returns words as alternatives of a pattern, longest first."""
    return "|".join(map(re.escape, sorted(entries, key=lambda word: (-len(word), word))))


class Title(NamedTuple):
    """What a form of address implies: the gender, and the role classes that it can mean (``*``:
    anyone; ``peer``: any grown-up who isn't kin; ``elder``: one of one's parents' age)."""

    gender: str
    kinds: frozenset[str]


@cache
def titles(language: str) -> Mapping[str, Title]:
    """Returns the forms of address beside a surname, by word: 王总, 李医生, Dr. Lee."""
    return {
        row["word"]: Title(row["gender"], frozenset(row["kinds"].split()))
        for row in rows("titles")
        if row["language"] == language and row["kinds"]
    }


@cache
def titles_used(use: str) -> frozenset[str]:
    """Returns the forms of address of one use: given, reader, opening, suffix, dotted (titles.tsv)."""
    return frozenset(row["word"] for row in rows("titles") if use in row["uses"].split())


@cache
def relative_times(unit: str, language: str = "") -> Mapping[str, int]:
    """Maps words for a day or a year (昨天, last year) to the number of units from now."""
    return {
        row["word"]: int(row["offset"])
        for row in rows("relative_times")
        if row["unit"] == unit and (not language or row["language"] == language)
    }
