"""No text stops what reads it, and the time that it takes grows with its length alone."""

import random

import pytest

from tools.fuzz_texts import random_text, read
from understanding.sentences import LONGEST, LONGEST_CLAUSE, clauses, sentences

# Seconds of the processor; half of it is what the slowest takes. What grows faster took minutes to hours.
MOST, MOST_IN_A_REQUEST = 5.0, 1.0


@pytest.fixture(scope="module", autouse=True)
def _everything_is_loaded() -> None:
    # Dictionaries load at first use; a server loads them before it is ready.
    list(read("小红 and Ann"))


@pytest.mark.parametrize("seed", range(2))
def test_no_text_makes_a_reader_raise(seed: int):
    rng = random.Random(seed)
    texts = [random_text(rng) for _ in range(8)]
    assert {(name, text): error for text in texts for name, _, error in read(text) if error} == {}


@pytest.mark.parametrize(
    ("unit", "length", "tail"),
    [
        ("求你", 144, "忘了"),
        ("I work at " + "ABC " * 40, 4000, ""),
        ("爬山" + "哈" * 500, 502, "真的"),
        ("Ann ", 1200, ""),
        ("thanks ", 1500, "x"),
        ("“", 8000, ""),
        ("小红", 300, ""),
        ("妈妈", 600, ""),
        ("\t", 2000, ""),
        # Characters that no word joins, and surnames alone.
        ("乂乄乆乊乑乕乗乚乛乢乣乤", 300, ""),
        ("王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗", 300, ""),
        ("<mio-memory>", 50_000, "忘掉" + "求你" * 40),
    ],
)
def test_the_time_of_every_reader_is_bounded(unit: str, length: int, tail: str):
    text = (unit * length)[:length] + tail
    taken = {name: seconds for name, seconds, _ in read(text)}
    assert {name: seconds for name, seconds in taken.items() if seconds > MOST} == {}
    assert taken["receive"] < MOST_IN_A_REQUEST


@pytest.mark.parametrize("unit", ["字", "word ", "a", "一句，", "两句话 "])
def test_a_sentence_without_an_end_is_cut_where_a_word_ends(unit: str):
    text = unit * 1500
    parts = sentences(text)
    assert all(len(part.text) <= LONGEST for part in parts)
    assert all(len(one.text) <= LONGEST_CLAUSE for part in parts for one in clauses(part))
    assert all(text.startswith(part.text, part.start) for part in parts)
    assert "".join(part.text for part in parts).replace(" ", "") == text.replace(" ", "")
    assert " " not in unit or {word for one in parts for word in one.text.split()} == {unit.strip()}
