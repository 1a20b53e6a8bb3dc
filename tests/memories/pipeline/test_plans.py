"""What lies ahead of a person is on the card, and no part of the profile before its day is over."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from contacts import cards
from contacts.models import Contact
from memories.models import Link, Memory
from memories.pipeline import run
from tests.factories import json_value, make_contact, make_end_user, make_memory

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("language", "name", "said", "caption"),
    [
        ("en", "Kim", "Kim moved in for a week on {}", "Coming up:"),
        ("zh", "小红", "小红{}搬来住一周", "即将："),
    ],
)
def test_a_plan_is_on_the_card_until_its_day_and_history_after_it(language, name, said, caption):
    end_user = make_end_user(language=language, time_zone="Asia/Shanghai")
    contact = make_contact(end_user, name)
    later, soon = (end_user.today_began + timedelta(days=n, hours=20) for n in (9, 0))
    plan = make_memory(
        end_user, said.format(soon.date()), contact, happens_at=soon, type="plan",
        facts=[{"key": key, "value": "Oslo", "person": str(contact.pk)} for key in ("location", "plan")],
    )  # fmt: skip
    make_memory(end_user, f"{name}: {later.date()}", contact, valid_from=later)
    make_memory(end_user, f"{name} ♪", contact)

    run.process(end_user.pk)
    contact.refresh_from_db()
    assert (contact.timeline, contact.attributes) == ([], {})
    assert Link.objects.of(end_user).unconsolidated().count() == 2
    lines = contact.card_today.splitlines()
    place = lines.index(caption)
    assert plan.content in lines[place + 1]
    assert str(later.date()) in lines[place + 2]
    assert contact.card_today.count(plan.content) == 1
    tomorrow = soon.date() + timedelta(days=1)
    day = str(cards.with_coming("", contact.coming, tomorrow, language))
    assert plan.content not in day
    assert str(later.date()) in day

    Memory.objects.filter(pk=plan.pk).update(happens_at=soon - timedelta(days=1))
    run.process(end_user.pk)
    contact.refresh_from_db()
    assert [event["at"] for event in contact.timeline] == [str((soon - timedelta(days=1)).date())]
    assert list(contact.attributes) == ["location"]
    assert plan.content not in contact.card_today.split(caption)[1].split("\n", 2)[1]


@pytest.mark.parametrize(("kind", "ahead"), [("plan", True), ("activity", False)])
def test_what_happened_today_does_not_lie_ahead_and_what_is_planned_for_today_does(kind, ahead):
    end_user = make_end_user(language="en")
    contact = make_contact(end_user, "Kim")
    today = end_user.today_began
    times = {"happens_at": today, "said_at": timezone.now()}
    make_memory(end_user, "Kim at the open lesson", contact, type=kind, **times)
    run.process(end_user.pk)
    contact.refresh_from_db()
    assert ("Coming up" in contact.card_today) == ahead
    assert bool(Link.objects.of(end_user).unconsolidated().count()) == ahead


def test_a_birthday_that_lies_ahead_is_known_at_once():
    end_user = make_end_user(language="en")
    contact = make_contact(end_user, "Kim")
    fact = {"key": "birthday", "value": "May 3", "person": str(contact.pk)}
    ahead = end_user.today_began + timedelta(days=5)
    make_memory(end_user, "Kim has her birthday on May 3", contact, happens_at=ahead, facts=[fact])
    run.process(end_user.pk)
    assert Contact.objects.get(pk=contact.pk).attributes["birthday"][0]["value"] == "May 3"


def test_nothing_is_to_come_of_people_whom_an_upgrade_finds():
    end_user = make_end_user(language="en")
    contact = make_contact(end_user, "Kim")
    with connection.cursor() as cursor:
        cursor.execute("UPDATE contacts_contact SET coming = DEFAULT")
    contact.refresh_from_db()
    assert (contact.coming, contact.card_today) == ([], contact.card)


def test_a_date_of_a_person_is_on_the_card_when_it_is_near():
    end_user = make_end_user(language="en")
    near, far = (end_user.today + timedelta(days=n) for n in (29, 45))
    contact = make_contact(
        end_user,
        "Kim",
        attributes={
            "birthday": [json_value(f"1990-{near:%m-%d}")],
            "wedding_anniversary": [json_value(f"{far:%m-%d}")],
            "gotcha_day": [json_value(f"{near:%m-%d}")],
        },
    )
    coming = contact.card_today.split("Coming up:\n")[1]
    assert f": birthday, turns {near.year - 1990}\n" in coming
    assert ": “gotcha day”" in coming
    assert "nniversary" not in coming
