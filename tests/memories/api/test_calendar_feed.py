"""The calendar feed of important dates, as calendars read it."""

import logging
from datetime import date

import pytest
import vobject
from django.test import Client

from accounts.models import App, EndUser
from memories.corrections.edit_dates import dates_of
from memories.erasure import erase
from tests.api import ApiClient
from tests.factories import json_value, make_contact, make_end_user
from understanding.dates.important_dates import falls_on, read

pytestmark = pytest.mark.django_db


@pytest.fixture
def client():
    return ApiClient()


def address_of(client):
    status, made = client.post("users/zoe/calendar/")
    assert status == 201
    return made["url"].removeprefix("http://testserver")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_feed_is_what_calendars_accept(client, language, caplog):
    zoe = make_end_user(app=client.app, external_id="zoe", language=language)
    people = {
        "Kim; the, \\one": "1990-05-03",
        "小红" * 40: "农历八月十五",
        "Leap": "1988-02-29",
        "Nobody": "in May",
    }
    for name, value in people.items():
        make_contact(zoe, name, attributes={"birthday": [json_value(value)]})
    with caplog.at_level(logging.DEBUG):
        url = address_of(client)
        reply = Client().get(url)
        assert Client().get(url + "x").status_code == 404
    assert (reply.status_code, reply["Content-Type"]) == (200, "text/calendar; charset=utf-8")
    raw = reply.content
    assert max(map(len, raw.split(b"\r\n"))) <= 75
    assert raw.count(b"DTSTART;VALUE=DATE:") == raw.count(b"UID:") == raw.count(b"DTSTAMP:") == 7
    events = vobject.readOne(raw.decode()).vevent_list
    assert len({event.uid.value for event in events}) == 7
    by_name = {}
    for event in events:
        by_name.setdefault(event.summary.value[:4], []).append(event)
    (kim,), (leap,), moon = by_name["Kim;"], by_name["Leap"], by_name["小红小红"]
    assert kim.summary.value.startswith("Kim; the, \\one")
    assert (kim.dtstart.value, kim.rrule.value) == (date(1990, 5, 3), "FREQ=YEARLY")
    assert leap.rrule.value == "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=-1"
    assert not any(hasattr(event, "rrule") for event in moon)
    first = next(one for one in dates_of(zoe) if one.day.calendar == "lunar").next_on
    days = [falls_on(read("农历八月十五"), first.year + n) for n in range(5)]
    assert [event.dtstart.value for event in moon] == days
    key = url.partition("=")[2]
    assert not [record for record in caplog.records if key in record.getMessage()]


def test_an_address_is_renewed_revoked_and_goes_with_its_user(client):
    zoe = make_end_user(app=client.app, external_id="zoe")
    first = address_of(client)
    second = address_of(client)
    assert [Client().get(url).status_code for url in (first, second)] == [404, 200]
    assert second.partition("=")[2] not in str(EndUser.objects.filter(pk=zoe.pk).values())
    assert client.get("users/zoe/calendar/")[1] == {"active": True}
    assert client.delete("users/zoe/calendar/")[1] == {"active": False}
    assert Client().get(second).status_code == 404
    third = address_of(client)
    for archived_at, status in ((zoe.created_at, 404), (None, 200)):
        App.objects.update(archived_at=archived_at)
        assert Client().get(third).status_code == status
    erase.forget_everything(zoe)
    assert [Client().get(url).status_code for url in (third, "/calendar.ics")] == [404, 404]
