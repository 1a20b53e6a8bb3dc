"""Weighted reciprocal rank fusion, and repetitions that give way to what else was found."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.search.fusion import SPREAD, fuse, spread

ORDERS = st.lists(st.integers(0, 30), unique=True, max_size=20)
WEIGHTS = st.floats(0.05, 1)
SCORED = st.lists(st.tuples(st.floats(0, 1), st.frozensets(st.sampled_from("abcdef"))), max_size=12)


def test_scores_are_those_of_the_paper_as_a_share_of_the_best_possible() -> None:
    scores = fuse([(0.6, ["a", "b"]), (0.4, ["b", "a", "c"])])
    assert scores["a"] == pytest.approx((0.6 / 61 + 0.4 / 62) * 61)
    assert scores["b"] == pytest.approx((0.6 / 62 + 0.4 / 61) * 61)
    assert scores["c"] == pytest.approx((0.4 / 63) * 61)


def test_nothing_to_fuse_is_nothing() -> None:
    assert fuse([]) == {}
    assert fuse([(0.0, ["a"])]) == {}


@given(ORDERS, ORDERS, WEIGHTS, WEIGHTS)
def test_every_item_of_either_arm_gets_a_score_in_0_1(
    one: list[int], other: list[int], w1: float, w2: float
) -> None:
    scores = fuse([(w1, one), (w2, other)])
    assert set(scores) == set(one) | set(other)
    assert all(0 < score <= 1 for score in scores.values())


@given(ORDERS, WEIGHTS)
def test_one_arm_keeps_its_order(order: list[int], weight: float) -> None:
    scores = fuse([(weight, order)])
    assert sorted(scores, key=scores.__getitem__, reverse=True) == order


@given(ORDERS, ORDERS, WEIGHTS, WEIGHTS)
def test_better_in_both_arms_is_better_fused(
    one: list[int], other: list[int], w1: float, w2: float
) -> None:
    scores = fuse([(w1, one), (w2, other)])
    both = [item for item in one if item in other]
    for a in both:
        for b in both:
            if one.index(a) < one.index(b) and other.index(a) < other.index(b):
                assert scores[a] > scores[b]


def test_a_repetition_stands_behind_what_says_something_else() -> None:
    scores = {"first": 0.9, "again": 0.89, "other": 0.6}
    tokens = {"first": set("abcd"), "again": set("abcd"), "other": set("xyz")}
    assert list(spread(scores, tokens, 3)) == ["first", "other", "again"]


def test_what_repeats_two_before_it_loses_by_the_closer_one() -> None:
    scores = {"first": 1.0, "nearly": 0.95, "again": 0.9, "other": 0.5}
    tokens = {"first": set("abcdefghij"), "nearly": set("abcdefgh"), "other": set("xyz")}
    tokens["again"] = tokens["first"]
    shown = spread(scores, tokens, 4)
    assert list(shown) == ["first", "nearly", "other", "again"]
    assert shown["again"] == pytest.approx(0.45)


def test_facts_of_one_kind_keep_their_order() -> None:
    scores = {"hers": 0.9, "his": 0.89, "other": 0.88}
    tokens = {"hers": set("abcd"), "his": set("abef"), "other": set("xyz")}
    assert list(spread(scores, tokens, 3)) == ["hers", "his", "other"]


@given(SCORED, st.integers(0, 12))
def test_nothing_is_lost_and_scores_never_rise(
    items: list[tuple[float, frozenset[str]]], limit: int
) -> None:
    scores = dict(enumerate(sorted((score for score, _ in items), reverse=True)))
    tokens = {n: words for n, (_, words) in enumerate(items)}
    shown = spread(scores, tokens, limit)
    assert len(shown) == min(limit, len(scores))
    assert all(0 <= shown[n] <= scores[n] for n in shown)
    assert list(shown.values()) == sorted(shown.values(), reverse=True)


def test_repetitions_among_the_first_give_way_to_nothing_further_down() -> None:
    scores = {n: 1 / (1 + n / 100) for n in range(2 * SPREAD)}
    tokens = {n: {"hers", "works"} if n < SPREAD else {str(n)} for n in scores}
    assert set(spread(scores, tokens, SPREAD)) == set(range(SPREAD))
    assert set(list(spread(scores, tokens, 2 * SPREAD))[:SPREAD]) == set(range(SPREAD))


def test_long_lists_keep_their_end_and_their_order() -> None:
    scores = {n: 1 / (n + 1) for n in range(5 * SPREAD)}
    tokens = {n: {"same"} if n % 7 else {str(n)} for n in scores}
    shown = spread(scores, tokens, 4 * SPREAD)
    assert len(shown) == 4 * SPREAD
    assert list(shown.values()) == sorted(shown.values(), reverse=True)
