"""What resolving pronouns gives out: places, reasons and confidence, sound for any words."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.understanding.coreference.conversations import ALL, resolve, say, talk
from understanding.coreference.discourse import Relation
from understanding.coreference.resolve import refers_back


class TestWhatComesOut:
    def test_a_mention_has_its_place_and_reason(self) -> None:
        (mention,) = resolve(say("那她呢？"), talk("阿云来了。"))
        assert (mention.start, mention.end, mention.text, mention.how) == (1, 2, "她", "pronoun")
        assert 0.8 <= mention.confidence <= 0.95
        assert "female" in str(mention.reason)

    @pytest.mark.parametrize(
        "text",
        [
            "她来吗",
            "Is he ok?",
            "那家伙呢",
            "人家不肯",
            "对方没回",
            "老板呢",
            "ta 呢",
            "Otto's sister called.",
        ],
    )
    def test_texts_that_point_back_say_so(self, text: str) -> None:
        assert refers_back(text)

    @pytest.mark.parametrize("text", ["我想吃火锅。", "What's the weather in Oslo?", "", "🙂"])
    def test_texts_that_do_not_point_back_say_so(self, text: str) -> None:
        assert not refers_back(text)

    def test_a_huge_message_is_read_in_part(self) -> None:
        history = talk("阿云来了。", *(["大海走了。她也走了。" * 5000] * 12))
        started = time.process_time()
        resolve(say("她说他" * 300_000), history)
        refers_back("吉他多少钱" * 300_000)
        assert time.process_time() - started < 2


PIECES = st.sampled_from(
    [
        *(person.name for person in ALL),
        *("她 他 它 ta 她们 他俩 he she they her this his them and told 's".split()),
        *("她妈妈 那家伙 人家 对方 老板 前者 我 你 和 说 不是 给 生日 怎么样了".split()),
        *("this guy", "the landlord", "Otto's sister"),
        *("，", "。", "？", " ", ".", "“", "”"),
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=4), max_size=12).map("".join)
TURNS = st.lists(st.tuples(st.sampled_from(["user", "assistant"]), TEXTS), max_size=6)
PEOPLE = st.sampled_from(ALL)
RELATIONS = st.lists(
    st.builds(
        Relation, PEOPLE, st.sampled_from(["mother", "妈妈", "boss", "partner", "?"]), PEOPLE
    ),
    max_size=3,
)


@given(TEXTS, TURNS, TURNS, RELATIONS)
def test_whatever_is_said_the_answer_is_sound(message, history, before, relations) -> None:  # type: ignore[no-untyped-def]
    turns = [say(text, role) for role, text in history]
    earlier = [say(text, role) for role, text in before]
    uttered = say(message)
    found = resolve(uttered, turns, earlier, relations)

    known = {m.person.id for turn in (uttered, *turns, *earlier) for m in turn.mentions}
    known |= {relation.subject.id for relation in relations}
    assert {mention.person.id for mention in found} <= known
    for mention in found:
        assert mention.how == "pronoun"
        assert message[mention.start : mention.end] == mention.text
        assert 0 < mention.confidence <= 1
        if mention.text.lower() in ("她", "she", "her", "hers"):
            assert mention.person.gender in ("female", "")
        if mention.text.lower() in ("他", "he", "him", "his"):
            assert mention.person.gender in ("male", "")
    if found:
        assert refers_back(message)
