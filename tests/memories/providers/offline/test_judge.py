"""What sentences do, by heads that were learned."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memories.providers.offline.judge import OF_NOBODY, cue_names, cues, judge
from understanding import learned

STATED = [
    "My neighbour Odile runs a bakery in Ghent and gets up at three.",
    "我表弟去年从长沙搬到了宁波，在港口开吊车。",
    "Dad's been allergic to walnuts since he was a boy",
    "我自己每周三晚上去打羽毛球",
]
NOT_STATED = [
    "Can you rewrite this paragraph in a friendlier tone?",
    "帮我写一个关于火星移民的短篇小说开头",
    "what's the capital of Mongolia?",
    "哈哈哈哈笑死我了",
    "good morning!",
    "if I ever win the lottery I'd buy my whole street a pizza",
]


@given(st.text(max_size=200))
def test_cues_are_bounded_for_any_text(text):
    found = cues(text)
    assert len(found) == len(cue_names())
    assert all(0 <= value <= 2 for value in found)


@settings(max_examples=15)
@given(st.lists(st.text(max_size=60), max_size=3))
def test_probabilities_of_any_text_are_probabilities(texts):
    judged = judge(texts, [False] * len(texts))
    assert len(judged) == len(texts)
    for one in judged:
        assert sum(one.act.values()) == pytest.approx(1)
        assert sum(one.modality.values()) == pytest.approx(1)
        assert all(0 <= p <= 1 for p in (one.keep, one.about_user))


def test_what_states_something_of_a_life_is_told_from_what_does_not():
    texts = [*STATED, *NOT_STATED]
    keep = [one.keep for one in judge(texts, [False] * len(texts))]
    assert min(keep[: len(STATED)]) > 0.5 > max(keep[len(STATED) :])


def test_without_anybody_the_same_words_are_less_often_worth_a_memory():
    text = "the kettle clicks off before it boils, descale it or bin it"
    of_somebody, of_nobody = (judge([text], [alone])[0] for alone in (False, True))
    assert of_nobody.keep < of_somebody.keep / 2
    assert of_nobody.act["ask"] > of_somebody.act["ask"]


@pytest.mark.parametrize(
    "text", ["she still clicks the kettle off early", "老婆说水壶没烧开就跳了"]
)
def test_a_pronoun_or_a_relative_is_somebody_whoever_was_found(text):
    assert judge([text], [True]) == judge([text], [False])


def test_the_weights_are_for_the_cues_as_they_are():
    groups = [learned.model("heads")[name] for name in ("heads", "heads_of_nobody")]
    for head in (*groups[0].values(), *groups[1].values()):
        assert {len(row) for row in head["weights"]} == {384 + len(cue_names())}
    for name in OF_NOBODY:
        assert groups[1][name]["classes"] == groups[0][name]["classes"]
