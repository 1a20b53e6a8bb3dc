"""Corrections and retractions: what they end of what was said before."""

import re
from dataclasses import dataclass

from contacts.lexicon import words
from contacts.lexicon.rules import patterns, rows
from contacts.text import simplified
from memories.providers.offline.reading.choices import CORRECTS, SAME_MATTER
from memories.providers.offline.reading.circle import Someone
from memories.providers.offline.reading.discourse_reading import Heard
from memories.providers.offline.reading.draft_book import DraftBook
from memories.providers.offline.reading.facts import read_values
from memories.providers.offline.reading.speech import confesses_joke
from memories.providers.offline.reading.telling import Clause, Draft
from memories.text.sentences import Sentence

RE = patterns(__file__)
_CONTRASTS = rows(__file__, "contrasts")
_SHAPES = rows(__file__, "shapes")
LONGEST_VALUE = 24


@dataclass(frozen=True, slots=True)
class Replacement:
    """``new`` for ``old`` (empty: whatever has the same shape)."""

    old: str
    new: str


def put_right(book: DraftBook, heard: Heard, sentence: Sentence) -> bool:
    """Carries out a correction or retraction on the drafts; True where the sentence did nothing
    else, so that it is no statement of its own."""
    text = sentence.text
    if confesses_joke(text):
        _take_back_last(book, heard)
        return True
    change = replacement(text)
    if change is None:
        return bool(RE.only_mistake.match(text.strip(" ，,。.!！")))
    for draft in reversed(book.drafts):
        if draft.turn_id == heard.turn.id and draft.sentence.start >= sentence.start:
            continue
        if _reassigned(book, draft, change) or _applied(draft, change):
            _retell(book, draft, heard)
            return True
    return False


def replacement(text: str) -> Replacement | None:
    """The correction that ``text`` makes, if any."""
    plain = simplified(text)
    for row in _CONTRASTS:
        match = row["pattern"].search(plain)
        if match is None:
            continue
        old, new = (text[slice(*match.span(group))].strip() for group in ("old", "new"))
        vague = any(word in match.group("old") for word in words("grammar_zh", "no_value"))
        if not vague and old and new and old != new and len(old) <= LONGEST_VALUE:
            kept = RE.before_new.sub("", new.strip("了 ")) or new
            if old[-1] == kept[-1] and old[-1] in "的人" and len(old) > 2 < len(kept):
                old, kept = old[:-1], kept[:-1]
            if len(kept.split()) > len(old.split()) and match.start("new") < match.start("old"):
                kept = RE.before_value.sub("", kept)
            return Replacement(old, kept)
    for row in _SHAPES:
        match = row["pattern"].search(plain)
        if match and RE.date.search(match.group("new")):
            return Replacement("", text[slice(*match.span("new"))].strip())
    return None


def _take_back_last(book: DraftBook, heard: Heard) -> None:
    """What the user said in their last turn before, else in this one, was no statement."""
    told = [d for d in book.drafts if d.turn_id != heard.turn.id] or book.drafts
    if told:
        last = told[-1].turn_id
        for draft in [d for d in book.drafts if d.turn_id == last]:
            book.drop(draft)


def _retell(book: DraftBook, draft: Draft, heard: Heard) -> None:
    """A draft put right stands for what an earlier batch kept, and is told last."""
    if not draft.heard.wanted:
        book.retract(draft)
    if heard.turn.id != draft.turn_id:
        draft.extra_turns.append(heard.turn.id)
    book.drafts.remove(draft)
    book.drafts.append(draft)


def _reassigned(book: DraftBook, draft: Draft, change: Replacement) -> bool:
    """What was said of one person was said of another."""
    circle = book.discourse.circle
    old = next(iter(_exactly(book, change.old)), None) if change.old else None
    new = next(iter(_exactly(book, change.new)), None)
    if old is None or new is None or old is new or old not in draft.people():
        return False
    for clause in draft.clauses:
        if clause.subject is old:
            clause.subject = new
        for spot in clause.spots:
            if spot.who is old:
                _swap(clause, spot.start, spot.end, new.name)
                spot.who = new
    if old.contact_id is None and all(old not in d.people() for d in book.drafts):
        circle.people.remove(old)
        circle.changed()
    return True


def _exactly(book: DraftBook, name: str) -> list[Someone]:
    return [p for p in book.discourse.circle.bearers(name) if p.named]


def _applied(draft: Draft, change: Replacement) -> bool:
    """Puts ``change`` into ``draft``; False when it has no place there."""
    for clause in draft.clauses:
        if change.old:
            edge = r"(?<![A-Za-z0-9]){}(?![A-Za-z0-9])"
            found = re.search(edge.format(re.escape(change.old)), clause.text)
            spans = [found.span()] if found else []
        else:
            spans = [m.span() for m in [RE.date.search(simplified(clause.text))] if m]
        for start, end in spans:
            if not any(s.start < end and start < s.end and s.who for s in clause.spots):
                _swap(clause, start, end, change.new)
                return True
    return False


def _swap(clause: Clause, start: int, end: int, new: str) -> None:
    """Writes ``new`` at a place of a clause; what stands behind moves along."""
    shift = len(new) - (end - start)
    clause.text = clause.text[:start] + new + clause.text[end:]
    for spot in clause.spots:
        if spot.start >= end:
            spot.start += shift
            spot.end += shift
        elif spot.start == start and spot.end == end:
            spot.text, spot.end = new, end + shift
    clause.values = read_values(clause.text, clause.spots, clause.subject)


def taken_over(book: DraftBook, judged: list[Draft]) -> None:
    """What a turn puts right without saying what was wrong ends what it is nearest to of what was
    said of the same people before."""
    for draft in judged:
        judgement = draft.judgement
        if judgement is None or judgement.act["correct"] < CORRECTS:
            continue
        before = [
            other
            for other in judged[: judged.index(draft)]
            if other in book.drafts
            and other.turn_id != draft.turn_id
            and set(other.people()) == set(draft.people())
        ]
        near = max(before, key=lambda other: _cosine(other, draft), default=None)
        if near is not None and _cosine(near, draft) >= SAME_MATTER:
            book.drafts.remove(near)


def _cosine(one: Draft, other: Draft) -> float:
    return sum(a * b for a, b in zip(one.vector, other.vector, strict=True))
