"""A date that is told is a day where it was told, whatever the clock of the server."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from accounts.models import EndUser
from memories.api.messages import MessageForm, incoming
from memories.models import Memory, Message
from memories.pipeline import buffer, run
from memories.pipeline.buffer import receive
from tests.factories import make_app
from understanding.dates.relative_dates import find_dates

ZONES = ("Asia/Shanghai", "Europe/Berlin", "America/Havana", "America/Sao_Paulo", "Pacific/Apia")


@given(
    st.datetimes(datetime(1995, 1, 1), datetime(2040, 1, 1), timezones=st.just(UTC)),
    st.none() | st.integers(-12 * 60, 14 * 60),
    st.sampled_from(ZONES),
)
# An hour that is twice, at midnight; one that is not; a day that never was.
@example(datetime(2026, 11, 1, 5, 30, tzinfo=UTC), None, "America/Havana")
@example(datetime(2018, 11, 5, 12, tzinfo=UTC), None, "America/Sao_Paulo")
@example(datetime(2011, 12, 30, 12, tzinfo=UTC), None, "Pacific/Apia")
def test_yesterday_is_the_day_before_the_local_day(moment, offset, zone):
    message = Message(pk=1, created_at=moment, utc_offset=offset)
    said_at = message.turn_in(ZoneInfo(zone)).said_at
    here = moment.astimezone(ZoneInfo(zone))
    local = here if offset is None else moment + timedelta(minutes=offset)
    for text, chinese in (("昨天去了博物馆", True), ("I went there yesterday", False)):
        (hit,) = find_dates(text, said_at, chinese)
        memory = Memory()
        memory.set_happens_at(hit.at)
        assert memory.happens_there.date() == local.date() - timedelta(days=1)
        assert f"{memory.happens_there:%Y-%m-%d}" == hit.text


def learn(text, created_at, **user):
    """The memory of a message as the API takes it, by a user about whom this is known."""
    app = make_app()
    EndUser.objects.create(app=app, external_id="ann", **user)
    form = MessageForm(data={"role": "user", "content": text, "created_at": created_at})
    form.is_valid(raise_exception=True)
    end_user = receive(app, "ann", [incoming(form.validated_data)]).end_user
    run.extract_next(end_user.pk, everything=True)
    return Memory.objects.of(end_user).get(kind="fact")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("text", "created_at", "zone", "day", "happens"),
    [
        ("昨天小红去了博物馆。", "2026-03-03T00:30:00+08:00", "", "2026-03-02", "03-02T00:00+08:00"),
        ("Anna moved to Rome yesterday.", "2026-03-02T23:30:00-08:00", "", "2026-03-01",
         "03-01T00:00-08:00"),
        ("今晚小红要做膝盖手术。", "2026-03-03T00:30:00+08:00", "", "2026-03-03", "03-03T19:00+08:00"),
        # Stamped by a server, of somebody whose zone was set.
        ("昨天小红去了博物馆。", "2026-03-02T16:30:00Z", "Asia/Shanghai", "2026-03-02",
         "03-02T00:00+08:00"),
        ("昨天小红去了博物馆。", "2026-03-02T16:30:00+00:00", "Asia/Shanghai", "2026-03-02",
         "03-02T00:00+08:00"),
        # The clocks of Berlin went forward in the night to the 29th, and back to the 25th.
        ("Anna moved to Rome yesterday.", "2026-03-29T12:00:00+02:00", "Europe/Berlin",
         "2026-03-28", "03-28T00:00+01:00"),
        ("Anna moved to Rome yesterday.", "2025-10-26T11:00:00Z", "Europe/Berlin", "2025-10-25",
         "10-25T00:00+02:00"),
        # A traveller's own clock goes before the zone that was set.
        ("昨天小红去了博物馆。", "2026-03-02T20:30:00-05:00", "Asia/Shanghai", "2026-03-01",
         "03-01T00:00-05:00"),
    ],
)  # fmt: skip
def test_a_date_is_a_day_where_it_was_said(text, created_at, zone, day, happens):
    memory = learn(text, created_at, time_zone=zone)
    assert day in memory.content
    assert memory.happens_there.isoformat(timespec="minutes")[5:] == happens


@pytest.mark.django_db
def test_what_was_told_keeps_its_days_when_the_user_travels_or_the_zone_is_set_later():
    memory = learn("昨天小红去了博物馆。", "2026-03-03T00:30:00+08:00")
    end_user = EndUser.objects.get()
    end_user.settle("America/Los_Angeles")
    stored = Memory.objects.get(pk=memory.pk).as_stored()
    assert (stored.said_at.date().day, stored.happens_at.date().day) == (3, 2)


@pytest.mark.django_db
def test_turns_before_and_of_a_batch_are_local():
    app = make_app()
    said = [
        datetime(2026, 3, 2, 16, 30, tzinfo=UTC),
        datetime.fromisoformat("2026-03-03T00:40+08:00"),
    ]
    messages = [buffer.Incoming("user", "hi", created_at=moment) for moment in said]
    end_user = receive(app, "ann", messages).end_user
    batch = buffer.claim_next(end_user.pk, now=datetime.now(UTC), everything=True)
    # The first, which says nothing of a place, is in the zone that the second taught.
    assert [str(turn.said_at) for turn in buffer.request_for(batch).turns] == [
        "2026-03-03 00:30:00+08:00",
        "2026-03-03 00:40:00+08:00",
    ]


@pytest.mark.django_db
def test_a_model_is_told_the_local_time_and_weekday_and_its_bare_dates_are_local(server):
    server.reply_json(
        {
            "people": [{"id": "n1", "name": "小红", "relationship": "朋友"}],
            "memories": [
                {
                    "content": "小红2026-03-02去了博物馆",
                    "type": "activity",
                    "subtype": "friend",
                    "people": ["n1"],
                    "turns": [1],
                    "happens_at": "2026-03-02",
                }
            ],
        }
    )
    memory = learn("昨天我朋友小红去了博物馆。", "2026-03-03T00:30:00+08:00")
    assert memory.happens_at == datetime(2026, 3, 1, 16, tzinfo=UTC)
    assert memory.happens_there.isoformat() == "2026-03-02T00:00:00+08:00"
    asked = str(server.requests)
    assert "2026-03-03T00:30" in asked
    assert "Tue" in asked
