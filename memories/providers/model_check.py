"""Whether a language model is good enough: five sample extractions by the product's own provider,
compared with what must be found and what must not. Nothing is stored."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal
from uuid import NAMESPACE_URL, uuid5

from pydantic import BaseModel, TypeAdapter

from memories.providers.errors import ProviderError
from memories.providers.interface import LanguageProvider
from memories.types import Extraction, ExtractionRequest, Turn, Usage
from understanding.text import letters
from understanding.types import Person

SAMPLES = Path(__file__).with_name("model_samples.json")
SAID_AT = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
# Shares of the checks that are met. Below the second a memory does more harm than good.
GOOD, USABLE = 0.9, 0.7
# A call fails after a minute of silence, and batches are larger than a sample.
SLOW_S = 20.0

Grade = Literal["good", "usable", "poor", "unreachable"]


class Sample(BaseModel):
    """``people`` are those who must be found, by any of their names, each another one;
    ``memories`` are about whom and hold which words; ``nowhere`` are words that none may hold."""

    name: str
    language: str
    turns: list[tuple[str, str]]
    context: list[tuple[str, str]] = []
    known: list[str] = []
    people: list[list[str]]
    memories: list[tuple[str, str]]
    nowhere: list[str]

    @property
    def request(self) -> ExtractionRequest:
        """The sample as a provider is given it."""
        lines = [*self.context, *self.turns]
        said = [Turn(at, role, text, SAID_AT) for at, (role, text) in enumerate(lines, 1)]
        earlier = len(self.context)
        return ExtractionRequest(
            turns=tuple(said[earlier:]),
            context=tuple(said[:earlier]),
            people=tuple(Person(uuid5(NAMESPACE_URL, name), name) for name in self.known),
            language=self.language,
        )


@dataclass(frozen=True, slots=True)
class Graded:
    """What became of a sample: what it ``missed``, in words, of so many ``checks``; ``error``
    where there was no usable answer."""

    name: str
    checks: int
    missed: tuple[str, ...]
    seconds: float
    usage: Usage
    error: str = ""


def samples() -> list[Sample]:
    return TypeAdapter(list[Sample]).validate_json(SAMPLES.read_bytes())


def grade(provider: LanguageProvider, sample: Sample) -> Graded:
    """How the provider does on a sample; an error of its own is a sample missed whole."""
    started = time.perf_counter()
    checks = len(sample.people) + len(sample.memories) + len(sample.nowhere) + 1
    try:
        reply = provider.extract(sample.request)
    except ProviderError as error:
        spent = time.perf_counter() - started
        return Graded(sample.name, checks, (), spent, Usage(0, 0, 0.0), str(error.reason))
    missed = tuple(_missed(sample, reply.value))
    return Graded(sample.name, checks, missed, time.perf_counter() - started, reply.usage)


def _missed(sample: Sample, found: Extraction) -> Iterator[str]:
    names = {one.ref: (one.name, *one.aliases) for one in found.people}
    left = {one.ref: names[one.ref] for one in found.people if one.contact_id is None}
    for wanted in sample.people:
        ref = next((ref for ref, called in left.items() if _is_called(called, wanted)), None)
        if ref is None:
            yield f"did not find {' or '.join(wanted)}"
        else:
            del left[ref]
    told = [
        (letters(memory.content), [name for ref in memory.people for name in names.get(ref, ())])
        for memory in found.memories
    ]
    for whose, words in sample.memories:
        if not any(letters(words) in said and _is_called(about, [whose]) for said, about in told):
            yield f"kept no memory about {whose} with {words!r}"
    for words in sample.nowhere:
        if any(letters(words) in said for said, _ in told):
            yield f"kept {words!r}, which nobody may"
    # Some more people or memories may be right; with many more a card is noise.
    if len(left) > 1 or len(told) > 2 * len(sample.memories) + 2:
        yield "made up people or memories"


def _is_called(names: Sequence[str], wanted: Sequence[str]) -> bool:
    return any(letters(one) in letters(name) for name in names for one in wanted)


def score(graded: Sequence[Graded]) -> float:
    """The share of all checks that were met."""
    met = sum(one.checks - len(one.missed) for one in graded if not one.error)
    return met / max(1, sum(one.checks for one in graded))


def verdict(graded: Sequence[Graded]) -> tuple[Grade, str]:
    """The grade, and what it means in words."""
    failed = [one for one in graded if one.error]
    if len(failed) == len(graded):
        return "unreachable", f"There was no usable answer at all. {failed[0].error}"
    reached = score(graded)
    slowest = max(one.seconds for one in graded)
    notes = f" {len(failed)} of {len(graded)} answers were of no use." if failed else ""
    if slowest > SLOW_S:
        notes += f" It is slow: {slowest:.0f} s for a short text. Set MIO_EXTRACT_EVERY lower."
    if reached >= GOOD and not failed:
        return "good", f"Good enough: it finds who is meant and keeps what was said.{notes}"
    if reached >= USABLE:
        return "usable", (
            f"Usable, with mistakes that people will have to correct in the dashboard.{notes} "
            "A larger model, or the offline reader, may be better."
        )
    return "poor", (
        f"Not good enough: what it keeps would be wrong too often.{notes} "
        "Take a larger model, or MIO_LLM=offline."
    )
