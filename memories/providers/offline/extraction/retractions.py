"""Carrying out corrections, retractions and requests to forget on what has been drafted."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from contacts.segmentation import tagged
from contacts.text import HAN
from memories.dates import find_dates
from memories.providers.offline import forget_phrases
from memories.providers.offline.extraction import repairs
from memories.providers.offline.extraction.draft import Draft, Piece
from memories.providers.offline.extraction.name_spans import (
    chinese_name_at,
    latin_names,
    surname_end,
)
from memories.providers.offline.extraction.person_mentions import known_spots, people_in
from memories.providers.offline.extraction.reading_state import Reading
from memories.providers.offline.extraction.referents import Book, Someone
from memories.providers.offline.extraction.speech_acts import is_joke_confession
from memories.providers.offline.extraction.stated_values import Value
from memories.providers.offline.extraction.statements import read_statement
from memories.providers.offline.lexicons import english_places, relations, surnames
from memories.text import forget_intent, forget_people
from memories.text.sentences import Sentence
from memories.types import ForgetRequest, Turn


def take_back(reading: Reading, turn: Turn, sentence: Sentence, rest: list[Sentence]) -> bool:
    """Corrections and retractions; True when the sentence did nothing else."""
    text = sentence.text
    if _forget_people(reading, turn, text):
        return True
    if forget_intent.asks(text):
        alone = forget_intent.stands_alone(text)
        _carry_out_forget(reading, turn, forget_intent.request(text), alone=alone)
        return True
    if is_joke_confession(text):
        joked = repairs.joked_about(text)
        if joked:
            _retract_about(reading, turn, joked)
        else:
            _retract_last(reading, turn)
        return True
    if repairs.cancels(text):
        planned = [
            d
            for d in reading.drafts
            if d.turn.id != turn.id and find_dates(d.text(), d.turn.said_at, True)
        ]
        if planned:
            _drop(reading, planned[-1])
        return len(text) < 8
    replaced = repairs.replacement(text)
    if replaced is not None:
        return _correct(reading, turn, sentence, replaced)
    if repairs.is_mistake(text):
        about = repairs.about(text)
        if about or not any(repairs.replacement(s.text) for s in rest):
            _retract_about(reading, turn, about or "", last=not about and not rest)
        return repairs.only_mistake(text)
    return False


def _retract_last(reading: Reading, turn: Turn) -> None:
    earlier = [d for d in reading.drafts if d.turn.id != turn.id] or reading.drafts
    if earlier:
        last = earlier[-1].turn.id
        for draft in [d for d in reading.drafts if d.turn.id == last]:
            _drop(reading, draft)


def _drop(reading: Reading, draft: Draft) -> None:
    if draft in reading.drafts:
        reading.drafts.remove(draft)
    _retract(reading, draft)


def _retract(reading: Reading, draft: Draft) -> None:
    if draft.turn.id not in reading.retracted:
        reading.retracted.append(draft.turn.id)


def _retell(reading: Reading, draft: Draft, turn: Turn) -> None:
    """A draft put right in ``turn`` stands for what an earlier batch kept."""
    if draft.turn.id not in reading.wanted:
        _retract(reading, draft)
    draft.extra_turns.append(turn.id)


def _retract_about(reading: Reading, turn: Turn, words: str, *, last: bool = False) -> None:
    """Drop what was said about ``words``; with nothing named, what was said last."""
    keys = repairs.keywords(words)
    spots = known_spots(reading, words) if words else []
    people = {id(spot.who) for spot in spots}
    hit = False
    for draft in list(reading.drafts):
        text = " ".join(piece.text for piece in draft.pieces)
        about = not people or any(id(p) in people for p in draft.people())
        if keys and about and any(key.lower() in text.lower() for key in keys):
            _drop(reading, draft)
            hit = True
    if not hit and people and not keys:
        for draft in [d for d in reading.drafts if any(id(p) in people for p in d.people())]:
            _drop(reading, draft)
            hit = True
    if not hit and last:
        _retract_last(reading, turn)


def _correct(reading: Reading, turn: Turn, sentence: Sentence, change: repairs.Replacement) -> bool:
    """Put the right value where the wrong one stood, the right person where a wrong one."""
    mistaken = _called_exactly(reading.book, change.old) if change.old else None
    if mistaken is not None and _is_person_name(reading.book, change.new, mistaken):
        return _reassign(reading, turn, mistaken, change.new) and change.whole
    for draft in reversed(reading.drafts):
        if change.moved and (
            draft.turn.id == turn.id
            or not repairs.same_event(draft.text(), sentence.text, turn.id - draft.turn.id)
        ):
            continue
        if repairs.apply(draft, change):
            _retell(reading, draft, turn)
            reading.drafts.remove(draft)
            reading.drafts.append(draft)
            subject = draft.subject
            if subject is not None:
                reading.topic = subject
                reading.book.touch(subject)
            return change.whole
    if change.moved:
        return False
    if change.old and change.new and mistaken is None and HAN.search(sentence.text):
        _state_right(reading, turn, sentence, change)
        return True
    return False


def _state_right(
    reading: Reading, turn: Turn, sentence: Sentence, change: repairs.Replacement
) -> None:
    """What is corrected was never noted: the right value is a statement of its own."""
    reading.stale = change.old
    head = sentence.text[: change.start]
    text = head + repairs.restated(sentence.text, change)
    read_statement(reading, turn, Sentence(text, sentence.start), quote=sentence.text)
    last = reading.drafts[-1] if reading.drafts else None
    if (
        repairs.names_employer(sentence.text, change)
        and last is not None
        and last.turn.id == turn.id
        and last.subject is not None
        and last.pieces
        and not last.pieces[0].values
    ):
        last.pieces[0].values.append(Value("company", change.new.removeprefix("在"), 0, 0))


_LATIN = re.compile(r"[A-Z][a-zÀ-ÿ'’-]+(?:\s[A-Z][a-zÀ-ÿ'’-]+)?")
_HAN = re.compile(r"[\u4e00-\u9fff]{2,4}")


def _called_exactly(book: Book, name: str) -> Someone | None:
    """Who is called exactly ``name``."""
    known = book.by_name(name)
    return known if known is not None and known.named else None


def _is_person_name(book: Book, words: str, old: Someone) -> bool:
    """Whether ``words`` are nothing but the name of a person, to stand for ``old``'s."""
    if _called_exactly(book, words) is not None:
        return True
    if words in relations() or book.is_banned(words):
        return False
    if _LATIN.fullmatch(words):
        return words not in english_places()
    if not _HAN.fullmatch(words) or any(flag == "ns" for _, flag in tagged(words)):
        return False
    alike = len(words) == len(old.name) and bool(set(words) & set(old.name))
    return alike or (words[0] in surnames() and len(words) > 1)


def _reassign(reading: Reading, turn: Turn, old: Someone, name: str) -> bool:
    """What was last said of ``old`` was said of ``name``; False when nothing was."""
    told = [d for d in reading.drafts if d.turn.id != turn.id and old in d.people()]
    if not told:
        return False
    new = _called_exactly(reading.book, name) or reading.book.meet(name, named=True)
    wrong = [d for d in told if d.turn.id == told[-1].turn.id]
    if not new.relationship and any(
        old.word and old.word in piece.text for d in wrong for piece in d.pieces
    ):
        new.relationship, new.relation, new.word = old.relationship, old.relation, old.word
        new.gender = new.gender or old.gender
    for draft in wrong:
        _give(draft, old, new)
        _retell(reading, draft, turn)
    if old.contact_id is None and len(wrong) == len(told):
        reading.book.people.remove(old)
        reading.book.recent[:] = [person for person in reading.book.recent if person is not old]
    reading.topic = new
    reading.book.touch(new, turn.id)
    return True


def _give(draft: Draft, old: Someone, new: Someone) -> None:
    draft.subject = new if draft.subject is old else draft.subject
    draft.introduces = new if draft.introduces is old else draft.introduces
    draft.side_facts = [
        (new if who is old else who, key, value) for who, key, value in draft.side_facts
    ]
    for piece in draft.pieces:
        _rewrite(piece, old, new)


def _rewrite(piece: Piece, old: Someone, new: Someone) -> None:
    """Every place of ``old`` in a clause becomes one of ``new``; what follows moves along."""
    for spot in piece.spots:
        if spot.who is not old:
            continue
        spot.who = new
        words = spot.text.replace(old.name, new.name)
        end, shift = spot.end, len(words) - len(spot.text)
        piece.text = piece.text[: spot.start] + words + piece.text[end:]
        spot.text, spot.end = words, end + shift
        for other in piece.spots:
            if other is not spot and other.start >= end:
                other.start, other.end = other.start + shift, other.end + shift
        piece.values[:] = [
            replace(v, start=v.start + shift, end=v.end + shift) if v.start >= end else v
            for v in piece.values
        ]


REPEATED = 2  # user turns within which a second, bare request only repeats the first


def _forget_people(reading: Reading, turn: Turn, text: str) -> bool:
    """Carries out a request to forget people altogether; False where ``text`` is none."""
    if not forget_people.may_ask(text):
        return False
    before = list(reading.drafts)
    spots = people_in(reading, text)
    known = [(spot.start, spot.end) for spot in spots]
    wanted, beside = forget_people.asked(text, known), None
    if not wanted:  # somebody whom nobody knows may stand beside them
        beside = next(_others(text, known), None)
        wanted = forget_people.asked(text, [*known, beside]) if beside else []
    people = dict.fromkeys(
        who for n in wanted if n < len(spots) and (who := spots[n].who) is not None
    )
    requests = [_forget_person(reading, person) for person in people]
    if requests and beside:
        requests.append(ForgetRequest(words=(text[slice(*beside)],)))
    elif not requests and (not forget_intent.asks(text) or forget_intent.needs_somebody(text)):
        requests = [ForgetRequest(words=words) for words in _strangers(text)]
    if requests:
        _ask(reading, turn, requests, before)
    return bool(requests)


def _others(text: str, known: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Names in ``text`` of people whom nobody knows, whom it asks to forget beside the known."""
    for span in sorted(_names(text), reverse=True) if known else ():
        apart = all(span[1] <= start or end <= span[0] for start, end in known)
        if apart and len(known) in forget_people.asked(text, [*known, span]):
            yield span


def _names(text: str) -> list[tuple[int, int]]:
    """Where ``text`` has what may be a name of somebody."""
    latin = [(start, surname_end(text, end)) for start, end, _ in latin_names(text)]
    ends = [(start, chinese_name_at(text, start, strong=False)) for start in range(len(text))]
    names = [*latin, *((start, end) for start, end in ends if end is not None)]
    return [(a, b) for a, b in names if text[a:b] not in english_places()]


def _strangers(text: str) -> list[tuple[str, ...]]:
    """The names of people whom nobody knows that ``text`` asks to forget; none of a name for a
    pronoun that means nobody."""
    found: list[tuple[str, ...]] = [
        (text[a:b],) for a, b in _names(text) if forget_people.asked(text, [(a, b)])
    ]
    pronouns = forget_phrases.pronoun_spans(text)
    return found or [() for span in pronouns if forget_people.asked(text, [span])]


def _carry_out_forget(reading: Reading, turn: Turn, text: str, *, alone: bool) -> None:
    """Drop from the drafts what a request names, and ask for what was kept to be hidden.
    Without a person or a matter it means all that is kept where it says so, else the last
    statement; not ``alone``, that is the rest of its own sentence, which nobody has read."""
    spots = [spot for spot in known_spots(reading, text) if spot.who is not None]
    people = list(dict.fromkeys(spot.who for spot in spots if spot.who is not None))
    called = [spot.text for spot in spots]
    matter = forget_phrases.matter(text, called)
    if not (people or matter.keys) and forget_intent.needs_somebody(text):
        return
    before = list(reading.drafts)
    repeats = reading.book.clock - reading.asked_to_forget <= REPEATED
    requests = _forget_named(reading, people, matter, text, called)
    turn_ids = [] if alone else [turn.id]
    if requests is None:
        # Whoever it names is not what was said last, though nobody knows them.
        requests = [ForgetRequest(words=words) for words in _strangers(text) if words]
        turn_ids += _forget_last(reading, turn, people) if alone and not requests else []
    if not (requests or turn_ids or repeats or len(reading.drafts) < len(before)):
        requests = [ForgetRequest()]  # it found nothing, which is to be told
    _ask(reading, turn, requests, before, turn_ids)


def _ask(
    reading: Reading,
    turn: Turn,
    requests: list[ForgetRequest],
    before: list[Draft],
    turn_ids: Sequence[int] = (),
) -> None:
    """Notes the requests of a turn, with the turns of drafts that were dropped since."""
    turn_ids = [*turn_ids]
    for draft in (d for d in before if d not in reading.drafts):
        turn_ids += [draft.turn.id, *draft.extra_turns]
    if turn_ids:
        requests.append(ForgetRequest(turn_ids=tuple(dict.fromkeys(turn_ids))))
    if turn.id in reading.wanted:  # else it was carried out with its own batch
        reading.forget += [replace(request, asked_in=turn.id) for request in requests]
    reading.asked_to_forget = reading.book.clock


def _forget_named(
    reading: Reading,
    people: list[Someone],
    matter: forget_phrases.Request,
    text: str,
    called: list[str],
) -> list[ForgetRequest] | None:
    """What a request names is dropped; None where it only means what was said last."""
    if matter.words or matter.keys:
        return _forget_matter(reading, people, matter)
    whole = forget_phrases.whole_person(text, called)
    if matter.kin and not people and whole:
        return _forget_matter(reading, [], forget_phrases.Request(matter.kin, ()))
    if not people and forget_phrases.everything(text):
        return [_forget_everything(reading)]
    if people and whole:
        return [_forget_person(reading, person) for person in people]
    return None


def _forget_matter(
    reading: Reading, people: list[Someone], matter: forget_phrases.Request
) -> list[ForgetRequest]:
    """What was said of one matter, of these people if any are named."""
    for draft in list(reading.drafts):
        about = not people or any(p in people for p in draft.people())
        text = draft.text().lower()
        said = any(word.lower() in text for word in matter.words)
        keys = {value.key for piece in draft.pieces for value in piece.values}
        own = not people and not draft.people()
        if about and (said or ((people or own) and keys & set(matter.keys))):
            _wipe(reading, draft)
    known = [person.contact_id for person in people if person.contact_id is not None]
    if known:
        return [ForgetRequest(contact_id, matter.words, matter.keys) for contact_id in known]
    if people and not matter.words:
        return []
    words = (*(person.name for person in people), *matter.words)
    return [ForgetRequest(words=words, keys=matter.keys)]


def _forget_everything(reading: Reading) -> ForgetRequest:
    """All that was said so far, of anybody."""
    for draft in list(reading.drafts):
        _wipe(reading, draft)
    for person in reading.book.people:
        person.turn_ids.clear()
    reading.topic = None
    return ForgetRequest(everything=True)


def _forget_person(reading: Reading, person: Someone) -> ForgetRequest:
    """Everything about a person; they are met again only if spoken of again."""
    names = [n.lower() for n in (person.name, *person.aliases) if len(n) > 1]
    for draft in list(reading.drafts):
        text = draft.text().lower()
        if person in draft.people() or any(name in text for name in names):
            _wipe(reading, draft)
    person.turn_ids.clear()
    if reading.topic is person:
        reading.topic = None
    words = () if person.contact_id else (person.name, *person.aliases)
    return ForgetRequest(person.contact_id, words)


def _forget_last(reading: Reading, turn: Turn, people: list[Someone]) -> list[int]:
    """The latest statement: of this turn, else of the one before it, whose id comes back."""
    if not people and reading.book.clock - reading.asked_to_forget <= REPEATED:
        return []
    earlier: list[int] = []
    drafts = [d for d in reading.drafts if not people or any(p in people for p in d.people())]
    if people:
        turns = {draft.turn.id for draft in drafts}
    elif any(draft.turn.id == turn.id for draft in drafts):
        turns = {turn.id}
    else:
        turns = {reading.before_id}
        earlier = [reading.before_id] if reading.before_id else []
    for draft in drafts:
        if draft.turn.id in turns:
            _wipe(reading, draft)
    return earlier


def _wipe(reading: Reading, draft: Draft) -> None:
    """Nothing is kept of the turns of a draft."""
    reading.drafts.remove(draft)
    for person in draft.people():
        if draft.turn.id in person.turn_ids:
            person.turn_ids.remove(draft.turn.id)
