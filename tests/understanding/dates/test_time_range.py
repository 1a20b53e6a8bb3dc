"""The time that a question asks about."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understanding.dates.time_range import span

NOW = datetime(2026, 3, 18, 10, 0, tzinfo=UTC)  # a Wednesday

WHOLE = [
    ("上周我和谁吃饭了？", date(2026, 3, 9), date(2026, 3, 16)),
    ("What did Nina cook last week?", date(2026, 3, 9), date(2026, 3, 16)),
    ("上周三开会说了什么？", date(2026, 3, 11), date(2026, 3, 12)),
    ("昨天谁来过？", date(2026, 3, 17), date(2026, 3, 18)),
    ("Who called yesterday?", date(2026, 3, 17), date(2026, 3, 18)),
    ("去年夏天我们去了哪里？", date(2025, 6, 1), date(2025, 9, 1)),
    ("Where did we hike last summer?", date(2025, 6, 1), date(2025, 9, 1)),
    ("What did I buy last May?", date(2025, 5, 1), date(2025, 6, 1)),
    ("What happened in November?", date(2025, 11, 1), date(2025, 12, 1)),
    ("十二月我买了什么？", date(2025, 12, 1), date(2026, 1, 1)),
    ("2024年夏天我住哪里？", date(2024, 6, 1), date(2024, 9, 1)),
    ("Where did I live in summer 2024?", date(2024, 6, 1), date(2024, 9, 1)),
    ("2023年我换了几次工作？", date(2023, 1, 1), date(2024, 1, 1)),
    ("Which trips did I make in 2023?", date(2023, 1, 1), date(2024, 1, 1)),
    ("What did Oskar tell me on 4 July, 2024?", date(2024, 7, 4), date(2024, 7, 5)),
    ("What did Oskar tell me on July 4,2024?", date(2024, 7, 4), date(2024, 7, 5)),
    ("Who visited at the end of October 2024?", date(2024, 10, 1), date(2024, 11, 1)),
    ("我这个月花了多少钱？", date(2026, 3, 1), date(2026, 4, 1)),
    ("今年我学会了什么？", date(2026, 1, 1), date(2027, 1, 1)),
    ("过去三天我做了什么？", date(2026, 3, 15), date(2026, 3, 19)),
    ("What did I eat in the past 3 days?", date(2026, 3, 15), date(2026, 3, 19)),
    ("她最近怎么样了？", date(2026, 2, 16), date(2026, 3, 19)),
    ("What has Nina been up to lately?", date(2026, 2, 16), date(2026, 3, 19)),
    ("What did we do between June 3 and June 8, 2024?", date(2024, 6, 3), date(2024, 6, 9)),
    ("What will we do next week?", date(2026, 3, 23), date(2026, 3, 30)),
    ("下周我们有什么安排？", date(2026, 3, 23), date(2026, 3, 30)),
    ("What did we do the week before 20 June 2024?", date(2024, 6, 13), date(2024, 6, 21)),
    ("上周 聚餐", date(2026, 3, 9), date(2026, 3, 16)),
]


@pytest.mark.parametrize(("query", "since", "until"), WHOLE)
def test_a_question_for_a_time_becomes_a_range(query: str, since: date, until: date) -> None:
    found = span(query, NOW)
    assert found is not None
    assert (found.since, found.until) == (_midnight(since), _midnight(until))
    assert found.words.strip(", ")


@pytest.mark.parametrize(
    ("query", "since", "until"),
    [
        ("What has happened since January?", date(2026, 1, 1), None),
        ("从一月以来我见过谁？", date(2026, 1, 1), None),
        ("What did I do after 4 July 2024?", date(2024, 7, 5), None),
        ("Who lived here before June 2024?", None, date(2024, 6, 1)),
        ("How often had we met by June 2024?", None, date(2024, 7, 1)),
    ],
)
def test_one_side_may_be_open(query: str, since: date | None, until: date | None) -> None:
    found = span(query, NOW)
    assert found is not None
    assert found.since == (since and _midnight(since))
    assert found.until == (until and _midnight(until))


@pytest.mark.parametrize(
    "query",
    [
        "",
        "小红喜欢什么？",
        "Where does Nina live?",
        "谁的生日是五月三日？",
        "Whose birthday is on 3 May?",
        "When did Nina move?",
        "You may ask who she is.",
        # Told, not asked for.
        "昨天我和小红一起吃了火锅，特别辣，回来肚子疼了一晚上。对了，她喜欢什么颜色？",
        "Yesterday the tram broke down and I walked all the way. By the way, who is Nina?",
        "昨天我和小红一起去公园散步了，遇到好多人，玩得很开心。",
        "昨天我和小红吃饭了",
        "We met Nina yesterday.",
    ],
)
def test_what_asks_for_no_time_has_no_range(query: str) -> None:
    assert span(query, NOW) is None


def test_days_are_those_of_the_askers_zone() -> None:
    shanghai = datetime(2026, 3, 18, 1, 0, tzinfo=ZoneInfo("Asia/Shanghai"))  # the 17th in UTC
    found = span("昨天谁来过？", shanghai)
    assert found is not None
    assert found.since == datetime(2026, 3, 17, tzinfo=ZoneInfo("Asia/Shanghai"))


_MOMENTS = st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC))


@given(query=st.sampled_from([query for query, _, _ in WHOLE]), now=_MOMENTS)
def test_a_range_begins_before_it_ends_whenever_it_is_asked(query: str, now: datetime) -> None:
    found = span(query, now)
    assert found is not None
    assert found.since is not None
    assert found.until is not None
    assert found.since < found.until


@given(
    query=st.sampled_from(["昨天谁来过？", "Who called yesterday?", "前天谁来过？"]), now=_MOMENTS
)
def test_what_is_past_ends_before_now(query: str, now: datetime) -> None:
    found = span(query, now)
    assert found is not None
    assert found.until is not None
    assert found.until <= now


@given(text=st.text(max_size=60), now=_MOMENTS)
def test_no_text_breaks_it(text: str, now: datetime) -> None:
    found = span(text + "?", now)
    assert found is None or found.since or found.until


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
