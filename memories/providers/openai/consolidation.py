"""Conflict cases and profiles as JSON for a model, and its answers mapped back by id."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import count
from types import MappingProxyType
from typing import Any
from uuid import UUID

from memories.fact_conflicts import HISTORY, same_value
from memories.faithfulness import adds
from memories.providers.openai.extraction import (
    MAX_CONTENT,
    MAX_VALUE,
    USER,
    person_as_json,
    to_json,
)
from memories.providers.openai.schemas import (
    ProfileOut,
    ProfilesOut,
    ResolutionOut,
    ResolutionsOut,
)
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
UNSURE = 0.6  # below it is hearsay and doubt, as the prompt for extraction has it
MAX_PERSONALITY = 600
_AT = re.compile(r"\d{4}(-\d\d){0,2}")


class ConflictPrompt:
    """Cases with their short ids: what is sent, and how the answer is read. Those of memories and
    people stay the same in all calls about ``cases``."""

    name, answer = "resolve", ResolutionsOut

    def __init__(self, cases: Sequence[ConflictCase], *, of: Sequence[ConflictCase] = ()) -> None:
        self._cases = {f"c{number}": case for number, case in enumerate(cases, 1)}
        all_cases = of or cases
        ids = dict.fromkeys(memory.id for case in all_cases for memory in case.existing)
        self._memories = {f"m{number}": pk for number, pk in enumerate(ids, 1)}
        shown = [memory for case in all_cases for memory in (case.new, *case.existing)]
        people = dict.fromkeys(pk for one in shown for pk in (*sorted(one.people), *_owners(one)))
        self._people = {pk: f"p{number}" for number, pk in enumerate(people, 1)}

    def as_json(self) -> str:
        """The cases as the model sees them, each existing memory once."""
        short_ids = {memory_id: short for short, memory_id in self._memories.items()}
        existing = {memory.id: memory for case in self._cases.values() for memory in case.existing}
        return to_json(
            {
                "memories": [
                    {"id": short, **self._memory_as_json(existing[pk])}
                    for short, pk in self._memories.items()
                    if pk in existing
                ],
                "cases": [
                    {
                        "case": short,
                        "new": self._memory_as_json(case.new),
                        "existing": [short_ids[memory.id] for memory in case.existing],
                    }
                    for short, case in self._cases.items()
                ],
            }
        )

    def _memory_as_json(self, memory: StoredMemory) -> dict[str, Any]:
        """A memory, whom it is about, and its facts, with whose they are where that is open."""
        about = [self._person(pk) for pk in sorted(memory.people)] or [USER]
        facts = [{**fact_as_json(f), "person": self._person(f.person)} for f in memory.current]
        for fact in facts:
            if [fact["person"]] == about:
                del fact["person"]
        shown = {**memory_as_json(memory), "about": about} | ({"facts": facts} if facts else {})
        del shown["type"]
        return shown

    def _person(self, person: UUID | None) -> str:
        return USER if person is None else self._people[person]

    def read(self, out: ResolutionsOut) -> dict[str, list[Resolution]]:
        """Resolutions by the cases' keys. A verdict on nothing that was shown is left out,
        so that the memory is stored as new and nothing is lost; the first on a memory counts."""
        found: dict[str, list[Resolution]] = {}
        judged: set[tuple[str, UUID]] = set()
        for item in out.resolutions:
            case = self._cases.get(item.case)
            if case is None or item.verdict is Verdict.NEW:
                continue
            shown = {memory.id for memory in case.existing}
            targets = tuple(
                pk
                for short in dict.fromkeys(item.targets)
                if (pk := self._memories.get(short)) in shown and (case.key, pk) not in judged
            )
            judged.update((case.key, pk) for pk in targets)
            if targets:
                found.setdefault(case.key, []).append(self._resolution(item, case, targets))
        return found

    def _resolution(
        self, item: ResolutionOut, case: ConflictCase, targets: tuple[UUID, ...]
    ) -> Resolution:
        reason = clean(item.reason, MAX_REASON)
        remains = clean(item.remains, MAX_CONTENT)
        ended = self._ended(item, case)
        if item.verdict is not Verdict.SUPERSEDES or not remains or len(targets) > 1:
            return Resolution(item.verdict, targets, reason, ended)
        (old,) = (memory for memory in case.existing if memory.id in targets)
        if adds(remains, [old.content]):  # what it is said to have told, it did not
            return Resolution(Verdict.CONFLICTS, targets, reason)
        if letters(remains) == letters(old.content):
            verdict = item.verdict if ended else Verdict.COMPLEMENTS
            return Resolution(verdict, targets, reason, ended)
        return Resolution(item.verdict, targets, reason, ended, {old.id: remains})

    def _ended(self, item: ResolutionOut, case: ConflictCase) -> dict[UUID, tuple[StoredFact, ...]]:
        """The facts that the model says have ended, among those that it was shown."""
        wanted = {(self._memories.get(e.id), e.key, folded(e.value)) for e in item.ended}
        named = {
            memory.id: tuple(
                fact
                for fact in memory.current
                if (memory.id, fact.key, folded(fact.value)) in wanted
            )
            for memory in case.existing
        }
        return {pk: facts for pk, facts in named.items() if facts}


class ProfilesPrompt:
    """What is new of several people of one user. A memory about two of them has one id."""

    name, answer = "consolidate", ProfilesOut

    def __init__(self, requests: Sequence[ProfileRequest]) -> None:
        self._language = requests[0].language
        ids: dict[UUID, str] = {}
        numbers = count(1)
        self._people = {
            f"p{number}": _ProfilePart(request, ids, numbers)
            for number, request in enumerate(requests, 1)
        }

    def as_json(self) -> str:
        """The profiles and only the new memories, as the model sees them."""
        people = [{"id": short, **part.shown()} for short, part in self._people.items()]
        return to_json({"language": self._language, "people": people})

    def read(self, out: ProfilesOut) -> dict[UUID, ProfilePatch]:
        """A patch for each person of the answer, by the first entry about each."""
        entries = {one.id: one for one in reversed(out.people)}
        return {
            part.person.id: part.read(entries[short])
            for short, part in self._people.items()
            if short in entries
        }


class _ProfilePart:
    """A profile and the new memories with their short ids: those of ``ids``, which takes in what
    is new, and the next of ``numbers``."""

    def __init__(
        self, request: ProfileRequest, ids: dict[UUID, str], numbers: Iterator[int]
    ) -> None:
        self.person = request.person
        self._request = request
        self._memories = {
            ids.setdefault(one.id, f"m{len(ids) + 1}"): one for one in request.memories
        }
        held = ((key, v) for key, values in request.profile.attributes.items() for v in values)
        self._values = {f"v{next(numbers)}": one for one in held}

    def shown(self) -> dict[str, Any]:
        """The person as the model sees them, without an id and without what is unknown."""
        profile = self._request.profile
        known = {
            "attributes": self._attributes(),
            "personality": profile.personality,
            "timeline": [{"at": event.at, "text": event.text} for event in profile.timeline],
            "references": [one.text for one in profile.references],
        }
        return {
            **person_as_json(self.person),
            "profile": {name: value for name, value in known.items() if value},
            "new_memories": [
                {"id": short, **memory_as_json(memory, self._facts(memory))}
                for short, memory in self._memories.items()
            ],
        }

    def _attributes(self) -> dict[str, list[dict[str, str]]]:
        shown: dict[str, list[dict[str, str]]] = {}
        for short, (key, held) in self._values.items():
            since = {"since": held.since.date().isoformat()} if held.since else {}
            shown.setdefault(key, []).append({"id": short, "value": held.value, **since})
        return shown

    def _facts(self, memory: StoredMemory) -> dict[str, Any]:
        own = [fact_as_json(fact) for fact in memory.current if fact.person == self.person.id]
        return {"facts": own} if own else {}

    def read(self, out: ProfileOut) -> ProfilePatch:
        """The patch, every value with the memories it rests on; what rests on none is left
        out. What has ended, or gives way to a newer single value, is history where there is one."""
        attributes: dict[str, tuple[AttributeValue, ...]] = {}
        for item in out.attributes:
            key = attribute_key(item.key)
            values = [
                value
                for wire in item.values
                if (value := self._value(key, wire.value, wire.sources, wire.since))
            ]
            if key and values:
                attributes[key] = attributes.get(key, ()) + tuple(values)
        ended = {self._values[short] for short in out.ended if short in self._values}
        for key, new in attributes.items():
            if is_single(key):
                held = self._request.profile.attributes.get(key, ())
                ended |= {(key, old) for old in held if not _among(old, new)}
        for key, old in ended:
            past = HISTORY.get(key)
            if past and old.sources and not _among(old, self._known(past, attributes)):
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

    def _known(
        self, key: str, new: Mapping[str, tuple[AttributeValue, ...]]
    ) -> tuple[AttributeValue, ...]:
        return (*self._request.profile.attributes.get(key, ()), *new.get(key, ()))

    def _value(
        self, key: str, text: str, sources: Sequence[str], since: str | None
    ) -> AttributeValue | None:
        value = clean(text, MAX_VALUE)
        cited = self._sources(sources)
        held = next(
            (
                old
                for old in self._request.profile.attributes.get(key, ())
                if folded(old.value) == folded(value)
            ),
            None,
        )
        if not value or not (cited or held):
            return None
        if held is not None:
            return AttributeValue(
                held.value, tuple(dict.fromkeys(held.sources + cited)), held.since
            )
        said_at = max(memory.said_at for memory in self._request.memories if memory.id in cited)
        held_from = partial_dates.read(since, said_at.tzinfo)
        return AttributeValue(value, cited, held_from.start if held_from else None)

    def _personality(self, out: ProfileOut) -> tuple[str | None, tuple[UUID, ...]]:
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


def _owners(memory: StoredMemory) -> list[UUID]:
    """The people whose the facts of a memory are."""
    return [fact.person for fact in memory.facts if fact.person is not None]


def _among(one: AttributeValue, values: Iterable[AttributeValue]) -> bool:
    return any(same_value(one.value, other.value) for other in values)


def memory_as_json(
    memory: StoredMemory, facts: Mapping[str, Any] = MappingProxyType({})
) -> dict[str, Any]:
    """A memory as a model sees it, without its id."""
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
    return {**shown, **facts}


def fact_as_json(fact: StoredFact) -> dict[str, Any]:
    """A fact as a model sees it, with when it held where that is known."""
    return {"key": fact.key, "value": fact.value, **_dates(fact.valid_from, fact.valid_to)}


def _dates(since: datetime | None, until: datetime | None) -> dict[str, str]:
    times = {"from": since, "to": until}
    return {name: at.date().isoformat() for name, at in times.items() if at}


def _is_date(text: str) -> bool:
    """Whether a text is a year, a month or a day."""
    return bool(_AT.fullmatch(text)) and partial_dates.read(text, None) is not None
