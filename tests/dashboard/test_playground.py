"""The playground: what the API would say and why, without a trace, and a model's reply."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.db import connection
from django.test import AsyncClient, Client
from django.test.utils import CaptureQueriesContext
from django_q.models import OrmQ

from accounts.models import EndUser
from contacts.models import Contact
from dashboard.question_form import turns
from memories import corrections, inject
from memories.models import Edge, Injected, Memory, Retrieval
from memories.pipeline.buffer import Incoming, receive
from memories.providers.configured import embedder
from tests.dashboard.signin import signed_in
from tests.factories import make_app, make_contact, make_end_user, make_memory
from tests.servers import FakeOpenAI

pytestmark = pytest.mark.django_db

LINES = "application/x-ndjson"
SHE = "她最近怎么样了"
REPLY = "小红最近很忙，也很开心，听说下周要去北京出差。"
OPTIONS = {"limit": 10, "token_budget": 1500, "include": list(inject.ALL)}


@pytest.fixture
def user() -> EndUser:
    return make_end_user(language="zh")


@pytest.fixture
def client() -> Client:
    return signed_in("reviewer")


@pytest.fixture
def hong(user: EndUser) -> Contact:
    return make_contact(user, "小红", gender="female", aliases=["阿红"])


@pytest.fixture
def server(settings: Any) -> Iterator[FakeOpenAI]:
    with FakeOpenAI() as fake:
        settings.MIO_LLM, settings.MIO_LLM_MODEL = "openai", "fake-model"
        settings.OPENAI_BASE_URL = fake.base_url
        yield fake


def at(user: EndUser, path: str = "") -> str:
    return f"/u/{user.pk}/playground/{path}"


def ask(client: Client, user: EndUser, message: str = SHE, **fields: Any) -> Any:
    return client.post(at(user), {"message": message, "before": "session:", **OPTIONS, **fields})


def text(response: Any) -> str:
    return response.content.decode()


def talk(user: EndUser, *said: str, session: str = "s1") -> None:
    receive(
        user.app,
        user.external_id,
        [
            Incoming("user" if n % 2 == 0 else "assistant", words, session_id=session)
            for n, words in enumerate(said)
        ],
    )
    user.refresh_from_db()


# Who is meant --------------------------------------------------------------------------------


def test_she_is_the_one_whom_the_chosen_session_speaks_of(
    client: Client, user: EndUser, hong: Contact
) -> None:
    make_contact(user, "王强", gender="male")
    talk(user, "小红昨天来找我了", "你们聊了什么？")
    answer = ask(client, user, before="session:s1").context["answer"]
    assert [(m.mention.person.name, m.mention.how) for m in answer.meant] == [("小红", "pronoun")]
    assert answer.spans == ((0, 1),)


def test_a_history_written_by_hand_says_who_she_is(
    client: Client, user: EndUser, hong: Contact
) -> None:
    history = "user: 小红昨天来找我了\n带了一只猫\nassistant: 你们聊了什么？"
    response = ask(client, user, before="hand", history=history)
    assert [one.mention.person.id for one in response.context["answer"].meant] == [hong.pk]
    assert "<mark>她</mark>最近怎么样了" in text(response)
    assert "带了一只猫" in text(response)


def test_turns_are_read_line_by_line_in_both_languages() -> None:
    assert turns("用户：她来了\n还有猫\nAssistant: oh\n助手: 好") == [
        ("user", "她来了\n还有猫"),
        ("assistant", "oh"),
        ("assistant", "好"),
    ]
    assert turns("  \n ") == []


def test_the_page_shows_precisely_what_the_api_says(
    client: Client, user: EndUser, hong: Contact
) -> None:
    vector = embedder().embed_passages(["小红下周去北京出差"])[0]
    make_memory(user, "小红下周去北京出差", hong, embedding=vector)
    make_memory(user, "小红喜欢爬山")
    answer = ask(client, user, "小红什么时候出差").context["answer"]
    built = inject.build(user, "小红什么时候出差")
    traced = answer.trace.injection
    assert traced.system_prompt == built.system_prompt
    assert (traced.contacts, traced.memories) == (built.contacts, built.memories)
    assert [step.name for step in answer.trace.steps] == [
        "who", "linked", "embedding", "search", "prompt",
    ]  # fmt: skip
    assert answer.statements > 4
    reasons = {one.memory.content: one.reasons for one in answer.memories}
    assert "linked to 小红" in reasons["小红下周去北京出差"]
    assert "no. 1 by its meaning" in reasons["小红下周去北京出差"]
    assert "names 小红, not linked yet" in reasons["小红喜欢爬山"]


def test_limits_and_parts_are_obeyed(client: Client, user: EndUser, hong: Contact) -> None:
    for n in range(5):
        make_memory(user, f"小红第{n}次出差", hong)
    answer = ask(client, user, "小红怎么样", limit=2).context["answer"]
    assert len(answer.memories) == 2
    assert ask(client, user, "小红怎么样", include=["cards"]).context["answer"].memories == ()
    short = ask(client, user, "小红怎么样", token_budget=115).context["answer"]
    assert short.left_out
    assert not [one for one in short.left_out if one.way.kept]


# Without a trace -----------------------------------------------------------------------------


def marks(user: EndUser) -> list[object]:
    return [
        Injected.objects.count(),
        Retrieval.objects.count(),
        OrmQ.objects.count(),
        user.changes.count(),
        Edge.objects.count(),
        list(Memory.objects.of(user).order_by("pk").values_list("access_count", "importance")),
    ]


def test_trying_writes_nothing_and_a_viewer_may(user: EndUser, hong: Contact) -> None:
    viewer = signed_in("viewer")
    linked = make_memory(user, "小红下周去北京出差", hong)
    gone = make_memory(user, "小红要去上海")
    make_memory(user, "小红喜欢爬山")
    Edge.objects.create(end_user=user, source=linked, target=gone, kind="complements")
    Memory.objects.filter(pk=gone.pk).update(status="archived")
    viewer.get(at(user))  # remembers whose page was looked at last
    before = marks(user)
    with CaptureQueriesContext(connection) as captured:
        response = ask(viewer, user, "小红什么时候出差")
    assert response.context["answer"].memories
    assert {query["sql"].split()[0] for query in captured} <= {"SELECT", "WITH"}
    assert marks(user) == before
    inject.build(user, "小红什么时候出差")
    changed = [old != new for old, new in zip(before, marks(user), strict=True)]
    assert changed == [True, True, True, False, True, True]


def test_the_statements_don_t_grow_with_memories(
    client: Client, user: EndUser, hong: Contact
) -> None:
    def statements() -> int:
        with CaptureQueriesContext(connection) as captured:
            ask(client, user, "小红最近怎么样", limit=100)
        return len(captured)

    make_memory(user, "小红第一次出差", hong)
    make_memory(user, "小红要出差")
    talk(user, "小红来了")
    statements()
    few = statements()
    for n in range(60):
        make_memory(user, f"小红第{n}个计划", hong)
        talk(user, f"第{n}句话", session=f"s{n}")
    assert statements() <= few


# The page ------------------------------------------------------------------------------------


def test_the_empty_page_teaches_with_the_users_own_people(
    client: Client, user: EndUser, hong: Contact
) -> None:
    talk(user, "小红昨天来找我了", "你们聊了什么？")
    response = client.get(at(user))
    examples = response.context["examples"]
    assert (examples[0].message, examples[0].session_id) == (SHE, "s1")
    assert examples[1].message == "小红最近怎么样了"
    assert "你们聊了什么？" in text(response)


def test_a_pronoun_that_is_not_clear_is_no_example(client: Client, user: EndUser) -> None:
    make_contact(user, "小红", gender="female")
    talk(user, "今天下雨")
    messages = [example.message for example in client.get(at(user)).context["examples"]]
    assert messages == ["小红最近怎么样了"]


def test_a_user_of_whom_nothing_is_known_can_be_tried(client: Client, user: EndUser) -> None:
    assert "Nobody is known yet" in text(client.get(at(user)))
    assert "there is nothing to tell the model" in text(ask(client, user, "hello"))


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"message": "  "}, "Write a message first."),
        ({"message": "x" * 20_001}, "at most 20000"),
        ({"message": "a\0b"}, "Null characters"),
        ({"before": "hand", "history": "hello\nuser: x"}, "Begin each turn with"),
        ({"limit": "many"}, "whole number"),
        ({"token_budget": 0}, "greater than or equal to 1"),
        ({"include": ["everything"]}, "not one of the available"),
    ],
)
def test_what_is_wrong_is_said_beside_the_field_and_nothing_is_lost(
    client: Client, user: EndUser, fields: dict[str, Any], problem: str
) -> None:
    data = {"message": "小红好吗", "before": "session:", **OPTIONS, **fields}
    response = client.post(at(user), data)
    assert response.status_code == 422
    assert problem in text(response)
    assert 'role="alert"' in text(response)
    assert str(data["message"]).replace("\0", "")[:3].strip() in text(response)


def test_only_the_part_that_changes_is_sent_to_a_script(client: Client, user: EndUser) -> None:
    data = {"message": SHE, "before": "session:", **OPTIONS}
    fragment = text(client.post(at(user), data, headers={"HX-Request": "true"}))
    assert "<html" not in fragment
    assert 'id="play"' in fragment


def test_hostile_words_are_shown_as_text(client: Client, user: EndUser) -> None:
    bad = "<script>alert(1)</script>"
    names = ["Morgan", "]]>\u202e", "😀" * 60]
    contact = make_contact(user, bad, aliases=names, relationship=bad)
    make_memory(user, bad + "长" * 10_000, contact)
    make_memory(user, "Morgan" + bad, contact)
    talk(user, bad, bad, session=bad)
    assert bad not in text(client.get(at(user)))
    message = f"{bad} Morgan ]]>\u202e {'😀' * 60}"
    for fields in (
        {"before": f"session:{bad}"},
        {"before": "hand", "history": f"user: {bad}</textarea>"},
    ):
        response = ask(client, user, message, **fields)
        assert response.context["answer"].meant
        assert bad not in text(response)


# Corrections ---------------------------------------------------------------------------------


def test_each_thing_has_its_correction_beside_it(
    client: Client, user: EndUser, hong: Contact
) -> None:
    memory = make_memory(user, "小红下周去北京出差", hong)
    html = text(ask(client, user, "阿红什么时候出差"))
    link = memory.links.get()
    here = f"/u/{user.pk}"
    for address in (
        f"{here}/people/{hong.pk}/aliases/",
        f"{here}/people/{hong.pk}/memories/move/?memory={memory.pk}",
        f"{here}/links/{link.pk}/decide/",
        f"{here}/memories/{memory.pk}/outdate/",
        f"{here}/memories/{memory.pk}/",
    ):
        assert f'"{address}"' in html, address
    data = {"decision": "wrong", "next": at(user)}
    assert client.post(f"{here}/links/{link.pk}/decide/", data)["Location"] == at(user)
    assert ask(client, user, "阿红什么时候出差").context["answer"].memories == ()


def test_two_people_of_one_name_are_to_be_compared(client: Client, user: EndUser) -> None:
    one = make_contact(user, "王强", aliases=["阿强"])
    other = make_contact(user, "李强", aliases=["阿强"])
    html = text(ask(client, user, "阿强来了"))
    assert f"/u/{user.pk}/review/{one.pk}/{other.pk}/" in html


def test_a_viewer_sees_no_form_that_changes_anything(user: EndUser, hong: Contact) -> None:
    memory = make_memory(user, "小红下周去北京出差", hong)
    html = text(ask(signed_in("viewer"), user, "阿红什么时候出差"))
    assert "/aliases/" not in html
    assert "/decide/" not in html
    assert "/outdate/" not in html
    assert f"/memories/{memory.pk}/" in html


def test_what_is_no_longer_true_is_history_when_the_past_is_asked_for(
    client: Client, user: EndUser, hong: Contact
) -> None:
    make_memory(user, "小红下周去北京出差", hong)
    corrections.outdate(user, list(Memory.objects.of(user)), actor="operator:x")
    old = ask(client, user, "小红以前什么时候出差").context["answer"].memories
    assert [one.memory.status for one in old] == ["outdated"]


# Roles ---------------------------------------------------------------------------------------


def test_another_apps_user_does_not_exist(server: FakeOpenAI, user: EndUser) -> None:
    stranger = signed_in("reviewer", [make_app()])
    assert stranger.get(at(user)).status_code == 404
    assert ask(stranger, user).status_code == 404
    assert stranger.post(at(user, "reply/"), {"message": "x", **OPTIONS}).status_code == 404
    assert server.requests == []


def test_a_viewer_may_not_spend_money(server: FakeOpenAI, user: EndUser) -> None:
    viewer = signed_in("viewer")
    assert viewer.post(at(user, "reply/"), {"message": "x", **OPTIONS}).status_code == 403
    assert "reply/" not in text(ask(viewer, user))
    assert server.requests == []


# A model's reply -----------------------------------------------------------------------------


def streamed(client: Client, user: EndUser, most: int = 1000, **fields: Any) -> list[dict]:
    """The lines of a reply as a script reads them, at most so many."""
    reader = AsyncClient()
    reader.cookies = client.cookies
    data = {"message": SHE, "before": "session:s1", **OPTIONS, **fields}

    async def read() -> list[dict]:
        response = await reader.post(at(user, "reply/"), data, headers={"accept": LINES})
        assert (response.status_code, response["Content-Type"]) == (200, LINES)
        lines: list[dict] = []
        async with asyncio.timeout(10):  # a server that falls silent does so for longer
            async for line in response.streaming_content:
                lines.append(json.loads(line))
                if len(lines) == most:
                    break
        return lines

    return async_to_sync(read)()


@pytest.fixture
def talked(user: EndUser, hong: Contact) -> None:
    talk(user, "小红昨天来找我了", "你们聊了什么？")


@pytest.mark.usefixtures("talked")
def test_a_reply_comes_piece_by_piece_from_what_is_injected(
    server: FakeOpenAI, client: Client, user: EndUser
) -> None:
    server.reply_text(REPLY)
    lines = streamed(client, user)
    assert lines[-1] == {"done": True}
    pieces = [line["text"] for line in lines[:-1]]
    assert "".join(pieces) == REPLY
    assert len(pieces) > 1
    sent = server.requests[0].json["messages"]
    assert [m["role"] for m in sent] == ["system", "user", "assistant", "user"]
    assert sent[0]["content"] == inject.trace(user, SHE, session_id="s1").injection.system_prompt
    assert sent[-1]["content"] == SHE


@pytest.mark.usefixtures("talked")
def test_a_piece_is_there_while_the_model_still_writes(
    server: FakeOpenAI, client: Client, user: EndUser
) -> None:
    server.cut_stream(REPLY, stall=True)
    assert streamed(client, user, most=1) == [{"text": REPLY[:8]}]


@pytest.mark.usefixtures("talked")
def test_a_reply_leaves_no_trace_either(server: FakeOpenAI, client: Client, user: EndUser) -> None:
    server.reply_text(REPLY)
    before = marks(user)
    messages = user.messages.count()
    streamed(client, user)
    assert marks(user) == before
    assert user.messages.count() == messages


@pytest.mark.usefixtures("talked")
@pytest.mark.parametrize(
    ("script", "problem"),
    [
        (lambda s: s.fail(429, retry_after=90), "asks to wait. Try again in 90 seconds"),
        (lambda s: s.fail(401, message=f"No key for {SHE}"), "The model refused"),
        (lambda s: s.cut_stream(REPLY), "broke off"),
        (lambda s: s.garble_stream(REPLY), "not in the expected form"),
        (lambda s: s.reply_text(REPLY, finish_reason="length"), "ended too early"),
    ],
)
def test_what_goes_wrong_is_said_in_words_and_never_logged(
    server: FakeOpenAI,
    client: Client,
    user: EndUser,
    caplog: pytest.LogCaptureFixture,
    script: Any,
    problem: str,
) -> None:
    caplog.set_level("DEBUG")
    script(server)
    last = streamed(client, user)[-1]
    assert problem in last["error"]
    logged = [r.getMessage() for r in caplog.records if not r.name.startswith("django.db")]
    assert not [line for line in logged if "最近" in line or "小红" in line]


@pytest.mark.usefixtures("talked")
def test_without_a_script_the_reply_is_on_the_page(
    server: FakeOpenAI, client: Client, user: EndUser
) -> None:
    data = {"message": SHE, "before": "session:s1", **OPTIONS}
    server.reply_text(REPLY)
    assert REPLY in text(client.post(at(user, "reply/"), data))
    server.cut_stream(REPLY)
    response = text(client.post(at(user, "reply/"), data))
    assert REPLY[:8] in response
    assert "broke off" in response


def test_without_a_model_the_page_says_how_to_get_one(client: Client, user: EndUser) -> None:
    assert "OPENAI_API_KEY" in text(ask(client, user))
    response = client.post(at(user, "reply/"), {"message": SHE, **OPTIONS})
    assert response.status_code == 422
