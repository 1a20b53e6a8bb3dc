"""Grades a language model by five sample extractions with the product's own provider, compared with
what must and what must not be extracted. Nothing is stored."""

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
# Shares of passed checks. Below USABLE a memory does more harm than good.
GOOD, USABLE = 0.9, 0.7
# A call fails after a minute of silence, and batches are larger than a sample.
SLOW_S = 20.0

Grade = Literal["good", "usable", "poor", "unreachable"]


class Sample(BaseModel):
    """Turns, and what must be extracted: ``people``, each another one and by any of their names;
    ``memories`` about a person with these words; ``nowhere``: words that no memory may contain."""

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
        """The request for this sample, as a provider gets it."""
        lines = [*self.context, *self.turns]
        turns = [Turn(number, role, text, SAID_AT) for number, (role, text) in enumerate(lines, 1)]
        earlier = len(self.context)
        return ExtractionRequest(
            turns=tuple(turns[earlier:]),
            context=tuple(turns[:earlier]),
            people=tuple(Person(uuid5(NAMESPACE_URL, name), name) for name in self.known),
            language=self.language,
        )


@dataclass(frozen=True, slots=True)
class Graded:
    """The result of a sample: the number of ``checks``, those that failed in words (``missed``),
    and the ``error`` if there was no usable answer."""

    name: str
    checks: int
    missed: tuple[str, ...]
    seconds: float
    usage: Usage
    error: str = ""


def samples() -> list[Sample]:
    return TypeAdapter(list[Sample]).validate_json(SAMPLES.read_bytes())


def grade(provider: LanguageProvider, sample: Sample) -> Graded:
    """Runs the provider on a sample; returns the result. A ProviderError fails all its checks."""
    started = time.perf_counter()
    checks = len(sample.people) + len(sample.memories) + len(sample.nowhere) + 1
    try:
        reply = provider.extract(sample.request)
    except ProviderError as error:
        spent = time.perf_counter() - started
        return Graded(sample.name, checks, (), spent, Usage(0, 0, 0.0), str(error.reason))
    missed = tuple(_failed_checks(sample, reply.value))
    return Graded(sample.name, checks, missed, time.perf_counter() - started, reply.usage)


def _failed_checks(sample: Sample, extraction: Extraction) -> Iterator[str]:
    """Yields each check of the sample that the extraction fails, in words."""
    names = {one.ref: (one.name, *one.aliases) for one in extraction.people}
    new_names = {one.ref: names[one.ref] for one in extraction.people if one.contact_id is None}
    for wanted in sample.people:
        ref = next((ref for ref, known in new_names.items() if _is_called(known, wanted)), None)
        if ref is None:
            yield f"did not find {' or '.join(wanted)}"
        else:
            del new_names[ref]
    memories = [
        (letters(memory.content), [name for ref in memory.people for name in names.get(ref, ())])
        for memory in extraction.memories
    ]
    for whose, words in sample.memories:
        if not any(letters(words) in text and _is_called(who, [whose]) for text, who in memories):
            yield f"kept no memory about {whose} with {words!r}"
    for words in sample.nowhere:
        if any(letters(words) in text for text, _ in memories):
            yield f"kept {words!r}, which nobody may"
    # Some more people or memories may be right; with many more a card is noise.
    if len(new_names) > 1 or len(memories) > 2 * len(sample.memories) + 2:
        yield "made up people or memories"


def _is_called(names: Sequence[str], wanted: Sequence[str]) -> bool:
    return any(letters(one) in letters(name) for name in names for one in wanted)


def score(graded: Sequence[Graded]) -> float:
    """Returns the share of all checks that passed."""
    passed = sum(one.checks - len(one.missed) for one in graded if not one.error)
    return passed / max(1, sum(one.checks for one in graded))


def verdict(graded: Sequence[Graded]) -> tuple[Grade, str]:
    """Returns the grade, and what it means in words."""
    failed = [one for one in graded if one.error]
    if len(failed) == len(graded):
        return "unreachable", f"There was no usable answer at all. {failed[0].error}"
    passed_share = score(graded)
    slowest = max(one.seconds for one in graded)
    notes = f" {len(failed)} of {len(graded)} answers were of no use." if failed else ""
    if slowest > SLOW_S:
        notes += f" It is slow: {slowest:.0f} s for a short text. Set MIO_EXTRACT_EVERY lower."
    if passed_share >= GOOD and not failed:
        return "good", f"Good enough: it finds who is meant and keeps what was said.{notes}"
    if passed_share >= USABLE:
        return "usable", (
            f"Usable, with mistakes that people will have to correct in the dashboard.{notes} "
            "A larger model, or the offline reader, may be better."
        )
    return "poor", (
        f"Not good enough: what it keeps would be wrong too often.{notes} "
        "Take a larger model, or MIO_LLM=offline."
    )
