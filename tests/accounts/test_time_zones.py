"""Whose clock a moment is told by, and what is learnt from it."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError
from hypothesis import given
from hypothesis import strategies as st

from accounts import time_zones
from accounts.fields import Moment
from accounts.models import App, EndUser
from tests.factories import make_app, make_end_user

OFFSETS = st.integers(-12 * 60, 14 * 60)
MOMENTS = st.datetimes(datetime(1970, 1, 2), datetime(2100, 1, 1), timezones=st.just(UTC))
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def at(text: str) -> datetime:
    """As the API reads it."""
    return Moment().to_internal_value(text)


@given(MOMENTS, OFFSETS, st.sampled_from(["UTC", "Asia/Shanghai", "Europe/Berlin"]))
def test_a_moment_told_with_an_offset_is_local_there(moment, offset, zone):
    local = time_zones.local(moment, offset, ZoneInfo(zone))
    assert local == moment
    assert local.replace(tzinfo=None) == moment.replace(tzinfo=None) + timedelta(minutes=offset)


@pytest.mark.parametrize(
    ("text", "offset"),
    [
        ("2026-03-02T00:30:00+08:00", 480),
        ("2026-03-02T00:30:00-03:30", -210),
        ("2026-03-02T00:30:00+14:00", 840),
        ("2026-03-02T00:30:00+00:00", 0),
        ("2026-03-02T00:30:00Z", None),
        ("2026-03-02T00:30:00-00:00", None),
        ("2026-03-02T00:30:00", None),
        # Nowhere on earth.
        ("2026-03-02T00:30:00+23:59", None),
        ("2026-03-02T00:30:00-23:59", None),
    ],
)
def test_what_an_iso_time_says_of_a_place(text, offset):
    assert time_zones.stated_offset(at(text)) == offset


def test_a_zone_goes_before_an_offset_that_shows_the_same():
    """It knows what clocks show on other days."""
    berlin = ZoneInfo("Europe/Berlin")
    assert time_zones.local(NOON, 60, berlin).tzinfo is berlin
    assert time_zones.local(NOON, 480, berlin).utcoffset() == timedelta(hours=8)


@pytest.mark.parametrize("name", ["Mars/Olympus", "UTC+8", "asia/shanghai", "../etc/passwd", " "])
def test_only_names_of_zones_are_taken(name):
    with pytest.raises(ValidationError):
        App(name="x").settle(name)


@pytest.mark.django_db
def test_the_users_own_zone_then_the_learnt_then_the_apps_then_the_servers(settings):
    settings.TIME_ZONE = "Asia/Tokyo"
    user = make_end_user()
    assert str(user.zone) == "Asia/Tokyo"
    user.app.settle("Europe/Berlin")
    assert str(user.zone) == "Europe/Berlin"
    user.note_activity(NOON, -210)
    assert str(user.zone) == "UTC-03:30"
    user.settle("America/Lima")
    assert str(user.zone) == "America/Lima"
    user.settle("")
    assert str(user.zone) == "UTC-03:30"


@pytest.mark.django_db
def test_the_zone_of_whom_something_is_known_reads_no_app(django_assert_num_queries):
    make_end_user(external_id="a", time_zone="Asia/Shanghai")
    make_end_user(external_id="b", learnt_offset=480)
    users = list(EndUser.objects.order_by("external_id"))
    with django_assert_num_queries(0):
        assert [str(user.zone) for user in users] == ["Asia/Shanghai", "UTC+08:00"]


def test_the_offset_of_the_latest_day_is_learnt_and_days_are_counted_by_it():
    user = EndUser(app=App(name="x"))
    for text, day, days, learnt in (
        ("2026-03-02T00:30:00+08:00", date(2026, 3, 2), 1, 480),
        ("2026-03-02T15:50:00Z", date(2026, 3, 2), 1, 480),
        ("2026-03-02T16:10:00Z", date(2026, 3, 3), 2, 480),
        # A traveller, whose day is still the same, and what was said before they left.
        ("2026-03-02T22:00:00-08:00", date(2026, 3, 3), 2, 480),
        ("2026-03-04T09:00:00-08:00", date(2026, 3, 4), 3, -480),
        ("2026-03-01T09:00:00+08:00", date(2026, 3, 4), 3, -480),
    ):
        said_at = at(text)
        user.note_activity(said_at, user.offset_of(said_at))
        assert (user.last_active_on, user.activity_days, user.learnt_offset) == (day, days, learnt)


@pytest.mark.parametrize(
    ("known", "offset"),
    [
        ({}, None),
        ({"time_zone": "Asia/Shanghai"}, None),
        ({"time_zone": "Asia/Shanghai", "learnt_offset": 480}, None),
        ({"learnt_offset": 60}, 0),
    ],
)
def test_utc_written_as_an_offset_is_a_place_only_after_another_offset(known, offset):
    assert EndUser(**known).offset_of(at("2026-11-02T23:30:00+00:00")) == offset
    assert EndUser(**known).offset_of(at("2026-11-02T23:30:00Z")) is None


@pytest.mark.django_db
def test_the_database_holds_no_offset_that_no_clock_can_show():
    with pytest.raises(IntegrityError):
        make_end_user(app=make_app(), learnt_offset=1440)


@pytest.mark.parametrize("offset", ["-23:59", "+23:59", "-15:59", "+14:01"])
def test_a_moment_with_an_offset_of_no_place_is_taken_in_utc(offset):
    moment = Moment().run_validation(f"2026-01-01T00:00:00{offset}")
    assert moment == at(f"2026-01-01T00:00:00{offset}")
    assert moment.utcoffset() == timedelta(0)
