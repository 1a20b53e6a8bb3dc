"""The turns before a message: those of the stored session, and those that an app gives."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import EndUser
from memories.context import build, who
from memories.context.request import ContextRequest
from tests.factories import make_contact, make_message

STORED = [f"Turn {number} of the talk" for number in range(8)]


def read(zoe: EndUser, session_id: str, *given: str) -> list[str]:
    history = [("user", text) for text in given]
    session, _before = who.turns_of(zoe, session_id, history)()
    return [turn.text for turn in session]


@pytest.fixture
def stored(zoe: EndUser) -> None:
    for text in STORED:
        make_message(zoe, text, session_id="s")


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize(
    ("session_id", "given", "expected"),
    [
        ("s", STORED[4:], STORED),
        ("s", STORED, STORED),
        ("s", [], STORED),
        ("s", [*STORED[6:], "Not stored yet"], [*STORED, "Not stored yet"]),
        ("s", ["Not stored yet"], [*STORED, "Not stored yet"]),
        ("", STORED[4:], STORED[4:]),
        ("other", STORED[4:], STORED[4:]),
        ("s", [STORED[3], "x", STORED[7]], [*STORED[:4], "x", STORED[7]]),
        ("s", [f"y{n}" for n in range(11)], [STORED[7], *(f"y{n}" for n in range(11))]),
    ],
)  # fmt: skip
def test_stored_turns_that_are_older_stand_before_the_given_ones(
    zoe: EndUser, session_id: str, given: list[str], expected: list[str]
) -> None:
    assert read(zoe, session_id, *given) == expected


def test_a_session_without_a_name_goes_on_with_what_is_stored_of_it(zoe: EndUser) -> None:
    for text in STORED:
        make_message(zoe, text)
    assert read(zoe, "", *STORED[6:]) == STORED
    assert read(zoe, "", "Another chat") == ["Another chat"]


def test_a_session_however_old_is_read_when_it_is_named(zoe: EndUser) -> None:
    make_message(zoe, "Long ago", session_id="old", created_at=timezone.now() - timedelta(days=400))
    for number in range(40):
        make_message(zoe, f"Since {number}", session_id="new")
    assert read(zoe, "old") == ["Long ago"]
    assert len(read(zoe, "new")) == 12


def test_who_was_named_before_a_short_history_is_still_meant(zoe: EndUser) -> None:
    for name in ("Ilse", "Maud"):
        make_contact(zoe, name, gender="female")
    said = ["Ilse and Maud both want the desk by the window.", "It is a nice desk.", "Bright, too."]
    for text in said:
        make_message(zoe, text, session_id="s")

    def meant(*given: str) -> set[str]:
        turns = [("user", text) for text in given]
        traced = build.trace(
            zoe,
            ContextRequest(
                "Did she ask the boss?", session_id="s", history=turns, include=["cards"]
            ),
        )
        return {m.person.name for m in traced.mentions if m.how == "pronoun"}

    assert meant(*said[2:]) == meant() == meant(*said) != set()
