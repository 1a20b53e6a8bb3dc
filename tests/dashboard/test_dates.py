"""Important dates in the dashboard: stated, refused, taken away; the feed; who has gone quiet."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse

from memories.corrections.edit_dates import dates_of
from memories.history.mention_rhythm import rhythms
from tests.api import ApiClient
from tests.dashboard.signin import signed_in
from tests.factories import make_contact, make_end_user, make_memory

pytestmark = pytest.mark.django_db


def test_a_date_is_stated_refused_and_removed(user, reviewer):
    kim = make_contact(user, "Kim")
    address = reverse("dashboard:dates", args=[user.pk])
    for kind, value in (("birthday", "5/3"), ("company", "5月3日")):
        wrong = reviewer.post(address, {"contact": kim.pk, "kind": kind, "value": value})
        assert wrong.status_code == 422
        assert value in wrong.content.decode()
    for whose, kind in ((kim.pk, "Birthday"), ("", "结婚纪念日")):
        sent = {"contact": whose, "kind": kind, "value": "农历八月十五"}
        assert reviewer.post(address, sent).status_code == 302
    hers = reverse("dashboard:contact", args=[user.pk, kim.pk])
    for page, dates in ((address, 2), (hers, 1)):
        shown = reviewer.get(page).content.decode()
        assert shown.count("lunar month 8, day 15</span>") == dates
    for one in dates_of(user):
        reviewer.post(reverse("dashboard:remove-date", args=[user.pk, one.id]))
    assert dates_of(user) == []


def test_the_address_of_the_feed_is_shown_once_to_admins(user, reviewer):
    make = reverse("dashboard:calendar-address", args=[user.pk])
    assert reviewer.post(make).status_code == 403
    admin = signed_in("admin")
    shown = admin.post(make).content.decode()
    feed = "/calendar.ics?key=" + shown.split("/calendar.ics?key=")[1].split('"')[0]
    assert Client().get(feed).status_code == 200
    assert (
        "calendar.ics" not in admin.get(reverse("dashboard:dates", args=[user.pk])).content.decode()
    )
    admin.post(make, {"revoke": "1"})
    assert Client().get(feed).status_code == 404


def test_who_was_spoken_of_weekly_and_is_not_any_more_is_quiet_and_nowhere_injected():
    client = ApiClient()
    user = make_end_user(app=client.app, external_id="zoe", language="en")
    people = {"Kim": (7, 56), "Bo": (7, 20), "Ann": (28, 56)}
    for name, (every, silent) in people.items():
        contact = make_contact(user, name)
        for place in range(6):
            at = user.today_began - timedelta(days=silent + every * place)
            make_memory(user, f"{name} hums, {place}", contact, said_at=at + timedelta(hours=9))
    make_memory(user, "Zed hums", zed := make_contact(user, "Zed"))
    ids = {contact.name: contact.pk for contact in user.contacts.all()}
    found = rhythms(user, ids.values())
    assert {name: found[ids[name]].quiet for name in people} == {
        "Kim": True,
        "Bo": False,
        "Ann": False,
    }
    assert zed.pk not in found
    shown = client.get(f"users/zoe/contacts/{ids['Kim']}/")[1]["cadence"]
    assert shown == {"usual_days": 7, "silent_days": 56, "quiet": True}
    looking = signed_in("reviewer")
    page = looking.get(reverse("dashboard:contact", args=[user.pk, ids["Kim"]]))
    assert "Not mentioned for 8 weeks. Before: about every 7 days." in page.content.decode()
    listed = looking.get(reverse("dashboard:contacts", args=[user.pk]))
    assert listed.content.decode().count(">quiet<") == 1
    asked = {"message": "How is Kim?", "include": ["cards", "linked", "dates"]}
    assert "8 weeks" not in client.post("users/zoe/context/", asked)[1]["system_prompt"]
