"""Conversations with a model, whose reply is streamed."""

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import Annotated, Any

import openai
from openai.types.chat import ChatCompletionChunk
from pydantic import BaseModel, BeforeValidator

from accounts.reasons import Reason
from memories.providers.errors import OutputError, PermanentError, TransientError
from memories.providers.interface import ChatMessage
from memories.providers.openai import completions
from memories.providers.openai.transport import ModelServer
from understanding.text import encodable

# A person is watching, so one retry is made; then the error is shown.
MAX_ATTEMPTS = 2


class _Delta(BaseModel):
    content: Annotated[str, BeforeValidator(completions.written)] = ""


class _Choice(BaseModel):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _Chunk(BaseModel):
    choices: Annotated[list[_Choice], BeforeValidator(lambda sent: sent or [])] = []


class ChatModel:
    """One model of a server, for conversations."""

    def __init__(self, server: ModelServer, model: str) -> None:
        self.model = model
        self._server = server

    def stream(self, messages: Sequence[ChatMessage]) -> Iterator[str]:
        """Yields the pieces of the reply as they arrive; retries only before the first. Raises
        TransientError if the server is overloaded, takes too long or breaks off, PermanentError if
        it refuses, OutputError for no stream of the protocol or a reply cut off at its length."""
        pieces = self._server.open(partial(self._send, messages=messages), MAX_ATTEMPTS)
        with closing(pieces):
            ended = False
            deadline = time.monotonic() + self._server.deadline_s
            while time.monotonic() < deadline:
                chunk = self._server.once(partial(_next, pieces))
                if chunk is None:
                    break
                for choice in chunk.choices:
                    if choice.delta and choice.delta.content:
                        yield choice.delta.content
                    if choice.finish_reason is not None:
                        _check(choice.finish_reason)
                        ended = True
        if not ended:
            raise TransientError(Reason("reply_broken_off"))

    def _send(
        self, client: openai.OpenAI, messages: Sequence[ChatMessage]
    ) -> openai.Stream[ChatCompletionChunk]:
        sent: Any = [{"role": one.role, "content": encodable(one.content)} for one in messages]
        return client.chat.completions.create(model=self.model, messages=sent, stream=True)


def _next(pieces: openai.Stream[ChatCompletionChunk], _client: openai.OpenAI) -> _Chunk | None:
    try:
        chunk = next(pieces, None)
        return None if chunk is None else _Chunk.model_validate(chunk.to_dict(warnings=False))
    except (ValueError, AttributeError):  # no JSON, no UTF-8, no object, or of another form
        pass
    raise OutputError(Reason("not_stream_protocol"))


def _check(finish_reason: str) -> None:
    if finish_reason == "content_filter":
        raise PermanentError(Reason("model_refused"))
    if finish_reason == "length":
        raise OutputError(Reason("reply_cut_off"))
