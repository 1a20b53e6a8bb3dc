"""Rules of reading as data: what a TOML file gives the modules that read it, and that each of the
project's own files is whole and in use."""

import re
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from understanding.lexicon import words
from understanding.lexicon.rules import parts_of, patterns, rows, sets

ROOT = Path(__file__).resolve().parent.parent.parent
LEXICON = ROOT / "understanding" / "lexicon"
CODE = {
    path: path.read_text(encoding="utf-8")
    for package in ("understanding", "memories")
    for path in (ROOT / package).rglob("*.py")
}
RULES = {
    path: text
    for package in ("understanding", "memories")
    for path in sorted((ROOT / package).rglob("*.toml"))
    if {"parts", "patterns"} & tomllib.loads(text := path.read_text(encoding="utf-8")).keys()
}


@pytest.fixture
def module(tmp_path: Path) -> str:
    (tmp_path / "reader.toml").write_text(
        """
[words]
ANIMAL = ["animals", "en"]

[parts]
PET = ['(?:my|our) ', '{ANIMAL}']

[patterns]
walk = ['(?i)walked ', '{PET}', '|with {OTHERS}{1,2}']
run = 'ran'

[stronger]
likes = ["dislikes"]

[[facts]]
key = "pet"
pattern = 'has (?P<v>{PET}) in {place}'
""",
        encoding="utf-8",
    )
    return str(tmp_path / "reader.py")


def test_parts_and_words_of_the_lexicon_are_filled_in_as_groups(module: str) -> None:
    walk = patterns(module, OTHERS="x|y").walk
    assert walk.search("Walked our cat")
    assert walk.search("with xy")
    assert not walk.search("walked our car")
    assert not walk.search("y")
    assert parts_of(module)["PET"].count("|") == len(words("animals", "en"))


def test_a_pattern_is_compiled_when_it_is_first_used(module: str) -> None:
    others = ["x"]
    found = patterns(module, OTHERS=others.pop)
    assert found.run.search("ran")
    assert others == ["x"]
    assert found.walk is found.walk
    assert others == []


def test_rows_keep_what_they_give_and_the_gaps_that_a_text_fills_in(module: str) -> None:
    (row,) = rows(module, "facts")
    assert row["key"] == "pet"
    assert row["pattern"].pattern.endswith(" in {place}")


def test_sets_of_words_are_known_by_name(module: str) -> None:
    assert sets(module, "stronger") == {"likes": frozenset({"dislikes"})}


def test_a_part_or_pattern_that_nobody_wrote_is_an_error(module: str) -> None:
    with pytest.raises(KeyError):
        _ = patterns(module).walk
    with pytest.raises(AttributeError):
        _ = patterns(module, OTHERS="x").swim


def _readers(path: Path) -> Iterator[tuple[str, set[str]]]:
    """The code that reads a file, and the patterns that it asks for; asked for, they compile."""
    file = f'"{path.stem}"' if path.parent == LEXICON else "__file__"
    asked = re.compile(rf"^(\w+) = (?:rules\.)?patterns\(\s*{file}", re.M)
    for module in CODE if path.parent == LEXICON else [path.with_suffix(".py")]:
        for variable in asked.findall(CODE[module]):
            found = import_module(".".join(module.relative_to(ROOT).with_suffix("").parts))
            names = set(re.findall(rf"\b{variable}\.([a-z]\w*)", CODE[module]))
            assert all(getattr(getattr(found, variable), name) for name in names)
            yield CODE[module], names


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.name)
def test_every_part_and_pattern_of_a_file_is_used(path: Path) -> None:
    file, readers = tomllib.loads(RULES[path]), list(_readers(path))
    for name in (*file.get("words", {}), *file.get("parts", {})):
        code = CODE.get(path.with_suffix(".py"), "")
        read = f"_PARTS['{name}']" in code or f'_WORDS["{name}"]' in code
        assert read or f"{{{name}}}" in "".join(RULES.values()), name
    assert set(file.get("patterns", {})) == {name for _, names in readers for name in names}
    for table in file.keys() - {"words", "parts", "patterns", "examples"}:
        assert any(f'"{table}"' in code for code, _ in readers), table
