"""Carries out requests to forget on the drafts of a batch, and returns them for stored memories."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from memories.providers.offline.reading.circle import PersonDraft
from memories.providers.offline.reading.discourse_reading import SpokenTurn
from memories.providers.offline.reading.entity_linking import within
from memories.providers.offline.reading.quoting import Draft, DraftBook
from memories.types import ForgetRequest
from understanding.people.person_tagger import person_spans
from understanding.requests import forget_reading
from understanding.requests.forget_reading import Reading
from understanding.sentences import Sentence, sentences
from understanding.text import normalise

REPEATED = 2  # user turns within which a second request without a topic only repeats the first


def forget_asked(book: DraftBook, spoken: SpokenTurn, sentence: Sentence) -> bool:
    """Carries out what ``sentence`` asks to forget and returns True; False if nothing is clear."""
    reading = forget_reading.read(sentence.whole)
    takes_back = forget_reading.takes_back(spoken.text[sentence.start :])
    if reading.asks < forget_reading.UNSURE or takes_back:
        return False
    repeats = book.clock - book.asked_at <= REPEATED
    if not reading.acts:
        if spoken.wanted and not repeats:
            book.forget.append(ForgetRequest(asked_in=spoken.turn.id, unclear=True))
        return False
    if reading.likely_scope == "last" and _named_beside(spoken, sentence):
        return True
    drafts_before = list(book.drafts)
    requests, turn_ids = _drop_from_drafts(book, spoken, sentence, reading)
    dropped = [draft for draft in drafts_before if draft not in book.drafts]
    if not (requests or turn_ids or repeats or dropped):
        requests = [ForgetRequest()]  # nothing was found, which the user is told
    turn_ids += [turn for draft in dropped for turn in (draft.turn_id, *draft.extra_turns)]
    if turn_ids:
        requests.append(ForgetRequest(turn_ids=tuple(dict.fromkeys(turn_ids))))
    if spoken.wanted:  # else it was carried out in its own batch
        book.forget += [replace(request, asked_in=spoken.turn.id) for request in requests]
    for person in book.circle.people:
        person.turns = [turn for turn in person.turns if turn != spoken.turn.id]
    book.asked_at = book.clock
    return True


def _named_beside(spoken: SpokenTurn, sentence: Sentence) -> bool:
    """Whether another sentence of the message names what is to be forgotten."""
    others = [one for one in sentences(spoken.text) if one.start != sentence.start]
    readings = [forget_reading.read(one.whole) for one in others]
    return any(one.acts and one.likely_scope == "named" and one.topic for one in readings)


def _drop_from_drafts(
    book: DraftBook, spoken: SpokenTurn, sentence: Sentence, reading: Reading
) -> tuple[list[ForgetRequest], list[int]]:
    """Drops what is meant from the drafts; returns requests for stored memories, and turn ids."""
    # Mentions of people who were mentioned before, in the clauses that ask, or else beside these.
    known_spots = [
        spot
        for spot in within(spoken.spots, sentence)
        if (who := spot.who) is not None
        if who.contact_id is not None or any(turn < spoken.turn.id for turn in who.turns)
    ]
    names = [spot.text for spot in known_spots]
    means_person = partial(forget_reading.means_person, sentence.text, names=names)
    whole = [spot for spot in known_spots if means_person(spot.start, spot.end)]
    spots = [spot for spot in known_spots if spot.text in reading.clause]
    is_whole = bool(spots) or forget_reading.refers_to_person(reading.clause)
    if not spots and reading.likely_scope == "named":
        spots = whole
    mentioned = [spot.text for spot in spots]
    spots = [spot for spot in spots if spot in whole] or spots
    people = [*dict.fromkeys(spot.who for spot in spots if spot.who)]
    if reading.likely_scope == "unclear" and not people:
        return [ForgetRequest(unclear=True)], []
    clause = reading.clause
    named = [clause[span.start : span.end] for span in person_spans(clause)]
    named = [word for word in named if normalise(word) not in _PRONOUNS]
    matched = [word for word in named if any(name in word or word in name for name in mentioned)]
    topic = forget_reading.blanked(reading.topic, [*mentioned, *matched])
    strangers = [word for word in named if word not in matched]
    words = forget_reading.content_words(forget_reading.blanked(topic, strangers))
    keys = forget_reading.topic_keys(topic)
    if spots and spots[0] in whole and is_whole:
        words, keys = (), ()
    # If anything is named, everything else stays.
    if reading.likely_scope == "everything" and not (people or reading.points or words or keys):
        _wipe(book, list(book.drafts), book.circle.people, spoken)
        return [ForgetRequest(everything=True)], []
    points = reading.points and not (words or keys)
    if points or (reading.likely_scope == "last" and not keys):
        return [], _forget_last(book, spoken, people)
    if people and not (words or keys):
        by_person = [_forget_person(book, person, spoken) for person in people]
        by_word = [one for word in strangers for one in _forget_matter(book, [], (word,), ())]
        return [*by_person, *by_word], []
    if people or words or keys or strangers:
        requests = _forget_matter(book, people, (*strangers, *words), keys)
        if reading.scope["last"] >= forget_reading.LAST and book.before_id:
            requests = [replace(one, or_turn_ids=(book.before_id,)) for one in requests]
        return requests, []
    return [], _forget_last(book, spoken, [])


_PRONOUNS = frozenset("他 她 它 佢 他们 她们 它们 佢们 him her them he she they".split())


def _forget_matter(
    book: DraftBook, people: list[PersonDraft], words: tuple[str, ...], keys: tuple[str, ...]
) -> list[ForgetRequest]:
    """Drops drafts with these words or keys, about ``people`` if given; returns the requests."""
    for draft in book.about(people):
        text = draft.sentence.text.lower()
        has_word = any(word.lower() in text for word in words)
        stated = {value.key for value, _ in draft.values} | set(forget_reading.topic_keys(text))
        is_about_user = not people and not draft.people()
        if has_word or ((people or is_about_user) and stated & set(keys)):
            book.wipe(draft)
    contact_ids = [person.contact_id for person in people if person.contact_id is not None]
    if contact_ids:
        return [ForgetRequest(contact_id, words, keys) for contact_id in contact_ids]
    return [ForgetRequest(words=(*(person.name for person in people), *words), keys=keys)]


def _forget_person(book: DraftBook, person: PersonDraft, spoken: SpokenTurn) -> ForgetRequest:
    """Drops all about a person, who is extracted only if mentioned again; returns the request."""
    names = [name.lower() for name in person.known_as() if len(name) > 1]
    about = [
        draft
        for draft in book.drafts
        if person in draft.people() or any(name in draft.sentence.text.lower() for name in names)
    ]
    _wipe(book, about, [person], spoken)
    return ForgetRequest(person.contact_id, () if person.contact_id else tuple(person.known_as()))


def _wipe(
    book: DraftBook, drafts: Sequence[Draft], people: Sequence[PersonDraft], spoken: SpokenTurn
) -> None:
    """Drops drafts, and the mentions of the people in turns up to this one."""
    for draft in drafts:
        book.wipe(draft)
    for person in people:
        person.turns = [turn for turn in person.turns if turn > spoken.turn.id]


def _forget_last(book: DraftBook, spoken: SpokenTurn, people: list[PersonDraft]) -> list[int]:
    """Drops drafts about ``people``, else of this turn, else of the one before; returns its id."""
    if not people and book.clock - book.asked_at <= REPEATED:
        return []
    drafts = book.about(people)
    if people and drafts:
        turns = {draft.turn_id for draft in drafts}
    elif any(draft.turn_id == spoken.turn.id for draft in drafts):
        turns = {spoken.turn.id}
    else:
        turns = {book.before_id}
    for draft in drafts:
        if draft.turn_id in turns:
            book.wipe(draft)
    return [book.before_id] if turns == {book.before_id} and book.before_id else []
