"""Important dates in the dashboard: stated, refused, taken away; the feed; who has gone quiet."""

import pytest
from django.test import Client
from django.urls import reverse

from memories.corrections.edit_dates import dates_of
from tests.dashboard.signin import signed_in
from tests.factories import make_contact

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
