"""How much a request to forget means: all that is kept, a person, a matter, or nothing."""

from uuid import uuid4

import pytest

from contacts.types import Person
from memories.text import forget_intent
from memories.types import ForgetRequest
from tests.memories.providers.talks import contents, talk

LIN = Person(uuid4(), "小林", (), "朋友", "female")
KIM = Person(uuid4(), "Kim", (), "friend", "female")

OF_A_PERSON = """
请删除所有关于小林的记忆
麻烦清空你对小林的印象
能不能把小林的事忘掉？
请删除小林的记录
我想让你忘掉小林
请忘记小林
可以把小林从你的记忆里移除吗
Please erase every memory of Kim
Remove Kim from your memory
I need you to forget Kim
Can you delete Kim's records?
Delete any data you have on Kim
"""
OF_EVERYTHING = """
把你记住的全部删掉
删除我的所有数据
请清空你的记忆
麻烦抹掉你存的关于我的一切
忘了我跟你说过的一切
erase all you know about me
Wipe your memory
Please delete all my data
Forget everything I ever told you
"""
OF_A_MATTER = [
    ("忘掉小林住在厦门这件事", LIN.id, ("厦门",), ()),
    ("帮我删除关于小林过敏的记录", LIN.id, ("过敏",), ("allergy",)),
    ("忘掉我喜欢钓鱼这件事", None, ("钓鱼",), ()),
    ("忘掉我的生日", None, (), ("birthday",)),
    ("delete my health information", None, ("health",), ("health", "medication")),
    ("Please forget that Kim lives in Oslo", KIM.id, ("Oslo",), ()),
    ("forget the fact that I smoke", None, ("smoke",), ()),
]
OF_NOTHING = """
别忘了小林的生日
我忘了小林的电话
我把小林忘了
她让我忘掉小林
你忘了小林
别删我的数据
怎么删除我的数据？
我不小心删除了我的数据
请删除第三行的数据
请忘记密码
让你忘了带钥匙
忘记过去吧
Don't forget Kim
I forgot Kim at the station
Forget Kim, let's ask Tom
Don't delete my data
I accidentally deleted all my data
please reset my password
Delete the data in the chart
Remove Kim from the group chat
"""


def asked(line: str, *before: str) -> tuple[ForgetRequest, ...]:
    language = "en" if line.isascii() else "zh"
    return talk(*before, line, people=(LIN, KIM), language=language).forget


@pytest.mark.parametrize("line", OF_A_PERSON.strip().splitlines())
def test_a_request_that_names_only_a_person_means_all_about_them(line: str) -> None:
    assert forget_intent.may_ask(line)
    assert asked(line) == (ForgetRequest(KIM.id if line.isascii() else LIN.id),)


@pytest.mark.parametrize("line", OF_EVERYTHING.strip().splitlines())
def test_a_request_for_all_that_is_kept_means_everything(line: str) -> None:
    assert forget_intent.may_ask(line)
    assert asked(line) == (ForgetRequest(everything=True),)


@pytest.mark.parametrize(("line", "who", "words", "keys"), OF_A_MATTER)
def test_a_request_that_names_a_matter_means_no_more(
    line: str, who: object, words: tuple[str, ...], keys: tuple[str, ...]
) -> None:
    assert forget_intent.may_ask(line)
    assert [(one.contact_id, one.words, one.keys) for one in asked(line)] == [(who, words, keys)]


@pytest.mark.parametrize("line", OF_NOTHING.strip().splitlines())
def test_what_asks_for_nothing_takes_nothing_away(line: str) -> None:
    assert asked(line) == ()


@pytest.mark.parametrize("line", (OF_A_PERSON + OF_EVERYTHING).strip().splitlines())
def test_a_request_is_never_itself_a_memory(line: str) -> None:
    assert talk(line, people=(LIN, KIM)).memories == ()


@pytest.mark.parametrize(
    "line", ["把小林刚才那件事删掉", "forget that about Kim", "forget everything I just said"]
)
def test_what_was_just_said_is_not_all_that_is_known(line: str) -> None:
    assert all(one.contact_id is None and not one.everything for one in asked(line))


@pytest.mark.parametrize("line", ["把我前女友的信息都删掉", "delete everything about my ex"])
def test_somebody_unknown_is_neither_everybody_nor_what_was_said_last(line: str) -> None:
    found = asked(line, "我在学吉他")
    assert [one.words for one in found] == [("ex",) if line.isascii() else ("前女友",)]


def test_everything_takes_what_was_said_before_and_nothing_after() -> None:
    found = talk("小林搬到厦门了", "删除我的所有数据", "小林在学游泳", people=(LIN,))
    assert "厦门" not in contents(found)
    assert "游泳" in contents(found)
