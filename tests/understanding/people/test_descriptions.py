"""A person meant by what is known of them: own cases in both languages, for and against."""

import pytest

from contacts import lookup, store
from contacts.models import json_value
from memories.doctor import invariants
from tests.factories import make_contact, make_end_user
from understanding import attribute_index
from understanding.people.descriptions import describe

PEOPLE = {
    "林悦": ("朋友", "female", {"company": "腾讯", "location": "深圳", "pet": "一只布偶猫"}),
    "周海涛": ("同事", "male", {"location": "深圳市南山区", "age": "45岁", "interests": "钓鱼"}),
    "许晴川": ("大学同学", "female", {"location": "四川成都", "birthday": "1991-05-12"}),
    "何以安": ("", "male", {"company": "上海蓝鲸传媒有限公司", "job_title": "摄影师", "height": "182cm"}),
    "罗小满": ("邻居", "female", {"job_title": "护士", "hometown": "重庆", "phone": "138 0000 1234"}),
    "Priya": ("colleague", "female", {"job_title": "nurse", "location": "Leeds", "allergy": "peanuts"}),
    "Oscar": ("friend", "male", {"company": "Siemens", "location": "Berlin", "pet": "two corgis"}),
    "Dmitri": ("", "male", {"job_title": "boat builder", "age": "52", "hometown": "Riga"}),
    "Hannah": ("friend", "female", {"birthday": "June 3", "interests": "rock climbing", "email": "hannah@example.org"}),
}  # fmt: skip

MEANT = [
    ("那个45岁的家伙叫什么名字来着", ["周海涛"]),
    ("我那个在腾讯上班的朋友最近怎么样", ["林悦"]),
    ("那个在上海蓝鲸传媒上班的人叫什么", ["何以安"]),
    ("那个在蓝鲸传媒工作的男的联系方式是多少", ["何以安"]),
    ("住在成都的那个同学结婚了吗", ["许晴川"]),
    ("养猫的那个朋友想再养一只", ["林悦"]),
    ("我在深圳的同事要来看我", ["周海涛"]),
    ("生日是5月12日的人是谁", ["许晴川"]),
    ("那个生日是五月十二号的人叫什么", ["许晴川"]),
    ("那个来自重庆的人做什么工作", ["罗小满"]),
    ("那个护士叫什么名字", ["罗小满"]),
    ("那个当护士的邻居叫啥", ["罗小满"]),
    ("那个喜欢钓鱼的家伙周末又不在", ["周海涛"]),
    ("谁在腾讯上班？", ["林悦"]),
    ("我哪个同学住在成都", ["许晴川"]),
    ("有谁住在深圳？", ["林悦", "周海涛"]),
    ("那个身高182cm的人是谁", ["何以安"]),
    ("那个电话是13800001234的人是谁", ["罗小满"]),
    ("上海蓝鲸传媒有限公司的那个人，他是做什么的", ["何以安"]),
    ("摄影师的邮箱是多少来着", ["何以安"]),
    ("說說那個住在深圳的女生吧", ["林悦"]),
    ("What's the name of my friend who works at Siemens?", ["Oscar"]),
    ("my friend who works at Siemens told me a joke", ["Oscar"]),
    ("How is the nurse doing?", ["Priya"]),
    ("who is the nurse?", ["Priya"]),
    ("The guy who builds my boat raised his prices", ["Dmitri"]),
    ("that 52-year-old guy called again", ["Dmitri"]),
    ("Which of my friends lives in Berlin?", ["Oscar"]),
    ("my friend from Berlin is visiting", ["Oscar"]),
    ("the one who's allergic to peanuts can't come", ["Priya"]),
    ("Who has corgis?", ["Oscar"]),
    ("the girl who does rock climbing", ["Hannah"]),
    ("whose birthday is on June 3rd?", ["Hannah"]),
    ("What's up with my climbing friend?", ["Hannah"]),
    ("the person whose email is hannah@example.org", ["Hannah"]),
    ("remind me about my colleague who lives in Leeds", ["Priya"]),
]  # fmt: skip

NOT_MEANT = [
    "在腾讯上班很累",
    "我在深圳上班，住在成都",
    "the nurse shortage is getting worse",
    "I work at Siemens and I like rock climbing",
    "成都的火锅真好吃",
    "我今天45岁了",
    "腾讯的股票又跌了，深圳的房价也是",
    "那个在华为上班的人叫什么",
    "那个30岁的家伙叫什么",
    "我在深圳的亲戚叫什么",
    "my sister who works at Siemens",
    "the woman who builds my boat",
    "那个男的住在成都，听说很有钱",
    "我在深圳的同事们都很好",
    "Nurses who work in Leeds are underpaid",
    "the weather in Berlin is awful",
    "那个5月12日的会议在哪开",
    "who wants corgis?",
    "What do people who live in Berlin eat?",
    "《那个养猫的朋友》这本书好看吗",
    "https://example.org/?q=那个养猫的朋友",
    "猫和狗谁更聪明",
    "我妈喜欢钓鱼的人",
]


@pytest.fixture
def end_user(db):
    user = make_end_user(language="zh")
    for name, (relationship, gender, known) in PEOPLE.items():
        attributes = {key: [json_value(value)] for key, value in known.items()}
        make_contact(user, name, relationship=relationship, gender=gender, attributes=attributes)
    return user


def semantic(end_user, text):
    found, *_ = lookup.look_up(end_user, text, lambda: ([], []))
    return sorted({m.person.name for m in found if m.how == "semantic"})


def test_people_are_found_by_what_is_known_of_them(end_user):
    wrong = {
        text: found for text, names in MEANT if (found := semantic(end_user, text)) != sorted(names)
    }
    assert wrong == {}


def test_plain_statements_and_descriptions_of_strangers_mean_nobody(end_user):
    assert {text: found for text in NOT_MEANT if (found := semantic(end_user, text))} == {}


def test_several_who_fit_are_all_returned_and_each_is_less_sure(end_user):
    found, cards, *_ = lookup.look_up(end_user, "有谁住在深圳？", lambda: ([], []))
    assert {m.person.name for m in found} == {"林悦", "周海涛"}
    assert all(
        m.confidence <= 0.5 and str(m.reason).startswith("fits the description") for m in found
    )
    assert {m.person.id for m in found} <= set(cards)


def test_the_span_is_that_of_the_description(end_user):
    text = "昨天吃饭时，那个养猫的朋友又迟到了"
    (mention,) = lookup.look_up(end_user, text, lambda: ((), ()))[0]
    assert text[mention.start : mention.end] == mention.text == "那个养猫的朋友"
    assert mention.how == "semantic"
    assert mention.confidence < 0.85
    assert "pet 一只布偶猫" in str(mention.reason)


def test_a_name_inside_the_description_wins(end_user):
    found, *_ = lookup.look_up(end_user, "那个喜欢林悦的家伙是谁", lambda: ([], []))
    assert {(m.person.name, m.how) for m in found} == {("林悦", "name")}


def test_a_description_replaces_the_role_word_that_it_is_made_with(end_user):
    make_contact(end_user, "裴以宁", relationship="同事")
    found, *_ = lookup.look_up(end_user, "我在深圳的同事怎么样了", lambda: ([], []))
    assert [(m.person.name, m.how) for m in found] == [("周海涛", "semantic")]


def test_keys_follow_the_attributes(end_user):
    contact = store.find(end_user, "林悦")[0]
    contact.attributes = {"company": [json_value("小米")]}
    store.save(contact, ["attributes"])
    assert semantic(end_user, "谁在腾讯上班？") == []
    assert semantic(end_user, "谁在小米上班？") == ["林悦"]
    assert [f for f in invariants.keys_are_current() if f.end_user_id == end_user.pk] == []
    contact.keys.filter(key="attr:company:小米").delete()
    assert [f.subject for f in invariants.keys_are_current()] == [contact.id]


def test_a_description_costs_no_statement_of_its_own(end_user, django_assert_num_queries):
    with django_assert_num_queries(1):
        lookup.look_up(end_user, "我那个在腾讯上班的朋友，还有小红", lambda: ([], []))


def test_another_users_people_fit_nothing(end_user):
    other = make_end_user(app=end_user.app)
    assert lookup.look_up(other, "那个在腾讯上班的人", lambda: ((), ()))[0] == []


def test_the_keys_of_a_contact_are_bounded():
    values = [json_value(f"hobby number {n} of very many words here") for n in range(500)]
    keys = list(attribute_index.keys_of({f"a{n}": values for n in range(50)}))
    assert len(keys) == attribute_index.MAX_KEYS
    assert all(len(key.key) <= 250 and len(key.text) <= 200 for key in keys)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("5月12日", "1991-05-12"), ("五月十二号", "May 12th, 1991"), ("12 May", "--0512"),
        ("0512", "19910512"), ("5月12", "2001年5月12日"),
    ],
)  # fmt: skip
def test_a_birthday_is_one_in_all_spellings(one, other):
    assert attribute_index.month_day(one) == attribute_index.month_day(other) == "05-12"


@pytest.mark.parametrize(
    ("attribute", "asked", "held", "fits"),
    [
        ("company", "腾讯", "腾讯科技有限公司", True),
        ("location", "广东深圳", "深圳市", True),
        ("company", "Bank of China", "Bank of America", False),
        ("age", "45岁", "45", True),
        ("age", "45岁", "35", False),
        ("height", "182cm", "1.82m", True),
        ("phone", "138-0000-1234", "+86 13800001234", True),
        ("phone", "(415) 555-2671", "+1 415 555 2671", True),
        ("phone", "010-6552 9988", "0086 10 6552 9988", True),
        ("phone", "+49 30 901820", "+44 30 901820", False),
        ("pet", "cat", "two cats", True),
        ("pet", "猫", "狗", False),
    ],
)  # fmt: skip
def test_values_agree_when_they_say_the_same(attribute, asked, held, fits):
    assert bool(attribute_index.agree(attribute, asked, held)) == fits


@pytest.mark.parametrize(
    "text", ["", "的", "那个的人" * 400, "who " * 2000, "\u200b那个", "𠮷" * 3000]
)
def test_any_text_can_be_read(text):
    for one in describe(text):
        assert text[one.start : one.end] == one.text
