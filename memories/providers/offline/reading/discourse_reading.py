"""Resolves who is who in a batch: its turns in order, each with its mentions of people."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise, zip_longest

from memories.providers.offline.reading.circle import Circle, PersonDraft, called
from memories.providers.offline.reading.entity_linking import (
    ADDRESSES,
    ANOTHERS,
    SURNAME,
    Spot,
    bare_names,
    in_place,
    key_spots,
    link_spans,
    user_spots,
    within,
)
from memories.types import CONTACT, ExtractionRequest, Turn
from understanding.certainty import ANSWER_CONFIDENCE, TELLS_GENDER
from understanding.coreference.antecedents import agrees
from understanding.coreference.discourse import Relation
from understanding.coreference.resolve import resolve_all
from understanding.lexicon import titles, words
from understanding.lexicon.rules import patterns
from understanding.names import name_key
from understanding.people.person_tagger import is_only_owner, recurring
from understanding.requests import forget_reading
from understanding.roles import is_relation_of_other, kinship, person_gender, terms
from understanding.same_person.name_similarity import MADE_FROM, relate
from understanding.same_person.name_types import PREFIXES, title_of
from understanding.same_person.relationships import ONE_AT_A_TIME
from understanding.sentences import Sentence, sentences
from understanding.statements.own_words import excerpt
from understanding.text import normalise, simplified
from understanding.types import How, Mention, Utterance

RE = patterns(__file__)
SESSION_GAP = timedelta(hours=6)
_NEAR = 24  # characters between a mention of a person and their name
_LONGEST_PRONOUN = 12


@dataclass(eq=False, slots=True)
class SpokenTurn:
    """A turn: its own words, the mentions in them, and the ``dropped`` subject of its first clause.
    ``added`` are the places of apostrophes that the user left out, ``named`` the people whom the
    turn itself names for a pronoun at a place (he is called Piet). ``wanted`` if it belongs to the
    batch itself, ``in_chat`` if it is addressed to a person, not to an assistant."""

    turn: Turn
    text: str
    wanted: bool
    added: Sequence[int] = ()
    spots: list[Spot] = field(default_factory=list)
    named: dict[tuple[int, int], PersonDraft] = field(default_factory=dict)
    dropped: PersonDraft | None = None
    dropped_confidence: float = 0.0
    in_chat: bool = False

    @property
    def by_user(self) -> bool:
        return self.turn.role == "user"


def understand(request: ExtractionRequest) -> tuple[Circle, list[SpokenTurn], list[str]]:
    """Returns the people of a batch, its turns with their mentions, and the user's own names."""
    circle = Circle(request.people, request.user_names)
    chats = request.chats
    wanted = {turn.id for turn in request.turns}
    all_turns = (*request.context, *request.turns)
    turns = []
    for turn, following in zip_longest(all_turns, all_turns[1:]):
        # A question that a contact answers was not put to the user.
        answered = following is not None and following.session_id == turn.session_id
        asks_another = turn.role == "assistant" and answered and following.role == CONTACT
        if turn.role in ("user", "assistant") and not asks_another:
            text, added = with_apostrophes(_words_to_read(turn, chats))
            in_chat = turn.session_id in chats
            turns.append(SpokenTurn(turn, text, turn.id in wanted, added, in_chat=in_chat))
    user_turns = [spoken for spoken in turns if spoken.by_user]
    recurring_names = recurring(spoken.text for spoken in user_turns)
    for spoken in user_turns:
        spoken.spots = link_spans(circle, spoken.text, spoken.turn.id, recurring_names)
    names = list(dict.fromkeys(name for spoken in user_turns for name in own_names(circle, spoken)))
    _set_mentions(circle, turns)
    learned = [
        learn(circle, _updated(circle, spoken))
        for spoken in user_turns
        for learn in (learn_names, learn_full_names, learn_surnames, learn_nicknames, learn_ties)
    ]
    learned += [learn_answer(circle, asked, spoken) for asked, spoken in pairwise(turns)]
    if any(learned):
        _set_mentions(circle, turns)
    _set_subjects_of_answers(turns)
    for spot in (spot for spoken in turns for spot in spoken.spots):
        one = spot.who  # a pronoun shows the gender of its person
        if one and not one.gender and spot.how == "pronoun" and spot.confidence >= TELLS_GENDER:
            one.gender = _gender(spot.text)
    return circle, turns, names


def _gender(pronoun: str) -> str:
    """Returns the gender that a pronoun shows: female, male, or ""."""
    plain = simplified(pronoun.lower())
    if plain.startswith(("她", "she", "her")):
        return "female"
    return "male" if plain.startswith(("他", "he", "hi")) else ""


def _words_to_read(turn: Turn, chats: Collection[str]) -> str:
    text = excerpt(turn.content)
    if turn.session_id in chats:  # in a chat with people it is unknown whom "you" means
        text = "\n".join(one.whole for one in sentences(text) if not addresses(one.text))
    return until_override(text) if turn.role == "user" else text


def last_question(spoken: SpokenTurn) -> tuple[Sentence, list[Spot]] | None:
    """Returns the last question of a turn and the mentions in it; None if it asks none."""
    questions = [one for one in sentences(spoken.text) if one.end_mark[:1] in {"?", "？"}]
    return (questions[-1], within(spoken.spots, questions[-1])) if questions else None


def _set_subjects_of_answers(turns: Sequence[SpokenTurn]) -> None:
    """Sets the dropped subject of an answer to the one person that the question is about."""
    for previous, spoken in pairwise(turns):
        if not _may_answer(previous, spoken) or spoken.dropped is not None:
            continue
        if question := last_question(previous):
            sentence, spots = question
            people = dict.fromkeys(p for s in spots for p in s.people)
            if len(people) == 1 and not about_listener(sentence.text, spots):
                spoken.dropped, spoken.dropped_confidence = next(iter(people)), ANSWER_CONFIDENCE


def _may_answer(previous: SpokenTurn, spoken: SpokenTurn) -> bool:
    """Whether ``spoken`` is a user's turn after an assistant's in the same session."""
    same_session = previous.turn.session_id == spoken.turn.session_id
    return not previous.by_user and spoken.by_user and same_session


def _set_mentions(circle: Circle, turns: Sequence[SpokenTurn]) -> None:
    """Sets the mentions of each turn: by name or role, by pronoun, and of the user."""
    for spoken in turns:
        names = [s for s in _updated(circle, spoken).spots if s.how in ("name", "role")]
        keyed = _known_mentions(circle, spoken, names)
        spoken.spots = in_place([*(s for s in names if s.who in circle.people), *keyed])
    sessions = [[_utterance(spoken) for spoken in session] for session in _sessions(turns)]
    relations = [
        Relation(one.person(), one.role, one.owner.person())
        for one in circle.people
        if one.owner is not None and one.role
    ]
    for spoken, mentions in zip(turns, resolve_all(sessions, relations), strict=True):
        _add_resolved(circle, spoken, mentions)
        spoken.spots = in_place([*spoken.spots, *user_spots(spoken.text, spoken.spots)])
        _settle_owners(circle, spoken)


def _updated(circle: Circle, spoken: SpokenTurn) -> SpokenTurn:
    """Returns the turn after pointing its mentions to the people into whom theirs were merged."""
    for spot in spoken.spots:
        spot.who = circle.now(spot.who)
    spoken.named = {at: circle.now(one) or one for at, one in spoken.named.items()}
    return spoken


def _known_mentions(circle: Circle, spoken: SpokenTurn, taken: Sequence[Spot]) -> list[Spot]:
    """Returns mentions of known people outside ``taken``, by bare names if it may ask to forget."""
    mentions = key_spots(circle, spoken.text, taken, spoken.turn.id if spoken.by_user else None)
    if not spoken.by_user or spoken.in_chat or not forget_reading.may_ask(spoken.text):
        return mentions
    return [*mentions, *bare_names(circle, spoken.text, [*taken, *mentions])]


def _settle_owners(circle: Circle, spoken: SpokenTurn) -> None:
    """Sets the owner of a relative after a pronoun (her brother), or merges it with a known one."""
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
            person = circle.merge(known[0], one)
            for other in spoken.spots:
                other.who = person if other.who in (one, known[0]) else other.who


def _utterance(spoken: SpokenTurn) -> Utterance:
    mentions = []
    for spot in (spot for spot in spoken.spots if spot.who is not None):
        how: How = "name" if spot.how == "name" else "kinship"
        person = spot.people[0].person()
        mentions.append(Mention(person, spot.start, spot.end, spot.text, how, spot.confidence))
    for (start, end), one in spoken.named.items():
        mentions.append(Mention(one.person(), start, end, spoken.text[start:end], "name", 1.0))
    return Utterance(spoken.turn.role, spoken.text, tuple(mentions))


def _sessions(turns: Sequence[SpokenTurn]) -> list[list[SpokenTurn]]:
    sessions: list[list[SpokenTurn]] = []
    for spoken in turns:
        last = sessions[-1][-1].turn if sessions else None
        near = last and spoken.turn.said_at - last.said_at <= SESSION_GAP
        if last and near and last.session_id == spoken.turn.session_id:
            sessions[-1].append(spoken)
        else:
            sessions.append([spoken])
    return sessions


def _add_resolved(circle: Circle, spoken: SpokenTurn, resolved: Sequence[Mention]) -> None:
    """Adds resolved pronouns to a turn's spots; sets the dropped subject of its first clause."""
    spoken.dropped, spoken.dropped_confidence = None, 0.0
    places: dict[tuple[int, int], list[tuple[PersonDraft, float]]] = {}
    for mention in resolved:
        one = circle.by_id(mention.person.id)
        if one is not None:
            places.setdefault((mention.start, mention.end), []).append((one, mention.confidence))
    other_spots = list(spoken.spots)
    places |= {place: [(one, 1.0)] for place, one in spoken.named.items()}
    for (start, end), people in places.items():
        one, confidence = people[0]
        if start == 0 and (end == len(spoken.text) or end > _LONGEST_PRONOUN):
            if len(people) == 1:
                spoken.dropped, spoken.dropped_confidence = one, confidence
            continue
        if any(start < spot.end and spot.start < end for spot in other_spots):
            continue
        how = "pronoun" if len(people) == 1 else "several"
        words = spoken.text[start:end]
        spoken.spots.append(Spot(start, end, words, one, how, confidence, tuple(people[1:])))


def own_names(circle: Circle, spoken: SpokenTurn) -> Iterator[str]:
    """Yields the names by which the user introduces themself, and reserves them in ``circle``."""
    spots = in_place([*spoken.spots, *user_spots(spoken.text, spoken.spots)])
    for spot, name, between in _names_after_mentions(spoken.text, spots):
        owns = spoken.text[name.end : name.end + 2] in ("'s", "’s")
        if spot.how == "user" and not owns and _statement(RE.own_name, spot, spoken.text, between):
            for form in (name.text, name.text.split()[0]):
                circle.ban(form)
            yield name.text


def learn_names(circle: Circle, spoken: SpokenTurn) -> bool:
    """Learns from statements of what somebody is called: merges the two people, or notes whom a
    pronoun means. Returns whether it learned anything."""
    learned = False
    for spot, name, between in _names_after_mentions(spoken.text, spoken.spots):
        one, other = spot.who, name.who
        if one is None or other is None or one is other:
            continue
        if one not in circle.people or other not in circle.people:
            continue
        is_pronoun = spot.how in ("pronoun", "several")
        is_equal = spot.how == "name" and RE.equals.match(f"{between}@{spoken.text[name.end :]}")
        is_called = _statement(RE.called, spot, spoken.text, between)
        # The turn mentions the bearer before the pronoun: our boss is a Tan, we call him Mr Tan.
        people_before = [s.who for s in spoken.spots if s.end <= spot.start]
        is_before = is_pronoun and other in people_before
        bearer = None if is_before else _bearer(circle, spoken, spot, name, between)
        two_contacts = (bearer or one).contact_id is not None and other.contact_id is not None
        if is_called and _is_role_of_other(spot, one, other):
            other.role, other.owner, spot.who = other.role or called(spot.text), one.owner, other
            continue
        if is_equal or (is_called and bearer is not None and not two_contacts):
            person = circle.merge(bearer or one, other)
        elif (
            is_called and is_pronoun and (is_before or (bearer is None and _is_subject(is_called)))
        ):
            person = other
        else:
            continue
        if is_pronoun:
            spoken.named[spot.start, spot.end] = person
        learned = True
    return learned


def _is_role_of_other(spot: Spot, one: PersonDraft, other: PersonDraft) -> bool:
    """Whether ``spot``, a role that was linked to ``one``, belongs to ``other``, who has a
    different name, as one may have several of the role (piano teacher and class teacher)."""
    role, names = kinship(spot.text), (tuple(one.known_as()), tuple(other.known_as()))
    has_several = role is None or role.kind not in ONE_AT_A_TIME
    is_other = one.named and relate(*names).how not in MADE_FROM
    return spot.how == "role" and has_several and is_other


def learn_full_names(circle: Circle, spoken: SpokenTurn) -> bool:
    """Merges a person introduced by a full name with the only one mentioned before, in this turn or
    the last, whose name is formed from it (小楠; 大名周楠), or by another name, with the only one named
    before in this turn (小楠在读大学，英文名叫Nan). Returns whether any were merged."""
    merged = False
    for spot in spoken.spots:
        one, naming = spot.who, RE.full_name.search(spoken.text[: spot.start])
        if one is None or spot.how != "name" or not naming:
            continue
        named_before, is_other = _named_before(spoken, spot), naming["other"] is not None
        recent = set() if is_other else _people_of_last_turn(circle, spoken.turn.id)
        short_named = [
            other
            for other in recent | named_before
            if other is not one
            and other.named
            and not (one.contact_id and other.contact_id)
            and (is_other or relate(tuple(other.known_as()), (spot.text,)).how in MADE_FROM)
        ]
        if len(short_named) == 1:
            circle.merge(short_named[0], one)
            merged = True
    return merged


def learn_surnames(circle: Circle, spoken: SpokenTurn) -> bool:
    """Merges a person known only by role whose surname is stated (我房东姓钱) with the one person who
    is addressed by it from then on (钱阿姨), and returns whether any were merged. If there is none, a
    role used as a form of address gets the surname (组长姓贺: 贺组长)."""
    merged = False
    for spot in spoken.spots:
        one, match = spot.who, SURNAME.match(simplified(spoken.text), spot.end)
        if one is None or one not in circle.people or one.named or spot.how != "role" or not match:
            continue
        surname = match["surname"]
        addressed = [
            other
            for other in circle.people
            if other.named and other.contact_id is None and min(other.turns) >= spoken.turn.id
            # Known only by forms of address with nothing but this surname: 钱阿姨, 老钱.
            if all(
                title_of(name)[0] == surname or (name[:1] in PREFIXES and name[1:] == surname)
                for name in map(name_key, other.known_as())
            )
        ]
        if len(addressed) == 1:
            circle.merge(addressed[0], one)
            merged = True
        elif spot.text in titles("zh") or spot.text in ADDRESSES:
            one.add_name(surname + spot.text)
            circle.changed()
    return merged


def learn_nicknames(circle: Circle, spoken: SpokenTurn) -> bool:
    """Adds quoted nicknames to the people that a turn says are called so (大家都叫她“月饼”), and
    returns whether any was new. English names begin with a capital."""
    learned = False
    plain, who, end = simplified(spoken.text), None, -1
    for quote in RE.quoted.finditer(spoken.text):
        if end < 0 or not RE.and_.fullmatch(plain[end : quote.start()]):
            who = _nicknamed(circle, spoken, quote)
        end = quote.end()
        if who in circle.people and not quote[1][:1].islower():
            learned = learned or quote[1] not in who.known_as()
            who.add_name(quote[1])
            circle.changed()
    return learned


def _nicknamed(circle: Circle, spoken: SpokenTurn, quote: re.Match[str]) -> PersonDraft | None:
    """Returns the person that a turn says is called by the quoted name; None if uncertain."""
    near = [s for s in spoken.spots if quote.start() - _NEAR <= s.end <= quote.start()]
    spot, turn_id = (near[-1] if near else None), spoken.turn.id
    if spot is None or spot.who is None or not _identifies_person(spot):
        return None
    is_earlier = spot.how == "pronoun" and turn_id not in spot.who.turns
    if is_earlier and len(_agreeing_before(circle, spot, turn_id)) > 1:
        return None
    between = simplified(spoken.text)[spot.end : quote.start(1)]
    return spot.who if _statement(RE.nickname, spot, spoken.text, between) else None


def learn_ties(circle: Circle, spoken: SpokenTurn) -> bool:
    """Merges people who a turn says are one (Anna is Brenda's sister; that's my sister); returns
    whether it did."""
    merged = False
    plain, spots = simplified(spoken.text), spoken.spots
    for spot in spots:
        role, start = spot.who, spot.start
        earlier = [other for other in spots if other.how != "user" and other.end <= start]
        if role is None or spot.how != "role" or role.named or role.by_pronoun:
            continue
        # Ida is my mum's sister: the mum is only the owner of the sister.
        owns = any(other.who is not None and other.who.owner is role for other in spots)
        if owns or is_only_owner(plain, spot.end):
            continue
        if not earlier and (one := _pointed_at(circle, spoken, spot)) is not None:
            _merge_role(circle, one, role)
            merged = True
        if not earlier:
            continue
        before = earlier[-1]
        # After a name 's is a genitive, after a pronoun the verb (she's my cousin).
        is_subject = before.how == "pronoun" and RE.is_one.fullmatch(plain[before.end : start])
        if not is_subject and RE.whose.fullmatch(plain[before.end : start]) and len(earlier) > 1:
            start, before = before.start, earlier[-2]
        one = circle.now(before.who)
        says_whom = before.how != "role" and _identifies_person(before)
        if one is None or not says_whom or one is role.owner or role not in circle.people:
            continue
        if RE.is_one.fullmatch(plain[before.end : start]):
            _merge_role(circle, one, role)
            merged = True
    return merged


def _pointed_at(circle: Circle, spoken: SpokenTurn, role: Spot) -> PersonDraft | None:
    """Returns the person whose role a turn states that begins with "that's my": the only one mentioned
    in the last turn, if named, without a role and of no other gender."""
    beginning = normalise(spoken.text[: role.start]).strip().replace("’", "'")
    candidates = _people_of_last_turn(circle, spoken.turn.id) - {role.who}
    one = next(iter(candidates)) if len(candidates) == 1 else None
    if beginning not in words("people_words", "points") or one is None or role.who is None:
        return None
    two_contacts = one.contact_id is not None and role.who.contact_id is not None
    is_fitting = agrees(role.who.gender, person_gender(one.person()))
    return one if one.named and not one.role and is_fitting and not two_contacts else None


def learn_answer(circle: Circle, asked: SpokenTurn, spoken: SpokenTurn) -> bool:
    """Sets the role of the one person whom the assistant asked about, if the answer states it (Who
    is Conrad? My old flatmate, from Leeds). Returns whether it is stated."""
    question = last_question(asked) if _may_answer(asked, spoken) else None
    if question is None or not RE.asks_who.search(simplified(question[0].text)):
        return False
    people = list(dict.fromkeys(one for spot in question[1] for one in spot.people))
    answer = RE.answer.match(simplified(spoken.text))
    if len(people) != 1 or answer is None:
        return False
    one, role = people[0], answer["zh"] or answer["en"]
    is_known = normalise(role) in terms() if answer["zh"] else kinship(role) is not None
    if not is_known or is_relation_of_other(role):
        return False
    start, end = answer.span("zh" if answer["zh"] else "en")
    inside = [spot.who for spot in spoken.spots if start <= spot.start and spot.end <= end]
    placeholder = next((who for who in inside if who is not None and who is not one), None)
    if placeholder is not None and (
        placeholder.named or placeholder.contact_id or placeholder not in circle.people
    ):
        return False
    if placeholder is not None:
        one = _merge_role(circle, one, placeholder)
    if not one.role:
        one.role = called(role)
        circle.changed()
    return True


def _merge_role(circle: Circle, one: PersonDraft, role: PersonDraft) -> PersonDraft:
    """Merges ``role``, a person known by the role that ``one`` has, without making it an alias."""
    one.turns = sorted({*one.turns, *role.turns})
    return circle.merge(one, role)


def _names_after_mentions(text: str, spots: Sequence[Spot]) -> Iterator[tuple[Spot, Spot, str]]:
    """Yields pairs of a mention and the name next to it, with the words between them."""
    plain = simplified(text)
    for spot, name in pairwise(spots):
        gap = plain[spot.end : name.start]
        if name.how == "name" and len(gap) <= _NEAR:
            yield spot, name, gap


def _bearer(
    circle: Circle, spoken: SpokenTurn, spot: Spot, name: Spot, between: str
) -> PersonDraft | None:
    """Returns whom a naming sentence that begins with ``spot`` names; None if uncertain. A pronoun
    that may mean several, or was linked to somebody named in an earlier turn, means the only person
    without a name: in this turn before it, of the several, or of the last turn. Somebody with a
    name may have a nickname (they call him Bear), but no other name (his name's Gary)."""
    one, turn_id, gender = spot.who, spoken.turn.id, _gender(spot.text)
    named_before = _named_before(spoken, spot) - _callers(spoken, spot)
    roles = [s.who for s in spoken.spots if s.how == "role" and s.end <= spot.start]
    unnamed_here = {who for who in roles if who is not None and not who.named}
    is_pronoun = spot.how in ("pronoun", "several")
    later = [s for s in spoken.spots if s.how in ("name", "role") and s.start >= name.start]
    people_after = {s.who for s in later} - named_before - unnamed_here
    is_after = one in people_after or (named_before and one not in named_before | unnamed_here)
    if one is None or (is_pronoun and is_after):
        return None
    is_earlier = spot.how == "pronoun" and one.named and turn_id not in one.turns
    if is_earlier and len(unnamed_here) == 1:
        return next(iter(unnamed_here))
    earlier = [person for person in spot.people if person not in people_after]
    people = earlier if spot.how == "several" and gender else []
    if is_earlier and gender:
        people = _agreeing_before(circle, spot, turn_id)
        if len(people) > 1:
            return None
    unnamed = {now for person in people if (now := circle.now(person)) and not now.named}
    if len(unnamed) == 1:
        return next(iter(unnamed))
    if is_earlier and _is_subject(_statement(RE.called, spot, spoken.text, between)):
        is_form = relate(tuple(one.known_as()), (name.text,)).how in MADE_FROM
        is_titled = all(title_of(name_key(known))[1] for known in one.known_as())
        return one if is_form or is_titled else None
    return one if _identifies_person(spot) else None


def _callers(spoken: SpokenTurn, pronoun: Spot) -> set[PersonDraft | None]:
    """Returns the people who call the pronoun's person by a name (Oona calls her), so are not meant."""
    words_between = {
        s.who: spoken.text[s.end : pronoun.start].lower().split() for s in spoken.spots
    }
    verbs = words("people_words", "calls")
    return {who for who, gap in words_between.items() if 0 < len(gap) < 3 and gap[-1] in verbs}


def _agreeing_before(circle: Circle, spot: Spot, turn_id: int) -> list[PersonDraft]:
    """Returns the people of the last turn whom a pronoun may mean by its gender."""
    gender, people = _gender(spot.text), _people_of_last_turn(circle, turn_id)
    return [one for one in people if agrees(gender, person_gender(one.person()))]


def _people_of_last_turn(circle: Circle, turn_id: int) -> set[PersonDraft]:
    """Returns the people of the last turn before ``turn_id`` that mentions anybody."""
    last = max((t for person in circle.people for t in person.turns if t < turn_id), default=-1)
    return {person for person in circle.people if last in person.turns}


def _named_before(spoken: SpokenTurn, spot: Spot) -> set[PersonDraft]:
    """Returns the people whom the turn mentions by name before ``spot``."""
    before = [one for one in spoken.spots if one.how == "name" and one.end <= spot.start]
    return {one.who for one in before if one.who is not None}


def _is_subject(statement: re.Match[str] | None) -> bool:
    """Whether the person named is the subject of the statement (his name is, not: call him)."""
    return statement is not None and statement[0].startswith("@")


def _identifies_person(spot: Spot) -> bool:
    """Whether a mention is a name, a role, or a pronoun certain enough to learn from it."""
    is_sure = spot.how == "pronoun" and spot.confidence >= TELLS_GENDER
    return is_sure or spot.how in ("name", "role")


def _statement(
    pattern: re.Pattern[str], spot: Spot, text: str, between: str
) -> re.Match[str] | None:
    """Returns the match of ``pattern`` in the words around a mention, which is replaced by @."""
    before = simplified(text[max(0, spot.start - 10) : spot.start])
    suffix = spot.text[1:] if spot.how == "user" and len(spot.text) > 1 else ""
    suffix = suffix if suffix[:1] in "'’m" else ""
    return pattern.search(f"{before}@{suffix}{between}")


def until_override(text: str) -> str:
    """Returns ``text`` up to the sentence that orders a model to ignore its instructions."""
    for sentence in sentences(text):
        if RE.overrides.search(simplified(sentence.text)):
            return text[: sentence.start]
    return text


def about_listener(question: str, people: Sequence[Spot]) -> bool:
    """Whether a question is about the person asked, not only about their ``people`` (你老婆)."""
    whose = [match.end() for match in RE.you.finditer(question)]
    return any(all(question[at : s.start].strip(" 的") for s in people) for at in whose)


def addresses(text: str) -> bool:
    """Whether ``text`` addresses somebody: you, 你."""
    return bool(RE.you.search(text))


def with_apostrophes(text: str) -> tuple[str, list[int]]:
    """Returns ``text`` with apostrophes that quick typing leaves out (shes), and their places."""
    ends = [match.end() for match in RE.contracted.finditer(text)]
    parts = [text[a:b] for a, b in pairwise([0, *ends, len(text)])]
    return "'".join(parts), [end + number for number, end in enumerate(ends)]
