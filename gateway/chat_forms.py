"""The two forms of a chat, Chat Completions and Responses: where a request has the conversation,
where a block goes, and how an answer is read."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gateway import chat_messages, openai_errors, sse
from gateway.chat_messages import Conversation
from gateway.models import Upstream

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Form:
    """A form at ``path`` below /v1/; ``field`` of a body has the messages. ``read`` returns the
    conversation of a body, ``with_system`` the fields that change if a block is added to the system
    prompt, ``answer_of`` the text of an answer, streamed or not, ``error_event`` an error event."""

    path: str
    field: str
    read: Callable[[Body], Conversation]
    with_system: Callable[[Body, str], Body]
    answer_of: Callable[[bytes], str]
    error_event: Callable[[str, str], bytes]


def changed(form: Form, body: Body, blocks: Mapping[int, str], placement: str) -> Body:
    """Returns the fields of ``body`` that change if ``blocks`` are added."""
    if not blocks:
        return {}
    if placement == Upstream.Placement.SYSTEM:
        [block] = blocks.values()
        return form.with_system(body, block)
    return {form.field: chat_messages.with_blocks(body[form.field], blocks)}


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
    lambda body: chat_messages.read(body.get("input"), body.get("instructions")),
    _instructions_with,
    sse.response_in,
    openai_errors.response_event,
)
FORMS = {form.path: form for form in (CHAT, RESPONSES)}
