"""Words of the two languages that name matching leans on: tables, no logic but reading."""

from functools import cache
from importlib import resources


@cache
def words(name: str) -> frozenset[str]:
    """The entries of the data file ``name`` beside this module: split at white space,
    lines that start with # left out."""
    text = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return frozenset(word for line in lines for word in line.split())
