"""The language provider that asks a server of the OpenAI protocol."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Protocol, TypeVar
from uuid import UUID

from memories.providers.errors import CutOffError
from memories.providers.openai.consolidation import ConflictPrompt, ProfilesPrompt
from memories.providers.openai.extraction import ExtractionPrompt
from memories.providers.openai.memory_relations import RelationPrompt
from memories.providers.openai.pair_judging import PairPrompt
from memories.providers.openai.rewriting import OverlapPrompt, RefinementPrompt, ReviewPrompt
from memories.providers.openai.schemas import (
    ExtractionOut,
    FoundRelationsOut,
    OverlapsOut,
    PairsOut,
    ProfilesOut,
    RefinementsOut,
    ResolutionsOut,
    ReviewsOut,
    WhoOut,
    Wire,
)
from memories.providers.openai.second_opinion import WhoPrompt
from memories.providers.openai.structured_output import AnswerModel, instructions
from memories.providers.openai.transport import ModelServer
from memories.types import (
    NO_USAGE,
    ConflictCase,
    Extraction,
    ExtractionRequest,
    FoundRelation,
    Judgement,
    MeantPeople,
    Overlap,
    PairCase,
    ProfilePatch,
    ProfileRequest,
    Refinement,
    RelationCase,
    Reply,
    Resolutions,
    Review,
    StoredMemory,
    Usage,
    WhoRequest,
)

# What one call holds: a long list makes a model skip some of it.
CASES_PER_CALL = 20
READ_PER_CALL = 40  # new memories of several people, which become part of their profiles
RELATIONS_PER_CALL = 10  # cases, each a memory with several others
MEMORIES_PER_CALL = 10  # verbose ones, to be rewritten
CLUSTER_PER_CALL = 40
PROPOSALS_PER_CALL = 10

K = TypeVar("K")
T = TypeVar("T")
R = TypeVar("R")
W = TypeVar("W", bound=Wire)
W_in = TypeVar("W_in", bound=Wire, contravariant=True)
R_out = TypeVar("R_out", covariant=True)


class Prompt(Protocol[W_in, R_out]):
    """What is asked about, with short ids for everything in it, and how an answer is read."""

    def as_json(self) -> str: ...

    def read(self, out: W_in) -> R_out: ...


class OpenAIProvider:
    """A LanguageProvider by one model of one server."""

    name = "openai"
    reads_memories = True

    def __init__(self, server: ModelServer, model: str) -> None:
        self.model = model
        self._answers = AnswerModel(server, model)

    def probe(self) -> None:
        """Asks for nothing in particular. Raises ProviderError where the model can't be asked."""
        self._answers.probe()

    def extract(self, request: ExtractionRequest) -> Reply[Extraction]:
        """The memories and people in a batch of turns; no call when the user said nothing."""
        prompt = ExtractionPrompt(request)
        if not prompt.has_news:
            return Reply(Extraction(), NO_USAGE)
        return self._ask("extract", prompt, ExtractionOut)

    def resolve(self, cases: Sequence[ConflictCase]) -> Reply[Resolutions]:
        """A resolution by key for each case that has memories to compare with."""
        compared = [case for case in cases if case.existing]
        parts = _chunks(compared, CASES_PER_CALL)
        prompt = partial(ConflictPrompt, of=compared)
        return _united(*self._ask_each("resolve", prompt, parts, ResolutionsOut))

    def consolidate(self, requests: Sequence[ProfileRequest]) -> Reply[Mapping[UUID, ProfilePatch]]:
        """What the new memories of each contact change; no call when there are none."""
        parts = _few_memories([request for request in requests if request.memories])
        return _united(*self._ask_each("consolidate", ProfilesPrompt, parts, ProfilesOut))

    def classify(self, cases: Sequence[RelationCase]) -> Reply[Sequence[FoundRelation]]:
        """The relations that the model sees between each case's memory and the others."""
        parts = _chunks([case for case in cases if case.others], RELATIONS_PER_CALL)
        return _chained(*self._ask_each("classify", RelationPrompt, parts, FoundRelationsOut))

    def refine(
        self, memories: Sequence[StoredMemory], language: str
    ) -> Reply[Mapping[UUID, Refinement]]:
        """How each verbose memory is split or trimmed; a missing id means as it is."""
        prompt = partial(RefinementPrompt, language=language)
        parts = _chunks(memories, MEMORIES_PER_CALL)
        return _united(*self._ask_each("refine", prompt, parts, RefinementsOut))

    def propose(self, cluster: Sequence[StoredMemory], language: str) -> Reply[Sequence[Overlap]]:
        """Which memories of a cluster say the same; no call for fewer than two."""
        prompt = partial(OverlapPrompt, language=language)
        parts = [part for part in _chunks(cluster, CLUSTER_PER_CALL) if len(part) > 1]
        return _chained(*self._ask_each("propose", prompt, parts, OverlapsOut))

    def review(
        self, proposals: Sequence[tuple[Overlap, Sequence[StoredMemory]]], language: str
    ) -> Reply[Sequence[Review]]:
        """A second look at each proposal, in the order given."""
        prompt = partial(ReviewPrompt, language=language)
        parts = _chunks(proposals, PROPOSALS_PER_CALL)
        return _chained(*self._ask_each("review", prompt, parts, ReviewsOut))

    def judge(self, cases: Sequence[PairCase]) -> Reply[Mapping[int, Judgement]]:
        """Whether the two of each pair are one person, by the cases' keys; a missing key: the
        model left it out."""
        parts = _chunks(cases, CASES_PER_CALL)
        return _united(*self._ask_each("judge", PairPrompt, parts, PairsOut))

    def who(self, request: WhoRequest) -> Reply[Sequence[MeantPeople]]:
        """Which of the people the message means."""
        return self._ask("who", WhoPrompt(request), WhoOut, repair=False)

    def _ask_each(
        self,
        name: str,
        prompt: Callable[[Sequence[T]], Prompt[W, R]],
        parts: Iterable[Sequence[T]],
        answer: type[W],
    ) -> tuple[list[R], Usage]:
        """What each of several calls found, and what all of them used. Where an answer is cut off,
        as those of small models are, it is asked for in two halves."""
        found: list[R] = []
        usage = NO_USAGE
        waiting = list(parts)[::-1]
        while waiting:
            part = waiting.pop()
            try:
                reply = self._ask(name, prompt(part), answer)
            except CutOffError:
                if len(part) < 2:
                    raise
                half = len(part) // 2
                waiting += [part[half:], part[:half]]
                continue
            found.append(reply.value)
            usage += reply.usage
        return found, usage

    def _ask(
        self, name: str, prompt: Prompt[W, R], answer: type[W], *, repair: bool = True
    ) -> Reply[R]:
        question = prompt.as_json()
        out, usage = self._answers.ask(instructions(name), question, answer, repair=repair)
        return Reply(prompt.read(out), usage)


def _united(parts: Iterable[Mapping[K, T]], usage: Usage) -> Reply[Mapping[K, T]]:
    return Reply({key: value for part in parts for key, value in part.items()}, usage)


def _chained(parts: Iterable[Sequence[T]], usage: Usage) -> Reply[Sequence[T]]:
    return Reply([value for part in parts for value in part], usage)


def _few_memories(requests: Sequence[ProfileRequest]) -> list[list[ProfileRequest]]:
    """The requests in parts of at most ``READ_PER_CALL`` new memories; more only of one person."""
    parts: list[list[ProfileRequest]] = []
    for request in requests:
        held = sum(len(one.memories) for one in parts[-1]) if parts else READ_PER_CALL
        if held + len(request.memories) > READ_PER_CALL:
            parts.append([])
        parts[-1].append(request)
    return parts


def _chunks(items: Sequence[T], size: int) -> list[Sequence[T]]:
    return [items[start : start + size] for start in range(0, len(items), size)]
