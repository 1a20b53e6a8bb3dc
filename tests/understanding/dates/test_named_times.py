"""Times that go by a name, as questions ask for them."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understanding.dates.time_range import span

NOW = datetime(2026, 8, 12, 10, 0, tzinfo=UTC)  # a Wednesday

NAMED = [
    # Counted from now: never a year before.
    ("What do I have to do in three weeks?", date(2026, 9, 2), date(2026, 9, 9)),
    ("三周后我有什么安排？", date(2026, 9, 2), date(2026, 9, 9)),
    ("五天后是什么日子？", date(2026, 8, 17), date(2026, 8, 18)),
    # From month to month.
    ("What happened between February and April?", date(2026, 2, 1), date(2026, 5, 1)),
    ("Where was I from October 2024 to January 2025?", date(2024, 10, 1), date(2025, 2, 1)),
    ("2到4月我看了什么书？", date(2026, 2, 1), date(2026, 5, 1)),
    # Feasts, by the sun and by the moon.
    ("国庆我们去了哪里？", date(2025, 10, 1), date(2025, 10, 8)),
    ("2023年国庆节谁来过？", date(2023, 10, 1), date(2023, 10, 8)),
    ("春节我们在哪过的？", date(2026, 2, 16), date(2026, 2, 24)),
    ("去年春节谁来拜年了？", date(2025, 1, 28), date(2025, 2, 5)),
    ("明年春节打算去哪？", date(2027, 2, 5), date(2027, 2, 13)),
    ("Who visited at Chinese New Year 2024?", date(2024, 2, 9), date(2024, 2, 17)),
    ("中秋我和谁吃饭了？", date(2025, 10, 6), date(2025, 10, 7)),
    ("端午我们做了什么？", date(2026, 6, 19), date(2026, 6, 20)),
    ("元宵节谁来过？", date(2026, 3, 3), date(2026, 3, 4)),
    ("去年除夕我在哪？", date(2025, 1, 28), date(2025, 1, 29)),
    ("1978年中秋我们在哪？", date(1978, 9, 17), date(1978, 9, 18)),
    ("2025年七夕我收到了什么？", date(2025, 8, 29), date(2025, 8, 30)),
    ("重阳节我去看了谁？", date(2025, 10, 29), date(2025, 10, 30)),
    ("清明我们去扫墓了吗？", date(2026, 4, 4), date(2026, 4, 6)),
    ("Who came at Christmas?", date(2025, 12, 25), date(2025, 12, 26)),
    ("圣诞节我收到了什么？", date(2025, 12, 25), date(2025, 12, 26)),
    # Traditional characters.
    ("上週我和誰吃飯了？", date(2026, 8, 3), date(2026, 8, 10)),
    ("這個月我見過誰？", date(2026, 8, 1), date(2026, 9, 1)),
]


@pytest.mark.parametrize(("query", "since", "until"), NAMED)
def test_a_named_time_becomes_a_range(query: str, since: date, until: date) -> None:
    found = span(query, NOW)
    assert found is not None
    assert (found.since, found.until) == (_midnight(since), _midnight(until))


@pytest.mark.parametrize(
    ("query", "since", "until"),
    [
        ("国庆前我见过谁？", None, date(2025, 10, 1)),
        ("中秋以后谁搬家了？", date(2025, 10, 6), None),
    ],
)
def test_before_and_after_a_feast(query: str, since: date | None, until: date | None) -> None:
    found = span(query, NOW)
    assert found is not None
    assert (found.since, found.until) == (since and _midnight(since), until and _midnight(until))


@pytest.mark.parametrize(
    "query",
    [
        "王国庆喜欢什么？",
        "小国庆住在哪？",
        "搬家两周后我做了什么？",
        "What did I do two weeks later?",
        "五一班的班长是谁？",
        "小红中秋一般吃什么？",
    ],
)
def test_what_only_looks_like_a_named_time_is_none(query: str) -> None:
    assert span(query, NOW) is None


_MOMENTS = st.datetimes(datetime(2002, 1, 1), datetime(2049, 1, 1), timezones=st.just(UTC))


@given(query=st.sampled_from([query for query, _, _ in NAMED]), now=_MOMENTS)
def test_a_named_time_begins_before_it_ends_whenever_it_is_asked(query: str, now: datetime) -> None:
    found = span(query, now)
    assert found is not None
    assert found.since is not None
    assert found.until is not None
    assert found.since < found.until


@given(query=st.sampled_from(["春节我在哪？", "国庆我在哪？"]), now=_MOMENTS)
def test_without_a_year_it_is_the_latest_that_has_begun(query: str, now: datetime) -> None:
    found = span(query, now)
    assert found is not None
    assert found.since is not None
    assert now - timedelta(days=390) < found.since <= now


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
