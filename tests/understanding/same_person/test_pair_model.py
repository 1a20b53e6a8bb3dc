"""How the weights do on authors that they were not learned from, read off the corpus anew."""

from functools import cache
from itertools import chain

import numpy as np
import pytest

from tools.training import by_author, pair_model
from understanding.learned import Logistic
from understanding.same_person.pair_scoring import LIKELY, certain_from

# Together: the weights are learned once in a process.
pytestmark = pytest.mark.xdist_group("pair_model")


pairs = cache(pair_model.pairs)
pairs_of_circles = cache(pair_model.of_circles)


@pytest.fixture(scope="module")
def learned() -> dict[str, Logistic]:
    """For each author, the weights learned from authors of other folds."""
    data = pair_model.with_circles(pairs(), pairs_of_circles())
    return dict(by_author.held_out(data, pair_model.fit))


@pytest.fixture(scope="module")
def held_out(learned) -> dict[str, tuple[list[float], list[bool]]]:
    """What is said of the pairs of each author by weights learned from others, and what is so."""
    return {
        name: (pair_model.judged(weights, pairs()[name]), [case["same"] for case in pairs()[name]])
        for name, weights in learned.items()
    }


def pooled(held_out) -> list[list]:
    return [list(chain.from_iterable(side)) for side in zip(*held_out.values(), strict=True)]


def test_what_is_suggested_is_right_on_authors_never_trained_on(held_out) -> None:
    scores = [pair_model.figures(*each, certain_from())["f1"] for each in held_out.values()]
    assert np.mean(scores) > 0.85
    assert min(scores) > 0.7


@pytest.fixture(scope="module")
def of_circles(learned) -> dict[bool, list[float]]:
    """What is said of two people of one circle (False), and of one person under two names (True)."""
    said: dict[bool, list[float]] = {False: [], True: []}
    for name, cases in pairs_of_circles().items():
        for case, p in zip(cases, pair_model.judged(learned[name], cases), strict=True):
            said[case["same"]].append(p)
    return said


def test_of_the_people_of_one_circle_hardly_any_two_are_suggested(of_circles) -> None:
    assert len(of_circles[False]) > 5000
    assert sum(p >= LIKELY for p in of_circles[False]) / len(of_circles[False]) < 0.01


def test_who_is_met_under_another_form_of_the_name_is_mostly_suggested(of_circles) -> None:
    assert len(of_circles[True]) > 500
    assert sum(p >= LIKELY for p in of_circles[True]) / len(of_circles[True]) > 0.55


def test_what_is_certain_is_right_in_98_of_100(held_out) -> None:
    figures = pair_model.figures(*pooled(held_out), certain_from())
    assert figures["certain right"] >= pair_model.CERTAIN
    assert figures["certain recall"] > 0.1
    assert certain_from() > LIKELY


def test_the_probability_of_a_suggestion_is_the_share_that_is_right(held_out) -> None:
    suggested = [pair for pair in zip(*pooled(held_out), strict=True) if pair[0] >= LIKELY]
    said, was = zip(*suggested, strict=True)
    assert by_author.reliability(said, was).error < 0.06
