"""The language provider that asks a server of the OpenAI protocol: each question as JSON, each
answer in a form of its own, in the strictest way that the server takes, and repaired once."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from string import Template
from typing import Any, TypeVar
from uuid import UUID

import openai
from openai.types.chat import ChatCompletionMessageParam
from pydantic import ValidationError

from accounts.reasons import Reason
from memories.providers.errors import CutOffError, OutputError, PermanentError
from memories.providers.openai import completions, json_answers, questions
from memories.providers.openai.consolidation import conflicts, profiles
from memories.providers.openai.extraction import extraction
from memories.providers.openai.schemas import Question, Wire, json_schema_of
from memories.providers.openai.transport import ModelServer, RawReply, UnsupportedParameterError
from memories.types import (
    NO_USAGE,
    ConflictCase,
    Extraction,
    ExtractionRequest,
    FoundRelation,
    MeantPeople,
    ProfilePatch,
    ProfileRequest,
    RelationCase,
    Reply,
    Resolutions,
    Rewrite,
    Sameness,
    StoredMemory,
    Usage,
    WhoRequest,
)
from understanding.attributes import ATTRIBUTES
from understanding.same_person.records import Record
from understanding.text import encodable, estimate_tokens

# What one call holds: a long list makes a model skip some of it.
CASES_PER_CALL = 20
READ_PER_CALL = 40  # new memories of several people, which become part of their profiles
RELATIONS_PER_CALL = 10  # cases, each a memory with several others

PROMPTS = Path(__file__).resolve().parents[2] / "prompts"
# How an answer's form can be asked for, the strictest first.
FORMATS = ("json_schema", "json_object", "text")
MAX_REPORTED_ERRORS = 8
MAX_REPAIRED = 20_000  # code points of an unusable answer that are shown back

K = TypeVar("K")
T = TypeVar("T")
R = TypeVar("R")
Messages = list[ChatCompletionMessageParam]


class OpenAIProvider:
    """A LanguageProvider by one model of one server. What the server turns out not to support
    (structured output, a temperature) is left out for the life of the instance."""

    name = "openai"
    reads_memories = True

    def __init__(self, server: ModelServer, model: str) -> None:
        self.model = model
        self._server = server
        self._format = 0
        self._takes_temperature = True

    def probe(self) -> None:
        """Raises ProviderError where the model can't be asked."""
        hello: Messages = [{"role": "user", "content": "hello"}]
        self._server.call(partial(self._send, messages=hello, optional={}), attempts=1)

    def extract(self, request: ExtractionRequest) -> Reply[Extraction]:
        """The memories and people in a batch of turns; no call when the user said nothing."""
        question = extraction(request)
        return self._ask(question) if question else Reply(Extraction(), NO_USAGE)

    def resolve(self, cases: Sequence[ConflictCase]) -> Reply[Resolutions]:
        """A resolution by key for each case that has memories to compare with."""
        compared = [case for case in cases if case.existing]
        question = partial(conflicts, of=compared)
        return _united(self._ask_each(question, _chunks(compared, CASES_PER_CALL)))

    def consolidate(self, requests: Sequence[ProfileRequest]) -> Reply[Mapping[UUID, ProfilePatch]]:
        """What the new memories of each contact change; no call when there are none."""
        parts = _few_memories([request for request in requests if request.memories])
        return _united(self._ask_each(profiles, parts))

    def classify(self, cases: Sequence[RelationCase]) -> Reply[Sequence[FoundRelation]]:
        """The relations that the model sees between each case's memory and the others."""
        parts = _chunks([case for case in cases if case[1]], RELATIONS_PER_CALL)
        return _chained(self._ask_each(questions.relations, parts))

    def refine(
        self, groups: Sequence[Sequence[StoredMemory]], language: str
    ) -> Reply[Sequence[Rewrite]]:
        """How long memories, groups of one, are better said, and others in one memory."""
        question = partial(questions.rewrites, language=language)
        return _chained(self._ask_each(question, [groups] if groups else []))

    def review(
        self, proposals: Sequence[tuple[Rewrite, Sequence[StoredMemory]]], language: str
    ) -> Reply[Sequence[bool]]:
        """Whether each proposal to join memories is accepted, in the order given."""
        question = partial(questions.reviews, language=language)
        return _chained(self._ask_each(question, [proposals] if proposals else []))

    def judge(
        self, pairs: Mapping[int, tuple[Record, Record]]
    ) -> Reply[Mapping[int, tuple[Sameness, str]]]:
        """Whether the two of each pair are one person, and why, by key; a pair may be left out."""
        parts = _chunks([*pairs.items()], CASES_PER_CALL)
        return _united(self._ask_each(questions.same_person, parts))

    def who(self, request: WhoRequest) -> Reply[Sequence[MeantPeople]]:
        """Which of the people the message means."""
        return self._ask(questions.meant_people(request), repair=False)

    def _ask_each(
        self, question: Callable[[Sequence[T]], Question[R]], parts: Iterable[Sequence[T]]
    ) -> Reply[list[R]]:
        """What each of several calls found; an answer that is cut off is asked for in halves."""
        found, usage = list[R](), NO_USAGE
        waiting = list(parts)[::-1]
        while waiting:
            part = waiting.pop()
            try:
                reply = self._ask(question(part))
            except CutOffError:
                if len(part) < 2:
                    raise
                half = len(part) // 2
                waiting += [part[half:], part[:half]]
            else:
                found.append(reply.value)
                usage += reply.usage
        return Reply(found, usage)

    def _ask(self, question: Question[R], *, repair: bool = True) -> Reply[R]:
        """What a question reads in a validated answer; the model is asked to ``repair`` one that is
        none at most once. Of one that can't be asked for again, the items in form are taken."""
        messages: Messages = [
            {"role": "system", "content": instructions(question.name)},
            {"role": "user", "content": question.as_json()},
        ]
        usage = NO_USAGE
        for is_last in (False, True) if repair else (True,):
            texts, used = self._complete(messages, question.answer)
            usage += used
            try:
                out = json_answers.parsed(texts, question.answer, drop_items=is_last)
                break
            except ValidationError as exc:
                errors, kinds = _described(exc), sorted({error["type"] for error in exc.errors()})
            request = _template("repair").substitute(errors=errors, schema=_schema(question.answer))
            messages += [
                {"role": "assistant", "content": encodable(texts[0][:MAX_REPAIRED])},
                {"role": "user", "content": request},
            ]
        else:  # not in a handler: the exception there holds what the model wrote
            raise OutputError(Reason("answer_unusable", errors=kinds), texts[0])
        return Reply(question.read(out), usage)

    def _complete(self, messages: Messages, answer: type[Wire]) -> tuple[tuple[str, ...], Usage]:
        """Where in a completion the answer may be, and what it took."""
        while True:
            form, with_temperature = self._format, self._takes_temperature
            sent = messages if form == 0 else _with_schema(messages, answer)
            optional: dict[str, Any] = {"temperature": 0} if with_temperature else {}
            optional |= _response_format(FORMATS[form], answer)
            try:
                body, latency_ms = self._server.call(
                    partial(self._send, messages=sent, optional=optional)
                )
                break
            except UnsupportedParameterError as exc:
                if "temperature" in exc.parameters and with_temperature:
                    self._takes_temperature = False
                elif "response_format" in exc.parameters and form + 1 < len(FORMATS):
                    self._format = max(self._format, form + 1)
                else:
                    raise
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

    def _send(
        self, client: openai.OpenAI, messages: Messages, optional: Mapping[str, Any]
    ) -> RawReply:
        return client.chat.completions.with_raw_response.create(
            model=self.model, messages=messages, **optional
        )


def _response_format(form: str, answer: type[Wire]) -> dict[str, Any]:
    if form == "json_schema":
        schema = {"name": answer.__name__, "strict": True, "schema": json_schema_of(answer)}
        return {"response_format": {"type": form, "json_schema": schema}}
    return {"response_format": {"type": form}} if form == "json_object" else {}


def _schema(answer: type[Wire]) -> str:
    return json.dumps(json_schema_of(answer), separators=(",", ":"))


def _with_schema(messages: Messages, answer: type[Wire]) -> Messages:
    rule = _template("json_mode").substitute(schema=_schema(answer))
    return [{"role": "system", "content": f"{messages[0]['content']}\n{rule}"}, *messages[1:]]


@cache
def _template(name: str) -> Template:
    return Template((PROMPTS / f"{name}.txt").read_text(encoding="utf-8"))


@cache
def instructions(name: str) -> str:
    """The prompt of that name, with the attribute keys filled in."""
    single = [key for key, attribute in ATTRIBUTES.items() if attribute.single]
    return _template(name).substitute(keys=", ".join(ATTRIBUTES), single=", ".join(single))


def _described(exc: ValidationError) -> str:
    """What is wrong, for the model itself."""
    errors = exc.errors(include_url=False, include_input=False, include_context=False)
    return "\n".join(
        f"- {'.'.join(str(part) for part in error['loc']) or 'answer'}: {error['msg']}"
        for error in errors[:MAX_REPORTED_ERRORS]
    )


def _united(parts: Reply[list[dict[K, T]]]) -> Reply[Mapping[K, T]]:
    return Reply({key: value for part in parts.value for key, value in part.items()}, parts.usage)


def _chained(parts: Reply[list[list[T]]]) -> Reply[Sequence[T]]:
    return Reply([value for part in parts.value for value in part], parts.usage)


def _few_memories(requests: Sequence[ProfileRequest]) -> list[list[ProfileRequest]]:
    """The requests in parts of at most ``READ_PER_CALL`` new memories; more only of one person."""
    parts: list[list[ProfileRequest]] = []
    for request in requests:
        size = sum(len(one.memories) for one in parts[-1]) if parts else READ_PER_CALL
        if size + len(request.memories) > READ_PER_CALL:
            parts.append([])
        parts[-1].append(request)
    return parts


def _chunks(items: Sequence[T], size: int) -> list[Sequence[T]]:
    return [items[start : start + size] for start in range(0, len(items), size)]
