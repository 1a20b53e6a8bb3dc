"""What the user asks to forget, how much of it, and what only sounds like it."""

from collections.abc import Iterable
from uuid import uuid4

import pytest

from memories.types import ForgetRequest
from tests.memories.providers.offline.talks import contents, talk
from understanding.types import Person

MEI = Person(uuid4(), "阿梅", (), "朋友", "female")


@pytest.mark.parametrize(
    "line",
    [
        "忘掉我讲的阿强离婚的事",
        "把阿强的事都删掉",
        "别记这个",
        "就当我没讲过",
        "please forget that",
        "Oh and please don't save what I said about Tom's divorce",
        "forget what I told you about my ex",
    ],
)
def test_a_request_to_forget_is_recognised_and_never_a_memory(line: str):
    found = talk("我同事老周离婚了", line)
    assert found.forget
    assert "？" not in contents(found)


@pytest.mark.parametrize(
    "line",
    [
        "别忘了带伞",
        "她老忘了吃药",
        "老板忘了我的生日",
        "把那封邮件删掉",
        "别记错了",
        "那件事我已经忘了",
        "I forgot what he said",
        "Don't forget what I said about the cake",
    ],
)
def test_talk_about_forgetting_asks_for_nothing(line: str):
    assert not acts(talk("我同事老周离婚了", line).forget)


def test_a_matter_of_a_known_person_is_forgotten_with_its_attribute():
    found = talk("阿梅在吃安定片", "阿梅吃药的事请你忘掉", "阿梅上个月生了个女儿", people=(MEI,))
    assert found.forget == (
        ForgetRequest(MEI.id, ("吃药",), ("medication",)),
        ForgetRequest(turn_ids=(1,)),
    )
    assert "安定" not in contents(found)
    assert "女儿" in contents(found)


def test_everything_about_a_person_is_forgotten_and_they_are_not_met_again():
    found = talk("那个阿梅又来加我，烦。阿梅的事你全部忘掉，别再提", people=(MEI,))
    assert found.forget == (ForgetRequest(MEI.id), ForgetRequest(turn_ids=(1,)))
    assert found.people == ()
    assert found.memories == ()


def test_a_bare_request_takes_back_the_last_statement():
    found = talk("我同事老周离婚了", "别记这个")
    assert found.memories == ()
    assert found.people == ()


def test_a_bare_request_reaches_back_into_the_batch_before():
    assert talk("我同事老周离婚了", "别记这个", context=1).forget == (ForgetRequest(turn_ids=(1,)),)


def test_a_second_request_only_confirms_the_first():
    found = talk("阿梅搬到苏州了", "我同事老周离婚了", "别记这个", "就当我没讲过", people=(MEI,))
    assert "苏州" in contents(found)


def test_a_request_beside_its_secret_means_that_secret_only():
    found = talk("我妈明天去体检", "她的医保卡放在床头，你别记", context=0)
    assert "体检" in contents(found)
    assert "床头" not in contents(found)


def test_a_request_names_its_topic_in_the_clause_before():
    found = talk("阿梅在吃安定片", "阿梅吃药那件事，你忘了吧", people=(MEI,))
    assert found.forget[0] == ForgetRequest(MEI.id, ("吃药",), ("medication",))


def test_an_earlier_request_is_not_made_again_by_the_batch_after_it():
    found = talk("阿梅在吃安定片", "忘掉阿梅吃药的事", "她去爬山了", people=(MEI,), context=2)
    assert found.forget == ()


def test_a_request_says_which_turn_asks():
    found = talk("阿梅在吃安定片", "忘掉阿梅吃药的事", people=(MEI,))
    assert {asked.asked_in for asked in found.forget} == {2}


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
Please delete all my data
Forget everything I ever told you
"""
OF_A_MATTER = [
    ("忘掉小林住在厦门这件事", LIN.id, ("厦门",), ()),
    ("帮我删除关于小林过敏的记录", LIN.id, ("过敏",), ("allergy",)),
    ("忘掉我喜欢钓鱼这件事", None, ("钓鱼",), ()),
    ("忘掉我的生日", None, (), ("birthday",)),
    ("delete my health information", None, ("health",), ("medication", "health")),
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


def acts(requests: Iterable[ForgetRequest]) -> list[ForgetRequest]:
    """The requests that forget something."""
    return [one for one in requests if not one.unclear]


def asked(line: str, *before: str) -> tuple[ForgetRequest, ...]:
    language = "en" if line.isascii() else "zh"
    return talk(*before, line, people=(LIN, KIM), language=language).forget


@pytest.mark.parametrize("line", OF_A_PERSON.strip().splitlines())
def test_a_request_that_names_only_a_person_means_all_about_them(line: str) -> None:
    assert asked(line) == (ForgetRequest(KIM.id if line.isascii() else LIN.id),)


@pytest.mark.parametrize("line", OF_EVERYTHING.strip().splitlines())
def test_a_request_for_all_that_is_kept_means_everything(line: str) -> None:
    assert asked(line) == (ForgetRequest(everything=True),)


@pytest.mark.parametrize(("line", "who", "words", "keys"), OF_A_MATTER)
def test_a_request_that_names_a_matter_means_no_more(
    line: str, who: object, words: tuple[str, ...], keys: tuple[str, ...]
) -> None:
    assert [(one.contact_id, one.words, one.keys) for one in asked(line)] == [(who, words, keys)]


def test_what_asks_for_nothing_takes_nothing_away() -> None:
    """At most two of these are read wrong, and none takes more than its own words away."""
    wrong = [line for line in OF_NOTHING.strip().splitlines() if acts(asked(line))]
    assert len(wrong) <= 2, wrong


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
