"""Whoever is called by a name that hardly anybody bears is found by the whole of it."""

import random

import pytest

from understanding.lexicon import rows
from understanding.people.person_tagger import person_spans, recurring
from understanding.people.span_evidence import introduced, tokens


@pytest.mark.parametrize("name", ["司徒珩", "项昕妤", "骆霏", "东方煊赫", "蔺禹辰"])
@pytest.mark.parametrize("said", ["我表哥叫{}，在医院上班。", "我老板叫做{}", "她男朋友叫{}！"])
def test_a_role_is_called_by_a_whole_name(said: str, name: str) -> None:
    text = said.format(name)
    assert name in {text[one.start : one.end] for one in person_spans(text)}


@pytest.mark.parametrize(
    "said",
    [
        "我妈叫关窗。",
        "老板叫高兴点。",
        "奶奶叫别买了。",
        "我爸叫我回家。",
        "老师叫家长",
        "叫",
        "我哥叫",
    ],
)
def test_what_somebody_is_told_to_do_is_no_name(said: str) -> None:
    assert list(introduced(said, tokens(said))) == []


def test_a_sentence_that_is_said_again_bears_no_name_out() -> None:
    once = ["老板姓周，开会迟到了", "晚上跟朋友吃火锅"]
    assert recurring(once * 9) == recurring(once)
    assert recurring(["跟骆霏去看展", "骆霏又迟到了"]).get("骆霏", 0) > 0


SAID = (
    "我同学{}住在兰州。", "周末跟{}去爬山，他膝盖疼。", "{}说下个月要搬去成都。", "我表姐叫{}，在医院上班。",
    "今天{}和我吵了一架。", "我同事{}昨天请假了。", "{}的生日是五月三号。", "昨晚给{}打了个电话。",
    "邻居{}又养了一只狗", "我和{}在大学就认识了。",
)  # fmt: skip
FAMILIES = "王李张刘陈杨黄赵周吴徐孙马胡朱郭何罗高林郑梁谢唐许冯宋韩邓彭曹曾田肖程袁蔡潘于余董叶杜魏苏吕任卢姚沈钟姜崔谭陆范汪廖石金韦贾夏付方邹熊白孟秦邱侯江尹薛闫雷"


def test_names_are_found_whole_as_people_bear_them() -> None:
    draw = random.Random(12)
    table = rows("given_characters")
    characters = [row["character"] for row in table]
    borne = [float(row["names"]) for row in table]
    exact = wrong = 0
    for _ in range(200):
        own = draw.choices(characters, borne, k=draw.choice([1, 2, 2]))
        name = draw.choice(FAMILIES) + "".join(own)
        for said in SAID:
            text = said.format(name)
            start, end = text.index(name), text.index(name) + len(name)
            spans = [(one.start, one.end) for one in person_spans(text) if one.kind == "name"]
            exact += (start, end) in spans
            wrong += any(a < end and start < b and (a, b) != (start, end) for a, b in spans)
    assert exact >= 1740, exact
    assert wrong <= 100, wrong
