"""Near-repetitions give way to what else was found."""

from hypothesis import given
from hypothesis import strategies as st

from memories.search.diversity import SPREAD, spread

SCORED = st.lists(st.tuples(st.floats(0, 1), st.frozensets(st.sampled_from("abcdef"))), max_size=12)


def test_a_repetition_stands_behind_what_says_something_else() -> None:
    scores = {"first": 0.9, "again": 0.89, "other": 0.6}
    tokens = {"first": set("abcd"), "again": set("abcd"), "other": set("xyz")}
    assert list(spread(scores, tokens, 3)) == ["first", "other", "again"]


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


def test_long_lists_keep_their_end_and_their_order() -> None:
    scores = {n: 1 / (n + 1) for n in range(5 * SPREAD)}
    tokens = {n: {"same"} if n % 7 else {str(n)} for n in scores}
    shown = spread(scores, tokens, 4 * SPREAD)
    assert len(shown) == 4 * SPREAD
    assert list(shown.values()) == sorted(shown.values(), reverse=True)
