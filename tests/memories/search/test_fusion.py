"""Weighted reciprocal rank fusion."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.search.fusion import fuse, ranks

ORDERS = st.lists(st.integers(0, 30), unique=True, max_size=20)
WEIGHTS = st.floats(0.05, 1)


def test_scores_are_those_of_the_paper_as_a_share_of_the_best_possible() -> None:
    scores = fuse([(0.6, {"a": 1, "b": 2}), (0.4, {"b": 1, "c": 3})])
    assert scores["a"] == pytest.approx((0.6 / 61) * 61)
    assert scores["b"] == pytest.approx((0.6 / 62 + 0.4 / 61) * 61)
    assert scores["c"] == pytest.approx((0.4 / 63) * 61)


def test_the_first_rank_of_an_item_counts() -> None:
    assert ranks(["b", "a", "b"]) == {"b": 1, "a": 2}


def test_nothing_to_fuse_is_nothing() -> None:
    assert fuse([]) == {}
    assert fuse([(0.0, {"a": 1})]) == {}


@given(ORDERS, ORDERS, WEIGHTS, WEIGHTS)
def test_every_item_of_either_arm_gets_a_score_in_0_1(
    one: list[int], other: list[int], w1: float, w2: float
) -> None:
    scores = fuse([(w1, ranks(one)), (w2, ranks(other))])
    assert set(scores) == set(one) | set(other)
    assert all(0 < score <= 1 for score in scores.values())


@given(ORDERS, WEIGHTS)
def test_one_arm_keeps_its_order(order: list[int], weight: float) -> None:
    scores = fuse([(weight, ranks(order))])
    assert sorted(scores, key=scores.__getitem__, reverse=True) == order


@given(ORDERS, ORDERS, WEIGHTS, WEIGHTS)
def test_better_in_both_arms_is_better_fused(
    one: list[int], other: list[int], w1: float, w2: float
) -> None:
    first, second = ranks(one), ranks(other)
    scores = fuse([(w1, first), (w2, second)])
    both = [item for item in one if item in second]
    for a in both:
        for b in both:
            if first[a] < first[b] and second[a] < second[b]:
                assert scores[a] > scores[b]
