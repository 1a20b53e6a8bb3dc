"""What the bench of forgetting counts: messages whose answer is sure, in rows that say of them what
is right or not."""

import json
from typing import Any

import pytest

from tests import commands

SEWING, CHESS = "the sewing circle in Lund", "the chess club in Porto"
FORGET_CHESS, FORGET_UNKNOWN = f"Please forget {CHESS}.", "Please forget the submarine."
TALK = "The bread is in the oven."
# The figure in which a row counts, which is its language here and so a group of its own; the
# message; what the row says that the message asks to forget.
ROWS: tuple[tuple[str, str, str | None], ...] = (
    ("recall", FORGET_CHESS, CHESS),
    ("recall", "Forget everything you know about me.", "all"),
    ("recall", "Forget what I just said.", "last"),
    ("wrong", FORGET_CHESS, SEWING),
    ("said", FORGET_UNKNOWN, SEWING),
    ("missed", TALK, SEWING),
    ("false_alarms", FORGET_CHESS, None),
    ("unclear", FORGET_UNKNOWN, None),
    ("quiet", TALK, None),
    ("quiet", TALK, None),
)
NONE = dict.fromkeys(
    "requests recall wrong said missed others false_alarms unclear".split(), 0
)  # fmt: skip


# Once: the database of benches is one for all processes.
pytestmark = pytest.mark.xdist_group("bench")


@pytest.fixture(scope="module")
def figures(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """What ``manage.py bench forgetting`` prints; it makes a database of its own."""
    path = tmp_path_factory.mktemp("forgetting") / "author.jsonl"
    rows = [
        {"lang": figure, "text": text, "asks": about is not None, "about": about}
        for figure, text, about in ROWS
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    with django_db_blocker.unblock():
        return commands.run_json("bench", "forgetting", str(path))


@pytest.mark.parametrize("figure", ["recall", "wrong", "said", "missed"])
def test_a_request_counts_in_one_figure(figures: dict[str, Any], figure: str) -> None:
    count = sum(of == figure for of, _, _ in ROWS)
    assert figures[f"lang {figure}"] == NONE | {"requests": count, figure: 1}


@pytest.mark.parametrize("figure", ["false_alarms", "unclear"])
def test_another_message_counts_in_one_figure(figures: dict[str, Any], figure: str) -> None:
    assert figures[f"lang {figure}"] == NONE | {"others": 1, figure: 1}


def test_a_message_that_rightly_does_nothing_counts_in_no_figure(figures: dict[str, Any]) -> None:
    assert figures["lang quiet"] == NONE | {"others": 2}


def test_figures_are_shares_of_requests_and_of_other_messages(figures: dict[str, Any]) -> None:
    named = {"requests": 4, "recall": 0.25, "wrong": 0.25, "said": 0.25, "missed": 0.25}
    talk = {"others": 4, "false_alarms": 0.25, "unclear": 0.25}
    assert figures["kind named"] == NONE | named
    assert figures["kind talk"] == NONE | talk
    assert figures["kind all"] == figures["kind last"] == NONE | {"requests": 1, "recall": 1}
    overall = {name: figures[name] for name in NONE}
    assert overall == {
        "requests": 6, "recall": 0.5, "wrong": 0.1667, "said": 0.1667, "missed": 0.1667, **talk,
    }  # fmt: skip
