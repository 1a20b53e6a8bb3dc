"""A relationship through somebody else is not the user's own."""

from uuid import uuid4

import pytest

from understanding.names import lookup_keys
from understanding.roles import is_relation_of_other, person_gender
from understanding.types import Person


@pytest.mark.parametrize(
    "relationship",
    [
        "Ben's sister",
        "my boss's wife",
        "the user's boss's wife",
        "her mother",
        "friend of my wife",
        "老婆的闺蜜",
        "小岚的男朋友",
        "阿泽的妹妹",
        "她妈妈",
        "妈妈朋友",
        "儿子的班主任",
    ],
)
def test_what_somebody_is_to_another_has_no_key_of_the_users_own(relationship: str):
    assert is_relation_of_other(relationship)
    keys = {key.key for key in lookup_keys(Person(uuid4(), "Ivy", (), relationship))}
    assert not any(key.startswith("kin:") for key in keys)


@pytest.mark.parametrize(
    "relationship",
    [
        "my little sister",
        "the user's sister",
        "my mom's side cousin",
        "我的妹妹",
        "用户的老板",
        "公司的同事",
        "公司里的同事",
        "隔壁的邻居",
        "最好的朋友",
        "可爱的女儿",
        "高中班主任",
        "同事（朋友的朋友）",
    ],
)
def test_what_somebody_is_to_the_user_keeps_its_key(relationship: str):
    assert not is_relation_of_other(relationship)
    keys = {key.key for key in lookup_keys(Person(uuid4(), "Ivy", (), relationship))}
    assert any(key.startswith("kin:") for key in keys)


@pytest.mark.parametrize(
    ("name", "gender"),
    [
        ("Aunt Maeve", "female"),
        ("Mr. Osei", "male"),
        ("Mx Osei", ""),
        ("Dr Osei", ""),
        ("倪姐", "female"),
        # Of somebody else it says nothing.
        ("Aunt Maeve's plumber", ""),
    ],
)
def test_a_form_of_address_tells_the_gender(name: str, gender: str):
    assert person_gender(Person(uuid4(), name)) == gender
