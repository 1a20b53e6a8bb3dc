"""Dates as precise as they are known, read and shown."""

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understanding.dates import partial_dates


@pytest.mark.parametrize(
    ("text", "start", "last"),
    [
        ("2019", "2019-01-01", "2019-12-31"),
        ("2025-02", "2025-02-01", "2025-02-28"),
        ("2025-12", "2025-12-01", "2025-12-31"),
        ("2025-08-03", "2025-08-03", None),
        ("2025-08-03T14:30", "2025-08-03T14:30", None),
        ("2025-11-21/2025-11-30", "2025-11-21", "2025-11-30"),
        ("2025-11/2026-02", "2025-11-01", "2026-02-28"),
        ("2025-08-03/2025-08-03", "2025-08-03", None),
        ("2025-08-03/2025-08-01", "2025-08-03", None),
    ],
)
def test_what_is_known_of_a_date_is_kept(text, start, last):
    found = partial_dates.read(text, UTC)
    assert found is not None
    assert found.start == datetime.fromisoformat(start).replace(tzinfo=UTC)
    assert found.last == (datetime.fromisoformat(last).replace(tzinfo=UTC) if last else None)


@pytest.mark.parametrize(
    "text", ["2025-02-30", "", "0001-01-01", "9999", "2025-13", "2025-00", "tomorrow", "/", None]
)
def test_a_date_outside_of_a_life_is_none(text):
    assert partial_dates.read(text, UTC) is None


@given(st.text(max_size=30))
def test_no_text_raises(text):
    partial_dates.read(text, UTC)


@given(st.dates(date(1800, 1, 1), date(2197, 10, 1)), st.integers(0, 800))
def test_what_is_shown_reads_as_the_same(first, days):
    start = datetime.combine(first, datetime.min.time(), UTC)
    last = start + days * partial_dates.DAY if days else None
    found = partial_dates.read(partial_dates.shown(start, last), UTC)
    assert (found.start, found.last) == (start, last)


def test_what_held_until_a_year_held_to_its_end():
    found = partial_dates.read("2021", UTC)
    assert found.after == datetime(2022, 1, 1, tzinfo=UTC)
