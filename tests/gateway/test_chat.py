"""A chat through the gateway by the official client: what the upstream gets, what comes back, what
is remembered."""

import asyncio
import gzip
import itertools
import json
import zlib
from collections.abc import Callable
from typing import Any
from uuid import UUID

import brotli
import httpx2
import jwt
import openai
import pytest
from backports import zstd
from django.db import connection
from openai import AsyncOpenAI

from accounts.models import ApiKey, EndUser
from contacts.models import Contact
from gateway import chat_messages, exchange, injection, upstreams
from memories.context.render import Block, Section
from memories.erasure import erase
from memories.models import GatewayTurn, Memory, Message
from memories.portability import export_user, import_user
from tests.factories import make_contact, make_memory
from tests.gateway.conftest import COUNTED, Door
from tests.gateway.upstream import MODEL, Step, Upstream, chunk, stream_of, whole
from understanding.statements.fence import CLOSE, OPEN

pytestmark = pytest.mark.django_db(transaction=True)


def says(*texts: str) -> list[dict[str, Any]]:
    """Messages of the user and the assistant in turn."""
    return [
        {"role": "assistant" if number % 2 else "user", "content": text}
        for number, text in enumerate(texts)
    ]


def ask(door: Door, *texts: str, **headers: str) -> Any:
    client = door.client(X_Mio_User="zoe", **headers)
    answer = client.chat.completions.with_raw_response.create(model=MODEL, messages=says(*texts))
    COUNTED.wait()
    return answer


def stored(user: str = "zoe") -> list[tuple[str, str]]:
    COUNTED.wait()
    rows = Message.objects.filter(end_user__external_id=user).order_by("seq")
    return list(rows.values_list("role", "content"))


def test_who_is_mentioned_stands_before_the_words_of_the_user_and_both_sides_are_stored(
    door: Door, zoe: EndUser, upstream: Upstream
) -> None:
    answer = ask(door, "How is Kim?")
    assert answer.parse().choices[0].message.content == "Noted."
    sent = upstream.asked[0].last
    assert sent.startswith(OPEN)
    assert sent.endswith(f"{CLOSE}\n\nHow is Kim?")
    assert "Kim sings in a choir" in sent
    assert upstream.asked[0].headers["authorization"] == "Bearer sk-upstream"
    assert answer.headers["x-mio-memory"] == "injected"
    assert [UUID(pk) for pk in answer.headers["x-mio-people"].split(",")] == [
        Contact.objects.get().pk
    ]
    assert answer.headers["x-request-id"] not in ("", "up-1")
    assert stored() == [("user", "How is Kim?"), ("assistant", "Noted.")]
    assert set(Message.objects.values_list("session_id", flat=True)) == {
        answer.headers["x-mio-session"]
    }


def test_a_stream_is_passed_byte_by_byte_with_and_without_memory(
    door: Door, zoe: EndUser, upstream: Upstream
) -> None:
    upstream.text = "小红 sings — 𠮷!"
    for text in ("How is Kim?", "Hello."):
        body = {"model": MODEL, "messages": says(text), "stream": True}
        answer = door.post(body, X_Mio_User="zoe")
        COUNTED.wait()
        assert answer.content == b"".join(stream_of(upstream.text))
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.headers["x-accel-buffering"] == "no"
    assert stored()[1::2] == [("assistant", upstream.text)] * 2


def test_what_is_not_changed_reaches_the_upstream_as_the_same_bytes(
    door: Door, upstream: Upstream
) -> None:
    raw = b'{ "model":"m",\n "messages":[{"role":"user","content":"\\u5c0f"}], "x_new": 1.50 }'
    assert door.post(raw, X_Mio_User="new").headers["x-mio-memory"] == "none"
    assert upstream.asked[0].raw == raw


def test_unknown_fields_tools_and_parts_pass_beside_what_is_added(
    door: Door, zoe: EndUser, upstream: Upstream
) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    said = {"type": "text", "text": "Is this Kim?", "cache_control": {"type": "ephemeral"}}
    body = {
        "model": MODEL,
        "messages": [{"role": "system", "content": "Be brief."},
                     {"role": "user", "content": [image, said]}],
        "tools": [{"type": "function", "function": {"name": "look", "parameters": {}}}],
        "prompt_cache_options": {"ttl": "30m"},
        "verbosity": "low",
    }  # fmt: skip
    assert door.post(body, X_Mio_User="zoe").status_code == 200
    sent = upstream.asked[0].json
    added, *parts = sent["messages"][1]["content"]
    assert added["text"].startswith(OPEN)
    assert parts == [image, said]
    assert {**sent, "messages": 0} == {**body, "messages": 0}
    assert sent["messages"][0] == body["messages"][0]


def test_the_same_message_gets_the_same_bytes_again_and_only_news_is_added(
    door: Door, zoe: EndUser, upstream: Upstream
) -> None:
    ask(door, "How is Kim?")
    make_memory(zoe, "Kim moved to Oslo", Contact.objects.get())
    ask(door, "How is Kim?", "Noted.", "And what does Kim do?")
    ask(door, "How is Kim?", "Noted.", "And what does Kim do?", "Noted.", "Kim, again?")
    first, second, third = (asked.json["messages"] for asked in upstream.asked)
    assert second[:1] == first
    assert third[:3] == second
    assert "Oslo" in second[2]["content"]
    assert third[4]["content"] == "Kim, again?"
    assert len(set(Message.objects.values_list("session_id", flat=True))) == 1


def test_of_what_was_told_before_only_new_cards_and_lines_are_left() -> None:
    def block(people: tuple[str, ...], memories: tuple[str, ...]) -> Block:
        sections = Section("## People", people), Section("## Memories", memories)
        return Block("A note.", tuple(one for one in sections if one.entries))

    kim, ann = "### Kim\n- sings", "### Ann\n- swims"
    told = block((kim,), ("- one",))
    assert str(told) == f"{OPEN}\nA note.\n## People\n{kim}\n## Memories\n- one\n{CLOSE}"
    assert str(injection.without_carried(told, [str(told)])) == ""
    assert injection.without_carried(told, []) == told
    more = block((kim, ann), ("- one", "- two"))
    assert injection.without_carried(more, [str(told)]) == block((ann,), ("- two",))
    changed = block((f"{kim}\n- dances",), ())
    assert injection.without_carried(changed, [str(told)]) == changed


def test_history_that_is_sent_again_is_stored_once_and_edited_turns_are_branches(
    door: Door, zoe: EndUser, upstream: Upstream
) -> None:
    ask(door, "Hi.")
    ask(door, "Hi.", "Noted.", "I like tea.")
    ask(door, "Hi.", "Noted.", "I like tea.")
    upstream.text = "Fine."
    ask(door, "Hi.", "Noted.", "I like coffee.")
    ask(door, "Hi.", "Noted.", "I like coffee.", "<think>hm</think>Fine.", "Bye.")
    assert [text for role, text in stored() if role == "user"] == [
        "Hi.", "I like tea.", "I like coffee.", "Bye."
    ]  # fmt: skip
    assert [text for role, text in stored() if role == "assistant"] == [
        "Noted.", "Noted.", "Fine.", "Fine."
    ]  # fmt: skip
    assert len(set(Message.objects.values_list("session_id", flat=True))) == 1


def test_a_session_that_the_client_names_is_used_and_an_unfilled_name_is_not(
    door: Door, zoe: EndUser
) -> None:
    assert ask(door, "Hi.", X_OpenWebUI_Chat_Id="chat-1").headers["x-mio-session"] == "chat-1"
    other = ask(door, "Hi!", X_LibreChat_Conversation_Id="{{LIBRECHAT_BODY_CONVERSATIONID}}")
    assert other.headers["x-mio-session"].startswith("gw-")


def test_a_greeting_long_after_the_same_one_begins_another_chat(door: Door, zoe: EndUser) -> None:
    first = ask(door, "Hi.").headers["x-mio-session"]
    assert ask(door, "Hi.").headers["x-mio-session"] == first
    GatewayTurn.objects.update(created_at="2026-01-01T00:00Z")
    assert ask(door, "Hi.").headers["x-mio-session"] != first


def test_a_round_of_tools_gets_the_same_bytes_and_only_the_final_text_is_stored(
    door: Door, zoe: EndUser, upstream: Upstream
) -> None:
    client = door.client(X_Mio_User="zoe")
    call = {"index": 0, "id": "t1", "type": "function",
            "function": {"name": "look", "arguments": "{}"}}  # fmt: skip
    calling = {"role": "assistant", "content": "Let me look.", "tool_calls": [call]}
    upstream.script.append(Step([chunk(calling, finish_reason="tool_calls"), b"data: [DONE]\n\n"]))
    asked: list[Any] = says("How is Kim?")
    tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
    with client.chat.completions.stream(model=MODEL, messages=asked, tools=tools) as events:
        message = events.get_final_completion().choices[0].message
    assert message.tool_calls[0].function.name == "look"
    assert stored() == [("user", "How is Kim?")]
    make_memory(zoe, "Kim moved to Oslo", Contact.objects.get())
    result = {"role": "tool", "tool_call_id": "t1", "content": "nothing"}
    client.chat.completions.create(model=MODEL, messages=[*asked, calling, result])
    first, second = (one.json["messages"] for one in upstream.asked)
    assert second[0] == first[0]
    assert second[1:] == [calling, result]
    assert stored() == [("user", "How is Kim?"), ("assistant", "Noted.")]


def test_many_chats_of_the_async_client_run_at_once(
    door: Door, zoe: EndUser, upstream: Upstream
) -> None:
    async def one(client: AsyncOpenAI, number: int) -> str:
        answer = await client.chat.completions.create(
            model=MODEL, messages=says(f"Hi {number}."), stream=True
        )
        return "".join(
            [part.choices[0].delta.content or "" async for part in answer if part.choices]
        )

    async def all_of_them() -> list[str]:
        headers = {"X-Mio-User": "zoe"}
        async with AsyncOpenAI(
            base_url=door.address, api_key=door.secret, default_headers=headers, max_retries=0
        ) as client:
            return await asyncio.gather(*(one(client, number) for number in range(20)))

    assert asyncio.run(all_of_them()) == ["Noted."] * 20
    assert [role for role, _ in stored()].count("user") == 20


@pytest.mark.parametrize(
    "text",
    [
        "<think>hm</think>Fine.<think>more",
        '<details type="reasoning" done="true"><summary>Thought</summary>hm</details>Fine.',
        '<details open type="reasoning">a < b</details>Fine.<details type="reasoning">hm',
        '<details type="reasoning"><think>hm</details>Fine.',
        "hm, the user</think>Fine.",
        "<Thinking>hm</thinking>\n\nFine.",
        '<reasoning effort="low">hm</reasoning>Fine.',
        "[THINK]hm[/THINK]Fine.",
        "◁think▷hm◁/think▷Fine.",
        "<|begin_of_thought|>hm<|end_of_thought|>Fine.",
        "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>Fine.",
        "<seed:think>hm</seed:think>Fine.",
        ":::thinking\nhm\n:::\nFine.",
        "Thinking...\nhm\n...done thinking.\n\nFine.",
        "<|START_THINKING|>Hm, well.<|END_THINKING|><|START_RESPONSE|>Fine.<|END_RESPONSE|>",
        "<inner_thought>Hm, well.</inner_thought>Fine.",
        "<start_of_thought>Hm, well.<end_of_thought>Fine.",
        "<unused94>thought\nHm, well.<unused95>Fine.",
        "<details>\n<summary>Thought for 3 seconds</summary>\nHm, well.\n</details>\nFine.",
        "&lt;think&gt;Hm, well.&lt;/think&gt;Fine.",
        "## Thinking\n\nHm, well.\n\n## Final Response\n\nFine.",
        "Here are my reasoning steps:\nHm, well.\n[BEGIN FINAL RESPONSE]\nFine.\n[END FINAL RESPONSE]",
    ],
)
def test_thoughts_are_no_part_of_what_is_said(text: str) -> None:
    assert chat_messages.without_thoughts(text) == "Fine."


def test_details_of_another_kind_are_said() -> None:
    text = "<details><summary>More</summary>Kim</details> <detailsx> <think >"
    assert chat_messages.without_thoughts(text) == text
    about = "Models put `<think>` before a thought and `</think>` behind it."
    assert chat_messages.without_thoughts(about) == about


def test_the_system_prompt_as_the_place_of_memory(
    door: Door, zoe: EndUser, upstream: Upstream
) -> None:
    upstreams.configure(door.app, upstream.address, placement="system")
    body: dict[str, Any] = {"model": MODEL, "messages": says("How is Kim?")}
    door.post(body, X_Mio_User="zoe")
    body["messages"].insert(0, {"role": "system", "content": "Be brief."})
    door.post(body, X_Mio_User="zoe")
    first, second = (one.json["messages"] for one in upstream.asked)
    assert (first[0]["role"], first[1]["content"]) == ("system", "How is Kim?")
    assert second[0]["content"] == f"Be brief.\n\n{first[0]['content']}"


TASKS = [
    ("user", '### Task:\nGenerate a concise, 3-5 word title with an emoji\n<chat_history>Kim'),
    ("user", "### Task:\nSuggest 3-5 relevant follow-up questions\n<chat_history>Kim"),
    ("user", "Provide a concise, 5-word-or-less title for the conversation, using Kim"),
    ("user", "Based on the chat history, give this conversation a name.\nKim"),
    ("system", "Summarize the discussion briefly in 200 words or less to use as a prompt for Kim"),
    ("system", "你是一名擅长会话的助理，你需要将用户的会话总结为 10 个字以内的标题 Kim"),
]  # fmt: skip


@pytest.mark.parametrize(("role", "text"), TASKS, ids=range(len(TASKS)))
def test_what_a_client_asks_for_itself_is_neither_changed_nor_stored(
    door: Door, zoe: EndUser, upstream: Upstream, role: str, text: str
) -> None:
    raw = json.dumps({"model": MODEL, "messages": [{"role": role, "content": text}]}).encode()
    assert door.post(raw, X_Mio_User="zoe").headers["x-mio-memory"] == "skipped-task"
    assert upstream.asked[0].raw == raw
    assert stored() == []


def test_a_task_is_known_by_its_header_and_a_question_about_documents_is_none(
    door: Door, zoe: EndUser
) -> None:
    body = {"model": MODEL, "messages": says("How is Kim?")}
    assert door.post(body, X_Mio_User="zoe", X_Mio_Task="title_generation").headers[
        "x-mio-memory"
    ] == ("skipped-task")
    assert stored() == []
    assert ask(door, "How is Kim?", X_Mio_Task="{{TASK}}").headers["x-mio-memory"] == "injected"
    rag = "### Task:\nRespond to the user query using the provided context.\nHow is Kim?"
    assert ask(door, rag).headers["x-mio-memory"] == "injected"


def test_without_time_for_a_search_the_cards_are_added(
    door: Door, zoe: EndUser, upstream: Upstream, settings: Any
) -> None:
    make_memory(zoe, "The choir is led by Ann")
    settings.MIO_GATEWAY_BUDGET_MS = 0
    assert ask(door, "How is Kim?").headers["x-mio-memory"] == "injected"
    assert "Kim sings in a choir" in upstream.asked[0].last
    assert ask(door, "Who leads the choir?").headers["x-mio-memory"] == "none"
    settings.MIO_GATEWAY_BUDGET_MS = 30_000
    assert ask(door, "And who leads the choir?").headers["x-mio-memory"] == "injected"


def test_memory_that_is_late_or_fails_never_holds_the_chat_up(
    door: Door, zoe: EndUser, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(exchange, "LONGEST_WAIT", 0)
        late = ask(door, "How is Kim?")
    assert late.headers["x-mio-memory"] == "late"
    assert upstream.asked[0].last == "How is Kim?"
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE memories_gatewayturn RENAME TO away")
    try:
        failed = ask(door, "How is Kim, again?")
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE away RENAME TO memories_gatewayturn")
    assert failed.headers["x-mio-memory"] == "error"
    assert failed.parse().choices[0].message.content == "Noted."
    assert stored() == [("user", "How is Kim?"), ("assistant", "Noted.")]
    assert ask(door, "How is Kim?").headers["x-mio-memory"] == "injected"


@pytest.mark.parametrize("erased", ["memory", "person"])
def test_an_erasure_stops_the_replay(
    door: Door, zoe: EndUser, upstream: Upstream, erased: str
) -> None:
    ask(door, "How is Kim?")
    assert "choir" in GatewayTurn.objects.get().injected
    if erased == "memory":
        erase.forget_memory(zoe, Memory.objects.get().pk)
    else:
        erase.forget_contact(zoe, Contact.objects.get().pk)
    assert GatewayTurn.objects.get().injected == ""
    ask(door, "How is Kim?", "Noted.", "Tell me more.")
    assert "choir" not in upstream.asked[-1].raw.decode()


def test_what_is_kept_is_exported_imported_and_erased_with_the_user(
    door: Door, zoe: EndUser
) -> None:
    ask(door, "How is Kim?")
    kept = GatewayTurn.objects.get()
    document = json.loads(json.dumps(export_user(zoe)))
    [carried] = document["gateway_turns"]
    assert carried["injected"] == kept.injected
    copy = import_user(door.app, document, external_id="zoe 2")
    assert GatewayTurn.objects.of(copy).get().injected == kept.injected
    del document["gateway_turns"]  # as an export of an earlier release
    import_user(door.app, document, external_id="zoe 3")
    erase.forget_everything(zoe)
    assert not GatewayTurn.objects.filter(chain_id=kept.chain_id).exclude(end_user=copy).exists()


def test_the_list_of_models_is_the_upstreams(door: Door) -> None:
    assert [model.id for model in door.client().models.list()] == [MODEL]


# Who is meant


def refused(door: Door, error: type[openai.APIStatusError], **given: Any) -> openai.APIStatusError:
    secret, user = given.pop("secret", ""), given.pop("user", openai.NOT_GIVEN)
    with pytest.raises(error) as raised:
        door.client(secret, **given).chat.completions.create(
            model=MODEL, messages=says("Hi."), user=user
        )
    return raised.value


def chat(door: Door, secret: str = "", user: Any = openai.NOT_GIVEN, **headers: str) -> None:
    client = door.client(secret, **headers)
    client.chat.completions.create(model=MODEL, messages=says("Hi."), user=user)


def users() -> set[str]:
    COUNTED.wait()
    return set(EndUser.objects.values_list("external_id", flat=True))


def token(secret: str, **claims: Any) -> str:
    claims = {"sub": "signed", "iss": "open-webui", "exp": 4_000_000_000, **claims}
    return jwt.encode(claims, secret, algorithm="HS256")


def test_the_user_is_named_by_the_header_the_token_trusted_headers_the_body_or_the_key(
    door: Door, upstream: Upstream
) -> None:
    shared = "a secret of thirty-two characters!"
    upstreams.configure(door.app, upstream.address, open_webui_secret=shared)
    _, trusted = ApiKey.issue(door.app, trusted=True)
    _, bound = ApiKey.issue(door.app, external_id="bound")
    every = {
        "X_Mio_User": "own%20id",
        "X_OpenWebUI_User_Jwt": token(shared),
        "X_OpenWebUI_User_Id": "plain",
    }
    expected = ["own id", "signed", "plain", "body"]
    for name in [*every, None]:
        chat(door, trusted, "body", **every)
        assert users() == {expected.pop(0)}
        EndUser.objects.all().delete()
        every.pop(name, None)
    chat(door, user="body", X_OpenWebUI_User_Id="plain", X_User_Id="plain")
    assert users() == {"body"}
    chat(door, bound)
    assert users() == {"body", "bound"}
    assert refused(door, openai.AuthenticationError, X_OpenWebUI_User_Jwt=token("x" * 32)).code == (
        "invalid_token"
    )


def test_nobody_named_is_an_error_that_says_what_to_do(door: Door, upstream: Upstream) -> None:
    error = refused(door, openai.BadRequestError, X_User_Id="plain")
    assert error.code == "no_user"
    assert "X-Mio-User" in str(error)
    assert upstream.asked == []


def test_a_key_of_one_user_opens_no_other(door: Door) -> None:
    _, bound = ApiKey.issue(door.app, external_id="bound")
    for named in ({"X_Mio_User": "other"}, {"user": "other"}):
        error = refused(door, openai.PermissionDeniedError, secret=bound, **named)
        assert error.code == "key_of_one_user"
    chat(door, bound, "bound")


@pytest.mark.parametrize("name", ["X-Mio-User", "X-Mio-Session", "Authorization", "X-User-Id"])
def test_a_header_that_says_whose_request_it_is_comes_once(
    door: Door, upstream: Upstream, name: str
) -> None:
    given = {"authorization": f"Bearer {door.secret}", "x-mio-user": "zoe"}
    headers = [*given.items(), *[(name, given.get(name.lower(), "a"))] * 2]
    body = {"model": MODEL, "messages": says("Hi.")}
    with httpx2.Client(trust_env=False) as http:
        answer = http.post(f"{door.address}/chat/completions", json=body, headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "repeated_header")
    assert upstream.asked == []


def test_the_users_id_is_never_passed_on(door: Door, upstream: Upstream) -> None:
    chat(door, user="zoe@example.com", X_OpenWebUI_User_Email="zoe@example.com")
    chat(door, user="zoe@example.com")
    first, second = upstream.asked
    assert "zoe" not in first.raw.decode() + json.dumps(first.headers)
    assert len(first.json["user"]) == 40
    assert first.json["user"] == second.json["user"]


def test_without_a_key_of_the_app_the_callers_own_is_passed_through(
    door: Door, upstream: Upstream
) -> None:
    upstreams.configure(door.app, upstream.address, key="")
    chat(door, user="zoe")
    assert "authorization" not in upstream.asked[0].headers
    chat(door, "sk-mine", "zoe", X_Mio_Key=door.secret)
    assert upstream.asked[1].headers["authorization"] == "Bearer sk-mine"
    assert door.secret not in json.dumps(upstream.asked[1].headers)


def test_unknown_keys_apps_without_an_upstream_and_limits_are_refused_in_the_form_of_openai(
    door: Door,
) -> None:
    assert refused(door, openai.AuthenticationError, secret="mio_no", user="zoe").code == (
        "not_authenticated"
    )
    key, secret = ApiKey.issue(door.app)
    key.rate_limit = 1
    key.save()
    chat(door, secret, "zoe")
    limited = refused(door, openai.RateLimitError, secret=secret, user="zoe")
    assert (limited.code, limited.type) == ("throttled", "rate_limit_error")
    assert int(limited.response.headers["retry-after"]) > 0
    upstreams.remove(door.app)
    assert refused(door, openai.InternalServerError, user="zoe").code == "no_upstream"
    assert door.post(b"[1]", X_Mio_User="zoe").json()["error"]["code"] == "no_upstream"


NO_OBJECTS = {
    "empty": b"", "cut": b"{", "list": b"[1]", "deep": b"[" * 9000, "UTF-16": "{}".encode("utf-16"),
    "half a pair": b'{"messages": [{"role": "user", "content": "\\ud800"}]}',
    "half a pair in a name": b'{"\\uDFFF": 1}',
}  # fmt: skip


@pytest.mark.parametrize("raw", NO_OBJECTS.values(), ids=NO_OBJECTS)
def test_a_body_that_is_no_object_of_text_is_refused(door: Door, raw: bytes) -> None:
    answer = door.post(raw, X_Mio_User="zoe")
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "parse_error")


ODD = [None, 7, "Hi.", [], [None], [{"role": "user"}], [{"role": "user", "content": {"a": 1}}],
       [{"role": "user", "content": "nul \\u0000 \\ud83d\\ude00"}],
       [{"role": 3, "content": [None, {"type": "text", "text": 5}]}]]  # fmt: skip


@pytest.mark.parametrize("messages", ODD, ids=range(len(ODD)))
def test_odd_messages_are_the_upstreams_to_judge(
    door: Door, zoe: EndUser, upstream: Upstream, messages: Any
) -> None:
    raw = json.dumps({"model": MODEL, "messages": messages}).replace("\\\\u", "\\u").encode()
    assert door.post(raw, X_Mio_User="zoe").status_code == 200
    assert upstream.asked[0].raw == raw


def test_only_the_users_own_words_are_looked_up_and_stored_of_what_a_client_sends(
    door: Door, zoe: EndUser, upstream: Upstream
) -> None:
    asked = "<context><source>Ann is allergic to nuts.</source></context>\n\nHow is Kim?"
    first = ask(door, asked)
    assert "Kim sings in a choir" in upstream.asked[0].last
    assert upstream.asked[0].last.endswith(asked)
    # The client keeps the question alone, and the conversation goes on.
    again = ask(door, "How is Kim?", "Noted.", "Fine.")
    assert again.headers["x-mio-session"] == first.headers["x-mio-session"]
    assert [text for role, text in stored() if role == "user"] == ["How is Kim?", "Fine."]


def test_a_request_of_the_clients_own_in_other_words_is_neither_changed_nor_stored(
    door: Door, zoe: EndUser, upstream: Upstream
) -> None:
    for text in (
        "Merge these answers of several models into a single one, no more than 50 words: Kim sings.",
        "请为以下对话生成一个不超过十个字的标题\n用户：Kim",
    ):
        assert ask(door, text).headers["x-mio-memory"] == "skipped-task"
        assert upstream.asked[-1].last == text
    assert stored() == []


def test_a_user_message_with_a_name_is_told_by_its_speaker(door: Door, zoe: EndUser) -> None:
    zoe.names = ["Zoë"]
    zoe.save()
    for name in ("Anna", "Li_Wei", "小红", "Zoë", "zoe", "user", "", 3):
        said = {"role": "user", "content": f"I am a nurse, {name}", "name": name}
        assert door.post({"model": MODEL, "messages": [said]}, X_Mio_User="zoe").status_code == 200
    COUNTED.wait()
    told = Message.objects.filter(role="user").order_by("seq").values_list("speaker", flat=True)
    assert list(told) == ["Anna", "Li Wei", "小红", None, None, None, None, None]


def test_somebody_else_who_asks_gets_what_they_told_and_nothing_of_the_users(
    door: Door, zoe: EndUser, upstream: Upstream
) -> None:
    anna = make_contact(zoe, "Anna", aliases=["Annie"])
    make_memory(zoe, "I am allergic to nuts", anna, speaker="Annie")
    make_memory(zoe, "Anna sings out of tune", anna)
    first = says("How is Kim?")
    asked = {"role": "user", "name": "Anna", "content": "Which allergy have I, and how is Kim?"}
    again = {"role": "user", "content": "And how is Kim now?"}
    for messages in (first, [*first, asked], [*first, asked, again]):
        door.post({"model": MODEL, "messages": messages}, X_Mio_User="zoe", X_Mio_Session="s")
        COUNTED.wait()
    users, hers, back = (json.dumps(sent.json["messages"]) for sent in upstream.asked)
    assert "choir" in users
    assert "allergic" in hers
    assert "choir" not in hers
    assert "out of tune" not in hers
    assert json.loads(back)[0] == json.loads(users)[0]


COMPRESSED: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstd.compress,
    "gzip, br": lambda plain: brotli.compress(gzip.compress(plain)),
}


@pytest.mark.parametrize(
    ("streams", "kind", "encoding"),
    [
        *itertools.product(
            [True, False], ["text/plain", "application/json", "text/event-stream", ""], ["identity"]
        ),
        *((number % 2 == 0, "text/event-stream", name) for number, name in enumerate(COMPRESSED)),
    ],
)
def test_an_answer_is_stored_whole_and_passed_byte_by_byte_however_it_is_sent(
    door: Door, zoe: EndUser, upstream: Upstream, streams: bool, kind: str, encoding: str
) -> None:
    text = "Noted — 𠮷!"
    pieces = stream_of(text) if streams else [whole({"role": "assistant", "content": text})]
    if encoding in COMPRESSED:
        pieces = [COMPRESSED[encoding](b"".join(pieces))]
    upstream.script.append(Step(pieces, content_type=kind, headers={"content-encoding": encoding}))
    headers = {"Authorization": f"Bearer {door.secret}", "X-Mio-User": "zoe"}
    body = {"model": MODEL, "messages": says("Hello."), "stream": streams}
    with (
        httpx2.Client(trust_env=False, timeout=30) as http,
        http.stream(
            "POST", f"{door.address}/chat/completions", json=body, headers=headers
        ) as answer,
    ):
        assert b"".join(answer.iter_raw()) == b"".join(pieces)
    assert stored() == [("user", "Hello."), ("assistant", text)]


def test_the_users_own_card_stands_before_their_questions_and_before_nobody_elses(
    door: Door, zoe: EndUser, upstream: Upstream
) -> None:
    fact = {"key": "allergy", "value": "figs", "person": None}
    make_memory(zoe, "The user is allergic to figs", facts=[fact])
    said = says("Snacks for Kim and me?")
    assert door.post({"model": MODEL, "messages": said}, X_Mio_User="zoe").status_code == 200
    COUNTED.wait()
    assert "Allergies: figs" in upstream.asked[0].last
    said += [*says("", "Olives.")[1:], {"role": "user", "content": "And Kim?", "name": "Anna"}]
    assert door.post({"model": MODEL, "messages": said}, X_Mio_User="zoe").status_code == 200
    sent = upstream.asked[1].raw.decode()
    assert "Allergies: figs" not in sent
    assert "Kim sings in a choir" not in sent
