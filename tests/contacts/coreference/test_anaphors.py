"""What has 他 in it and means nobody, and what somebody says of their own body and mood."""

from time import process_time

import pytest

from contacts.coreference.resolve import resolve
from contacts.types import Mention, Utterance
from tests.contacts.coreference.conversations import QIN, meant, say

OATHS_AND_OTHERS = """
他妈的烦死了
真他妈累
你他妈别闹
今天他娘的倒霉
去他的
管他呢
管他三七二十一
其他人呢
其他的呢
其它同事来了吗
别的呢
他人的看法不重要
他日再聊
他乡遇故知
要不要喝维他奶
去马耳他玩几天
利他主义是什么
我在学吉他
"""
OWN = """
头疼
头好疼
嗓子有点痒
浑身难受
腰酸背痛
不舒服
心情不好
有点烦
好难过
睡不着
压力好大
没胃口
"""
THEIRS = """
他呢
他人很好
他妈妈来了吗
他妈的手术怎么样了
其实他挺好的
尤其他弟弟
又升职了
发烧到三十九度
瘦了好多
"""


@pytest.mark.parametrize("message", OATHS_AND_OTHERS.strip().splitlines())
def test_oaths_and_words_for_others_mean_nobody(message: str) -> None:
    assert meant(message, "大海升职了") == set()


@pytest.mark.parametrize("message", OWN.strip().splitlines())
def test_a_complaint_without_subject_is_the_speakers_own(message: str) -> None:
    assert meant(message, "大海升职了") == set()


@pytest.mark.parametrize("message", THEIRS.strip().splitlines())
def test_what_is_said_of_the_one_spoken_of_still_is(message: str) -> None:
    assert meant(message, "大海升职了") == {"hai"}


@pytest.mark.parametrize("message", ["头疼", "嗓子疼，吃不下饭", "不舒服"])
def test_the_complaint_of_one_who_is_unwell_goes_on(message: str) -> None:
    assert meant(message, "大海生病住院了") == {"hai"}
    assert meant(message, "大海升职了", "> 他最近身体怎么样？") == {"hai"}


def test_a_name_repeated_without_end_takes_time_in_its_length_only() -> None:
    def taken(times: int) -> float:
        text = QIN.name * times
        mentions = tuple(
            Mention(QIN, at, at + 2, QIN.name, "name", 0.98) for at in range(0, len(text), 2)
        )
        history = [Utterance("user", say("秦岚来了").text, ())]
        begun = process_time()
        resolve(Utterance("user", text, mentions), history)
        return process_time() - begun

    taken(50)
    assert taken(900) < 12 * max(taken(225), 0.02)
