"""The rules that join memories: rather none than a wrong one. Invented pairs."""

from uuid import uuid4

import pytest

from memories.providers.offline.overlaps import propose, review
from memories.types import MemoryType, Overlap, StoredMemory
from tests.memories.providers.openai.examples import SAID_AT


def stored(content, kind=MemoryType.PERSONAL):
    return StoredMemory(uuid4(), content, kind, SAID_AT)


def joined(*contents):
    """The contents that are proposed and accepted."""
    cluster = [stored(content) for content in contents]
    by_id = {memory.id: memory for memory in cluster}
    proposals = [(found, [by_id[pk] for pk in found.members]) for found in propose(cluster)]
    return [
        found.content
        for (found, _), seen in zip(proposals, review(proposals), strict=True)
        if seen.accepted
    ]


@pytest.mark.parametrize(
    ("fuller", "other"),
    [
        ("Nora works at Brightwater as a nurse.", "Nora works at Brightwater."),
        ("Nora likes green tea in the morning.", "Nora likes green tea."),
        ("Nora really likes green tea.", "Nora likes green tea."),
        ("The user's sister lives in Ghent with her cat.", "The user's sister lives in Ghent."),
        ("小红养了一只猫，叫橘子", "小红养了一只猫"),
        ("小红平时喜欢喝咖啡。", "小红喜欢喝咖啡"),
    ],
)
def test_a_memory_that_says_all_that_another_says_speaks_for_both(fuller, other):
    assert joined(other, fuller) == [fuller]


@pytest.mark.parametrize(
    "pair",
    [
        ("Nora works at Brightwater in Leeds.", "Nora works at Brightwater in York."),
        ("Nora likes tea in the morning. Ivan keeps bees.", "Nora likes tea in the morning."),
        ("Nora likes coffee.", "Nora likes coffee ice cream."),
        ("Nora is afraid of dogs.", "Nora is afraid of big dogs."),
        ("Nora lives in Leeds.", "Nora lived in Leeds."),
        ("Nora may move to Ghent.", "Nora moves to Ghent."),
        ("Nora only drinks tea.", "Nora drinks tea."),
        ("Nora doesn't eat meat.", "Nora doesn't eat meat on Fridays."),
        ("Nora thinks Ivan is kind.", "Ivan is kind."),
        ("Ivan's dog is ill.", "Ivan is ill."),
        ("Nora went to Rome in May.", "Nora went to Rome in July."),
        ("Nora has a dog named Rex.", "Nora has a dog from the shelter."),
        ("小红养了一只猫，叫橘子", "小红养了一只猫，叫奥利奥"),
        ("小红的妹妹在腾讯工作", "小红在腾讯工作"),
        ("小红以前在腾讯工作", "小红在腾讯工作"),
        ("小红喜欢公园", "小红喜欢在公园的长椅"),
        ("小红说小明升职了", "小明升职了"),
        ("小红喝咖啡", "小红不喝咖啡"),
    ],
)
def test_what_may_differ_in_meaning_is_left_alone(pair):
    assert joined(*pair) == []


@pytest.mark.parametrize(
    "content",
    [
        "Nora sings.",
        "Nora sings in Ghent with Ivan on Mondays.",
        "Nora does not sing in Ghent with Ivan.",
        "Ivan sings in Ghent with Nora.",
        "Nora used to sing in Ghent with Ivan.",
    ],
)
def test_the_review_refuses_what_is_lost_added_or_turned_round(content):
    members = [stored("Nora sings in Ghent."), stored("Nora sings with Ivan.")]
    ids = tuple(memory.id for memory in members)
    good, bad = (
        review([(Overlap(ids, text), members)])[0]
        for text in ("Nora sings in Ghent with Ivan.", content)
    )
    assert good.accepted
    assert not bad.accepted
    assert bad.reason
