"""Requests to forget, carried out on what has been drafted and handed on for what is kept."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from contacts.tagging.person_tagger import person_spans
from memories.providers.offline import forget_phrases
from memories.providers.offline.reading.circle import Someone
from memories.providers.offline.reading.discourse_reading import Heard
from memories.providers.offline.reading.draft_book import DraftBook
from memories.providers.offline.reading.telling import Draft
from memories.text import forget_intent, forget_people
from memories.text.sentences import Sentence
from memories.types import ForgetRequest

REPEATED = 2  # user turns within which a second, bare request only repeats the first


def forget_asked(book: DraftBook, heard: Heard, sentence: Sentence) -> bool:
    """Carries out what ``sentence`` asks to forget; False where it asks nothing of the kind."""
    if _forget_people(book, heard, sentence):
        return True
    if not forget_intent.asks(sentence.text):
        return False
    _carry_out(book, heard, sentence)
    return True


def _people_in(heard: Heard, sentence: Sentence) -> list[tuple[tuple[int, int], Someone]]:
    """Who is meant where in the sentence, by name, role or pronoun."""
    end = sentence.start + len(sentence.text)
    found = [
        ((spot.start - sentence.start, spot.end - sentence.start), spot.who)
        for spot in heard.spots
        if spot.who is not None and sentence.start <= spot.start and spot.end <= end
    ]
    return [((_with_own(sentence.text, place[0]), place[1]), who) for place, who in found]


_OWN = re.compile(r"(?:我|咱|俺)(?:们|們)?家?的?$|\b(?:my|our)\s$", re.I)


def _with_own(text: str, start: int) -> int:
    """Where the words for somebody begin, with those that say that they are the user's own."""
    own = _OWN.search(text[:start])
    return own.start() if own else start


def _forget_people(book: DraftBook, heard: Heard, sentence: Sentence) -> bool:
    """Carries out a request to forget people altogether; False where there is none."""
    text = sentence.text
    if not forget_people.may_ask(text):
        return False
    before = list(book.drafts)
    here = _known_in(heard, sentence)
    spans = [span for span, _ in here]
    wanted, beside = forget_people.asked(text, spans), None
    if not wanted:  # somebody whom nobody knows may stand beside them
        beside = next(_others(text, spans), None)
        wanted = forget_people.asked(text, [*spans, beside]) if beside else []
    people = dict.fromkeys(here[n][1] for n in wanted if n < len(here))
    requests = [_forget_person(book, person, heard) for person in people]
    if requests and beside:
        requests.append(ForgetRequest(words=(text[slice(*beside)],)))
    elif not requests and (not forget_intent.asks(text) or forget_intent.needs_somebody(text)):
        requests = [ForgetRequest(words=words) for words in _strangers(text)]
    if requests:
        _ask(book, heard, requests, before)
    return bool(requests)


def _known_in(heard: Heard, sentence: Sentence) -> list[tuple[tuple[int, int], Someone]]:
    """Who was spoken of before and is meant in a request, and where."""
    return [(span, who) for span, who in _people_in(heard, sentence) if _is_known(who, heard)]


def _is_known(who: Someone, heard: Heard) -> bool:
    """Whether somebody was spoken of before they are asked to be forgotten."""
    return who.contact_id is not None or any(turn < heard.turn.id for turn in who.turns)


def _others(text: str, known: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Names in ``text`` of people whom nobody knows, whom it asks to forget beside the known."""
    for span in sorted(_names(text), reverse=True) if known else ():
        apart = all(span[1] <= start or end <= span[0] for start, end in known)
        if apart and len(known) in forget_people.asked(text, [*known, span]):
            yield span


def _names(text: str) -> list[tuple[int, int]]:
    found = [(span.start, span.end) for span in person_spans(text) if span.kind != "role"]
    written = [m.span() for m in _CAPITALS.finditer(text)]
    return found + [
        (start, end)
        for start, end in written
        if all(end <= first or last <= start for first, last in found)
    ]


# As names are written, but for the word that begins the sentence.
_CAPITALS = re.compile(r"(?<=[a-z,] )[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*(?!['’])")


def _strangers(text: str) -> list[tuple[str, ...]]:
    """The names of people whom nobody knows that ``text`` asks to forget; none of a name for a
    pronoun that means nobody."""
    found: list[tuple[str, ...]] = [
        (text[a:b],) for a, b in _names(text) if forget_people.asked(text, [(a, b)])
    ]
    pronouns = forget_phrases.pronoun_spans(text)
    return found or [() for span in pronouns if forget_people.asked(text, [span])]


def _carry_out(book: DraftBook, heard: Heard, sentence: Sentence) -> None:
    """Drop from the drafts what a request names, and ask for what was kept to be hidden.
    Without a person or a matter it means all that is kept where it says so, else the last
    statement; beside its own statement, that one, which nobody has read."""
    alone = forget_intent.stands_alone(sentence.text)
    text = forget_intent.request(sentence.text)
    here = [
        (sentence.text[a:b], who)
        for (a, b), who in _known_in(heard, sentence)
        if sentence.text[a:b] in text
    ]
    people = list(dict.fromkeys(who for _, who in here))
    called = [words for words, _ in here]
    matter = forget_phrases.matter(text, called)
    if not (people or matter.keys) and forget_intent.needs_somebody(text):
        return
    before = list(book.drafts)
    repeats = book.clock - book.asked_at <= REPEATED
    requests = _forget_named(book, heard, people, matter, text, called)
    turn_ids = [] if alone else [heard.turn.id]
    if requests is None:
        # Whoever it names is not what was said last, though nobody knows them.
        requests = [ForgetRequest(words=words) for words in _strangers(text) if words]
        turn_ids += _forget_last(book, heard, people) if alone and not requests else []
    if not (requests or turn_ids or repeats or len(book.drafts) < len(before)):
        requests = [ForgetRequest()]  # it found nothing, which is to be told
    _ask(book, heard, requests, before, turn_ids)


def _ask(
    book: DraftBook,
    heard: Heard,
    requests: list[ForgetRequest],
    before: list[Draft],
    turn_ids: Sequence[int] = (),
) -> None:
    """Notes the requests of a turn, with the turns of drafts that were dropped since."""
    turn_ids = [*turn_ids]
    for draft in (d for d in before if d not in book.drafts):
        turn_ids += [draft.turn_id, *draft.extra_turns]
    if turn_ids:
        requests.append(ForgetRequest(turn_ids=tuple(dict.fromkeys(turn_ids))))
    if heard.wanted:  # else it was carried out with its own batch
        book.forget += [replace(request, asked_in=heard.turn.id) for request in requests]
    for person in book.discourse.circle.people:
        if heard.turn.id in person.turns:
            person.turns.remove(heard.turn.id)
    book.asked_at = book.clock


def _forget_named(
    book: DraftBook,
    heard: Heard,
    people: list[Someone],
    matter: forget_phrases.Request,
    text: str,
    called: list[str],
) -> list[ForgetRequest] | None:
    """What a request names is dropped; None where it only means what was said last."""
    if matter.words or matter.keys:
        return _forget_matter(book, people, matter)
    whole = forget_phrases.whole_person(text, called)
    if matter.kin and not people and whole:
        return _forget_matter(book, [], forget_phrases.Request(matter.kin, ()))
    if not people and forget_phrases.everything(text):
        return [_forget_everything(book, heard)]
    if people and whole:
        return [_forget_person(book, person, heard) for person in people]
    return None


def _forget_matter(
    book: DraftBook, people: list[Someone], matter: forget_phrases.Request
) -> list[ForgetRequest]:
    """What was said of one matter, of these people if any are named."""
    for draft in book.about(people):
        text = draft.text().lower()
        said = any(word.lower() in text for word in matter.words)
        keys = {value.key for clause in draft.clauses for value in clause.values}
        own = not people and not draft.people()
        if said or ((people or own) and keys & set(matter.keys)):
            book.wipe(draft)
    known = [person.contact_id for person in people if person.contact_id is not None]
    if known:
        return [ForgetRequest(contact_id, matter.words, matter.keys) for contact_id in known]
    if people and not matter.words:
        return []
    words = (*(person.name for person in people), *matter.words)
    return [ForgetRequest(words=words, keys=matter.keys)]


def _forget_everything(book: DraftBook, heard: Heard) -> ForgetRequest:
    """All that was said so far, of anybody."""
    for draft in list(book.drafts):
        book.wipe(draft)
    for person in book.discourse.circle.people:
        person.turns = [turn for turn in person.turns if turn > heard.turn.id]
    return ForgetRequest(everything=True)


def _forget_person(book: DraftBook, person: Someone, heard: Heard) -> ForgetRequest:
    """Everything about a person; they are met again only if spoken of again."""
    names = [name.lower() for name in person.known_as() if len(name) > 1]
    for draft in list(book.drafts):
        text = draft.text().lower()
        if person in draft.people() or any(name in text for name in names):
            book.wipe(draft)
    person.turns = [turn for turn in person.turns if turn > heard.turn.id]
    words = () if person.contact_id else tuple(person.known_as())
    return ForgetRequest(person.contact_id, words)


def _forget_last(book: DraftBook, heard: Heard, people: list[Someone]) -> list[int]:
    """The latest statement: of this turn, else of the one before it, whose id comes back."""
    if not people and book.clock - book.asked_at <= REPEATED:
        return []
    earlier: list[int] = []
    drafts = book.about(people)
    if people:
        turns = {draft.turn_id for draft in drafts}
    elif any(draft.turn_id == heard.turn.id for draft in drafts):
        turns = {heard.turn.id}
    else:
        turns = {book.before_id}
        earlier = [book.before_id] if book.before_id else []
    for draft in drafts:
        if draft.turn_id in turns:
            book.wipe(draft)
    return earlier
