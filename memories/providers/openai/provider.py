"""The language provider that asks a server of the OpenAI protocol."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Protocol, TypeVar
from uuid import UUID

from memories.providers.openai.consolidation import ConflictPrompt, ProfilePrompt
from memories.providers.openai.extraction import ExtractionPrompt
from memories.providers.openai.memory_relations import RelationPrompt
from memories.providers.openai.rewriting import OverlapPrompt, RefinementPrompt, ReviewPrompt
from memories.providers.openai.schemas import (
    ExtractionOut,
    FoundRelationsOut,
    OverlapsOut,
    ProfileOut,
    RefinementsOut,
    ResolutionsOut,
    ReviewsOut,
    Wire,
)
from memories.providers.openai.structured_output import AnswerModel, instructions, total
from memories.providers.openai.transport import ModelServer
from memories.types import (
    ConflictCase,
    Extraction,
    ExtractionRequest,
    FoundRelation,
    Overlap,
    ProfilePatch,
    ProfileRequest,
    Refinement,
    RelationCase,
    Reply,
    Resolution,
    Review,
    StoredMemory,
    Usage,
)

# What one call holds: a long list makes a model skip some of it.
CASES_PER_CALL = 20
RELATIONS_PER_CALL = 10  # cases, each a memory with several others
MEMORIES_PER_CALL = 10  # verbose ones, to be rewritten
CLUSTER_PER_CALL = 40
PROPOSALS_PER_CALL = 10
NO_USAGE = Usage(0, 0, 0.0)

T = TypeVar("T")
W = TypeVar("W", bound=Wire)


class Prompt(Protocol):
    """What is asked about, with short ids for everything in it."""

    def as_json(self) -> str: ...


class OpenAIProvider:
    """A LanguageProvider by one model of one server."""

    name = "openai"

    def __init__(self, server: ModelServer, model: str) -> None:
        self.model = model
        self._answers = AnswerModel(server, model)

    def extract(self, request: ExtractionRequest) -> Reply[Extraction]:
        """The memories and people in a batch of turns; no call when the user said nothing."""
        prompt = ExtractionPrompt(request)
        if not prompt.has_news:
            return Reply(Extraction(), NO_USAGE)
        answer, usage = self._ask("extract", prompt, ExtractionOut)
        return Reply(prompt.read(answer), usage)

    def extraction_body(self, request: ExtractionRequest) -> tuple[dict[str, Any], list[UUID]]:
        """``extract`` as the body of a line in a batch file, and the ids of the people that
        it shows in their order; an empty body when nothing is to be asked."""
        prompt = ExtractionPrompt(request)
        if not prompt.has_news:
            return {}, []
        body = self._answers.body(instructions("extract"), prompt.as_json(), ExtractionOut)
        return body, prompt.shown

    def read_extraction(
        self, request: ExtractionRequest, shown: Sequence[UUID], completion: str
    ) -> Reply[Extraction]:
        """``extract`` from the body of a completion: ``shown`` is what ``extraction_body``
        said; who of them is not among the people of ``request`` is nobody now."""
        prompt = ExtractionPrompt(request, shown)
        answer, usage = self._answers.read(
            completion, instructions("extract"), prompt.as_json(), ExtractionOut
        )
        return Reply(prompt.read(answer), usage)

    def resolve(self, cases: Sequence[ConflictCase]) -> Reply[Mapping[str, Resolution]]:
        """A resolution by key for each case that has memories to compare with."""
        found: dict[str, Resolution] = {}
        usage = NO_USAGE
        for some in _chunks([case for case in cases if case.existing], CASES_PER_CALL):
            prompt = ConflictPrompt(some)
            answer, used = self._ask("resolve", prompt, ResolutionsOut)
            found |= prompt.read(answer)
            usage = total(usage, used)
        return Reply(found, usage)

    def consolidate(self, request: ProfileRequest) -> Reply[ProfilePatch]:
        """What a contact's new memories change; no call when there are none."""
        if not request.memories:
            return Reply(ProfilePatch(), NO_USAGE)
        prompt = ProfilePrompt(request)
        answer, usage = self._ask("consolidate", prompt, ProfileOut)
        return Reply(prompt.read(answer), usage)

    def classify(self, cases: Sequence[RelationCase]) -> Reply[Sequence[FoundRelation]]:
        """The relations that the model sees between each case's memory and the others."""
        found: list[FoundRelation] = []
        usage = NO_USAGE
        for some in _chunks([case for case in cases if case.others], RELATIONS_PER_CALL):
            prompt = RelationPrompt(some)
            answer, used = self._ask("classify", prompt, FoundRelationsOut)
            found += prompt.read(answer)
            usage = total(usage, used)
        return Reply(found, usage)

    def refine(
        self, memories: Sequence[StoredMemory], language: str
    ) -> Reply[Mapping[UUID, Refinement]]:
        """How each verbose memory is split or trimmed; a missing id means as it is."""
        found: dict[UUID, Refinement] = {}
        usage = NO_USAGE
        for some in _chunks(memories, MEMORIES_PER_CALL):
            prompt = RefinementPrompt(some, language)
            answer, used = self._ask("refine", prompt, RefinementsOut)
            found |= prompt.read(answer)
            usage = total(usage, used)
        return Reply(found, usage)

    def propose(self, cluster: Sequence[StoredMemory], language: str) -> Reply[Sequence[Overlap]]:
        """Which memories of a cluster say the same; no call for fewer than two."""
        found: list[Overlap] = []
        usage = NO_USAGE
        for some in _chunks(cluster, CLUSTER_PER_CALL):
            if len(some) < 2:
                continue
            prompt = OverlapPrompt(some, language)
            answer, used = self._ask("propose", prompt, OverlapsOut)
            found += prompt.read(answer)
            usage = total(usage, used)
        return Reply(found, usage)

    def review(
        self, proposals: Sequence[tuple[Overlap, Sequence[StoredMemory]]], language: str
    ) -> Reply[Sequence[Review]]:
        """A second look at each proposal, in the order given."""
        found: list[Review] = []
        usage = NO_USAGE
        for some in _chunks(proposals, PROPOSALS_PER_CALL):
            prompt = ReviewPrompt(some, language)
            answer, used = self._ask("review", prompt, ReviewsOut)
            found += prompt.read(answer)
            usage = total(usage, used)
        return Reply(found, usage)

    def _ask(self, name: str, prompt: Prompt, answer: type[W]) -> tuple[W, Usage]:
        return self._answers.ask(instructions(name), prompt.as_json(), answer)


def _chunks(items: Sequence[T], size: int) -> Iterator[list[T]]:
    left = iter(items)
    while some := list(islice(left, size)):
        yield some
