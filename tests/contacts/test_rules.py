"""Rules of reading as data: what the TOML file beside a module gives it, and that each of the
project's own files is whole and in use."""

import re
import tomllib
from pathlib import Path

import pytest

from contacts.lexicon import words
from contacts.lexicon.rules import parts_of, patterns, rows, sets

ROOT = Path(__file__).resolve().parent.parent.parent
RULES = sorted(path for path in (ROOT / "memories").rglob("*.toml"))


@pytest.fixture
def module(tmp_path: Path) -> str:
    (tmp_path / "reader.toml").write_text(
        """
[words]
ANIMAL = ["animals", "en"]

[parts]
PET = '(?:my|our) (?:{ANIMAL})'

[patterns]
walk = ['(?i)walked {PET}', 'with {OTHERS}{1,2}']

[stronger]
likes = ["dislikes"]

[[facts]]
key = "pet"
pattern = 'has (?P<v>{PET}) in {place}'
""",
        encoding="utf-8",
    )
    return str(tmp_path / "reader.py")


def test_parts_and_words_of_the_lexicon_are_filled_in(module: str) -> None:
    walk = patterns(module, OTHERS="x").walk
    assert walk.search("Walked our cat")
    assert walk.search("with xx")
    assert not walk.search("walked our car")
    assert parts_of(module)["PET"].count("|") == len(words("animals", "en"))


def test_rows_keep_what_they_give_and_the_gaps_that_a_text_fills_in(module: str) -> None:
    (row,) = rows(module, "facts")
    assert row["key"] == "pet"
    assert row["pattern"].pattern.endswith(" in {place}")


def test_sets_of_words_are_known_by_name(module: str) -> None:
    assert sets(module, "stronger") == {"likes": frozenset({"dislikes"})}


def test_a_part_or_pattern_that_nobody_wrote_is_an_error(module: str) -> None:
    with pytest.raises(KeyError):
        patterns(module)
    with pytest.raises(AttributeError):
        _ = patterns(module, OTHERS="x").run


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.name)
def test_every_part_and_pattern_of_a_file_is_used(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    file, code = tomllib.loads(text), path.with_suffix(".py").read_text(encoding="utf-8")
    others = "".join(other.read_text(encoding="utf-8") for other in RULES)
    for name in (*file.get("words", {}), *file.get("parts", {})):
        assert f"{{{name}}}" in others or f"_PARTS['{name}']" in code, name
    assert set(file.get("patterns", {})) == set(re.findall(r"\bRE\.([a-z_]+)", code))
    for table in file.keys() - {"words", "parts", "patterns"}:
        assert f'"{table}"' in code
