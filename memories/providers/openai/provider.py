"""The language provider that asks a server of the OpenAI protocol: questions are JSON; answers have
a schema, enforced in the strictest way that the server supports, and are repaired once."""

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

# The size of one call: of a longer list, a model skips some items.
CASES_PER_CALL = 20
READ_PER_CALL = 40  # new memories of several people, which are consolidated
RELATIONS_PER_CALL = 10  # cases, each a memory with several others

PROMPTS = Path(__file__).resolve().parents[2] / "prompts"
# How the form of an answer can be asked for, the strictest way first.
FORMATS = ("json_schema", "json_object", "text")
MAX_REPORTED_ERRORS = 8
MAX_REPAIRED = 20_000  # code points of an unusable answer that are shown back

K = TypeVar("K")
T = TypeVar("T")
R = TypeVar("R")
Messages = list[ChatCompletionMessageParam]


class OpenAIProvider:
    """A LanguageProvider that uses one model of one server. What the server turns out not to
    support (structured output, a temperature) is left out for the life of the instance."""

    name = "openai"
    reads_memories = True

    def __init__(self, server: ModelServer, model: str) -> None:
        self.model = model
        self._server = server
        self._format = 0
        self._takes_temperature = True

    def probe(self) -> None:
        """Sends the model a minimal request; raises ProviderError if it does not answer."""
        hello: Messages = [{"role": "user", "content": "hello"}]
        self._server.call(partial(self._send, messages=hello, optional={}), attempts=1)

    def extract(self, request: ExtractionRequest) -> Reply[Extraction]:
        """Extracts memories and people from a batch; no call if no user or contact wrote in it."""
        question = extraction(request)
        return self._ask(question) if question else Reply(Extraction(), NO_USAGE)

    def resolve(self, cases: Sequence[ConflictCase]) -> Reply[Resolutions]:
        """Returns resolutions by case key, for the cases that have memories to compare with."""
        compared = [case for case in cases if case.existing]
        question = partial(conflicts, of=compared)
        return _joined_dicts(self._ask_each(question, _chunks(compared, CASES_PER_CALL)))

    def consolidate(self, requests: Sequence[ProfileRequest]) -> Reply[Mapping[UUID, ProfilePatch]]:
        """Returns profile patches by contact id; makes no call if there are no new memories."""
        parts = _split_by_memories([request for request in requests if request.memories])
        return _joined_dicts(self._ask_each(profiles, parts))

    def classify(self, cases: Sequence[RelationCase]) -> Reply[Sequence[FoundRelation]]:
        """Returns the relations that the model finds between each case's memory and its others."""
        parts = _chunks([case for case in cases if case[1]], RELATIONS_PER_CALL)
        return _joined_lists(self._ask_each(questions.relations, parts))

    def refine(
        self, groups: Sequence[Sequence[StoredMemory]], language: str
    ) -> Reply[Sequence[Rewrite]]:
        """Returns how groups of one long memory are split or trimmed, and larger groups merged."""
        question = partial(questions.rewrites, language=language)
        return _joined_lists(self._ask_each(question, [groups] if groups else []))

    def review(
        self, proposals: Sequence[tuple[Rewrite, Sequence[StoredMemory]]], language: str
    ) -> Reply[Sequence[bool]]:
        """Returns whether each proposal to join memories is accepted, in the order given."""
        question = partial(questions.reviews, language=language)
        return _joined_lists(self._ask_each(question, [proposals] if proposals else []))

    def judge(
        self, pairs: Mapping[int, tuple[Record, Record]]
    ) -> Reply[Mapping[int, tuple[Sameness, str]]]:
        """Returns whether each pair is one person, and why, by key; some pairs may be missing."""
        parts = _chunks([*pairs.items()], CASES_PER_CALL)
        return _joined_dicts(self._ask_each(questions.same_person, parts))

    def who(self, request: WhoRequest) -> Reply[Sequence[MeantPeople]]:
        """Returns which of the people the message refers to."""
        return self._ask(questions.meant_people(request), repair=False)

    def _ask_each(
        self, question: Callable[[Sequence[T]], Question[R]], parts: Iterable[Sequence[T]]
    ) -> Reply[list[R]]:
        """Returns the results of one call per part; a part whose answer is cut off is halved."""
        results, usage = list[R](), NO_USAGE
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
                results.append(reply.value)
                usage += reply.usage
        return Reply(results, usage)

    def _ask(self, question: Question[R], *, repair: bool = True) -> Reply[R]:
        """Asks the question and returns what it reads in the answer. With ``repair`` the model is
        asked once to correct an invalid answer; malformed items of the last answer are left out."""
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
                errors, kinds = _error_lines(exc), sorted({error["type"] for error in exc.errors()})
            request = _template("repair").substitute(errors=errors, schema=_schema(question.answer))
            messages += [
                {"role": "assistant", "content": encodable(texts[0][:MAX_REPAIRED])},
                {"role": "user", "content": request},
            ]
        else:  # not in a handler: the exception there holds what the model wrote
            raise OutputError(Reason("answer_unusable", errors=kinds), texts[0])
        return Reply(question.read(out), usage)

    def _complete(self, messages: Messages, answer: type[Wire]) -> tuple[tuple[str, ...], Usage]:
        """Returns texts that may contain the answer; leaves out parameters the server refuses."""
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
    """Returns the prompt of that name, with the attribute keys filled in."""
    single = [key for key, attribute in ATTRIBUTES.items() if attribute.single]
    return _template(name).substitute(keys=", ".join(ATTRIBUTES), single=", ".join(single))


def _error_lines(exc: ValidationError) -> str:
    errors = exc.errors(include_url=False, include_input=False, include_context=False)
    return "\n".join(
        f"- {'.'.join(str(part) for part in error['loc']) or 'answer'}: {error['msg']}"
        for error in errors[:MAX_REPORTED_ERRORS]
    )


def _joined_dicts(parts: Reply[list[dict[K, T]]]) -> Reply[Mapping[K, T]]:
    return Reply({key: value for part in parts.value for key, value in part.items()}, parts.usage)


def _joined_lists(parts: Reply[list[list[T]]]) -> Reply[Sequence[T]]:
    return Reply([value for part in parts.value for value in part], parts.usage)


def _split_by_memories(requests: Sequence[ProfileRequest]) -> list[list[ProfileRequest]]:
    """Returns the requests in parts of at most ``READ_PER_CALL`` new memories, or of one person."""
    parts: list[list[ProfileRequest]] = []
    for request in requests:
        size = sum(len(one.memories) for one in parts[-1]) if parts else READ_PER_CALL
        if size + len(request.memories) > READ_PER_CALL:
            parts.append([])
        parts[-1].append(request)
    return parts


def _chunks(items: Sequence[T], size: int) -> list[Sequence[T]]:
    return [items[start : start + size] for start in range(0, len(items), size)]
