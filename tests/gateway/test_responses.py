"""The Responses API through the gateway by the official client: what the upstream gets, what comes
back, what is remembered, and what the upstream keeps itself."""

import json
from typing import Any

import openai
import pytest

from accounts.models import EndUser
from contacts.models import Contact
from gateway import exchange, relay, upstreams
from memories.models import Message
from tests.factories import make_memory
from tests.gateway.conftest import COUNTED, Door
from tests.gateway.test_faults import impatient
from tests.gateway.upstream import (
    MODEL,
    Step,
    Upstream,
    message_item,
    response,
    response_event,
    response_stream_of,
)
from understanding.statements.fence import CLOSE, OPEN

__all__ = ["impatient"]
pytestmark = pytest.mark.django_db(transaction=True)
CALL = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "look",
        "arguments": "{}", "status": "completed"}  # fmt: skip
RESULT = {"type": "function_call_output", "call_id": "c1", "output": "nothing"}
TOOLS: Any = [{"type": "function", "name": "look", "parameters": {"type": "object"}}]


def ask(door: Door, asked: Any, stateless: bool = True, **more: Any) -> Any:
    """The raw answer of the official client; stateless, as LobeChat asks."""
    more |= {"store": False} if stateless else {}
    raw = door.client(X_Mio_User="zoe").responses.with_raw_response
    answer = raw.create(model=MODEL, input=asked, **more)
    COUNTED.wait()
    return answer


def user(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def stored() -> list[tuple[str, str]]:
    COUNTED.wait()
    return list(Message.objects.order_by("seq").values_list("role", "content"))


def sessions() -> set[str]:
    return set(Message.objects.values_list("session_id", flat=True))


def test_a_question_as_text_gets_what_is_known_and_both_sides_are_stored(
    door: Door, zoe: EndUser, upstream: Upstream
) -> None:
    answer = ask(door, "How is Kim?")
    assert answer.parse().output_text == "Noted."
    sent = upstream.asked[0]
    assert sent.path == "/v1/responses"
    assert sent.json["input"].startswith(OPEN)
    assert sent.json["input"].endswith(f"{CLOSE}\n\nHow is Kim?")
    assert "Kim sings in a choir" in sent.json["input"]
    assert sent.headers["authorization"] == "Bearer sk-upstream"
    assert answer.headers["x-mio-memory"] == "injected"
    assert answer.headers["x-mio-people"] == str(Contact.objects.get().pk)
    assert stored() == [("user", "How is Kim?"), ("assistant", "Noted.")]
    assert sessions() == {answer.headers["x-mio-session"]}


def test_items_and_unknown_fields_pass_beside_what_is_added(
    door: Door, zoe: EndUser, upstream: Upstream
) -> None:
    image = {"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "low"}
    reasoning = {"type": "reasoning", "id": "rs_0", "summary": [], "encrypted_content": "x"}
    asked = [
        user("Hello."),
        reasoning,
        message_item("Noted."),
        {"type": "item_reference", "id": "msg_9"},
        {"type": "new_kind", "x": 1.5},
        {"role": "user", "content": [image, {"type": "input_text", "text": "Is this Kim?"}]},
    ]
    body = {
        "model": MODEL, "input": asked, "instructions": "Be brief.", "store": False,
        "reasoning": {"effort": "low"}, "include": ["reasoning.encrypted_content"],
        "text": {"verbosity": "low"}, "prompt_cache_key": "k", "x_new": {"a": [1]},
    }  # fmt: skip
    assert door.post(body, "responses", X_Mio_User="zoe").status_code == 200
    sent = upstream.asked[0].json
    added, *parts = sent["input"][-1]["content"]
    assert (added["type"], added["text"][: len(OPEN)]) == ("input_text", OPEN)
    assert parts == asked[-1]["content"]
    assert sent["input"][:-1] == asked[:-1]
    assert {**sent, "input": 0} == {**body, "input": 0}


def test_where_nothing_is_added_the_same_bytes_reach_the_upstream(
    door: Door, upstream: Upstream
) -> None:
    raw = b'{ "model":"m",\n "input": "\\u5c0f", "store":false, "x_new": 1.50 }'
    assert door.post(raw, "responses", X_Mio_User="new").headers["x-mio-memory"] == "none"
    assert upstream.asked[0].raw == raw


def test_a_stream_is_passed_byte_by_byte_and_read_by_the_client(
    door: Door, zoe: EndUser, upstream: Upstream
) -> None:
    upstream.text = "小红 sings — 𠮷!"
    body = {"model": MODEL, "input": "How is Kim?", "stream": True}
    answer = door.post(body, "responses", X_Mio_User="zoe")
    assert answer.content == b"".join(response_stream_of(upstream.text, "resp_1"))
    assert answer.headers["x-accel-buffering"] == "no"
    assert answer.headers["x-mio-memory"] == "injected"
    client = door.client(X_Mio_User="zoe")
    events = client.responses.create(model=MODEL, input="And Kim?", stream=True)
    heard = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert "".join(heard) == upstream.text
    assert stored()[1::2] == [("assistant", upstream.text)] * 2


def test_history_gets_the_same_bytes_again_and_is_stored_once(
    door: Door, zoe: EndUser, upstream: Upstream
) -> None:
    ask(door, [user("How is Kim?")])
    make_memory(zoe, "Kim moved to Oslo", Contact.objects.get())
    talk = [user("How is Kim?"), message_item("Noted."), user("And what does Kim do?")]
    ask(door, talk)
    ask(door, [*talk, message_item("Noted."), user("Kim, again?")])
    first, second, third = (asked.json["input"] for asked in upstream.asked)
    assert second[:1] == first
    assert third[:3] == second
    assert "Oslo" in second[2]["content"][0]["text"]
    assert third[4] == user("Kim, again?")
    assert [text for role, text in stored() if role == "user"] == [
        "How is Kim?", "And what does Kim do?", "Kim, again?"
    ]  # fmt: skip
    assert len(sessions()) == 1


def test_instructions_as_the_place_of_memory(door: Door, zoe: EndUser, upstream: Upstream) -> None:
    upstreams.configure(door.app, upstream.address, placement="system")
    ask(door, "How is Kim?")
    ask(door, "How is Kim?", instructions="Be brief.")
    first, second = (one.json for one in upstream.asked)
    assert first["instructions"].startswith(OPEN)
    assert second["instructions"] == f"Be brief.\n\n{first['instructions']}"
    assert (first["input"], second["input"]) == ("How is Kim?", "How is Kim?")


def test_a_round_of_tools_gets_the_same_bytes_and_only_the_final_text_is_stored(
    door: Door, zoe: EndUser, upstream: Upstream
) -> None:
    calling = [message_item("Let me look."), CALL]
    upstream.script.append(
        Step([json.dumps(response(*calling)).encode()], content_type="application/json")
    )
    answer = ask(door, [user("How is Kim?")], tools=TOOLS).parse()
    assert answer.output[1].name == "look"
    assert stored() == [("user", "How is Kim?")]
    make_memory(zoe, "Kim moved to Oslo", Contact.objects.get())
    ask(door, [user("How is Kim?"), *calling, RESULT], tools=TOOLS)
    first, second = (one.json["input"] for one in upstream.asked)
    assert second == [*first, *calling, RESULT]
    assert stored() == [("user", "How is Kim?"), ("assistant", "Noted.")]
    # What was said beside the call is no turn, whether a client sends it again or not.
    follow = [RESULT, message_item("Noted."), user("Thanks.")]
    sessions = {
        ask(door, [user("How is Kim?"), *calls, *follow]).headers["x-mio-session"]
        for calls in (calling, [CALL])
    }
    assert len(sessions) == 1
    assert [text for _, text in stored()].count("Thanks.") == 1


def test_a_stream_that_calls_a_tool_is_no_answer(door: Door, upstream: Upstream) -> None:
    added = {**CALL, "arguments": "", "status": "in_progress"}
    pieces = [
        *response_stream_of("Let me look.")[:-1],
        response_event("response.output_item.added", 20, output_index=2, item=added),
    ]
    upstream.script.append(Step(pieces))
    door.post({"model": MODEL, "input": "Hi.", "stream": True}, "responses", X_Mio_User="zoe")
    assert stored() == [("user", "Hi.")]


def test_a_background_task_is_neither_changed_nor_stored(
    door: Door, zoe: EndUser, upstream: Upstream
) -> None:
    told = "你是一名擅长会话的助理，你需要将用户的会话总结为 10 个字以内的标题"
    for body in ({"instructions": told, "input": "Kim"}, {"input": [{"role": "system", "content": told}, user("Kim")]}):  # fmt: skip
        raw = json.dumps({"model": MODEL, **body}).encode()
        answer = door.post(raw, "responses", X_Mio_User="zoe")
        assert answer.headers["x-mio-memory"] == "skipped-task"
        assert upstream.asked[-1].raw == raw
    assert stored() == []


def test_memory_that_is_late_never_holds_a_response_up(
    door: Door, zoe: EndUser, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "LONGEST_WAIT", 0)
    answer = ask(door, "How is Kim?", stateless=False)
    assert answer.headers["x-mio-memory"] == "late"
    assert upstream.asked[0].json["input"] == "How is Kim?"
    assert stored() == [("user", "How is Kim?"), ("assistant", "Noted.")]


def test_the_user_is_named_as_in_a_chat_and_never_passed_on(door: Door, upstream: Upstream) -> None:
    door.client().responses.create(model=MODEL, input="Hi.", user="zoe@example.com")
    COUNTED.wait()
    assert EndUser.objects.get().external_id == "zoe@example.com"
    assert b"zoe" not in upstream.asked[0].raw
    with pytest.raises(openai.BadRequestError) as raised:
        door.client().responses.create(model=MODEL, input="Hi.")
    assert raised.value.code == "no_user"


ODD = [None, 7, [], [None], [{"type": "message", "role": "user"}], [{"role": "user", "content": 1}],
       [{"type": 3}], {"a": 1}]  # fmt: skip


@pytest.mark.parametrize("given", ODD, ids=range(len(ODD)))
def test_odd_input_is_the_upstreams_to_judge(
    door: Door, zoe: EndUser, upstream: Upstream, given: Any
) -> None:
    raw = json.dumps(
        {"model": MODEL, "input": given, "instructions": 4, "conversation": [], "store": 0}
    ).encode()
    assert door.post(raw, "responses", X_Mio_User="zoe").status_code == 200
    assert upstream.asked[0].raw == raw


# What the upstream keeps


def test_what_follows_a_response_passes_and_is_of_the_session_that_the_client_names(
    door: Door, zoe: EndUser, upstream: Upstream
) -> None:
    client = door.client(X_Mio_User="zoe", X_Mio_Session="talk")
    for text in ("How is Kim?", "And her work?"):
        client.responses.create(model=MODEL, input=text, previous_response_id="resp_1")
    for asked in upstream.asked:
        assert asked.json["previous_response_id"] == "resp_1"
        assert asked.json["input"].startswith(OPEN)
    assert sessions() == {"talk"}


def test_the_result_of_a_tool_alone_is_passed_on_as_it_is(
    door: Door, zoe: EndUser, upstream: Upstream
) -> None:
    client = door.client(X_Mio_User="zoe")
    client.responses.create(model=MODEL, input=[RESULT], previous_response_id="resp_1")
    assert upstream.asked[0].json["input"] == [RESULT]
    assert stored() == []


# Faults


def test_the_upstreams_errors_pass_as_they_are(door: Door, upstream: Upstream) -> None:
    body = b'{"error": {"message": "Slow down.", "type": "tokens", "code": "rate_limit"}}'
    upstream.script.append(Step([body], 429, "application/json", headers={"retry-after": "7"}))
    answer = door.post({"model": MODEL, "input": "Hi."}, "responses", X_Mio_User="zoe")
    assert (answer.status_code, answer.content) == (429, body)
    assert answer.headers["retry-after"] == "7"
    # The conversation went no further: the same request is a retry, once the first one is noted.
    assert stored() == [("user", "Hi.")]
    ask(door, "Hi.", stateless=False)
    assert stored() == [("user", "Hi."), ("assistant", "Noted.")]


@pytest.mark.parametrize("broken", ["break", "stall"])
def test_half_a_stream_ends_with_an_error_and_is_stored_as_far_as_it_came(
    door: Door, upstream: Upstream, impatient: None, broken: str
) -> None:
    half = response_stream_of("Half an answer")[:6]
    upstream.script.append(Step([*half, b"event: response.out"], then=broken))
    heard = []
    with pytest.raises(openai.APIError) as raised:
        for event in door.client(X_Mio_User="zoe").responses.create(
            model=MODEL, input="Hi.", stream=True
        ):
            heard += [event.type]
    assert len(heard) == 6
    assert raised.value.code == (
        "upstream_unreachable" if broken == "break" else "upstream_timeout"
    )
    assert stored() == [("user", "Hi."), ("assistant", "Half a")]


def test_an_error_within_a_stream_is_one_of_the_responses_api(
    door: Door, upstream: Upstream
) -> None:
    upstream.script.append(Step(response_stream_of("Half")[:5], then="break"))
    body = {"model": MODEL, "input": "Hi.", "stream": True}
    last = door.post(body, "responses", X_Mio_User="zoe").text.strip().split("\n\n")[-1]
    name, data = last.strip().split("\n")
    told = json.loads(data.removeprefix("data: "))
    assert (name, told["type"], told["code"]) == ("event: error", "error", "upstream_unreachable")
    assert told["error"]["message"] == told["message"]


def test_a_stall_before_the_first_byte_is_a_504(
    door: Door, upstream: Upstream, impatient: None
) -> None:
    assert relay.TIMEOUT.read == 0.2
    upstream.script.append(Step([], content_type="application/json", then="stall"))
    answer = door.post({"model": MODEL, "input": "Hi."}, "responses", X_Mio_User="zoe")
    assert (answer.status_code, answer.json()["error"]["code"]) == (504, "upstream_timeout")
    assert stored() == [("user", "Hi.")]


@pytest.mark.parametrize(
    "body", [b"", b"[]", b'{"id": 3, "output": [null, 4, {"type": "message"}]}', b'{"output": {}}']
)
def test_an_answer_that_makes_no_sense_passes_and_is_not_stored(
    door: Door, upstream: Upstream, body: bytes
) -> None:
    asked = {"model": MODEL, "input": "Hi."}
    upstream.script.append(Step([body], content_type="application/json"))
    assert door.post(asked, "responses", X_Mio_User="zoe").content == body
    COUNTED.wait()
    upstream.script.append(Step([b"data: " + body + b"\n\n", b"data: {\n\n"]))
    answer = door.post(asked, "responses", X_Mio_User="zoe")
    assert answer.content == b"data: " + body + b"\n\ndata: {\n\n"
    assert stored() == [("user", "Hi.")]
