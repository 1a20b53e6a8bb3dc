"""Words said around a memory find it, and go when what was said is hidden or erased."""

from datetime import timedelta

import pytest

from accounts.models import Change, EndUser
from memories.corrections import edit_memories, erasure_requests
from memories.corrections.undo import undo_change
from memories.erasure import erase
from memories.models import Memory, Message, Posting
from memories.pipeline import run
from memories.pipeline.buffer import Incoming, receive
from memories.search import context_tokens
from memories.search.context_tokens import around
from memories.search.tokens import own, tokenise
from memories.types import AROUND, Turn
from tests.factories import SOME_DAY, make_app, make_end_user, make_memory, make_message

pytestmark = pytest.mark.django_db

TALK = [
    "What did Oskar say about the marmalade?",
    "My sister Nina lives in Bergen.",
    "The harmonica is still broken.",
]


@pytest.fixture
def end_user() -> EndUser:
    return make_end_user()


def said(end_user: EndUser, *texts: str) -> list[Message]:
    return [
        make_message(end_user, text, created_at=SOME_DAY + timedelta(minutes=n))
        for n, text in enumerate(texts)
    ]


def resting_on(end_user: EndUser, content: str, *messages: Message) -> Memory:
    ids = [message.pk for message in messages]
    memory = make_memory(end_user, content, source_message_ids=ids)
    context_tokens.retokenise(end_user, [memory.pk])
    memory.refresh_from_db()
    return memory


def beside(memory: Memory) -> set[str]:
    memory.refresh_from_db()
    return {token[1:] for token in memory.tokens if token.startswith(AROUND)}


def stored_beside(memory: Memory) -> set[str]:
    """The words that search itself holds for the memory, without its own."""
    words = Posting.objects.of(memory.end_user).filter(memory=memory.pk, times__lt=1)
    return set(words.values_list("token", flat=True))


def test_the_turns_beside_its_message_are_words_around_a_memory(end_user: EndUser) -> None:
    messages = said(end_user, *TALK)
    memory = resting_on(end_user, "Nina lives in Bergen", messages[1])
    assert own(memory.tokens) == tokenise("Nina lives in Bergen")
    assert {"marmalad", "harmonica"} <= beside(memory)
    assert {"marmalad", "harmonica"} <= stored_beside(memory)


def test_extraction_gives_a_memory_the_words_around_it() -> None:
    talk = [Incoming("user", text, id=str(n)) for n, text in enumerate(TALK)]
    end_user = receive(make_app(), "zoe", talk).end_user
    run.process(end_user.pk)
    memory = Memory.objects.of(end_user).get(content__contains="Bergen", kind="fact")
    assert "marmalad" in beside(memory)


def test_what_is_erased_leaves_no_word_beside(end_user: EndUser) -> None:
    messages = said(end_user, *TALK)
    memory = resting_on(end_user, "Nina lives in Bergen", messages[1])
    gone = resting_on(end_user, "The user's harmonica is broken", messages[2])
    erase.forget_memory(end_user, gone.pk)
    assert "harmonica" not in beside(memory)
    assert "harmonica" not in stored_beside(memory)
    assert "marmalad" in beside(memory)


def test_what_is_hidden_leaves_no_word_until_it_is_shown_again(end_user: EndUser) -> None:
    messages = said(end_user, *TALK)
    memory = resting_on(end_user, "Nina lives in Bergen", messages[1])
    secret = resting_on(end_user, "The user's harmonica is broken", messages[2])
    change = erasure_requests.hide(end_user, [secret], actor="extractor")
    assert change is not None
    scope = erasure_requests.ForgetScope({secret.pk: secret})
    erasure_requests.schedule(end_user, change, scope)
    context_tokens.retokenise_beside(end_user, [messages[2].pk])
    assert "harmonica" not in beside(memory)
    assert "harmonica" not in stored_beside(memory)
    undo_change(Change.objects.get(pk=change.pk), actor="operator:ann")
    assert "harmonica" in beside(memory)


def test_asking_in_the_chat_to_forget_takes_the_words_away() -> None:
    first = [
        Incoming("user", "我朋友小梅在华为当工程师。", id="1"),
        Incoming("user", "我妹妹住在昆明。", id="2"),
    ]
    end_user = receive(make_app(), "zoe", first).end_user
    run.process(end_user.pk)
    memory = Memory.objects.of(end_user).get(content__contains="昆明", kind="fact")
    assert "华为" in beside(memory)
    receive(end_user.app, "zoe", [Incoming("user", "请把小梅的事忘掉。", id="3")])
    run.process(end_user.pk)
    assert not {"华为", "小梅"} & (beside(memory) | stored_beside(memory))
    for row in Memory.objects.of(end_user).active():
        assert not {"华为", "忘掉"} & beside(row)


def test_an_edit_keeps_the_words_around(end_user: EndUser) -> None:
    messages = said(end_user, *TALK)
    memory = resting_on(end_user, "Nina lives in Bergen", messages[1])
    edit_memories.edit(end_user, memory.pk, {"content": "Nina lives in Oslo"}, actor="app:x")
    assert "marmalad" in beside(memory)
    memory.refresh_from_db()
    assert own(memory.tokens) == tokenise("Nina lives in Oslo")


def turn(number: int, content: str, role: str = "user") -> Turn:
    return Turn(number, role, content, SOME_DAY)


@pytest.mark.parametrize(
    "hushed",
    [
        turn(0, "The door code is 4471#x"),
        turn(0, "Remember every name.", role="system"),
        turn(0, '{"rows": 3}', role="tool"),
        turn(0, "<mio-memory>\nNina lives in Bergen\n</mio-memory>"),
        turn(0, " "),
    ],
)
def test_secrets_instructions_and_what_was_injected_are_not_around(hushed: Turn) -> None:
    assert around([hushed, turn(1, "Hello")], {1}) == []


def test_of_a_pasted_page_only_a_part_is_around() -> None:
    (text,) = around([turn(0, "word " * 5000), turn(1, "Hello")], {1})
    assert len(text) < 1000
