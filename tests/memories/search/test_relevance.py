"""A floor of relevance, over HTTP: what has to do with nothing that is known finds nothing."""

from typing import Any

import pytest

from accounts.models import EndUser
from memories.context import what
from memories.providers.factory import embedder
from memories.search import relevance
from tests.api import ApiClient
from tests.factories import make_contact, make_end_user, make_memory

pytestmark = pytest.mark.django_db

KNOWN = {
    "en": [
        "The user is allergic to peanuts",
        "The user's sister Mei lives in Toronto",
        "The user likes black coffee in the morning",
        "The user adopted an orange cat called Biscuit",
        "The user's boss Oliver is retiring in June",
        "The user prefers window seats on flights",
        "The user's rent was raised to 4500 on 2 March",
        "The user writes Python at work",
        "The user has a meeting with the bank on Friday",
    ],
    "zh": [
        "用户对荞麦过敏",
        "用户的姐姐小梅住在多伦多",
        "用户早上喜欢喝美式咖啡",
        "用户家的橘猫叫饼干",
        "用户的老板奥利弗六月退休",
        "用户坐飞机喜欢靠窗的座位",
        "用户的房租3月2日涨到了4500",
        "用户上班写Python",
        "用户周五要去银行开会",
    ],
}

NOTHING_ASKED = [
    *(
        "reverse a list in Python",
        "How do I reverse a list in Python?",
        "Sort a dictionary by value",
    ),
    *("用Python反转一个列表", "Python里怎么把列表倒过来", "写一个快速排序"),
    *("good morning", "Morning! 😊", "hey, good morning!"),
    *("早上好", "早上好呀！", "嗨，早安"),
]
GIBBERISH = [
    "xqzv wjkrt plmgh",
    "hjqt;dehoiye;o",
    "2%171%z118q#",
    "貪笼緥唢徱玹慗",
    "7#%9 4!",
    "？？？",
]
ASKED = [
    *("What can't I eat?", "Where does my sister live?", "What is my cat called?"),
    *("我不能吃什么", "我姐姐住在哪里", "我家的猫叫什么", "我饿了"),
]


@pytest.fixture
def zoe(client: ApiClient) -> EndUser:
    return make_end_user(app=client.app, external_id="zoe", language="en")


def tell(end_user: EndUser, contents: list[str]) -> None:
    for content, vector in zip(contents, embedder().embed_passages(contents), strict=True):
        make_memory(end_user, content, embedding=vector)


def injected(client: ApiClient, message: str) -> list[dict[str, Any]]:
    status, reply = client.post("users/zoe/context/", {"message": message})
    assert status == 200
    return reply["memories"]


def found(client: ApiClient, query: str, **asked: Any) -> list[dict[str, Any]]:
    status, reply = client.post("users/zoe/search/", {"query": query, **asked})
    assert status == 200
    return reply["results"]


@pytest.mark.parametrize("language", KNOWN)
def test_what_asks_for_nothing_known_gets_nothing(
    client: ApiClient, zoe: EndUser, language: str
) -> None:
    tell(zoe, KNOWN[language])
    asked = [*NOTHING_ASKED, *GIBBERISH]
    assert [one for one in asked if injected(client, one)] == []
    assert [one for one in GIBBERISH if found(client, one)] == []
    assert len(found(client, GIBBERISH[0], min_relevance=0)) == len(KNOWN[language])
    assert [one for one in ASKED if not injected(client, one)] == []
    assert [one for one in [*ASKED, "allergies", "过敏"] if not found(client, one)] == []


def test_relevance_tells_what_answers_from_what_is_beside_it(
    client: ApiClient, zoe: EndUser
) -> None:
    tell(zoe, KNOWN["en"])
    first, *others = found(client, "Where does my sister live?")
    assert first["relevance"] > 0.9 > max(row["relevance"] for row in others)
    assert injected(client, "Where does my sister live?")[0]["relevance"] == first["relevance"]


def test_no_result_is_below_what_was_asked_for_whichever_way_it_was_found(
    client: ApiClient, zoe: EndUser
) -> None:
    mei, query = make_contact(zoe, "Mei"), "Where does my sister Mei live now?"
    far, near = embedder().embed_passages(["用户写代码", query])
    both, by_words, by_meaning, neither = (
        make_memory(zoe, content, mei, embedding=vector)
        for content, vector in (
            (KNOWN["en"][1], embedder().embed_passages([KNOWN["en"][1]])[0]),
            ("Mei said sister acts live longer", far),
            ("She has a flat in Toronto", near),
            ("The lake was frozen", far),
        )
    )
    make_memory(zoe, "My sister Mei has no vector", mei)
    everything = {row["content"]: row for row in found(client, query, min_relevance=0)}
    known = {text: row["relevance"] for text, row in everything.items()}
    assert known.pop("My sister Mei has no vector") is None
    assert known[both.content] > max(known[by_words.content], known[neither.content])
    for asked in ({}, {"contacts": [str(mei.id)]}):
        for least in sorted(known.values()):
            rows = found(client, query, min_relevance=least, **asked)
            told = {row["content"] for row in rows if row["relevance"] is not None}
            assert told == {text for text, likely in known.items() if likely >= least}, least
            assert len(rows) == len(told) + 1, "what can't be judged stays"
    assert by_meaning.content in known


def test_what_is_not_embedded_yet_is_found(client: ApiClient, zoe: EndUser) -> None:
    make_memory(zoe, KNOWN["en"][1])
    (row,) = found(client, "Where does my sister live?")
    assert row["relevance"] is None
    assert injected(client, "Where does my sister live?")


def test_beyond_the_first_few_only_what_is_relevant_is_told_unless_everything_is_asked_for(
    client: ApiClient, zoe: EndUser
) -> None:
    tell(zoe, KNOWN["en"])
    memories = injected(client, "Where does my sister live?")
    assert what.FIRST <= len(memories) < len(KNOWN["en"])
    assert all(row["relevance"] >= relevance.FLOOR for row in memories[what.FIRST :])
    assert len(injected(client, "What do you know about me?")) == len(KNOWN["en"])


def test_what_is_known_of_somebody_meant_needs_no_relevance(
    client: ApiClient, zoe: EndUser
) -> None:
    mei = make_contact(zoe, "Mei")
    make_memory(zoe, "Mei lives in Toronto", mei, embedding=embedder().embed_passages(["x"])[0])
    assert injected(client, "Good morning, Mei here with a Python list to reverse")
    assert found(client, "xqzv wjkrt", contacts=[str(mei.id)])
