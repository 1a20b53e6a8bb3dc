"""How the weights do on authors that they were not learned from, read off the corpus anew."""

from itertools import chain

import numpy as np
import pytest

from contacts.resolution.pair_scoring import LIKELY, certain_from
from tools.training import by_author, pair_model


@pytest.fixture(scope="module")
def held_out() -> dict[str, tuple[list[float], list[bool]]]:
    """What is said of the pairs of each author by weights learned from others, and what is so."""
    data = pair_model.pairs()
    return {
        name: (pair_model.judged(learned, data[name]), [case["same"] for case in data[name]])
        for name, learned in by_author.held_out(data, pair_model.fit)
    }


def pooled(held_out) -> list[list]:
    return [list(chain.from_iterable(side)) for side in zip(*held_out.values(), strict=True)]


def test_what_is_suggested_is_right_on_authors_never_trained_on(held_out) -> None:
    scores = [pair_model.figures(*each, certain_from())["f1"] for each in held_out.values()]
    assert np.mean(scores) > 0.85
    assert min(scores) > 0.7


def test_what_is_certain_is_right_in_98_of_100(held_out) -> None:
    figures = pair_model.figures(*pooled(held_out), certain_from())
    assert figures["certain right"] >= pair_model.CERTAIN
    assert figures["certain recall"] > 0.1
    assert certain_from() > LIKELY


def test_a_probability_is_the_share_that_is_right(held_out) -> None:
    assert by_author.reliability(*pooled(held_out)).error < 0.06
