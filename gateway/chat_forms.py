"""The two forms of a chat, Chat Completions and Responses: where the conversation stands in a
request, where a block goes, and how an answer is read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from gateway import chat_messages, openai_errors, sse
from gateway.chat_messages import Conversation
from gateway.models import Upstream

Body = Mapping[str, Any]
RESPONSE, CONVERSATION = "response ", "conversation "  # before the id that the upstream gave


@dataclass(frozen=True, slots=True)
class Form:
    """``path`` is below /v1/. ``field`` of a body has the messages. ``read`` returns the conversation
    of a body; ``with_system`` the fields of it that change when a block is added to the system
    prompt; ``answer_of`` what the bytes of an answer say, streamed or not; ``error_event`` an error
    within a stream."""

    path: str
    field: str
    read: Callable[[Body], Conversation]
    with_system: Callable[[Body, str], Body]
    answer_of: Callable[[bytes], sse.Answer]
    error_event: Callable[[str, str], bytes]


def changed(form: Form, body: Body, blocks: Mapping[int, str], placement: str) -> Body:
    """The fields of ``body`` that are other with ``blocks``."""
    if not blocks:
        return {}
    if placement == Upstream.Placement.SYSTEM:
        [block] = blocks.values()
        return form.with_system(body, block)
    return {form.field: chat_messages.with_blocks(body[form.field], blocks)}


def _read_input(body: Body) -> Conversation:
    talk = chat_messages.read(body.get("input"), body.get("instructions"))
    return replace(talk, follows=_follows(body), kept=body.get("store") is not False)


def _follows(body: Body) -> str:
    previous, conversation = body.get("previous_response_id"), body.get("conversation")
    if isinstance(conversation, dict):
        conversation = conversation.get("id")
    if isinstance(previous, str) and previous:
        return f"{RESPONSE}{previous}"
    return f"{CONVERSATION}{conversation}" if isinstance(conversation, str) and conversation else ""


def _instructions_with(body: Body, block: str) -> Body:
    instructions = body.get("instructions")
    if not instructions:
        return {"instructions": block}
    return {"instructions": f"{instructions}\n\n{block}"} if isinstance(instructions, str) else {}


CHAT = Form(
    "chat/completions",
    "messages",
    lambda body: chat_messages.read(body.get("messages")),
    lambda body, block: {"messages": chat_messages.with_system(body["messages"], block)},
    sse.completion_in,
    openai_errors.event,
)
RESPONSES = Form(
    "responses",
    "input",
    _read_input,
    _instructions_with,
    sse.response_in,
    openai_errors.response_event,
)
FORMS = {form.path: form for form in (CHAT, RESPONSES)}
