"""An extraction request as JSON for a model, and its answer as an Extraction. People and turns get
short ids, and whatever refers to an id that was not shown is dropped."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from accounts.reasons import Reason
from memories.providers.errors import OutputError
from memories.providers.openai import schemas
from memories.providers.openai.schemas import Question, numbered
from memories.types import (
    CONTACT,
    ExtractedMemory,
    ExtractedPerson,
    ExtractedRelation,
    Extraction,
    ExtractionRequest,
    Fact,
    ForgetRequest,
    SamePerson,
    StoredMemory,
    Turn,
)
from understanding.attributes import attribute_key, is_yearly
from understanding.dates import important_dates, partial_dates
from understanding.names import name_key
from understanding.requests.forget_reading import CAN_ASK, read, takes_back
from understanding.same_person import namesakes
from understanding.same_person.name_similarity import are_homophones
from understanding.statements.own_words import LONGEST, own_words, unquoted, without_injected
from understanding.statements.secrets import masked
from understanding.text import clean, folded, middle_cut
from understanding.types import Person

MAX_CONTENT = 1000  # graphemes; the limit of TiMemory
MAX_NAME = 80
MAX_VALUE = 200
MAX_QUOTE = 300
MAX_PEOPLE = 60  # known people that are sent, or all who are named in the chat if these are more
LONGEST_MEMORY = 200  # graphemes of a known memory that are shown
MAX_WORDS, MAX_WORD, MAX_KEYS = 8, 40, 5  # of a request to forget; graphemes of a word
# A word with fewer letters is in too many memories to say which is meant.
_DISTINCT = re.compile(r"[\u3400-\u9fff]{2}|[^\W\d_]{3}|\d{2}")
USER = "user"
TELLING = frozenset({USER, CONTACT})
SPOKEN = TELLING | {"assistant"}


def extraction(request: ExtractionRequest) -> Question[Extraction] | None:
    """Returns a Question: what a batch of turns states; None if no user or contact wrote in it."""
    batch = _Batch(request)
    return (
        Question("extract", batch.as_json(), schemas.ExtractionOut, batch.read)
        if batch.news
        else None
    )


class _Batch:
    """One request with its short ids: its JSON for the model, and the reading of the answer."""

    def __init__(self, request: ExtractionRequest) -> None:
        self._request = request
        self._texts = {
            turn.id: masked(without_injected(turn.content))
            for turn in request.context + request.turns
        }
        spoken = [
            turn
            for turn in request.context + request.turns
            if turn.role in SPOKEN and self._texts[turn.id].strip()
        ]
        self._turns = dict(enumerate(spoken, 1))
        self._new_turn_ids = {turn.id for turn in request.turns}
        # The turns to be extracted that the user or a contact wrote.
        self.news = [t for t in spoken if t.role in TELLING and t.id in self._new_turn_ids]
        self._user_turns = [turn for turn in self.news if turn.role == USER]
        self._chat = folded(" \n".join(f"{turn.speaker} {self._texts[turn.id]}" for turn in spoken))
        self._known = numbered("p", self._people_to_send())
        self._short_ids = {person.id: short for short, person in self._known.items()}
        self._memories = {f"m{memory.id.hex[:8]}": memory for memory in request.memories}
        self._user_names = {folded(name) for name in request.user_names}

    def _people_to_send(self) -> list[Person]:
        named, others = list[Person](), list[Person]()
        for person in self._request.people:
            names = (folded(name) for name in _names(person) if name)
            (named if any(name in self._chat for name in names) else others).append(person)
        return named + others[: max(0, MAX_PEOPLE - len(named))]

    def as_json(self) -> dict[str, Any]:
        """Returns the request as the model sees it."""
        earlier, turns = list[dict[str, Any]](), list[dict[str, Any]]()
        for number, turn in self._turns.items():
            shown = turns if turn.id in self._new_turn_ids else earlier
            shown.append(self._turn_as_json(number, turn))
        return {
            "language": self._request.language,
            "user_names": list(self._request.user_names),
            "people": [person_as_json(person, short) for short, person in self._known.items()],
            "memories": [
                self._memory_as_json(short, memory) for short, memory in self._memories.items()
            ],
            "earlier": earlier,
            "turns": turns,
        }

    def _memory_as_json(self, short: str, memory: StoredMemory) -> dict[str, Any]:
        about = [self._short_ids[pk] for pk in sorted(memory.people) if pk in self._short_ids]
        shown: dict[str, Any] = {"id": short, "about": about} if about else {"id": short}
        text = middle_cut(clean(memory.content, MAX_CONTENT), LONGEST_MEMORY)
        return {**shown, "said": memory.said_at.date().isoformat(), "text": text}

    def _turn_as_json(self, number: int, turn: Turn) -> dict[str, Any]:
        text = middle_cut(self._texts[turn.id].strip(), LONGEST)
        return {
            "n": number,
            "role": turn.role,
            "at": turn.said_at.replace(tzinfo=None).isoformat(timespec="minutes"),
            "day": f"{turn.said_at:%a}",
            "text": f"{turn.speaker}: {text}" if turn.speaker else text,
        }

    def read(self, out: schemas.ExtractionOut) -> Extraction:
        """Returns the answer with the request's own ids. Raises OutputError if its memories cite
        turns, but none that was shown."""
        cited = [number for item in out.memories for number in item.turns]
        if cited and not any(number in self._turns for number in cited):
            raise OutputError(Reason("answer_unusable", errors=["unknown_turns"]))
        own_names = self._own_names(out.user_names)
        self._user_names.update(map(folded, own_names))
        people: dict[str, ExtractedPerson] = {}
        refs: dict[str, str] = {USER: "", "": ""}
        for person in out.people:
            self._add_person(person, people, refs)
        for short, known in self._known.items():
            refs.setdefault(short, short)
            people.setdefault(short, _known_person(short, known))
        requests = [
            (request, item) for item in out.forget if (request := self._forget(item, refs, people))
        ]
        # The number of the turn that asks to forget everything about a person, by the person's ref.
        forgotten_at = {
            ref: item.asked_in
            for _request, item in requests
            if item.everything and (ref := refs[item.person])
        }
        dropped = [set(request.turn_ids) for request, _item in requests if request.turn_ids]
        memories = [
            memory
            for item in out.memories
            if (memory := self._memory(item, refs))
            and not self._is_forgotten(memory, dropped, forgotten_at)
        ]
        relations = tuple(
            ExtractedRelation(subject, kind, obj, self._turn_ids(item.turns))
            for item in out.relations
            if (subject := refs.get(item.subject))
            and (obj := refs.get(item.object))
            and subject != obj
            and not forgotten_at.keys() & {subject, obj}
            and (kind := clean(item.kind, MAX_NAME))
        )
        used = {person.id for person in out.people} - forgotten_at.keys()
        used.update(ref for item in out.same_people for ref in item.people)
        used.update(ref for memory in memories for ref in memory.people)
        used.update(fact.person for memory in memories for fact in memory.facts)
        used.update(ref for relation in relations for ref in (relation.subject, relation.object))
        return Extraction(
            people=tuple(person for ref, person in people.items() if ref in used),
            memories=tuple(memories),
            relations=relations,
            retracted_turn_ids=self._turn_ids(out.retracted),
            forget=tuple(request for request, _item in requests),
            user_names=own_names,
            retracted_memory_ids=self._memory_ids(out.retracted_memories),
            same=tuple(one for item in out.same_people if (one := self._same(item))),
        )

    def _forget(
        self, out: schemas.ForgetOut, refs: Mapping[str, str], people: Mapping[str, ExtractedPerson]
    ) -> ForgetRequest | None:
        """Returns a request to forget; None unless the user's own words in a new turn ask it."""
        turn = self._turns.get(out.asked_in)
        # In a chat with people, a request is addressed to them.
        if turn is None or turn not in self._user_turns or not _asks(turn, out.quote):
            return None
        if turn.session_id in self._request.chats or (ref := refs.get(out.person)) is None:
            return None  # somebody who was never shown must not be taken for the user
        person = people.get(ref)
        everything = person is not None and out.everything
        turn_ids = self._turn_ids(out.turns)
        memory_ids = self._memory_ids(out.memories)
        words: tuple[str, ...] = ()
        keys: tuple[str, ...] = ()
        if not memory_ids and not everything:  # else these are named exactly
            words = self._distinctive(out.words)
            keys = tuple(dict.fromkeys(key for text in out.keys if (key := attribute_key(text))))
        if not (everything or words or keys or turn_ids or memory_ids):
            return None
        contact_id = person.contact_id if person and (everything or words or keys) else None
        if person and person.contact_id is None and (words or keys or everything or not memory_ids):
            # New in this batch: earlier memories about them are found by their names.
            words, keys = (person.name, *person.aliases, *words), ()
        return ForgetRequest(
            contact_id, words, keys[:MAX_KEYS], turn_ids, turn.id, memory_ids=memory_ids
        )

    def _is_forgotten(
        self, memory: ExtractedMemory, dropped: Iterable[set[int]], forgotten_at: Mapping[str, int]
    ) -> bool:
        """Whether a memory is from ``dropped`` turns only, or its person was forgotten after it."""
        if any(set(memory.turn_ids) <= turns for turns in dropped):
            return True
        last = max(number for number, turn in self._turns.items() if turn.id in memory.turn_ids)
        return any(last <= forgotten_at.get(ref, 0) for ref in memory.people)

    def _distinctive(self, words: Iterable[str]) -> tuple[str, ...]:
        """Returns at most MAX_WORDS words that were used in the chat and are long enough."""
        by_key = {folded(text): text for word in words if (text := clean(word, MAX_WORD))}
        used = [t for key, t in by_key.items() if key in self._chat and _DISTINCT.search(key)]
        return tuple(used[:MAX_WORDS])

    def _memory_ids(self, short_ids: Iterable[str]) -> tuple[UUID, ...]:
        memories = (self._memories.get(short) for short in dict.fromkeys(short_ids))
        return tuple(memory.id for memory in memories if memory)

    def _same(self, out: schemas.SameOut) -> SamePerson | None:
        """Returns two known people who are one, with the quote if the user names both in it."""
        refs = [ref for ref in dict.fromkeys(out.people) if ref in self._known]
        if len(refs) != 2:
            return None
        quote = self._quote(out.quote, self._user_turns)
        quoted_text = folded(quote)
        names = [[folded(name) for name in _names(self._known[ref]) if name] for ref in refs]
        states = all(any(name in quoted_text for name in of_one) for of_one in names)
        return SamePerson(refs[0], refs[1], quote if states else "")

    def _own_names(self, names: Iterable[str]) -> tuple[str, ...]:
        """Returns the ``names`` that the user wrote in a new turn and that no known person has."""
        user_text = folded(" \n".join(self._texts[turn.id] for turn in self._user_turns))
        taken = {folded(name) for person in self._request.people for name in _names(person)}
        by_key = {folded(text): text for name in names if (text := clean(name, MAX_NAME))}
        return tuple(text for key, text in by_key.items() if key in user_text and key not in taken)

    def _add_person(
        self, out: schemas.PersonOut, people: dict[str, ExtractedPerson], refs: dict[str, str]
    ) -> None:
        if out.id in refs:
            return
        name = clean(out.name, MAX_NAME)
        known = self._known.get(out.id)
        if known is not None and _only_sounds_like(name, known):
            known = None  # somebody else, whatever the model says
        if known is None and not name:
            return
        if known is None and folded(name) in self._user_names:
            refs[out.id] = ""
            return
        refs[out.id] = out.id
        wrong = set(map(folded, out.wrong_aliases))
        relationship = clean(out.relationship, MAX_NAME)
        if known is None:
            new_names = {folded(one.name) for one in people.values() if one.contact_id is None}
            people[out.id] = ExtractedPerson(
                ref=out.id,
                name=name,
                aliases=self._heard_names(out.aliases, {folded(name)} | wrong),
                relationship=relationship,
                gender=out.gender,
                namesake=self._is_namesake(name, relationship) or folded(name) in new_names,
            )
        else:
            names = _names(known)
            better = self._heard_names([out.better_name], {folded(known.name)})
            people[out.id] = replace(
                _known_person(out.id, known),
                aliases=self._heard_names([name, *out.aliases], {*map(folded, names)} | wrong),
                relationship=relationship or known.relationship,
                gender=known.gender or out.gender,
                better_name=better[0] if better else "",
                wrong_aliases=tuple(text for text in names if folded(text) in wrong),
            )

    def _is_namesake(self, name: str, relationship: str) -> bool:
        """Whether a new person has a known one's name but is another, by relationship or words."""
        relationships = [
            person.relationship
            for person in self._request.people
            if folded(name) in map(folded, _names(person))
        ]
        return bool(relationships) and (
            all(namesakes.is_someone_else(relationship, known) for known in relationships)
            or any(
                namesakes.says_another(self._texts[turn.id], *found.span())
                for turn in self._user_turns
                for found in re.finditer(re.escape(name), self._texts[turn.id])
            )
        )

    def _heard_names(self, names: Iterable[str], taken: set[str]) -> tuple[str, ...]:
        """Returns those ``names`` that occur in the chat, and are neither taken nor the user's."""
        by_key = {folded(text): text for name in names if (text := clean(name, MAX_NAME))}
        refused = taken | self._user_names
        return tuple(t for key, t in by_key.items() if key in self._chat and key not in refused)

    def _memory(self, out: schemas.MemoryOut, refs: Mapping[str, str]) -> ExtractedMemory | None:
        content = clean(out.content, MAX_CONTENT)
        turns = [
            self._turns[number] for number in dict.fromkeys(out.turns) if number in self._turns
        ]
        new = [turn for turn in turns if turn.role in TELLING and turn.id in self._new_turn_ids]
        own = [turn for turn in new if turn.role == USER]
        if not own or (len(own) < len(new) and not self._quote(out.quote, own)):
            own = new  # the user's words do not contain what a contact said
        if not content or not own:
            return None
        speaker = next((turn.speaker for turn in own if turn.speaker), "")
        about = [refs[ref] for ref in dict.fromkeys(out.people) if ref in refs]
        if (out.people and not about) or (speaker and not any(about)):
            # Without its person it would read as a fact about the user.
            return None
        facts = _facts(out, refs, own[-1].said_at, self._request.language)
        said_at = own[-1].said_at
        happens = partial_dates.read(out.happens_at, said_at.tzinfo)
        return ExtractedMemory(
            content=content,
            type=out.type,
            subtype=out.subtype,
            turn_ids=tuple(turn.id for turn in turns),
            people=tuple(ref for ref in about if ref),
            quote=self._quote(out.quote, turns),
            speaker=speaker or USER,
            facts=tuple(fact for fact in facts if fact.person or not speaker),
            happens_at=happens.start if happens else None,
            happens_until=happens.last if happens else None,
            expires_at=_end(out.expires_at, said_at),
            valid_from=_begin(out.valid_from, said_at),
            valid_to=_end(out.valid_to, said_at),
            confidence=out.confidence,
        )

    def _quote(self, quote: str, turns: Iterable[Turn]) -> str:
        """Returns the quote if the user or a contact wrote it in one of ``turns``, else ""."""
        words = _unquoted(quote)
        contains_quote = (
            words in turn.content and words in self._texts[turn.id]
            for turn in turns
            if turn.role in TELLING
        )
        return words if words and any(contains_quote) and len(words) <= MAX_QUOTE else ""

    def _turn_ids(self, numbers: Iterable[int]) -> tuple[int, ...]:
        return tuple(
            self._turns[number].id for number in dict.fromkeys(numbers) if number in self._turns
        )


def person_as_json(person: Person, short_id: str = "") -> dict[str, Any]:
    """Returns a person as a model sees them, without empty fields."""
    fields: dict[str, Any] = {
        "id": short_id,
        "name": person.name,
        "aliases": list(person.aliases),
        "relationship": person.relationship,
        "gender": person.gender,
    }
    return {key: value for key, value in fields.items() if value}


def _begin(text: str | None, said_at: datetime) -> datetime | None:
    date = partial_dates.read(text, said_at.tzinfo)
    return date.start if date else None


def _end(text: str | None, said_at: datetime) -> datetime | None:
    """Returns the moment after the day, month or year of a date, at which it is over."""
    date = partial_dates.read(text, said_at.tzinfo)
    return date.after if date else None


def _facts(
    out: schemas.MemoryOut, refs: Mapping[str, str], said_at: datetime, language: str
) -> tuple[Fact, ...]:
    """Returns the facts of a memory; an important date replaces a fact of its key and person."""
    facts = [fact for item in out.facts if (fact := _fact(item, refs, said_at))]
    dates = {
        (fact.key, fact.person): fact
        for item in out.important_dates
        if (fact := _date(item, refs, language))
    }
    return (*(fact for fact in facts if (fact.key, fact.person) not in dates), *dates.values())


def _date(out: schemas.DateOut, refs: Mapping[str, str], language: str) -> Fact | None:
    day = important_dates.yearly_day(
        out.month, out.day, out.year, out.calendar, leap=out.leap_month
    )
    key = important_dates.day_key(attribute_key(out.kind))
    if day is None or not out.calendar or not is_yearly(key) or out.person not in refs:
        return None
    return Fact(key, important_dates.text(day, language), refs[out.person])


def _fact(out: schemas.FactOut, refs: Mapping[str, str], said_at: datetime) -> Fact | None:
    key = attribute_key(out.key)
    value = clean(out.value, MAX_VALUE)
    if not key or not value or out.person not in refs:
        return None
    since, until = _begin(out.valid_from, said_at), _end(out.valid_to, said_at)
    return Fact(key, value, refs[out.person], since, until)


def _known_person(ref: str, person: Person) -> ExtractedPerson:
    return ExtractedPerson(
        ref=ref,
        name=person.name,
        contact_id=UUID(str(person.id)),
        relationship=person.relationship,
        gender=person.gender,
    )


def _only_sounds_like(name: str, known: Person) -> bool:
    """Whether a Chinese name is none of a known person's names but sounds like one of them."""
    key, keys = name_key(name), {name_key(text) for text in _names(known)}
    return key not in keys and any(are_homophones(key, other) for other in keys)


def _names(person: Person) -> tuple[str, ...]:
    return (person.name, *person.aliases)


def _unquoted(quote: str) -> str:
    return quote.strip().strip("\"'“”‘’「」…").strip()


def _asks(turn: Turn, quote: str) -> bool:
    """Whether ``quote`` is in the user's own words of the turn and can ask to forget something."""
    words = _unquoted(quote)
    if not words:
        return False
    start = own_words(turn.content).find(words)
    text = unquoted(turn.content)
    if start < 0 or takes_back(text[start:]):
        return False
    return read(text[start : start + len(words)]).asks >= CAN_ASK
