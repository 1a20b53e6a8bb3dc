"""A batch of turns in, people, memories and relations out."""

import re
from collections.abc import Iterable
from datetime import timedelta

from contacts.lexicon.rules import patterns
from contacts.text import HAN
from memories.providers.offline.extraction.ellipsis import draft_own_pet
from memories.providers.offline.extraction.excluded_names import ban_machines, note_excluded, pet_in
from memories.providers.offline.extraction.naming import own_names
from memories.providers.offline.extraction.person_mentions import (
    index_contacts,
    known_spots,
    look_up_contacts,
)
from memories.providers.offline.extraction.reading_state import Reading
from memories.providers.offline.extraction.realization import realize
from memories.providers.offline.extraction.referents import Book, Someone
from memories.providers.offline.extraction.retractions import take_back
from memories.providers.offline.extraction.speech_acts import (
    Act,
    judge,
    laughs,
    until_override,
)
from memories.providers.offline.extraction.statements import read_sentence, read_statement
from memories.text.own_words import excerpt, quoted_parts
from memories.text.sentences import Sentence, sentences
from memories.types import Extraction, ExtractionRequest, Turn

RE = patterns(__file__)
SESSION_GAP = timedelta(hours=6)


def extract(request: ExtractionRequest) -> Extraction:
    """The memories and people in a batch of turns, by rules alone. The batch is read twice:
    names that come out late are known from the first line on."""
    named = [person for person in _read(request).book.people if person.named]
    owners = [
        person.owner for person in named if person.owner is not None and person.owner not in named
    ]
    return realize(_read(request, [*owners, *named]))


def _read(request: ExtractionRequest, met: Iterable[Someone] = ()) -> Reading:
    """One pass over the turns in order; ``met`` are people known from an earlier pass."""
    reading = _begin(request, met)
    for turn in (*request.context, *request.turns):
        if turn.role == "assistant":
            _listen(reading, turn)
        elif turn.role == "user":
            reading.book.clock += 1
            _session(reading, turn)
            reading.turn_ids = (turn.id,)
            reading.book.renewing = turn.id in reading.wanted
            _turn(reading, turn)
            reading.asked, reading.asked_name = "", False
            reading.before_id = turn.id
    return reading


def _begin(request: ExtractionRequest, met: Iterable[Someone]) -> Reading:
    book = Book(request.people, request.user_names)
    book.foresee(met)
    ban_machines(book)
    wanted = frozenset(turn.id for turn in request.turns)
    return Reading(request, book, index_contacts(request.people), wanted)


def _session(reading: Reading, turn: Turn) -> None:
    """A new session or a long silence ends topics and stories."""
    before = reading.said_at
    if before is not None and (
        turn.session_id != reading.session or turn.said_at - before > SESSION_GAP
    ):
        reading.topic = reading.awaiting = None
        reading.asked = reading.pasted = ""
        reading.making = reading.in_story = False
    reading.said_at, reading.session = turn.said_at, turn.session_id


def _listen(reading: Reading, turn: Turn) -> None:
    """What the assistant says only helps to understand the answer to it."""
    text = excerpt(turn.content)
    look_up_contacts(reading, text)
    questions = [s.text for s in sentences(text) if s.end_mark[:1] in {"?", "？"}]
    reading.asked = questions[-1] if questions else ""
    reading.asked_people = bool(
        re.search(r"[他她]|\b(?:he|she|him|her|his)\b", reading.asked, re.I)
    )
    reading.asked_name = bool(RE.asks_name.search(reading.asked))
    if not reading.asked:
        return
    spots = known_spots(reading, reading.asked)
    people = [spot.who for spot in spots if spot.who is not None]
    about_user = RE.about_you.search(reading.asked)
    reading.asked_people = reading.asked_people or bool(people)
    if people:
        if not about_user or reading.asked.index(about_user.group()) > spots[0].start:
            reading.topic = people[0]
            reading.book.touch(people[0])
    elif about_user and not RE.offers.search(reading.asked):
        reading.topic = None


def _turn(reading: Reading, turn: Turn) -> None:
    text = until_override(excerpt(turn.content))
    _learn_own_names(reading, text)
    look_up_contacts(reading, text)
    pets = note_excluded(reading, text)
    if not text.strip():
        reading.pasted = quoted_parts(turn.content)
        return
    if reading.in_story:
        return
    if _confirmation(reading, turn, text):
        return
    for name in dict.fromkeys(pets):
        draft_own_pet(reading, turn, name, "")
    reading.making, reading.stale = False, ""
    reading.identified = reading.introduced = None
    laughing = laughs(text)
    parts = sentences(text)
    gossip = any(judge(s.text, s.end_mark) is Act.GOSSIPS for s in parts)
    for number, sentence in enumerate(parts):
        if reading.making:
            break
        if take_back(reading, turn, sentence, parts[number + 1 :]):
            continue
        read_sentence(reading, turn, sentence, laughing=laughing, gossip=gossip)


def _learn_own_names(reading: Reading, text: str) -> None:
    """The user's own names are nobody else's."""
    if reading.in_story:
        return
    for name in own_names(text):
        known = reading.book.by_name(name)
        if known is not None and known.contact_id is not None:
            continue
        for form in dict.fromkeys((name, name.split()[0])):
            reading.book.ban(form)
        if name not in reading.own_names:
            reading.own_names.append(name)


def _confirmation(reading: Reading, turn: Turn, text: str) -> bool:
    """Yes to a closed question makes what was asked the user's own statement."""
    asked = reading.asked
    if not asked or not RE.yes.match(text.strip()):
        return False
    said = re.sub(r"[吗吧呢]?$", "", asked)
    note_excluded(reading, said)
    pet = pet_in(said)
    if pet:
        draft_own_pet(reading, turn, pet, text)
        return True
    if RE.who_asks.search(asked) or len(asked) > 40:
        return False
    statement = re.sub(r"^(?:那|所以|so|and|oh)[，,\s]*", "", asked, flags=re.I)
    if HAN.search(statement):
        if re.search(r"要不要|需要|提醒|要我|可以|能不能|是不是|还是|新[室同老邻]", statement):
            return False
        statement = re.sub(r"[吗吧呢呀啊么]+$", "", statement).replace("你", "我")
        read_statement(reading, turn, Sentence(statement, -1), quote=text.strip(), confidence=0.8)
    return False
