"""A batch as it is understood: its turns in order, each with the places that mean somebody."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise, zip_longest

from memories.providers.offline.reading.circle import Circle, PersonDraft
from memories.providers.offline.reading.entity_linking import (
    ANOTHERS,
    Spot,
    bare_names,
    in_place,
    key_spots,
    link_spans,
    user_spots,
)
from memories.providers.offline.reading.naming import (
    answer_name,
    learn_names,
    learn_nicknames,
    learn_ties,
    own_names,
    without_namings,
)
from memories.providers.offline.reading.speech import (
    about_listener,
    addresses,
    last_question,
    until_override,
    with_apostrophes,
)
from memories.types import CONTACT, ExtractionRequest, Turn
from understanding.certainty import ANSWERS, TELLS_GENDER
from understanding.coreference.discourse import Relation
from understanding.coreference.resolve import resolve_all
from understanding.people.person_tagger import recurring
from understanding.requests import forget_reading
from understanding.sentences import sentences
from understanding.statements.own_words import excerpt
from understanding.types import How, Mention, Utterance

SESSION_GAP = timedelta(hours=6)
_FEMALE = re.compile(r"她|she\b|hers?\b", re.I)
_MALE = re.compile(r"他|he\b|him\b|his\b", re.I)


@dataclass(eq=False, slots=True)
class SpokenTurn:
    """A turn: its own words, the places in them that mean somebody, and whom its first clause is
    about where it leaves that out. ``added`` are the places of signs in it that the user left out. Of the batch itself where ``wanted``, else before it; said to
    a person where ``in_chat``, else to an assistant."""

    turn: Turn
    text: str
    wanted: bool
    added: Sequence[int] = ()
    spots: list[Spot] = field(default_factory=list)
    dropped: PersonDraft | None = None
    dropped_confidence: float = 0.0
    in_chat: bool = False

    @property
    def by_user(self) -> bool:
        return self.turn.role == "user"


def understand(request: ExtractionRequest) -> tuple[Circle, list[SpokenTurn], list[str]]:
    """Who is who in a batch, its turns with where they speak of whom, and the user's own names."""
    circle = Circle(request.people, request.user_names)
    chats = request.chats
    wanted = {turn.id for turn in request.turns}
    said = (*request.context, *request.turns)
    turns = []
    for turn, following in zip_longest(said, said[1:]):
        # What a contact answers was not asked of the user.
        answered_by = (
            following.role if following and following.session_id == turn.session_id else ""
        )
        asks_another = turn.role == "assistant" and answered_by == CONTACT
        if turn.role in ("user", "assistant") and not asks_another:
            text, added = with_apostrophes(_words(turn, chats))
            in_chat = turn.session_id in chats
            turns.append(SpokenTurn(turn, text, turn.id in wanted, added, in_chat=in_chat))
    again = recurring(spoken.text for spoken in turns if spoken.by_user)
    for spoken in turns:
        if spoken.by_user:
            spoken.spots = link_spans(circle, spoken.text, spoken.turn.id, again)
    names = _learn_own_names(circle, turns)
    _refer(circle, turns)
    merged = [
        learn(circle, spoken.text, spoken.spots)
        for spoken in turns
        if spoken.by_user
        for learn in (learn_names, learn_nicknames, learn_ties)
    ]
    merged += [
        answer_name(circle, asked.text, asked.spots, spoken.text, spoken.spots)
        for asked, spoken in pairwise(turns)
        if spoken.by_user and not asked.by_user
    ]
    if any(merged):
        _refer(circle, turns)
    _answer_about(turns)
    _note_genders(turns)
    return circle, turns, names


def _words(turn: Turn, chats: Collection[str]) -> str:
    text = excerpt(turn.content)
    if turn.session_id in chats:  # nobody knows whom "you" means there
        said = [s.whole for s in sentences(text) if not addresses(s.text)]
        text = "\n".join(said)
    return until_override(text) if turn.role == "user" else text


def _answer_about(turns: Sequence[SpokenTurn]) -> None:
    """An answer that names nobody is about whom the question was about."""
    for asked, spoken in pairwise(turns):
        if asked.by_user or not spoken.by_user or spoken.dropped is not None:
            continue
        question = last_question(asked.text)
        if not question:
            continue
        start = asked.text.rindex(question)
        spots = [s.moved(-start) for s in asked.spots if s.start >= start]
        people = dict.fromkeys(p for s in spots for p in s.people)
        if len(people) == 1 and not about_listener(question, spots):
            spoken.dropped, spoken.dropped_confidence = next(iter(people)), ANSWERS


def _learn_own_names(circle: Circle, turns: Sequence[SpokenTurn]) -> list[str]:
    names: dict[str, None] = {}
    for spoken in turns:
        if not spoken.by_user:
            continue
        spots = in_place([*spoken.spots, *user_spots(spoken.text, spoken.spots)])
        for name in own_names(spoken.text, spots):
            names[name] = None
            for form in dict.fromkeys((name, name.split()[0])):
                circle.ban(form)
    return list(names)


def _refer(circle: Circle, turns: Sequence[SpokenTurn]) -> None:
    """Marks in each turn whom it names, whom it means without a name, and the user."""
    for spoken in turns:
        kept = [s for s in spoken.spots if s.how in ("name", "role")]
        for spot in kept:
            spot.who = circle.now(spot.who)
        spoken.spots = in_place(
            [
                *(s for s in kept if s.who in circle.people),
                *_keyed(circle, spoken, kept),
            ]
        )
    sessions = [[_utterance(spoken) for spoken in session] for session in _sessions(turns)]
    for spoken, found in zip(turns, resolve_all(sessions, _relations(circle)), strict=True):
        _take_in(circle, spoken, found)
        spoken.spots = in_place([*spoken.spots, *user_spots(spoken.text, spoken.spots)])
        _settle_owners(circle, spoken)


def _keyed(circle: Circle, spoken: SpokenTurn, held: Sequence[Spot]) -> list[Spot]:
    """Known people whom a turn names beside those ``held``; where it asks to forget somebody, by
    the bare name too, however the words around it are cut: misreading that would keep them."""
    found = key_spots(circle, spoken.text, held, spoken.turn.id if spoken.by_user else None)
    if not spoken.by_user or spoken.in_chat or not forget_reading.may_ask(spoken.text):
        return found
    return [*found, *bare_names(circle, spoken.text, [*held, *found])]


def _settle_owners(circle: Circle, spoken: SpokenTurn) -> None:
    """A relative of whom a pronoun means is theirs (her brother); told of again, it is one."""
    for before, spot in pairwise(spoken.spots):
        one, owner = spot.who, before.who
        if one is None or owner is None or one is owner or not one.by_pronoun:
            continue
        near = ANOTHERS.search(spoken.text[: spot.start])
        if spot.how != "role" or before.how != "pronoun" or not near or before.end <= near.start():
            continue
        one.by_pronoun, one.owner = False, owner
        known = [p for p in circle.holders(one.role, owner) if p is not one]
        if known and not (one.named and known[0].named):
            kept = circle.merge(known[0], one)
            for other in spoken.spots:
                other.who = kept if other.who in (one, known[0]) else other.who


def _utterance(spoken: SpokenTurn) -> Utterance:
    """A turn with whom it names, but for names that it gives only now."""
    new = [s for s in spoken.spots if s.who is not None and s.who.contact_id is None]
    text, left = without_namings(spoken.text, new)
    mentions = []
    for spot in spoken.spots:
        if spot.who is not None and (spot not in new or spot in left):
            how: How = "name" if spot.how == "name" else "kinship"
            person = spot.who.person()
            mentions.append(Mention(person, spot.start, spot.end, spot.text, how, spot.confidence))
    return Utterance(spoken.turn.role, text, tuple(mentions))


def _relations(circle: Circle) -> list[Relation]:
    return [
        Relation(one.person(), one.role, one.owner.person())
        for one in circle.people
        if one.owner is not None and one.role
    ]


def _sessions(turns: Sequence[SpokenTurn]) -> Iterator[list[SpokenTurn]]:
    """The turns of one sitting each."""
    session: list[SpokenTurn] = []
    for spoken in turns:
        before = session[-1].turn if session else None
        if before is not None and (
            before.session_id != spoken.turn.session_id
            or spoken.turn.said_at - before.said_at > SESSION_GAP
        ):
            yield session
            session = []
        session.append(spoken)
    if session:
        yield session


def _take_in(circle: Circle, spoken: SpokenTurn, found: Sequence[Mention]) -> None:
    """The pronouns of a turn as spots, and whom its first clause leaves out."""
    spoken.dropped, spoken.dropped_confidence = None, 0.0
    at: dict[tuple[int, int], list[tuple[PersonDraft, float]]] = {}
    for mention in found:
        one = circle.by_id(mention.person.id)
        if one is not None:
            at.setdefault((mention.start, mention.end), []).append((one, mention.confidence))
    held = list(spoken.spots)
    for (start, end), people in at.items():
        one, sure = people[0]
        if start == 0 and (end == len(spoken.text) or end > _LONGEST_PRONOUN):
            if len(people) == 1:
                spoken.dropped, spoken.dropped_confidence = one, sure
            continue
        if any(start < spot.end and spot.start < end for spot in held):
            continue
        how = "pronoun" if len(people) == 1 else "several"
        others = tuple(person for person, _ in people[1:])
        spoken.spots.append(Spot(start, end, spoken.text[start:end], one, how, sure, others))


_LONGEST_PRONOUN = 12


def _note_genders(turns: Sequence[SpokenTurn]) -> None:
    """A pronoun tells the gender of whom it means."""
    for spot in (spot for spoken in turns for spot in spoken.spots):
        one = spot.who
        if one is None or one.gender or spot.how != "pronoun" or spot.confidence < TELLS_GENDER:
            continue
        if _FEMALE.match(spot.text):
            one.gender = "female"
        elif _MALE.match(spot.text):
            one.gender = "male"
