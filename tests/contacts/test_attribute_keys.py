"""What is known of people: the keys that they are found by because of it, and when two values are one."""

import pytest

from contacts import store
from memories.doctor import invariants
from tests.factories import json_value, make_contact, make_end_user
from understanding import attribute_index
from understanding.attributes import attribute_key, is_key
from understanding.dates.important_dates import day_key


@pytest.mark.django_db
def test_keys_follow_companies_and_important_dates_alone():
    end_user = make_end_user()
    known = {"company": "腾讯", "location": "深圳", "birthday": "5月12日"}
    attributes = {key: [json_value(value)] for key, value in known.items()}
    contact = make_contact(end_user, "林悦", attributes=attributes)
    keys = contact.keys.filter(key__startswith=attribute_index.PREFIX)
    assert {key.key for key in keys} == {"attr:company:腾讯", "attr:@day:05-12"}
    contact.attributes = {"company": [json_value("小米")]}
    store.save(contact, ["attributes"])
    assert [key.key for key in keys.all()] == ["attr:company:小米"]
    assert [f for f in invariants.keys_are_current() if f.end_user_id == end_user.pk] == []
    keys.filter(key="attr:company:小米").delete()
    assert [f.subject for f in invariants.keys_are_current()] == [contact.id]


def test_the_keys_of_a_contact_are_bounded():
    values = [json_value(f"firm number {n} of very many words here") for n in range(500)]
    days = {f"a{n}_day": [json_value(f"2001-{n % 12 + 1:02}-{n % 28 + 1:02}")] for n in range(300)}
    keys = list(attribute_index.keys_of({**days, "company": values}))
    assert len(keys) == attribute_index.MAX_KEYS
    assert all(len(key.key) <= 250 and len(key.text) <= 200 for key in keys)


@pytest.mark.parametrize(
    ("attribute", "one", "other", "same"),
    [
        ("birthday", "5月12日", "1991-05-12", True),
        ("birthday", "五月十二号", "May 12th, 1991", True),
        ("birthday", "12 May", "--0512", True),
        ("birthday", "19910512", "2001年5月12日", True),
        ("birthday", "5月12日", "5月21日", False),
        ("company", "腾讯公司", "腾讯", True),
        ("company", "Bank of China", "Bank of America", False),
        ("location", "深圳市", "深圳", True),
        ("phone", "138-0000-1234", "+86 13800001234", True),
        ("phone", "(415) 555-2671", "+1 415 555 2671", True),
        ("phone", "010-6552 9988", "0086 10 6552 9988", True),
        ("phone", "+49 30 901820", "+44 30 901820", False),
        ("email", "Wren@Example.org", "wren@example.org", True),
    ],
)
def test_two_values_have_one_form_when_they_say_the_same(attribute, one, other, same):
    forms = [attribute_index.form(attribute, value) for value in (one, other)]
    assert (forms[0] == forms[1] != "") is same


@pytest.mark.parametrize(
    ("stated", "key"),
    [
        ("生日", "birthday"),
        ("Job", "job_title"),
        ("Blood type", "blood_type"),
        ("血型", "血型"),
        ("2nd job", "2nd_job"),
        ("how often they " * 9, "how_often_they_how_often_they_how_often_they_how_o"),
    ],
)
def test_every_key_that_a_model_can_store_can_be_corrected(stated, key):
    assert attribute_key(stated) == key
    assert is_key(key)
    assert is_key(day_key(key))


@pytest.mark.parametrize("text", ["", "Blood", "blood type", "_blood", "b-type", "b" * 51])
def test_what_is_no_key(text):
    assert not is_key(text)
