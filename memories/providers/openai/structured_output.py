"""One model asked for answers of a given form: strictest form first, one repair, usage counted."""

import json
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from string import Template
from typing import Any, TypeVar

import openai
from openai.types.chat import ChatCompletionMessageParam
from pydantic import ValidationError

from accounts.reasons import Reason
from memories.providers.errors import CutOffError, OutputError, PermanentError
from memories.providers.openai import completions, json_answers
from memories.providers.openai.schemas import Wire, json_schema_of
from memories.providers.openai.transport import ModelServer, RawReply, UnsupportedParameterError
from memories.types import Usage
from understanding.attributes import ATTRIBUTES
from understanding.text import encodable, estimate_tokens

PROMPTS = Path(__file__).resolve().parents[2] / "prompts"
# How an answer's form can be asked for, the strictest first.
FORMATS = ("json_schema", "json_object", "text")
MAX_REPORTED_ERRORS = 8
MAX_REPAIRED = 20_000  # code points of an unusable answer that are shown back

W = TypeVar("W", bound=Wire)
Messages = list[ChatCompletionMessageParam]


class AnswerModel:
    """A model of one server. What the server turns out not to support (structured output, a
    temperature) is asked for once and then left out for the life of the instance."""

    def __init__(self, server: ModelServer, model: str) -> None:
        self.model = model
        self.server = server
        self._format = 0
        self._takes_temperature = True

    def ask(
        self, instructions: str, question: str, answer: type[W], *, repair: bool = True
    ) -> tuple[W, Usage]:
        """A validated answer; the model is asked to ``repair`` one that is none at most once.
        Of one that can't be asked for again, the items that are in form are taken."""
        messages = _messages(instructions, question)
        texts, usage = self._complete(messages, answer)
        text = texts[0]
        try:
            return json_answers.parsed(texts, answer, drop_items=not repair), usage
        except ValidationError as exc:
            errors, kinds = _described(exc), _kinds(exc)
        if not repair:
            raise OutputError(Reason("answer_unusable", errors=kinds), text)
        schema = json.dumps(json_schema_of(answer), separators=(",", ":"))
        request = _template("repair").substitute(errors=errors, schema=schema)
        messages = [
            *messages,
            {"role": "assistant", "content": encodable(text[:MAX_REPAIRED])},
            {"role": "user", "content": request},
        ]
        texts, used = self._complete(messages, answer)
        try:
            return json_answers.parsed(texts, answer, drop_items=True), usage + used
        except ValidationError as exc:
            kinds = _kinds(exc)
        # Not in a handler: the exception there holds what the model wrote.
        raise OutputError(Reason("answer_unusable", errors=kinds), texts[0])

    def probe(self) -> None:
        """One try at a request that any model takes."""
        hello: Messages = [{"role": "user", "content": "hello"}]
        self.server.call(partial(self._send, messages=hello, optional={}), attempts=1)

    def _complete(self, messages: Messages, answer: type[Wire]) -> tuple[tuple[str, ...], Usage]:
        """One completion, asked for in the strictest form that the server takes."""
        while True:
            form, with_temperature = self._format, self._takes_temperature
            sent, optional = self._as_sent(messages, answer)
            try:
                body, latency_ms = self.server.call(
                    partial(self._send, messages=sent, optional=optional)
                )
            except UnsupportedParameterError as exc:
                if "temperature" in exc.parameters and with_temperature:
                    self._takes_temperature = False
                elif "response_format" in exc.parameters and form + 1 < len(FORMATS):
                    self._format = max(self._format, form + 1)
                else:
                    raise
                continue
            return _read(body, sent, latency_ms)

    def _as_sent(self, messages: Messages, answer: type[Wire]) -> tuple[Messages, dict[str, Any]]:
        form = self._format
        sent = messages if form == 0 else _with_schema(messages, answer)
        return sent, _optional_parameters(FORMATS[form], answer, self._takes_temperature)

    def _send(
        self, client: openai.OpenAI, messages: Messages, optional: Mapping[str, Any]
    ) -> RawReply:
        return client.chat.completions.with_raw_response.create(
            model=self.model, messages=messages, **optional
        )


def _messages(instructions: str, question: str) -> Messages:
    return [
        {"role": "system", "content": instructions},
        {"role": "user", "content": question},
    ]


def _read(body: str, sent: Messages, latency_ms: float) -> tuple[tuple[str, ...], Usage]:
    """Where in the body of a completion the answer may be, and what it took."""
    completion = completions.read(body)
    if completion is None:
        raise OutputError(Reason("no_completion"), body)
    if completion.refused:
        raise PermanentError(Reason("model_refused"))
    if completion.finish_reason == "length":
        raise CutOffError(Reason("answer_cut_off"), completion.texts[0])
    tokens_in, tokens_out = completion.tokens or (
        estimate_tokens("".join(str(message.get("content")) for message in sent)),
        estimate_tokens(completion.texts[0]),
    )
    return completion.texts, Usage(tokens_in, tokens_out, latency_ms)


def _optional_parameters(form: str, answer: type[Wire], with_temperature: bool) -> dict[str, Any]:
    parameters: dict[str, Any] = {"temperature": 0} if with_temperature else {}
    if form == "json_schema":
        schema = {"name": answer.__name__, "strict": True, "schema": json_schema_of(answer)}
        parameters["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif form == "json_object":
        parameters["response_format"] = {"type": "json_object"}
    return parameters


def _with_schema(messages: Messages, answer: type[Wire]) -> Messages:
    schema = json.dumps(json_schema_of(answer), separators=(",", ":"))
    rule = _template("json_mode").substitute(schema=schema)
    return [{"role": "system", "content": f"{messages[0]['content']}\n{rule}"}, *messages[1:]]


@cache
def _template(name: str) -> Template:
    return Template((PROMPTS / f"{name}.txt").read_text(encoding="utf-8"))


@cache
def instructions(name: str) -> str:
    """The prompt of that name, with the attribute keys filled in."""
    single = [key for key, attribute in ATTRIBUTES.items() if attribute.single]
    return _template(name).substitute(keys=", ".join(ATTRIBUTES), single=", ".join(single))


def _kinds(exc: ValidationError) -> list[str]:
    return sorted({error["type"] for error in exc.errors()})


def _described(exc: ValidationError) -> str:
    """What is wrong, for the model itself."""
    errors = exc.errors(include_url=False, include_input=False, include_context=False)
    return "\n".join(
        f"- {'.'.join(str(part) for part in error['loc']) or 'answer'}: {error['msg']}"
        for error in errors[:MAX_REPORTED_ERRORS]
    )
