"""What does a later statement do to the earlier ones of its author? Scored on the resolution that
a new memory gets: each later message meets all that its author had told before, as the reader
reads them, about the people that the cases name."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from tqdm import tqdm

from memories.bench.datasets import read_lines
from memories.bench.metrics import ratio
from memories.fact_conflicts import contradicted
from memories.providers.factory import language_provider
from memories.providers.interface import LanguageProvider
from memories.types import (
    ConflictCase,
    ExtractionRequest,
    MemoryType,
    Resolutions,
    StoredFact,
    StoredMemory,
    Turn,
    Verdict,
)

# Where a person's look is right: the earlier one is over, in part or whole, or both can't be true.
ASKED = ("supersedes", "partly", "conflicts")
# A later statement beside an earlier one of another case, which it has nothing to do with.
OTHER = "other case"
Judged = tuple[str, str]  # the gold relation, what was decided


def run(paths: Iterable[Path], progress: bool = True) -> dict[str, Any]:
    """Of the earlier statements that were outdated whole: how many, which share ``wrong``ly, and
    the recall of what was over; of those shown for review, the precision, and the ``seen`` share
    of all that has to do with a change; of duplicates, the precision and recall; the same for
    each author, by the folder."""
    paths = list(paths)
    found = {path: _judged(read_lines([path])) for path in tqdm(paths, disable=not progress)}
    everything = [one for judged in found.values() for one in judged]
    by_author = {path.parent.name: _figures(judged) for path, judged in found.items()}
    return _figures(everything) | {"by_author": by_author}


def _judged(rows: Sequence[dict[str, Any]]) -> list[Judged]:
    provider = language_provider()
    old = {row["id"]: _stored(row, provider) for row in rows}
    cases = [_case(row, old, provider) for row in rows]
    resolutions = provider.resolve(cases).value
    return [
        one for row, case in zip(rows, cases, strict=True) for one in _of_case(row, case, resolutions)
    ]  # fmt: skip


def _stored(row: Mapping[str, Any], provider: LanguageProvider) -> StoredMemory:
    said_at, facts = _read(row, "old", provider)
    return StoredMemory(
        _id(row["id"]),
        row["old"]["text"],
        MemoryType.MISCELLANEOUS,
        said_at,
        facts=facts,
        people=_people(row, "old"),
    )


def _case(
    row: Mapping[str, Any], old: Mapping[str, StoredMemory], provider: LanguageProvider
) -> ConflictCase:
    said_at, facts = _read(row, "new", provider)
    before = (memory for key, memory in old.items() if key == row["id"] or memory.said_at < said_at)
    return ConflictCase(
        row["id"],
        row["new"]["text"],
        MemoryType.MISCELLANEOUS,
        said_at,
        facts,
        tuple(before),
        _people(row, "new"),
    )


def _read(
    row: Mapping[str, Any], side: str, provider: LanguageProvider
) -> tuple[datetime, tuple[StoredFact, ...]]:
    """When a message was said, and its facts; what they say of anybody is of the case's person."""
    said_at = datetime.fromisoformat(row[side]["time"])
    turns = (Turn(1, "user", row[side]["text"], said_at),)
    language = "en" if row["lang"] == "en" else "zh"
    found = provider.extract(ExtractionRequest(turns, language=language)).value
    who = next(iter(_people(row, side)), None)
    return said_at, tuple(
        StoredFact(fact.key, fact.value, who if fact.person else None)
        for memory in found.memories
        for fact in memory.facts
    )


def _people(row: Mapping[str, Any], side: str) -> frozenset[UUID]:
    """Whom a message is about, nobody for the user; of two who are told apart each its own."""
    names = [name.strip() for name in row["person"].split("/")]
    who = names[-1] if side == "new" else names[0]
    return frozenset() if who == "user" else frozenset({_id(who)})


def _id(name: str) -> UUID:
    return uuid5(NAMESPACE_URL, name)


def _of_case(
    row: Mapping[str, Any], case: ConflictCase, resolutions: Resolutions
) -> Iterator[Judged]:
    verdicts = {
        target: resolution.verdict
        for resolution in resolutions.get(case.key, ())
        for target in resolution.targets
    }
    for memory in case.existing:
        verdict = verdicts.get(memory.id)
        decided = verdict.value if verdict else "kept"
        if verdict is Verdict.SUPERSEDES and _in_part(case, memory):
            decided = "partly"
        yield row["relation"] if memory.id == _id(row["id"]) else OTHER, decided


def _in_part(case: ConflictCase, memory: StoredMemory) -> bool:
    """Whether only some of the facts of ``memory`` end, so that it stays."""
    ended = {old for _, old in contradicted(case.facts, case.said_at, memory.current)}
    return bool(ended) and not {*memory.current} <= ended


def _figures(judged: Sequence[Judged]) -> dict[str, Any]:
    count = Counter(judged)
    gold, decided = Counter(one for one, _ in judged), Counter(said for _, said in judged)
    outdated = decided["supersedes"]
    over = count["supersedes", "supersedes"]
    seen = sum(count[one, said] for one in ASKED for said in ASKED)
    asked = sum(count[one, "conflicts"] for one in ASKED)
    return {
        "cases": len(judged) - gold[OTHER],
        "pairs": len(judged),
        "outdated": outdated,
        "wrong": ratio(outdated - over, outdated),
        "recall": ratio(over, gold["supersedes"]),
        "asked": decided["conflicts"],
        "asked_precision": ratio(asked, decided["conflicts"]),
        "seen": ratio(seen, sum(gold[one] for one in ASKED)),
        "duplicates": decided["duplicate"],
        "duplicate_precision": ratio(count["same", "duplicate"], decided["duplicate"]),
        "duplicate_recall": ratio(count["same", "duplicate"], gold["same"]),
    }
