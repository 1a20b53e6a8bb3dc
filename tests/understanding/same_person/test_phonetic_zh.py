"""Nicknames in pinyin are read as the Chinese names they are, and English names are left alone.
All people here are invented."""

import pytest

from contacts.models import Suggestion
from contacts.resolution.suggestions import suggest
from memories.corrections.auto_merge import newest_facts
from tests.factories import make_contact, make_end_user, make_memory
from understanding.names import name_key
from understanding.same_person import name_similarity
from understanding.same_person.pair_scoring import Comparison, compare
from understanding.same_person.phonetic_zh import same_nickname
from understanding.same_person.records import Record

SUGGESTED = {"certain", "likely"}

ONE_NAME = [
    ("Xiaowen", "Wenwen"),
    ("Xiao Wen", "Wen-Wen"),
    ("小雯", "Wenwen"),
    ("雯雯", "Xiaowen"),
    ("A-Wen", "雯雯"),
    ("周小雯", "Wenwen"),
    ("周雯", "Xiaowen"),
    ("Zhou Wen", "雯雯"),
    ("Wen Zhou", "小雯"),
    ("Zhou Yuwen", "Wenwen"),
    ("Zhou Yu Wen", "Xiaowen"),
    ("Lao Zhou", "Zhou Jianhua"),
    ("老周", "Zhou Jianhua"),
    ("周建华", "Lao Zhou"),
    ("Lulu", "小露"),
]
OTHER_NAMES = [
    ("Xiaowen", "Feifei"),
    ("Xiaowen", "Yuwen"),
    ("Da Wen", "Xiao Wen"),
    ("Lao Zhou", "Xiao Zhou"),
    ("大雯", "Xiaowen"),
    ("小芳", "Wenwen"),
    ("Zhou Wen", "Li Wen"),
    ("Zhou Wen", "Wenting"),
    # Syllables of pinyin by chance.
    ("Susan", "Xiaosan"),
    ("Susan He", "Xiaosan"),
    ("Dan", "Dandan"),
    ("Ben", "Benben"),
    ("Lina", "Nana"),
    ("Lina", "娜娜"),
    ("Ada", "Dada"),
    ("Alan", "小兰"),
    ("Dana", "小娜"),
    ("Lulu", "Xiaolu"),
    ("Mimi", "Ami"),
]


def known(name: str, *facts: str) -> Record:
    return Record(name=name, facts=facts)


def verdict(first: str, second: str, *, alike: bool) -> Comparison:
    facts = f"{second}在河边开陶艺工作室" if alike else f"{second}从不吃辣"
    return compare(known(first, f"{first}的陶艺工作室在河边"), known(second, facts))


@pytest.mark.parametrize(("first", "second"), ONE_NAME)
def test_a_nickname_is_known_by_its_sound_in_either_script(first: str, second: str) -> None:
    assert name_similarity.relate((first,), (second,)).how == "nickname"
    assert name_similarity.relate((second,), (first,)).how == "nickname"


@pytest.mark.parametrize(("first", "second"), OTHER_NAMES)
def test_a_latin_name_is_not_chinese_because_it_happens_to_split(first: str, second: str) -> None:
    assert not same_nickname(name_key(first), name_key(second))
    assert not same_nickname(name_key(second), name_key(first))


@pytest.mark.parametrize(
    ("first", "second"), [("Xiaowen", "Wenwen"), ("小雯", "Wenwen"), ("雯雯", "Xiaowen")]
)
def test_sound_alone_is_not_asked_about_but_with_the_same_life_it_is(
    first: str, second: str
) -> None:
    assert verdict(first, second, alike=True).verdict in SUGGESTED
    assert verdict(first, second, alike=False).verdict not in SUGGESTED


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("first", "second"),
    [("Xiaowen", "Wenwen"), ("小雯", "Wenwen"), ("雯雯", "Xiaowen"), ("周雯", "Xiaowen")],
)
def test_the_job_suggests_two_spellings_of_a_nickname(first: str, second: str) -> None:
    end_user = make_end_user(language="zh")
    for name in (first, second, "Susan", "苏梅", "Dan", "老吴"):
        contact = make_contact(end_user, name, relationship="朋友")
        same = name in (first, second)
        fact = f"{name}的陶艺工作室在河边" if same else f"{name}在银行上班"
        make_memory(end_user, fact, contact)
    suggest(end_user, newest_facts)
    (found,) = Suggestion.objects.of(end_user).filter(verdict__in=SUGGESTED)
    assert {found.first.name, found.second.name} == {first, second}
