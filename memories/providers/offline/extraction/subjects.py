"""Whom a clause is about, said or unsaid."""

import re

from contacts.lexicon.rules import patterns
from contacts.resolution.namesakes import says_another
from contacts.segmentation import tagged
from contacts.text import HAN, normalise
from memories.providers.offline.extraction.person_mentions import find_spots, introduces
from memories.providers.offline.extraction.reading_state import Reading
from memories.providers.offline.extraction.referents import Book, Someone, Spot
from memories.text.sentences import Sentence, clauses
from memories.types import Turn

RE = patterns(__file__)
NEAR_HEAD = 8  # characters before the user that leave them the subject


def subject_of(reading: Reading, text: str, spots: list[Spot]) -> tuple[Someone | None, bool]:
    """Whom the clause is about, and whether it says so itself."""
    first = next((s for s in spots if s.how != "group"), None)
    met = next((s for s in spots if s.who is not None), None)
    opens_with_user = first is not None and first.who is None
    another = next((s for s in spots if says_another(text, s.start, s.end)), None)
    if (
        another is not None
        and another.who is not None
        and RE.tells_of.search(text[: another.start])
    ):
        return another.who, True
    if opens_with_user and met is not None and introduces(text[: met.start]):
        return met.who, True
    if met is None and re.match(r"(?:my|our)\s", text, re.I):
        return None, True
    if first is None:
        return reading.topic, False
    before = text[: first.start]
    if first.how == "owned" and first.who is not None and before.endswith("是"):
        return first.who.owner, True
    told_of = next(
        (
            s.who
            for s in spots
            if s.start >= first.end
            and s.who not in {None, first.who}
            and s.how != "pronoun"
            and RE.says.fullmatch(text[first.end : s.start])
        ),
        None,
    )
    if told_of is not None:
        return told_of, True
    if RE.subject_lead.match(before):
        return first.who, True
    if first.who is None:
        return _beside_user(reading, before)
    return _after_words(reading, text, first, before)


def _beside_user(reading: Reading, before: str) -> tuple[Someone | None, bool]:
    """The clause names the user first, after other words: as its subject or its object."""
    topic = reading.topic
    if topic is not None and RE.object_of.search(before):
        return topic, False
    if topic is not None and topic in reading.book.people and _has_verb(before):
        return topic, False
    return None, len(before) < NEAR_HEAD


def _after_words(
    reading: Reading, text: str, first: Spot, before: str
) -> tuple[Someone | None, bool]:
    """The clause names a person first, after other words."""
    if RE.beside.search(before):
        return None, True
    if introduces(before):
        return first.who, True
    after = text[first.end :]
    if not HAN.search(text) and re.match(r"(?:is|was)\s", after.lstrip()):
        return first.who, True
    nominal = re.match(r"[\u4e00-\u9fff]{0,6}的?$", before)
    if nominal and not re.match(r"是|：", after) and before.endswith(("的", "是")):
        return first.who, True
    return reading.topic, False


def surviving(book: Book, someone: Someone | None) -> Someone | None:
    """The person that ``someone`` became when two turned out to be one."""
    if someone is None or someone in book.people:
        return someone
    return book.by_name(someone.name)


def note_things(reading: Reading, text: str, spots: list[Spot]) -> None:
    """Remember the things that the user says they use, attend or pass by."""
    if any(spot.who is None for spot in spots):
        reading.things += [match.group("t") for match in RE.thing.finditer(text)]


def is_thing(reading: Reading, text: str) -> bool:
    """Whether a clause is about a thing of the user's world, by name."""
    return bool(RE.property.match(text)) or any(text.startswith(thing) for thing in reading.things)


def is_impersonal(text: str, spots: list[Spot]) -> bool:
    """Whether a clause speaks of the weather, the traffic, the hour, and of nobody."""
    return not spots and bool(RE.impersonal.search(text))


def opens_with_banned(book: Book, text: str) -> bool:
    """A clause that opens with a pet, a star or somebody in a story."""
    head = normalise(text)
    return any(head.startswith(name) for name in book.banned if len(name) > 1)


def touch_people(reading: Reading, turn: Turn, text: str) -> None:
    """People in a question or an order are spoken of, though nothing is stated."""
    for clause in clauses(Sentence(text, 0)):
        spots = find_spots(reading, clause.text)
        note_people(reading.book, spots, turn)
        subject = next((spot for spot in spots if spot.who is not None), None)
        if subject is not None:
            reading.topic = subject.who


def note_people(book: Book, spots: list[Spot], turn: Turn) -> None:
    """Everybody in a clause has been spoken of in this turn, the first of them last."""
    for spot in reversed(spots):
        if spot.who is not None:
            book.touch(spot.who, turn.id)
            owner = spot.who.owner
            if owner is not None and spot.how == "owned" and turn.id not in owner.turn_ids:
                owner.turn_ids.append(turn.id)


def _has_verb(before: str) -> bool:
    """Whether the words before a spot hold a verb, which makes the spot its object."""
    if not HAN.search(before):
        return False
    if re.search(r"[周月天年号日晚早上午点]$", before.strip()):
        return False
    return (
        any(
            flag[0] == "v" and word not in {"是", "有", "要", "想", "会", "能"}
            for word, flag in tagged(before)
        )
        and len(before.strip()) > 1
    )
