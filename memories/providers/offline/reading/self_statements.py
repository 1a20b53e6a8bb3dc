"""Reads what contacts write about themselves in a chat with the user: the turns of each are read
like a user's. Only sentences that mention nobody else count: "you" may be the user or a group, "we"
anybody, and "my boss" is nobody whom the user knows."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from uuid import UUID

from memories.providers.offline.reading.discourse_reading import addresses
from memories.providers.offline.reading.quoting import wishes
from memories.types import (
    CONTACT,
    ExtractedMemory,
    ExtractedPerson,
    Extraction,
    ExtractionRequest,
    Subtype,
    Turn,
)
from understanding.lexicon.rules import patterns
from understanding.roles import kinship
from understanding.sentences import sentences
from understanding.text import normalise
from understanding.types import Person

_FIRST_PERSON = patterns("first_person")
_OTHERS = re.compile(
    r"(?i)\b(?:we|us|our|ours|ourselves|s?he|they|his|hers?|him|them|their|the user)\b"
    r"|我们|我們|咱|[他她佢]|用户"
)

Read = Callable[[ExtractionRequest], Extraction]


def with_self_statements(found: Extraction, request: ExtractionRequest, read: Read) -> Extraction:
    """Returns ``found`` with what speakers state about themselves, read by ``read`` as a user's."""
    people = {person.ref: person for person in found.people}
    memories = list(found.memories)
    retracted = list(found.retracted_turn_ids)
    speakers = dict.fromkeys(turn.speaker for turn in request.turns if turn.role == CONTACT)
    for number, name in enumerate(speakers, start=1):
        bearers = [one for one in request.people if _has_name(one, name)]
        if len(bearers) > 1:
            continue  # nobody knows which of them
        own_request = replace(
            request,
            turns=_own_words(request.turns, name),
            context=_own_words(request.context, name),
            people=tuple(one for one in request.people if not _has_name(one, name)),
            user_names=(name,),
            memories=(),
        )
        statements = read(own_request)
        retracted += statements.retracted_turn_ids
        self_memories = [memory for memory in statements.memories if not memory.people]
        if self_memories:
            person = _person_of_speaker(name, bearers, people.values(), f"s{number}")
            people[person.ref] = person
            memories += [_about_speaker(memory, person, name) for memory in self_memories]
    return replace(
        found,
        people=tuple(people.values()),
        memories=tuple(memories),
        retracted_turn_ids=tuple(dict.fromkeys(retracted)),
    )


def _has_name(person: Person, name: str) -> bool:
    return normalise(name) in map(normalise, (person.name, *person.aliases))


def _own_words(turns: Iterable[Turn], name: str) -> tuple[Turn, ...]:
    return tuple(
        replace(turn, role="user", speaker="", content=_of_oneself(turn.content))
        for turn in turns
        if turn.role == CONTACT and turn.speaker == name
    )


def _of_oneself(content: str) -> str:
    """Returns the sentences in which the writer mentions themself and nobody else."""
    return "\n".join(
        sentence.whole
        for sentence in sentences(content)
        if _FIRST_PERSON.alone.search(sentence.text)
        and not _OTHERS.search(sentence.text)
        and not addresses(sentence.text)
        and not wishes(sentence.text)
    )


def _person_of_speaker(
    name: str, bearers: list[Person], extracted: Iterable[ExtractedPerson], ref: str
) -> ExtractedPerson:
    """Returns the extracted person of this name or contact, else the known one, else a new one."""
    known = bearers[0] if bearers else None
    for person in extracted:
        if (person.contact_id == known.id) if known else normalise(person.name) == normalise(name):
            return person
    if known is None:
        return ExtractedPerson(ref, name)
    contact_id = known.id if isinstance(known.id, UUID) else None
    return ExtractedPerson(
        ref, known.name, contact_id, known.aliases, known.relationship, known.gender
    )


def _about_speaker(memory: ExtractedMemory, person: ExtractedPerson, name: str) -> ExtractedMemory:
    role = kinship(person.relationship or person.name)
    return replace(
        memory,
        subtype=Subtype(role.subtype) if role else Subtype.OTHER,
        people=(person.ref,),
        facts=tuple(replace(fact, person=person.ref) for fact in memory.facts if not fact.person),
        speaker=name,
    )
