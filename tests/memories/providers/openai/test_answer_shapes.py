"""The forms in which servers of the protocol are known to send a good answer. Each costs one request,
and none of them anything of the answer."""

import json
from typing import Any

import pytest

from memories.providers.errors import CutOffError, OutputError
from tests.memories.providers.openai.examples import answer, memory, request

QUOTED = 'Mei says "</think> is a tag", {and} <|message|> is a mark'
GOOD = answer(memory(QUOTED))
TEXT = json.dumps(GOOD, ensure_ascii=False)
HEAD = {"id": "c-1", "object": "chat.completion", "created": 0, "model": "any-model"}
EMPTY = json.dumps(answer(), ensure_ascii=False)


def completion(message: Any, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {**HEAD, "choices": [choice], **more}


def said(content: Any = TEXT, **fields: Any) -> dict[str, Any]:
    return completion({"role": "assistant", "content": content, **fields})


def events(*deltas: Any, finish: Any = "stop", end: str = "data: [DONE]\n\n") -> str:
    choices = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": finish})
    parts = [{**HEAD, "choices": [one]} for one in choices]
    return "".join(f"data: {json.dumps(part)}\n\n" for part in parts) + end


HALVES = [{"role": "assistant", "content": TEXT[:40]}, {"content": TEXT[40:]}]
TOOL = {"id": "t", "type": "function", "function": {"name": "answer", "arguments": TEXT}}
# What is sent, by whom it was seen to be.
SHAPES: dict[str, Any] = {
    "usage is empty (proxies of the one-api kind)": {**said(), "usage": {}},
    "usage is null (LM Studio)": {**said(), "usage": None},
    "counts are null (LiteLLM)": {
        **said(), "usage": {"prompt_tokens": None, "completion_tokens": None}
    },
    "counts are texts": {**said(), "usage": {"prompt_tokens": "12", "completion_tokens": "3"}},
    "usage is a text": {**said(), "usage": "n/a"},
    "no ids, no role, no index": {"choices": [{"message": {"content": TEXT}}]},
    "the finish reason is another's word (vLLM, Anthropic)": completion(
        {"content": TEXT}, stop_reason=128009
    ) | {"choices": [{"message": {"content": TEXT}, "finish_reason": "end_turn"}]},
    "side fields of other types (DeepSeek, vLLM)": said(
        refusal="", tool_calls=[], reasoning_content=None, annotations={}, audio=7
    ),
    "thoughts beside it (DeepSeek)": said(reasoning_content="Shall I say {nothing}?" + EMPTY),
    "thoughts beside it (Ollama, OpenRouter)": said(reasoning="Hm. " + EMPTY),
    "the answer among the thoughts (vLLM with a reasoning parser)": said(
        None, reasoning_content=TEXT
    ),
    "the answer among the thoughts (vLLM of today)": said(None, reasoning=TEXT),
    "content is empty, the answer among the thoughts": said("", reasoning_content=TEXT),
    "pieces (Mistral)": said([
        {"type": "thinking", "thinking": [{"type": "text", "text": EMPTY}]},
        {"type": "text", "text": TEXT[:30]},
        {"type": "text", "text": TEXT[30:]},
    ]),
    "an object (proxies that parse it)": said(GOOD),
    "a call of a tool (LiteLLM for servers without JSON mode)": said(None, tool_calls=[TOOL]),
    "a completion of the older protocol": {**HEAD, "choices": [{"text": TEXT}]},
    "thoughts before it (Qwen, DeepSeek R1)": said(f"<think>{EMPTY} {{maybe}}</think>\n{TEXT}"),
    "thoughts without their beginning (DeepSeek R1 on vLLM)": said(f"Well: {EMPTY}</think>{TEXT}"),
    "thoughts in brackets (Magistral)": said(f"[THINK]{EMPTY}[/THINK]{TEXT}"),
    "messages of the harmony format (gpt-oss)": said(
        f"<|channel|>analysis<|message|>Perhaps {EMPTY}<|end|><|start|>assistant"
        f"<|channel|>final <|constrain|>json<|message|>{TEXT}<|return|>"
    ),
    "the harmony format without its marks (gpt-oss)": said(f"analysisI see.assistantfinal{TEXT}"),
    "a fence and prose": said(f"Here it is:\n```json\n{TEXT}\n```\nIs {{this}} right?"),
    "a byte order mark": said("\ufeff" + TEXT),
    "a wrapper": said(json.dumps({"answer": GOOD})),
    "a wrapper by the name of the schema": said(json.dumps({"ExtractionOut": GOOD, "ok": True})),
    "a list of one": said(json.dumps([GOOD])),
    "JSON in JSON": said(json.dumps({"result": TEXT})),
    "a stream, though none was asked for (one-api, mini-sglang)": events(*HALVES),
    "a stream that begins with comments (OpenRouter)": ": PROCESSING\n\n" + events(*HALVES),
    "a stream of thoughts and the answer": events({"reasoning_content": EMPTY}, *HALVES),
    "a stream whose last event has no choices": events(*HALVES, end="")
    + 'data: {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}}\n\n',
    "a whole completion with the end of a stream": json.dumps(said()) + "data: [DONE]\n\n",
    "blank lines before it (DeepSeek under load)": "\n\n \n" + json.dumps(said()),
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_a_good_answer_is_one_in_whatever_form_it_comes(server, provider, shape):
    server.reply_body(SHAPES[shape], kind="text/event-stream")
    reply = provider.extract(request())
    assert [found.content for found in reply.value.memories] == [QUOTED]
    assert len(server.requests) == 1
    assert reply.usage.tokens_in > 0


def test_a_stream_that_breaks_off_is_no_answer(server, provider):
    server.reply_body(events(*HALVES, finish=None, end=""), kind="text/event-stream")
    with pytest.raises(OutputError):
        provider.extract(request())


def test_a_stream_that_was_cut_at_its_length_says_so(server, provider):
    server.reply_body(events(HALVES[0], finish="length"), kind="text/event-stream")
    with pytest.raises(CutOffError):
        provider.extract(request())


@pytest.mark.parametrize(
    "off",
    [
        {"confidence": "high"},
        {"subtype": ["friend"]},
        {"quote": {"text": "x"}},
        {"important_dates": "none"},
        {"important_dates": [{"kind": "birthday", "month": "May", "day": 1}]},
        {"facts": [{"value": "x"}]},
        {"people": ["p1", {"id": "p1"}]},
    ],
    ids=str,
)
def test_a_field_that_is_off_costs_that_field(server, provider, off):
    kept = {"key": "job_title", "value": "店长", "person": "p1"}
    wanted = memory(**{"facts": [kept], **off})
    if "facts" in off:
        wanted["facts"] = [*off["facts"], kept]
    server.reply_json(answer(wanted, forget="nothing", retracted=[1.5]))
    (found,) = provider.extract(request()).value.memories
    assert [fact.value for fact in found.facts] == ["店长"]
    assert len(found.people) == 1
    assert len(server.requests) == 1


def test_an_item_that_lacks_what_it_needs_is_asked_for_again_and_then_left_out(server, provider):
    server.reply_json(answer(memory("Kept."), {"content": "Without turns."}), times=2)
    (found,) = provider.extract(request()).value.memories
    assert (found.content, len(server.requests)) == ("Kept.", 2)
    server.reply_json(answer({"content": "Without turns."}), times=2)
    with pytest.raises(OutputError):
        provider.extract(request())


def test_a_draft_among_thoughts_is_never_taken_for_an_answer_that_is_broken(server, provider):
    server.reply_text(f"<think>{EMPTY}</think>" + TEXT[:-30], times=2)
    with pytest.raises(OutputError):
        provider.extract(request())
