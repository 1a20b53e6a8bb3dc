"""Important dates: how they are read, written, and when they come next."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understanding.dates.important_dates import LUNAR, SOLAR, next_on, read, text, yearly_day


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("1990-05-03", (5, 3, 1990)),
        ("--05-03", (5, 3)),
        ("19900503", (5, 3, 1990)),
        ("1990年5月3号", (5, 3, 1990)),
        ("五月三日", (5, 3)),
        ("阳历八月十五", (8, 15)),
        ("May 3rd, 1990", (5, 3, 1990)),
        ("the 3rd of May", (5, 3)),
        ("--0503", (5, 3)),
        ("1990年5月3日", (5, 3, 1990)),
        ("一九九〇年的五月三号", (5, 3, 1990)),
        ("3 May 1990", (5, 3, 1990)),
        ("on Sept. 3", (9, 3)),
        ("5/13", (5, 13)),
        ("13.5.1990", (5, 13, 1990)),
        ("1990/5/3", (5, 3, 1990)),
        ("5/5", (5, 5)),
        ("Feb 29", (2, 29)),
        ("八月十五", (8, 15, None, LUNAR)),
        ("农历5月5日", (5, 5, None, LUNAR)),
        ("腊月廿三", (12, 23, None, LUNAR)),
        ("正月 初一", (1, 1, None, LUNAR)),
        ("lunar 8/15", (8, 15, None, LUNAR)),
        ("1990年农历闰四月初三", (4, 3, 1990, LUNAR, True)),
        ("15th day of the 8th lunar month", (8, 15, None, LUNAR)),
        *[
            (said, None)
            for said in (
                "5/3",
                "05-03-1990",
                "in May",
                "May 1990",
                "turns 30 in May",
                "1990",
                "12",
                "2月30日",
                "May 3 or 4",
                "五月三日或四日",
                "9999-12-31",
            )
        ],
    ],
)
def test_a_value_is_read_as_exactly_one_day(said, day):
    if day is None:
        assert read(said) is None
        return
    *rest, leap = (*day, *(None, None, SOLAR, False)[len(day) - 1 :]) if len(day) < 5 else day
    month, number, year, calendar = rest
    assert read(said) == yearly_day(month, number, year, calendar, leap=leap)


@given(
    st.integers(1, 12), st.integers(1, 30), st.one_of(st.none(), st.integers(1800, 2200)),
    st.sampled_from([SOLAR, LUNAR]), st.booleans(), st.dates(date(1920, 1, 1), date(2098, 1, 1)),
)  # fmt: skip
def test_what_is_written_is_read_again_and_comes_once_within_a_year(
    month, number, year, calendar, leap, today
):
    day = yearly_day(month, number, year, calendar, leap=leap)
    if day is None:
        return
    assert {read(text(day, language)) for language in ("en", "zh")} == {day}
    found = next_on(day, today)
    assert found is not None
    assert 0 <= (found.on - today).days <= 385


@pytest.mark.parametrize(
    ("said", "today", "on", "years"),
    [
        ("1988-02-29", date(2027, 1, 1), date(2027, 2, 28), 39),
        ("1988-02-29", date(2028, 1, 1), date(2028, 2, 29), 40),
        ("1990-05-03", date(2026, 5, 3), date(2026, 5, 3), 36),
        ("05-03", date(2026, 5, 4), date(2027, 5, 3), None),
        ("农历八月十五", date(2026, 9, 1), date(2026, 9, 25), None),
        ("1990年农历腊月廿三", date(2026, 11, 22), date(2027, 1, 30), 36),
        ("农历闰六月初一", date(2025, 7, 1), date(2025, 7, 25), None),  # a year with that month
        ("农历闰六月初一", date(2026, 7, 1), date(2026, 7, 14), None),  # and one without
        ("农历六月三十", date(2026, 7, 1), date(2026, 8, 12), None),  # of 30 days
        ("农历六月三十", date(2027, 7, 1), date(2027, 8, 1), None),  # of 29
    ],
)
def test_when_a_day_comes_next(said, today, on, years):
    day = read(said)
    assert day is not None
    found = next_on(day, today)
    assert (found.on, found.years) == (on, years)
