"""The scoring formula against values computed by hand, and what must hold of it anywhere."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.models import INITIAL_IMPORTANCE
from tests.memories import scoring_formula
from tests.memories.scoring_formula import Inputs, importance

# Each with its arithmetic; s(x) is 1 / (1 + e^-x).
BY_HAND = [
    ("on the day it is learnt", Inputs(), 2.0, 0.5),  # newness 2; s(0)
    # 2 − 15 × 0.033 = 1.505; recency 1 / (1 + 15 × 0.015) = 0.816327; raw 1.228571; s(−0.771429)
    ("never asked for in 15 days", Inputs(age_days=15, idle_days=15), 1.228571, 0.316170),
    # newness 0, nothing else; s(−2)
    ("old and never asked for", Inputs(age_days=100, idle_days=100), 0.0, 0.119203),
    # rate 10/100 = 0.1; ln(1 + 0.1/0.02) = ln 6 = 1.791759; × 0.8 = 1.433408; s(−0.566592)
    ("asked for ten times in 100 days", Inputs(10, 100, 0), 1.433408, 0.362024),
    # rate 5/7 (age counts as 7): ln(1 + 35.714286) = 3.603166; × 0.8 = 2.882533;
    # newness 2 − 0.066 = 1.934; raw 4.816533; s(2.816533)
    ("asked for five times in two days", Inputs(5, 2, 0), 4.816533, 0.943563),
    # effective 10 × 0.95^20 = 3.584859; rate 0.03584859; ln(1 + 1.792430) = 1.026912;
    # × 0.8 = 0.821530; recency 1 / 1.3 = 0.769231; raw 0.631946; s(−1.368054)
    ("not asked for in the last 20 days", Inputs(10, 100, 20), 0.631946, 0.202934),
    # 0.4 + 10 × 0.02 / (1 + 10 × 0.05) = 0.4 + 0.2/1.5 = 0.533333; s(−1.466667)
    ("twenty inbound links", Inputs(age_days=100, inbound=20), 0.533333, 0.187450),
    # 0.4 + 0.1 × ln(1 + 3) = 0.4 + 0.138629 = 0.538629; s(−1.461371)
    ("said eight times", Inputs(age_days=100, mention_count=8), 0.538629, 0.188258),
    # an entity in 10 of 100: 4 × ln 10 × ln 10 / (ln 100)² = 1; 0.4 × 1 / 2 = 0.2; s(−1.8)
    (
        "of one well connected place",
        Inputs(age_days=100, entities=(10,), memories=100),
        0.2,
        0.141851,
    ),
    # newness 2 − 0.33 = 1.67; × 2 = 3.34; s(1.34)
    ("an event tomorrow", Inputs(age_days=10, event_in_days=1), 3.34, 0.792490),
    # newness 1.67; × 1.5 = 2.505; s(0.505)
    ("an event in a week", Inputs(age_days=10, event_in_days=7), 2.505, 0.623634),
    # newness 2; left 1 − 2/5 = 0.6; raw 1.2; s(−0.8)
    ("expired two days ago", Inputs(expired_days=2.0), 1.2, 0.310026),
    # left 0
    ("expired five days ago", Inputs(access_count=50, expired_days=5.0), 0.0, 0.0),
]

INPUTS = st.builds(
    Inputs,
    access_count=st.integers(0, 10_000),
    age_days=st.integers(0, 5_000),
    idle_days=st.integers(0, 5_000),
    inbound=st.integers(0, 2_000),
    entities=st.lists(st.integers(1, 300), max_size=8),
    memories=st.integers(0, 300),
    mention_count=st.integers(0, 2_000),
    event_in_days=st.none() | st.integers(-400, 400),
    expired_days=st.none() | st.floats(-400, 400),
)


@pytest.mark.parametrize(("inputs", "raw", "score"), [case[1:] for case in BY_HAND],
                         ids=[case[0] for case in BY_HAND])  # fmt: skip
def test_the_formula_gives_what_was_computed_by_hand(
    inputs: Inputs, raw: float, score: float
) -> None:
    parts = importance(inputs)
    assert parts.raw == pytest.approx(raw, abs=1e-6)
    assert parts.importance == pytest.approx(score, abs=1e-6)


def test_a_new_memory_starts_where_the_formula_puts_it() -> None:
    assert importance(Inputs()).importance == INITIAL_IMPORTANCE


@given(INPUTS)
def test_an_importance_is_between_0_and_1_and_no_component_is_negative(inputs: Inputs) -> None:
    parts = importance(inputs)
    assert 0 <= parts.importance <= 1
    assert min(parts.value, parts.hub, parts.entity_hub, parts.mention, parts.newness) >= 0
    assert 0 < parts.recency <= 1 <= parts.temporal <= 2
    assert 0 <= parts.trailoff <= 1


@given(INPUTS, st.sampled_from(["access_count", "mention_count", "inbound"]), st.integers(1, 500))
def test_more_access_mentions_or_links_never_lower_it(inputs: Inputs, what: str, more: int) -> None:
    richer = replace(inputs, **{what: getattr(inputs, what) + more})
    assert importance(richer).raw >= importance(inputs).raw
    assert importance(richer).importance >= importance(inputs).importance


@given(INPUTS, st.integers(1, 100))
def test_the_longer_it_lies_unused_the_less_it_matters(inputs: Inputs, days: int) -> None:
    later = replace(inputs, age_days=inputs.age_days + days, idle_days=inputs.idle_days + days)
    assert importance(later).raw <= importance(inputs).raw


@given(INPUTS, st.floats(5, 10_000))
def test_five_days_after_it_expired_nothing_is_left(inputs: Inputs, days: float) -> None:
    assert importance(replace(inputs, expired_days=days)).importance == 0


@given(INPUTS, st.floats(0, 10), st.floats(0, 10))
def test_it_only_falls_after_it_expired(inputs: Inputs, one: float, other: float) -> None:
    sooner, later = sorted((one, other))
    assert (
        importance(replace(inputs, expired_days=later)).importance
        <= importance(replace(inputs, expired_days=sooner)).importance
    )


@pytest.mark.parametrize(("days", "lift"), [
    (None, 1.0), (-1, 1.0), (0, 2.0), (1, 2.0), (2, 1.5), (7, 1.5), (8, 1.2), (14, 1.2), (15, 1.0),
])  # fmt: skip
def test_what_is_about_to_happen_matters_more(days: int | None, lift: float) -> None:
    assert scoring_formula.temporal(days) == lift


@given(st.integers(0, 3_000))
def test_each_further_link_counts_less_after_the_tenth(links: int) -> None:
    step = scoring_formula.hub(links + 1) - scoring_formula.hub(links)
    if links < 10:
        assert step == pytest.approx(0.04)
    else:
        assert 0 < step < 0.02
        assert step > scoring_formula.hub(links + 2) - scoring_formula.hub(links + 1)
    assert scoring_formula.hub(links) < 0.8


def test_an_entity_of_one_memory_or_of_all_connects_nothing_and_the_middle_connects_most() -> None:
    assert scoring_formula.connection(1, 100) == scoring_formula.connection(100, 100) == 0
    values = [scoring_formula.connection(n, 100) for n in range(1, 101)]
    assert values.index(max(values)) + 1 == 10


@given(st.lists(st.integers(1, 300), max_size=8), st.integers(1, 300), st.integers(0, 300))
def test_a_further_entity_never_lowers_the_entity_hub(
    entities: list[int], another: int, memories: int
) -> None:
    before = scoring_formula.entity_hub(entities, memories)
    assert before <= scoring_formula.entity_hub([*entities, another], memories) < 0.4


def test_what_is_fixed_holds_and_the_formula_is_still_told() -> None:
    parts = importance(Inputs(fixed=0.05))
    assert (parts.importance, parts.by_formula) == (0.05, 0.5)
