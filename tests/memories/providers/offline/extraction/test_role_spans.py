"""Whose people are, who is a person at all, and what is never said of the user."""

from uuid import uuid4

import pytest

from contacts.types import Person
from memories.types import Extraction
from tests.memories.providers.offline.talks import contents, talk


def roles(found: Extraction) -> dict[str, str]:
    return {person.name: person.relationship for person in found.people}


def facts_of_the_user(found: Extraction) -> list[tuple[str, str]]:
    return [(f.key, f.value) for m in found.memories for f in m.facts if not f.person]


@pytest.mark.parametrize(
    ("line", "owner", "name", "relationship"),
    [
        ("小岚的男朋友阿峰是厨师。", "小岚", "阿峰", "小岚的男朋友"),
        ("我朋友阿泽的妹妹小婷在大连上学", "阿泽", "小婷", "阿泽的妹妹"),
        ("我姐的男朋友程浩是律师", "姐姐", "程浩", "姐姐的男朋友"),
        ("我老公的闺蜜小敏住在厦门", "老公", "小敏", "老公的闺蜜"),
        ("我室友Olga的老公Paul是护士", "Olga", "Paul", "Olga的老公"),
        ("My friend Martin's sister Nora lives in Lisbon", "Martin", "Nora", "Martin's sister"),
        ("My boss's husband Colin is a pilot", "boss", "Colin", "boss's husband"),
    ],
)
def test_kin_of_others_stay_theirs(line: str, owner: str, name: str, relationship: str):
    found = talk(line, language="en" if line.isascii() else "zh")
    assert roles(found)[name] == relationship
    assert owner in roles(found)
    refs = {person.name: person.ref for person in found.people}
    assert (refs[name], refs[owner]) in {(r.subject, r.object) for r in found.relations}
    assert facts_of_the_user(found) == []


def test_a_known_person_said_to_be_somebodys_is_not_made_the_users():
    found = talk("跟阿峰吃饭", "那个女生的男朋友阿峰是厨师")
    assert "男朋友" not in roles(found)["阿峰"]


def test_kin_of_kin_belong_to_each_in_turn():
    found = talk("我妈的朋友的儿子叫小凯，在深圳上班")
    assert roles(found)["小凯"] == "妈妈的朋友的儿子"
    assert roles(talk("我妈的朋友的儿子小凯来了", "我儿子上学去了"))["儿子"] == "儿子"


def test_the_users_own_kin_stay_their_own():
    assert roles(talk("我的男朋友阿峰是厨师")) == {"阿峰": "男朋友"}
    assert roles(talk("我们公司的同事小许离职了")) == {"小许": "同事"}
    assert roles(talk("My friend Nora lives in Lisbon", language="en")) == {"Nora": "friend"}


def test_a_known_wife_of_the_boss_is_not_the_users_wife():
    laura = Person(uuid4(), "Laura", (), "boss's wife", "female")
    found = talk("My wife moved to Lisbon", people=(laura,), language="en")
    assert [p.contact_id for p in found.people] == [None]


@pytest.mark.parametrize(
    ("line", "name", "relationship"),
    [
        ("我朋友小张喜欢爬山", "小张", "朋友"),
        ("小马是我同事", "小马", "同事"),
        ("我邻居老何退休了", "老何", "邻居"),
        ("小雪是我表妹", "小雪", "表妹"),
        ("小张是我朋友", "小张", "朋友"),
        ("My cousin 小雨 moved to 苏州", "小雨", "cousin"),
        ("我同学高远在天津上班", "高远", "同学"),
        ("老周住在广州", "老周", ""),
        ("小许住在宁波", "小许", ""),
    ],
)
def test_a_name_that_the_dictionary_lists_as_a_word_is_a_name(
    line: str, name: str, relationship: str
):
    found = talk(line)
    assert roles(found) == {name: relationship}
    assert facts_of_the_user(found) == []


@pytest.mark.parametrize(
    "line",
    [
        "我老师小时候住在西安",
        "我妹妹小学毕业了",
        "我姐姐老是迟到",
        "我朋友小米手机坏了",
        "我同事小雨伞坏了",
        "小雨下了一整天",
        "小马路很堵",
        "老家在湖南",
        "我同事会弹吉他",
    ],
)
def test_words_that_begin_like_a_name_are_nobody(line: str):
    words = {"小时", "小学", "老是", "小米", "小雨", "小马", "老家", "吉他"}
    assert not words & set(roles(talk(line)))
    assert "弹吉同事" not in contents(talk(line))


@pytest.mark.parametrize(
    "line",
    [
        "我朋友老家在湖南",
        "他的女儿三岁了",
        "我朋友明天结婚",
        "She moved to Lisbon",
        "My friend moved to Lisbon",
        "Zorblax lives in Lisbon",
    ],
)
def test_what_is_said_of_nobody_known_is_not_true_of_the_user(line: str):
    found = talk(line, language="en" if line.isascii() else "zh")
    assert facts_of_the_user(found) == []
    assert not contents(found).startswith("用户他")


def test_what_is_said_of_the_user_and_a_friend_is():
    found = talk("My friend and I moved to Lisbon", language="en")
    assert ("location", "Lisbon") in facts_of_the_user(found)


def test_employers_brands_and_children_not_born_are_nobody():
    assert talk("I work at Morgan Stanley", language="en").people == ()
    assert talk("I drank Jack Daniel's last night", language="en").people == ()
    assert talk("王老吉真好喝").people == ()
    assert talk("如果我有女儿，我会叫她安安").people == ()
    assert roles(talk("我女儿叫安安")) == {"安安": "女儿"}


def test_a_full_name_is_one_person():
    assert roles(talk("My landlord is Peter Vance", language="en")) == {"Peter Vance": "landlord"}


def test_a_namesake_of_the_user_is_met_by_their_full_name():
    found = talk("My name is Daniel", "My colleague Daniel Park got promoted", language="en")
    assert roles(found) == {"Daniel Park": "colleague"}


def test_what_the_assistant_takes_somebody_for_does_not_stand_against_the_users_word():
    found = talk("晚上跟小禾吃了火锅", "A: 小禾是你朋友？", "高中同学，最要好的那种，全名沈禾")
    assert roles(found) == {"沈禾": "高中同学"}
