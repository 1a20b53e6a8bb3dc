"""Extraction, conflict resolution and consolidation by a server of the OpenAI protocol."""

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from itertools import islice
from pathlib import Path
from string import Template
from typing import Any, TypeVar

import openai
import regex
from openai.types.chat import ChatCompletionMessageParam
from pydantic import BaseModel, ValidationError

from contacts.attributes import ATTRIBUTES
from memories.providers.errors import OutputError, PermanentError
from memories.providers.openai_extraction import ExtractionPrompt
from memories.providers.openai_profiles import ConflictPrompt, ProfilePrompt
from memories.providers.openai_schemas import (
    ExtractionOut,
    ProfileOut,
    ResolutionsOut,
    Wire,
    json_schema_of,
)
from memories.providers.text import encodable
from memories.providers.transport import (
    MAX_ATTEMPTS,
    TIMEOUT_S,
    ModelServer,
    RawReply,
    UnsupportedParameterError,
)
from memories.types import (
    ConflictCase,
    Extraction,
    ExtractionRequest,
    ProfilePatch,
    ProfileRequest,
    Reply,
    Resolution,
    Usage,
)

PROMPTS = Path(__file__).resolve().parent.parent / "prompts"
CASES_PER_CALL = 20
# How an answer's form can be asked for, the strictest first.
FORMATS = ("json_schema", "json_object", "text")
MAX_REPORTED_ERRORS = 8
NO_USAGE = Usage(0, 0, 0.0)
MAX_REPAIRED = 20_000  # code points of an unusable answer that are shown back

_WIDE = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]")

W = TypeVar("W", bound=Wire)
Messages = list[ChatCompletionMessageParam]


class _Message(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Tokens(BaseModel):
    prompt_tokens: int
    completion_tokens: int


class _Completion(BaseModel):
    choices: list[_Choice]
    usage: _Tokens | None = None


class OpenAIProvider:
    """A LanguageProvider. What the server turns out not to support (structured output, a
    temperature) is asked for once and then left out for the life of the instance."""

    name = "openai"

    def __init__(
        self,
        api_key: str,
        base_url: str,
        model: str,
        timeout_s: float = TIMEOUT_S,
        max_attempts: int = MAX_ATTEMPTS,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.model = model
        self._server = ModelServer(api_key, base_url, timeout_s, max_attempts, sleep)
        self._format = 0
        self._takes_temperature = True

    def extract(self, request: ExtractionRequest) -> Reply[Extraction]:
        """The memories and people in a batch of turns; no call when the user said nothing."""
        prompt = ExtractionPrompt(request)
        if not prompt.has_news:
            return Reply(Extraction(), NO_USAGE)
        answer, usage = self._ask(_instructions("extract"), prompt.as_json(), ExtractionOut)
        return Reply(prompt.read(answer), usage)

    def resolve(self, cases: Sequence[ConflictCase]) -> Reply[Mapping[str, Resolution]]:
        """A resolution by key for each case that has memories to compare with."""
        open_cases = iter([case for case in cases if case.existing])
        found: dict[str, Resolution] = {}
        usage = NO_USAGE
        while batch := list(islice(open_cases, CASES_PER_CALL)):
            prompt = ConflictPrompt(batch)
            answer, used = self._ask(_instructions("resolve"), prompt.as_json(), ResolutionsOut)
            found |= prompt.read(answer)
            usage = _sum(usage, used)
        return Reply(found, usage)

    def consolidate(self, request: ProfileRequest) -> Reply[ProfilePatch]:
        """What a contact's new memories change; no call when there are none."""
        if not request.memories:
            return Reply(ProfilePatch(), NO_USAGE)
        prompt = ProfilePrompt(request)
        answer, usage = self._ask(_instructions("consolidate"), prompt.as_json(), ProfileOut)
        return Reply(prompt.read(answer), usage)

    def _ask(self, instructions: str, question: str, answer: type[W]) -> tuple[W, Usage]:
        """A validated answer, after at most one repair."""
        messages: Messages = [
            {"role": "system", "content": instructions},
            {"role": "user", "content": question},
        ]
        text, usage = self._complete(messages, answer)
        try:
            return answer.model_validate_json(_json_in(text)), usage
        except ValidationError as exc:
            errors = _described(exc)
        schema = json.dumps(json_schema_of(answer), separators=(",", ":"))
        repair = _template("repair").substitute(errors=errors, schema=schema)
        messages += [
            {"role": "assistant", "content": encodable(text[:MAX_REPAIRED])},
            {"role": "user", "content": repair},
        ]
        text, used = self._complete(messages, answer)
        try:
            return answer.model_validate_json(_json_in(text)), _sum(usage, used)
        except ValidationError as exc:
            kinds = sorted({error["type"] for error in exc.errors()})
        raise OutputError(f"The model's answer is unusable after a repair: {', '.join(kinds)}.")

    def _complete(self, messages: Messages, answer: type[Wire]) -> tuple[str, Usage]:
        """One completion, asked for in the strictest form that the server takes."""
        while True:
            form = self._format
            with_temperature = self._takes_temperature
            sent = messages if form == 0 else _with_schema(messages, answer)
            optional = _optional_parameters(FORMATS[form], answer, with_temperature)
            try:
                body, latency_ms = self._server.call(
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

    def _send(
        self, client: openai.OpenAI, messages: Messages, optional: Mapping[str, Any]
    ) -> RawReply:
        return client.chat.completions.with_raw_response.create(
            model=self.model, messages=messages, **optional
        )


def _read(body: str, sent: Messages, latency_ms: float) -> tuple[str, Usage]:
    try:
        completion = _Completion.model_validate_json(body)
    except ValidationError:
        completion = None
    if completion is None or not completion.choices:
        raise OutputError("The model server's reply holds no completion.")
    choice = completion.choices[0]
    if choice.message.refusal or choice.finish_reason == "content_filter":
        raise PermanentError("The model refused to answer.")
    if choice.finish_reason == "length":
        raise OutputError("The model's answer was cut off at its length limit.")
    text = choice.message.content or ""
    tokens = completion.usage or _Tokens(
        prompt_tokens=estimated_tokens("".join(str(message.get("content")) for message in sent)),
        completion_tokens=estimated_tokens(text),
    )
    return text, Usage(tokens.prompt_tokens, tokens.completion_tokens, latency_ms)


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
def _instructions(name: str) -> str:
    single = [key for key, attribute in ATTRIBUTES.items() if attribute.single]
    return _template(name).substitute(keys=", ".join(ATTRIBUTES), single=", ".join(single))


def _json_in(text: str) -> str:
    """The JSON object in an answer that may come after thoughts, prose or a code fence."""
    text = text.rpartition("</think>")[2]
    start, end = text.find("{"), text.rfind("}")
    return text[start : end + 1] if 0 <= start < end else text


def _described(exc: ValidationError) -> str:
    """What is wrong, for the model itself."""
    errors = exc.errors(include_url=False, include_input=False, include_context=False)
    return "\n".join(
        f"- {'.'.join(str(part) for part in error['loc']) or 'answer'}: {error['msg']}"
        for error in errors[:MAX_REPORTED_ERRORS]
    )


def estimated_tokens(text: str) -> int:
    """Tokens of ``text`` for servers that do not count: one a CJK character, else one for
    four characters (OpenAI's rule of thumb for English)."""
    wide = len(_WIDE.findall(text))
    return wide + math.ceil((len(text) - wide) / 4)


def _sum(one: Usage, other: Usage) -> Usage:
    return Usage(
        one.tokens_in + other.tokens_in,
        one.tokens_out + other.tokens_out,
        one.latency_ms + other.latency_ms,
    )
