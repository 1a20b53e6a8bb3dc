"""Important dates over HTTP, from what was told and what an app states."""

import json
from datetime import timedelta
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import Change
from contacts import store
from contacts.models import Contact
from memories.corrections import merge_contacts
from memories.corrections.undo import undo_change
from memories.erasure import erase
from memories.models import Memory
from memories.portability import export_user, import_user
from tests.api import ApiClient, assert_error
from tests.factories import json_value, make_contact, make_end_user, make_memory
from understanding.dates.important_dates import read

pytestmark = pytest.mark.django_db


@pytest.fixture
def client():
    return ApiClient()


@pytest.fixture
def zoe(client):
    return make_end_user(
        app=client.app, external_id="zoe", language="en", time_zone="Asia/Shanghai"
    )


def dates(client, query=""):
    return client.get(f"users/zoe/dates/{query}")[1]["results"]


def test_dates_are_listed_by_when_they_come_with_their_sources(client, zoe):
    near, far = (zoe.today + timedelta(days=n) for n in (3, 60))
    kim = make_contact(zoe, "Kim")
    told = make_memory(zoe, "Kim's birthday", kim)
    birthday = json_value(f"1990-{near:%m-%d}", [told.pk])
    kim.attributes = {"birthday": [birthday], "diet": [json_value("May 3")]}
    store.save(kim, ["attributes"])
    make_contact(zoe, "Bo", attributes=kim.attributes | {"birthday": [json_value(f"{far:%m-%d}")]})
    fact = {"key": "wedding_anniversary", "value": f"{far:%B} {far.day}, 2010", "person": None}
    own = make_memory(zoe, "The user's wedding anniversary", facts=[fact])

    (first,) = dates(client, "?within=30")
    assert first["name"] == "Kim"
    assert (first["next_on"], first["in_days"]) == (str(near), 3)
    assert (first["years"], first["sources"]) == (near.year - 1990, [str(told.pk)])
    listed = dates(client)
    assert {(one["name"], one["kind"]) for one in listed[1:]} == {
        ("Bo", "birthday"), (None, "wedding_anniversary")
    }  # fmt: skip
    assert next(one for one in listed if one["name"] is None)["sources"] == [str(own.pk)]
    assert [one["name"] for one in dates(client, f"?contact={kim.pk}")] == ["Kim"]


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("whose", ["contact", "own"])
def test_an_app_states_corrects_and_takes_away_a_date_and_undoes_it(client, zoe, language, whose):
    zoe.language = language
    zoe.save()
    contact = str(make_contact(zoe, "Kim").pk) if whose == "contact" else None
    lunar = {"calendar": "lunar", "month": 8, "day": 15, "year": 1990}
    code, made = client.post("users/zoe/dates/", {"contact": contact, "kind": "birthday", **lunar})
    assert code == 201
    assert read(made["text"]).calendar == "lunar"
    assert "农历八月十五" in made["text"] or language == "en"
    address = f"users/zoe/dates/{made['id']}/"
    assert client.patch(address, {"calendar": "solar", "month": 2, "day": 29})[0] == 400  # in 1990
    changed = client.patch(address, {"calendar": "solar", "month": 2, "year": None})[1]
    assert (changed["id"], changed["month"], changed["year"]) == (made["id"], 2, None)
    gone = client.call("DELETE", address)[1]
    assert dates(client) == []
    for change in (gone, changed):
        undo_change(Change.objects.get(pk=change["change_id"]), actor="operator:x")
    (left,) = dates(client)
    assert (left["calendar"], left["month"], left["day"]) == ("lunar", 8, 15)


def test_a_kind_of_ones_own_and_what_is_refused(client, zoe):
    kim = str(make_contact(zoe, "Kim").pk)
    body = {"contact": kim, "kind": "Gotcha", "month": 5, "day": 3}
    assert client.post("users/zoe/dates/", body)[1]["kind"] == "gotcha_day"
    for wrong, code in (
        ({"kind": "company"}, 400), ({"month": 2, "day": 30}, 400), ({"contact": None}, 400),
        ({"contact": str(make_contact(make_end_user(), "Al").pk)}, 404), ({"leap": True}, 400),
    ):  # fmt: skip
        assert client.call("POST", "users/zoe/dates/", {**body, **wrong})[0] == code, wrong
    stranger = make_contact(make_end_user(), "Al").pk
    assert_error(client.get(f"users/zoe/dates/?contact={stranger}"), 404, "unknown_contact")


def test_a_date_goes_with_a_merge_and_comes_back_with_its_undo(client, zoe):
    kim = make_contact(zoe, "Kim", attributes={"birthday": [json_value("May 3")]})
    other = make_contact(zoe, "Kimberly")
    change = merge_contacts.merge(zoe, kim.pk, other.pk, actor="operator:x")
    assert [one["name"] for one in dates(client)] == ["Kimberly"]
    assert dates(client, f"?contact={kim.pk}") == dates(client)
    undo_change(change, actor="operator:x")
    assert [one["name"] for one in dates(client)] == ["Kim"]
    assert Contact.objects.get(pk=other.pk).coming == []


def test_dates_are_exported_read_in_again_and_forgotten_with_their_people(client, zoe):
    kim = make_contact(zoe, "Kim", attributes={"birthday": [json_value("May 3")]})
    import_user(client.app, json.loads(json.dumps(export_user(zoe))), external_id="yan")
    (copy,) = client.get("users/yan/dates/")[1]["results"]
    assert (copy["name"], copy["month"], copy["day"]) == ("Kim", 5, 3)
    erase.forget_contact(zoe, kim.pk)
    assert dates(client) == []


@pytest.mark.parametrize(
    ("language", "message", "days", "line"),
    [
        ("en", "good morning", 2, "(in 2 days): Kim, birthday, turns "),
        ("zh", "早上好", 1, "（明天）：Kim，生日，满"),
        ("en", "Whose birthday is next?", 20, "(in 20 days): Kim, birthday"),
        ("zh", "最近谁过生日？", 20, "（20天后）：Kim，生日"),
        ("en", "good morning", 20, ""),
    ],
)
def test_a_date_is_in_the_prompt_when_it_is_near_or_asked_for(
    client, zoe, language, message, days, line
):
    zoe.language = language
    zoe.save()
    on = zoe.today + timedelta(days=days)
    make_contact(zoe, "Kim", attributes={"birthday": [json_value(f"1990-{on:%m-%d}")]})
    asked = {"message": message, "include": ["cards", "dates"]}
    found = client.post("users/zoe/context/", asked)[1]
    assert line in found["system_prompt"]
    assert bool(line) == bool(found["system_prompt"]) == bool(found["dates"])
    named = client.post("users/zoe/context/", {**asked, "message": f"{message} And Kim?"})[1]
    assert named["dates"] == []
    assert "Coming up:" in named["system_prompt"] or "即将：" in named["system_prompt"]


@pytest.mark.parametrize(
    ("language", "line"), [("en", "(tomorrow): the user, birthday"), ("zh", "（明天）：用户，生日")]
)
def test_the_users_own_date_is_in_the_prompt_until_it_is_no_longer_known(
    client, zoe, language, line
):
    zoe.language = language
    zoe.save()
    on = zoe.today + timedelta(days=1)
    date = {"kind": "birthday", "month": on.month, "day": on.day}
    body = {"message": "good morning", "include": ["cards", "dates"]}
    client.post("users/zoe/dates/", date)
    found = client.post("users/zoe/context/", body)[1]
    assert line in found["system_prompt"]
    assert [(one["contact"], one["kind"]) for one in found["dates"]] == [(None, "birthday")]
    day_after = on + timedelta(days=1)
    moved = {**date, "month": day_after.month, "day": day_after.day}
    client.post("users/zoe/dates/", moved)
    assert line not in client.post("users/zoe/context/", body)[1]["system_prompt"]
    (told,) = client.get("users/zoe/dates/")[1]["results"]
    client.call("DELETE", f"users/zoe/dates/{told['id']}/")
    assert client.post("users/zoe/context/", body)[1]["dates"] == []


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["birthday", "wedding_anniversary", "vehicle"]),
            st.booleans(),
            st.sampled_from(["active", "outdated"]),
        ),
        max_size=5,
    )
)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_own_dates_beside_the_user_are_what_the_memories_tell(zoe, told):
    Memory.objects.of(zoe).delete()
    made = [
        make_memory(
            zoe, f"told {number}", status=status, said_at=zoe.created_at + timedelta(days=number),
            facts=[{"key": key, "value": f"May {number}", "person": None if mine else str(uuid4())}],
        )
        for number, (key, mine, status) in enumerate(told)
    ]  # fmt: skip

    def kept(since):
        zoe.refresh_from_db()
        assert [{k: v for k, v in one.items() if k != "said"} for one in zoe.own_facts] == [
            {"kind": key, "value": f"May {number}", "memory": str(made[number].pk)}
            for number, (key, mine, status) in reversed([*enumerate(told)][since:])
            if mine and status == "active" and key != "vehicle"
        ]

    kept(0)
    for memory in made[:2]:
        memory.delete()
    kept(2)
    Memory.objects.of(zoe).update(status="archived")
    kept(len(told))
