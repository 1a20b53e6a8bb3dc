from itertools import permutations

import pytest

from contacts import merge_values

STATED = {"value": "Nurse", "sources": []}
READ = {"value": "nurse", "sources": ["m1"]}
READ_AGAIN = {"value": "NURSE", "sources": ["m2"]}


@pytest.mark.parametrize("entries", list(permutations([STATED, READ, READ_AGAIN])))
def test_a_value_that_a_person_stated_rests_on_no_memory(entries: tuple[dict, ...]) -> None:
    for at in range(4):
        united = merge_values.attributes({"job": entries[:at]}, {"job": entries[at:]})
        assert [entry["sources"] for entry in united["job"]] == [[]]


def test_a_value_that_was_read_twice_rests_on_both_memories() -> None:
    united = merge_values.attributes({"job": [READ]}, {"job": [READ_AGAIN]})
    assert united == {"job": [{"value": "nurse", "sources": ["m1", "m2"]}]}
    assert READ["sources"] == ["m1"]


@pytest.mark.parametrize(
    ("mine", "theirs", "merged"),
    [
        ("Plays chess.", "", "Plays chess."),
        ("", "Plays chess.", "Plays chess."),
        ("Plays chess. Sings.", "Sings.", "Plays chess. Sings."),
        ("Sings.", "Plays chess. Sings.", "Plays chess. Sings."),
        ("Sings.", "Plays chess.", "Sings.\nPlays chess."),
    ],
)
def test_of_two_descriptions_one_stands_where_it_says_it_all(
    mine: str, theirs: str, merged: str
) -> None:
    assert merge_values.text(mine, theirs) == merged
