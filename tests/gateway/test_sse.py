"""What is read from the bytes of an answer. Pure: the whole way is in test_chat and
test_responses."""

import json
from typing import Any

import pytest

from gateway.sse import completion_in, response_in

MESSAGE = {"type": "message", "role": "assistant", "content": "Hello there"}


def stream(*events: Any) -> bytes:
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)


def chunk(index: int | None = 0, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"delta": delta} | ({} if index is None else {"index": index})]}


def delta(text: str, place: int = 0) -> dict[str, Any]:
    return {"type": "response.output_text.delta", "output_index": place, "delta": text}


def test_the_pieces_of_a_streamed_completion_are_one_text() -> None:
    heard = stream(chunk(role="assistant"), chunk(content="Hel"), chunk(None, content="lo"))
    assert completion_in(heard + b"data: [DONE]\n\n") == "Hello"


def test_of_several_choices_the_first_is_what_was_said() -> None:
    heard = stream(chunk(1, content="Bye"), chunk(content="Hello"))
    assert completion_in(heard) == "Hello"
    choices = [{"index": number, "message": {"content": f"answer {number}"}} for number in (1, 0)]
    assert completion_in(json.dumps({"choices": choices}).encode()) == "answer 0"


def test_an_answer_that_calls_tools_says_nothing_yet() -> None:
    calls: dict[str, Any] = {"content": "Wait", "tool_calls": [{"id": "c1"}]}
    assert completion_in(stream(chunk(content="Wait"), chunk(**calls))) == ""
    body = json.dumps({"choices": [{"message": calls}]}).encode()
    assert completion_in(body) == ""


def test_a_response_is_read_from_its_last_event() -> None:
    done = {"type": "response.completed", "response": {"id": "r1", "output": [MESSAGE]}}
    assert response_in(stream(delta("Hel"), done)) == "Hello there"
    assert response_in(json.dumps(done["response"]).encode()) == "Hello there"


def test_of_a_response_that_was_cut_what_came_is_read_in_the_order_of_its_items() -> None:
    begun = {"type": "response.created", "response": {"id": "r1", "output": []}}
    item = {"type": "response.output_item.done", "output_index": 0, "item": MESSAGE}
    heard = stream(begun, item, delta("and ", 1), delta("more", 1), "no event", {"item": MESSAGE})
    assert response_in(heard) == "Hello there\nand more"


def test_a_response_that_ends_without_its_output_is_what_came_of_it() -> None:
    deltas = [
        {"type": "response.output_text.delta", "item_id": "m", "delta": d} for d in ("Hel", "lo")
    ]
    ended = {"type": "response.completed", "response": {"id": "r", "output": []}}
    assert response_in(stream(*deltas, ended)) == "Hello"
    assert response_in(stream(*deltas)) == "Hello"


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"choices": 1, "output": 1, "id": 1}'])
def test_what_is_no_answer_is_read_as_an_empty_one(body: bytes) -> None:
    assert completion_in(body) == ""
    assert response_in(body) == ""


@pytest.mark.parametrize(
    "heard",
    [
        stream({"choices": [{"index": None, "delta": {"content": "Hello"}}]}),
        stream({"choices": [{"delta": {"content": [{"type": "thinking", "thinking": "hm"},
                                                   {"type": "text", "text": "Hello"}]}}]}),
        stream(chunk(content="Hel"), chunk(content="lo")).replace(b"\n", b"\r\n"),
        stream(chunk(content="Hel"), chunk(content="lo")).replace(b"\n", b"\r"),
        b"\xef\xbb\xbf" + stream(chunk(content="Hello")),
        b'data: {"choices": [{"index": 0,\ndata: "delta": {"content": "Hello"}}]}\n\n',
        json.dumps(chunk(content="Hel")).encode() + b"\n" + json.dumps(chunk(content="lo")).encode(),
        json.dumps({"choices": [{"index": None, "message": {"content": "Hello"}}]}).encode(),
        stream({"choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello"}}]}),
        json.dumps([chunk(content="Hel"), chunk(content="lo")]).encode(),
        stream(chunk(content="Hel"), chunk(content="lo"),
               {"choices": [{"index": "0", "message": {"content": "Hello"}}]}),
    ],
)  # fmt: skip
def test_an_answer_is_read_whole_however_a_server_sends_it(heard: bytes) -> None:
    assert completion_in(heard) == "Hello"
