"""Questions to a model about new memories: which stored memories they repeat or change, and what
they change in profiles. Questions use short ids, by which the answers are mapped back."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import count
from typing import Any
from uuid import UUID

from memories.fact_conflicts import HISTORY, same_value
from memories.faithfulness import adds
from memories.providers.openai import schemas
from memories.providers.openai.extraction import MAX_CONTENT, MAX_VALUE, USER, person_as_json
from memories.providers.openai.schemas import Question, numbered
from memories.types import (
    AttributeValue,
    ConflictCase,
    ProfilePatch,
    ProfileRequest,
    Reference,
    Resolution,
    StoredFact,
    StoredMemory,
    TimelineEvent,
    Verdict,
)
from understanding.attributes import attribute_key, is_single
from understanding.dates import partial_dates
from understanding.people.references import LONGEST, MOST
from understanding.text import clean, folded, letters

MAX_REASON = 300
UNSURE = 0.6  # below it are hearsay and doubt, as in the prompt for extraction
MAX_PERSONALITY = 600


def conflicts(
    cases: Sequence[ConflictCase], *, of: Sequence[ConflictCase] = ()
) -> Question[dict[str, Sequence[Resolution]]]:
    """Returns a Question: how new memories relate to stored ones. It is read as resolutions by case
    key, of several verdicts on a stored memory the first. Cases ``of`` one list share short ids."""
    by_id = numbered("c", cases)
    all_cases = of or cases
    memories = numbered("m", dict.fromkeys(old.id for case in all_cases for old in case.existing))
    short_ids = {pk: short for short, pk in memories.items()}
    shown = [memory for case in all_cases for memory in (case.new, *case.existing)]
    person_ids = dict.fromkeys(
        pk for one in shown for pk in (*sorted(one.people), *(fact.person for fact in one.facts))
    )
    person_ids.pop(None, None)
    people = {pk: short for short, pk in numbered("p", person_ids).items()} | {None: USER}

    def as_json(memory: StoredMemory) -> dict[str, Any]:
        """Returns a memory with its people and facts; a fact has its person if that is unclear."""
        about = [people[pk] for pk in sorted(memory.people)] or [USER]
        facts = [
            fact_as_json(fact)
            | ({"person": owner} if [owner := people[fact.person]] != about else {})
            for fact in memory.current
        ]
        entry = {**memory_as_json(memory), "about": about} | ({"facts": facts} if facts else {})
        del entry["type"]
        return entry

    existing = {memory.id: memory for case in cases for memory in case.existing}
    asked = {
        "memories": [
            {"id": short, **as_json(existing[pk])}
            for short, pk in memories.items()
            if pk in existing
        ],
        "cases": [
            {
                "case": short,
                "new": as_json(case.new),
                "existing": [short_ids[memory.id] for memory in case.existing],
            }
            for short, case in by_id.items()
        ],
    }
    return Question(
        "resolve", asked, schemas.ResolutionsOut, partial(_resolutions, by_id, memories)
    )


def _resolutions(
    cases: Mapping[str, ConflictCase], memories: Mapping[str, UUID], out: schemas.ResolutionsOut
) -> dict[str, Sequence[Resolution]]:
    """Returns the resolutions by case key of an answer, whose cases and memories have short ids."""
    resolutions: dict[str, Sequence[Resolution]] = {}
    judged: set[tuple[str, UUID]] = set()
    for item in out.resolutions:
        case = cases.get(item.case)
        if case is None or item.verdict is Verdict.NEW:
            continue
        existing = {memory.id: memory for memory in case.existing}
        targets = [
            existing[pk]
            for short in dict.fromkeys(item.targets)
            if (pk := memories.get(short)) in existing and (case.key, pk) not in judged
        ]
        judged.update((case.key, memory.id) for memory in targets)
        if targets:
            ended_facts = {(memories.get(e.id), e.key, folded(e.value)) for e in item.ended}
            facts = {
                pk: tuple(f for f in old.current if (pk, f.key, folded(f.value)) in ended_facts)
                for pk, old in existing.items()
            }
            ended = {pk: over for pk, over in facts.items() if over}
            resolution = _resolution(item, targets, ended)
            resolutions[case.key] = [*resolutions.get(case.key, ()), resolution]
    return resolutions


def _resolution(
    item: schemas.ResolutionOut,
    targets: Sequence[StoredMemory],
    ended: Mapping[UUID, tuple[StoredFact, ...]],
) -> Resolution:
    """Returns the resolution for a verdict. SUPERSEDES becomes CONFLICTS if what remains true adds
    something, and COMPLEMENTS if the whole memory remains and no fact ends."""
    pks = tuple(memory.id for memory in targets)
    reason = clean(item.reason, MAX_REASON)
    remains = clean(item.remains, MAX_CONTENT)
    if item.verdict is not Verdict.SUPERSEDES or not remains or len(targets) > 1:
        return Resolution(item.verdict, pks, reason, ended)
    old = targets[0]
    if adds(remains, [old.content]):
        return Resolution(Verdict.CONFLICTS, pks, reason)
    if letters(remains) == letters(old.content):
        return Resolution(item.verdict if ended else Verdict.COMPLEMENTS, pks, reason, ended)
    return Resolution(item.verdict, pks, reason, ended, {old.id: remains})


def profiles(requests: Sequence[ProfileRequest]) -> Question[dict[UUID, ProfilePatch]]:
    """Returns a Question: what new memories change in profiles of one user's people. It is read as
    patches by person, from the first entry for each. A memory about two people has one id."""
    ids: dict[UUID, str] = {}
    numbers = count(1)
    people = numbered("p", [_Profile(request, ids, numbers) for request in requests])

    def read(out: schemas.ProfilesOut) -> dict[UUID, ProfilePatch]:
        entries = {one.id: one for one in reversed(out.people)}
        return {
            profile.person.id: profile.read(entries[short])
            for short, profile in people.items()
            if short in entries
        }

    asked = [{"id": short, **profile.as_json()} for short, profile in people.items()]
    return Question(
        "consolidate",
        {"language": requests[0].language, "people": asked},
        schemas.ProfilesOut,
        read,
    )


class _Profile:
    """A profile and new memories by short ids: memories are added to ``ids``, values numbered."""

    def __init__(
        self, request: ProfileRequest, ids: dict[UUID, str], numbers: Iterator[int]
    ) -> None:
        self.person = request.person
        self._request = request
        self._memories = {
            ids.setdefault(one.id, f"m{len(ids) + 1}"): one for one in request.memories
        }
        pairs = ((key, v) for key, values in request.profile.attributes.items() for v in values)
        self._values = {f"v{next(numbers)}": one for one in pairs}

    def as_json(self) -> dict[str, Any]:
        """Returns person, profile and new memories as a model sees them, without empty fields."""
        profile = self._request.profile
        attributes: dict[str, list[dict[str, str]]] = {}
        for short, (key, current) in self._values.items():
            since = {"since": current.since.date().isoformat()} if current.since else {}
            attributes.setdefault(key, []).append({"id": short, "value": current.value, **since})
        fields = {
            "attributes": attributes,
            "personality": profile.personality,
            "timeline": [{"at": event.at, "text": event.text} for event in profile.timeline],
            "references": [one.text for one in profile.references],
        }
        news = []
        for short, memory in self._memories.items():
            own = [fact_as_json(f) for f in memory.current if f.person == self.person.id]
            news.append({"id": short, **memory_as_json(memory)} | ({"facts": own} if own else {}))
        return {
            **person_as_json(self.person),
            "profile": {name: value for name, value in fields.items() if value},
            "new_memories": news,
        }

    def read(self, out: schemas.ProfileOut) -> ProfilePatch:
        """Returns the patch; values, events and references without source memories are left out. A
        value that ended, or was replaced by a newer single value, moves to its key's history."""
        attributes: dict[str, tuple[AttributeValue, ...]] = {}
        for item in out.attributes:
            key = attribute_key(item.key)
            values = [value for stated in item.values if (value := self._value(key, stated))]
            if key and values:
                attributes[key] = attributes.get(key, ()) + tuple(values)
        ended = {self._values[short] for short in out.ended if short in self._values}
        for key, new in attributes.items():
            if is_single(key):
                current = self._request.profile.attributes.get(key, ())
                ended |= {(key, old) for old in current if not _among(old, new)}
        for key, old in ended:
            past = HISTORY.get(key)
            if past and old.sources:
                known = (*self._request.profile.attributes.get(past, ()), *attributes.get(past, ()))
                if not _among(old, known):
                    attributes[past] = (*attributes.get(past, ()), old)
        personality, personality_sources = self._personality(out)
        return ProfilePatch(
            attributes=attributes,
            ended=frozenset((key, old.value) for key, old in ended),
            timeline=tuple(
                TimelineEvent(text, event.at.strip(), sources)
                for event in out.timeline
                if (text := clean(event.text, MAX_VALUE))
                and (sources := self._sources(event.sources))
                and (not event.at.strip() or _is_date(event.at.strip()))
            ),
            personality=personality,
            personality_sources=personality_sources,
            references=tuple(
                Reference(text, cited)
                for item in out.references[:MOST]
                if (text := clean(item.text, LONGEST)) and (cited := self._sources(item.sources))
            ),
        )

    def _value(self, key: str, stated: schemas.ValueOut) -> AttributeValue | None:
        """Returns a value with its sources and those of an equal current one; None without any."""
        value = clean(stated.value, MAX_VALUE)
        cited = self._sources(stated.sources)
        current_values = self._request.profile.attributes.get(key, ())
        current = next((old for old in current_values if folded(old.value) == folded(value)), None)
        if not value or not (cited or current):
            return None
        if current is not None:
            sources = tuple(dict.fromkeys(current.sources + cited))
            return AttributeValue(current.value, sources, current.since)
        said_at = max(memory.said_at for memory in self._request.memories if memory.id in cited)
        since = partial_dates.read(stated.since, said_at.tzinfo)
        return AttributeValue(value, cited, since.start if since else None)

    def _personality(self, out: schemas.ProfileOut) -> tuple[str | None, tuple[UUID, ...]]:
        text = clean(out.personality or "", MAX_PERSONALITY)
        cited = self._sources(out.personality_sources)
        if not text or not cited or text == self._request.profile.personality:
            return None, ()
        return text, tuple(dict.fromkeys(self._request.profile.personality_sources + cited))

    def _sources(self, short_ids: Sequence[str]) -> tuple[UUID, ...]:
        return tuple(
            self._memories[short].id
            for short in dict.fromkeys(short_ids)
            if short in self._memories
        )


def _among(one: AttributeValue, values: Iterable[AttributeValue]) -> bool:
    return any(same_value(one.value, other.value) for other in values)


def memory_as_json(memory: StoredMemory) -> dict[str, Any]:
    """Returns a memory as a model sees it, without its id."""
    shown: dict[str, Any] = {
        "text": clean(memory.content, MAX_CONTENT),
        "type": memory.type,
        "said": memory.said_at.isoformat(timespec="minutes"),
    }
    if memory.confidence < UNSURE:
        shown["unsure"] = True
    if memory.happens_at is not None:
        shown["happens"] = partial_dates.shown(memory.happens_at, memory.happens_until)
    shown |= _dates(memory.valid_from, memory.valid_to)
    if ended := [fact_as_json(fact) for fact in memory.facts if fact.outdated]:
        shown["no_longer_true"] = ended
    return shown


def fact_as_json(fact: StoredFact) -> dict[str, Any]:
    """Returns a fact as a model sees it, with the known times from and until which it is valid."""
    return {"key": fact.key, "value": fact.value, **_dates(fact.valid_from, fact.valid_to)}


def _dates(since: datetime | None, until: datetime | None) -> dict[str, str]:
    times = {"from": since, "to": until}
    return {name: at.date().isoformat() for name, at in times.items() if at}


def _is_date(text: str) -> bool:
    """Whether a text is a year, a month or a day."""
    date = partial_dates.read(text, None)
    is_one = len(text) <= len("2024-05-17") and "/" not in text
    return is_one and date is not None and text == partial_dates.shown(date.start, date.last)
