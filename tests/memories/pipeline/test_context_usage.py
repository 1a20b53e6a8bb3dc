"""Which injected memories a reply made use of, and what follows from it."""

from datetime import timedelta
from uuid import UUID

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from accounts.models import App, EndUser
from accounts.reasons import read
from memories.context import build
from memories.context.request import ContextRequest
from memories.models import Edge, Injected, Memory
from memories.pipeline import run
from memories.pipeline.buffer import Incoming, receive
from memories.pipeline.context_usage import used
from tests.factories import make_app, make_end_user, make_memory

ONE, TWO, THREE = (UUID(int=n) for n in (1, 2, 3))


def test_a_reply_that_repeats_what_only_a_memory_says_has_used_it() -> None:
    memories = {ONE: "Priya is allergic to walnuts", TWO: "Priya plays the cello"}
    reply = "Careful with the cake: Priya has an allergy to walnuts, she is allergic."
    assert used(reply, "What should I bake for Priya?", memories) == [ONE]
    assert used("带点不含核桃的点心吧，她对核桃过敏", "给朋友带什么", {ONE: "小戴对核桃过敏"}) == [
        ONE
    ]


def test_words_of_the_users_own_message_prove_nothing() -> None:
    memories = {ONE: "Priya is allergic to walnuts"}
    asked = "Priya is allergic to walnuts, isn't she?"
    assert used("Yes, Priya is allergic to walnuts.", asked, memories) == []
    assert used("小戴对核桃过敏，要小心", "小戴是不是对核桃过敏", {ONE: "小戴对核桃过敏"}) == []


def test_words_that_all_injected_memories_share_count_less() -> None:
    memories = {
        ONE: "Marcus works at Fernhill as a designer",
        TWO: "Marcus left Fernhill for a sabbatical in Peru",
    }
    assert used("Marcus and Fernhill, right.", "Tell me", memories) == []
    assert used("His sabbatical in Peru after he left sounds great.", "Tell me", memories) == [TWO]


def test_one_word_in_common_is_chance() -> None:
    assert used("I like the cello.", "Hm", {ONE: "Priya plays the cello"}) == []


def test_nothing_injected_or_nothing_said_is_nothing_used() -> None:
    assert used("Hello there", "Hi", {}) == []
    assert used("", "", {ONE: "Priya plays the cello", TWO: ""}) == []


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_any_texts_are_compared_and_only_injected_memories_come_back(
    reply: str, said: str, content: str
) -> None:
    assert set(used(reply, said, {ONE: content, TWO: reply})) <= {ONE, TWO}
    assert used(reply, reply, {ONE: content, TWO: reply}) == []


@pytest.fixture
def app(db: None) -> App:
    return make_app()


@pytest.fixture
def zoe(app: App) -> EndUser:
    return make_end_user(app=app, external_id="zoe", language="en")


def talk(app: App, *turns: tuple[str, str], session: str = "s") -> EndUser:
    now = timezone.now()
    incoming = [
        Incoming(role, content, created_at=now + timedelta(seconds=n), session_id=session)
        for n, (role, content) in enumerate(turns)
    ]
    end_user = receive(app, "zoe", incoming).end_user
    while run.extract_next(end_user.pk, everything=True):
        pass
    return end_user


def injected(end_user: EndUser, *memories: Memory, session: str = "s", ago: int = 5) -> Injected:
    return Injected.objects.create(
        end_user=end_user,
        session_id=session,
        memory_ids=[memory.pk for memory in memories],
        created_at=timezone.now() - timedelta(seconds=ago),
    )


ASKED = ("user", "My colleague Oliver moved to Madrid. What shall I cook for my guest?")
ANSWERED = ("assistant", "Leave out the walnuts: she is allergic to walnuts.")


def test_what_was_used_is_the_context_of_what_was_learnt_in_the_exchange(
    app: App, zoe: EndUser
) -> None:
    allergy = make_memory(zoe, "Priya is allergic to walnuts")
    cello = make_memory(zoe, "Priya plays the cello")
    injected(zoe, allergy, cello)

    talk(app, ASKED, ANSWERED)

    learnt = set(Memory.objects.exclude(pk__in=[allergy.pk, cello.pk]))
    assert learnt
    edges = Edge.objects.filter(kind="was_context_for")
    assert {(edge.source, edge.target) for edge in edges} == {(allergy, new) for new in learnt}
    allergy.refresh_from_db()
    cello.refresh_from_db()
    assert (allergy.mention_count, cello.mention_count) == (1, 0)


NEXT = ("user", "Good to know. My cousin Felix works at Siemens.")
TAKEN_UP = ("user", "So she is allergic to walnuts! My cousin Felix works at Siemens.")
ALLERGY_ZH = "小戴对核桃过敏"


@pytest.mark.parametrize(
    ("reply", "then", "of", "reason"),
    [
        (ANSWERED, NEXT, "Priya is allergic to walnuts", "reply_used"),
        (("assistant", "No nuts."), TAKEN_UP, "Priya is allergic to walnuts", "user_took_up"),
        (("assistant", "No nuts."), NEXT, "Priya is allergic to walnuts", None),
        (("assistant", "别放核桃，会过敏。"), ("user", "好的。我表哥李强在西门子上班。"),
         ALLERGY_ZH, "reply_used"),
        (("assistant", "别放坚果。"), ("user", "核桃过敏是吧？我表哥李强在西门子上班。"),
         ALLERGY_ZH, "user_took_up"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("batches", [1, 2])
def test_what_was_injected_is_the_context_of_what_the_users_next_turn_teaches(
    app: App,
    zoe: EndUser,
    reply: tuple[str, str],
    then: tuple[str, str],
    of: str,
    reason: str | None,
    batches: int,
) -> None:
    memory = make_memory(zoe, of)
    injected(zoe, memory)
    asked = ("user", "What shall I cook for my guest?")
    if batches == 2:
        talk(app, asked, reply)
        talk(app, then)
    else:
        talk(app, asked, reply, then)
    learnt = Memory.objects.exclude(pk=memory.pk)
    assert learnt.exists()
    edges = Edge.objects.filter(kind="was_context_for", inverse=False)
    assert {(edge.source, edge.target) for edge in edges} == {
        (memory, new) for new in learnt if reason
    }
    assert {read(edge.reason).code for edge in edges} == ({reason} if reason else set())
    memory.refresh_from_db()
    assert memory.mention_count == (reason == "reply_used")


def test_an_injection_of_another_session_or_of_long_ago_was_no_context(
    app: App, zoe: EndUser
) -> None:
    allergy = make_memory(zoe, "Priya is allergic to walnuts")
    injected(zoe, allergy, session="other")
    injected(zoe, allergy, ago=7200)
    talk(app, ASKED, ANSWERED)
    assert not Edge.objects.exists()
    assert not Memory.objects.exclude(mention_count=0).exists()


def test_only_the_latest_injection_before_the_reply_counts(app: App, zoe: EndUser) -> None:
    allergy = make_memory(zoe, "Priya is allergic to walnuts")
    cello = make_memory(zoe, "Priya plays the cello")
    injected(zoe, allergy, ago=60)
    injected(zoe, cello)
    talk(app, ASKED, ANSWERED)
    assert not Edge.objects.filter(kind="was_context_for").exists()


def test_a_memory_that_is_archived_by_then_was_no_context(app: App, zoe: EndUser) -> None:
    allergy = make_memory(zoe, "Priya is allergic to walnuts", status="archived")
    injected(zoe, allergy)
    talk(app, ASKED, ANSWERED)
    assert not Edge.objects.exists()


def test_what_is_said_again_is_counted_as_mentioned(app: App, zoe: EndUser) -> None:
    talk(app, ("user", "My colleague Oliver lives in Madrid."))
    memory = Memory.objects.get()
    assert memory.mention_count == 0
    talk(app, ("user", "My colleague Oliver lives in Madrid."))
    memory.refresh_from_db()
    assert memory.mention_count == 1


def test_a_prompt_with_memories_leaves_a_row_and_one_without_does_not(zoe: EndUser) -> None:
    memory = make_memory(zoe, "Priya is allergic to walnuts")
    build.build(zoe, ContextRequest("Is anyone allergic to walnuts?", session_id="s"))
    row = Injected.objects.get()
    assert (row.session_id, row.memory_ids) == ("s", [memory.pk])
    build.build(zoe, ContextRequest("Is anyone allergic to walnuts?", include=["cards"]))
    build.build(make_end_user(), ContextRequest("Hello"))
    assert Injected.objects.count() == 1
