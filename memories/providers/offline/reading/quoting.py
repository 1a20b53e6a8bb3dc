"""A turn's sentences as quotes: the user's own words, with what they leave open in brackets."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from memories.providers.offline.judge import Judgement
from memories.providers.offline.reading.circle import Circle, PersonDraft
from memories.providers.offline.reading.discourse_reading import SpokenTurn
from memories.providers.offline.reading.entity_linking import Spot, within
from memories.providers.offline.reading.facts import Value, facts_of, subject_of
from memories.types import ANSWER_DASH, ForgetRequest
from understanding.certainty import CERTAIN, GOES_ON, NOTED
from understanding.dates.relative_dates import find_dates
from understanding.lexicon.rules import patterns
from understanding.sentences import Sentence, clauses
from understanding.text import HAN, is_chinese, simplified
from understanding.text_document import read

RE = patterns(__file__)
# A sentence of fewer words (of Chinese, half as many characters again) that says of nobody whom it
# is about can't stand alone, nor one that only names somebody.
FRAGMENT, NAME = 6, 3
LONGEST = 300  # characters of sentences quoted together
NEAR_DAYS = 90  # a month without a year that is nearer is the one that is meant
# What is glued to a pronoun (she's).
_SHORT_VERB = re.compile(r"['’]\w+")


def injects(text: str) -> bool:
    """Whether ``text`` poses as an instruction to a model."""
    return bool(RE.injects.search(text))


def wishes(text: str) -> bool:
    """Whether a sentence asks for something of all answers to come (always in short, 以后都用列表)."""
    return not injects(text) and bool(RE.wishes.search(simplified(text)))


@dataclass(frozen=True, slots=True)
class Before:
    """What a quote is shown behind: the question that it answers, or what it puts right."""

    text: str
    spots: Sequence[Spot]
    said_at: datetime


@dataclass(eq=False, slots=True)
class Draft:
    """A quote under construction, with the places in its ``sentence`` that mean somebody. ``subject``
    is whom it begins with, None where that is the user or nobody; ``explicit``: it says so itself."""

    spoken: SpokenTurn
    sentence: Sentence
    spots: list[Spot]
    subject: PersonDraft | None
    explicit: bool
    values: list[tuple[Value, PersonDraft | None]] = field(default_factory=list)
    judgement: Judgement | None = None
    extra_turns: list[int] = field(default_factory=list)
    before: Before | None = None
    wish: bool = False  # asks for something of all answers to come
    goes_on: float = 0.0  # how sure it goes on about the subject of the sentence before it

    @property
    def judged(self) -> Judgement:
        """Its judgement, which everything that is kept has."""
        if self.judgement is None:
            raise ValueError("not judged")
        return self.judgement

    @property
    def turn_id(self) -> int:
        return self.spoken.turn.id

    def people(self) -> list[PersonDraft]:
        """Everybody it is about, its subject first."""
        found = [self.subject] if self.subject is not None else []
        for spot in (*self.spots, *(self.before.spots if self.before else ())):
            found += spot.people
        return list(dict.fromkeys(found))

    def sure(self) -> float:
        """The least confidence that a word for somebody means whom it is taken to mean."""
        sure = [spot.confidence for spot in self.spots if spot.how in ("pronoun", "several")]
        return min((*sure, *self._sure_of_subject()), default=1.0)

    def sure_of(self, one: PersonDraft) -> float:
        """How sure it is that somebody is meant: as sure as the surest word for them."""
        sure = self._sure_of_subject() if one is self.subject else []
        for spot in (*self.spots, *(self.before.spots if self.before else ())):
            if one in spot.people:
                sure.append(spot.confidence_in(one))
        return max(sure, default=1.0)

    def _sure_of_subject(self) -> list[float]:
        """How sure it is whom the words leave out, where they do."""
        left_out = self.subject is not None and not self.explicit
        return [self.goes_on or self.spoken.dropped_confidence] if left_out else []

    def words(self) -> str:
        """The user's words as they were typed, with the sign that ends them."""
        added = self._added()
        typed = [char for at, char in enumerate(self.sentence.text) if at not in added]
        return "".join(typed) + self.sentence.end_mark

    def _added(self) -> list[int]:
        start, end = self.sentence.start, self.sentence.start + len(self.sentence.text)
        return [at - start for at in self.spoken.added if start <= at < end]

    def is_fragment(self) -> bool:
        """Whether it is too short to stand without what was said before it."""
        return not self.wish and self.size() < (NAME if self.explicit else FRAGMENT)

    def size(self) -> float:
        """Its words; of Chinese, two for three characters."""
        text = self.sentence.text
        return len(re.findall(r"[^\W\d_]+", HAN.sub(" ", text))) + len(HAN.findall(text)) / 1.5

    def content(self) -> tuple[str, list[tuple[int, int]]]:
        """The quote with what it leaves open in brackets, and where these stand in it."""
        said_at = self.spoken.turn.said_at
        whom = self.subject
        dropped = whom is not None and not self.explicit and self.sure() >= CERTAIN
        found = _notes(self.sentence.whole, self.spots, said_at, whom if dropped else None)
        added = self._added()
        notes = [(at - bisect_left(added, at), note) for at, note in found]
        text = self.words()
        if self.before is None:
            return _with_notes(text, notes)
        asked = _notes(self.before.text, self.before.spots, self.before.said_at)
        question, _ = _with_notes(self.before.text, asked)
        dash = ANSWER_DASH["zh" if is_chinese(question) else "en"]
        return _with_notes(text, [(0, question + dash), *notes])


@dataclass(slots=True)
class DraftBook:
    """What has been drafted of a batch so far. ``retracted`` are turns whose statements the user
    took back; ``clock`` counts the user's turns, ``asked_at`` is when they last asked to forget
    something, ``before_id`` their turn before the one being read."""

    circle: Circle
    user_names: Sequence[str] = ()
    drafts: list[Draft] = field(default_factory=list)
    retracted: list[int] = field(default_factory=list)
    forget: list[ForgetRequest] = field(default_factory=list)
    clock: int = 0
    asked_at: int = -9
    before_id: int = 0

    def wipe(self, draft: Draft) -> None:
        """Nothing is kept of its turns, nor who was met in them alone."""
        self.drafts.remove(draft)
        for person in draft.people():
            if draft.turn_id in person.turns:
                person.turns.remove(draft.turn_id)

    def about(self, people: Sequence[PersonDraft]) -> list[Draft]:
        """The drafts about one of ``people``; all where none are given."""
        return [d for d in self.drafts if not people or any(p in people for p in d.people())]


def drafts_of(spoken: SpokenTurn) -> list[Draft]:
    """The sentences of a turn of the user's, in order. A Chinese one that speaks of nobody goes on
    about whom the one before it is about."""
    drafts: list[Draft] = []
    for sentence in read(spoken.text).sentences:
        draft = _draft(spoken, sentence)
        goes_on = (
            drafts and not draft.spots and draft.subject is None and HAN.search(draft.sentence.text)
        )
        if goes_on and (subject := drafts[-1].subject) is not None:
            draft.subject, draft.goes_on = subject, min(GOES_ON, drafts[-1].sure())
        drafts.append(draft)
    return drafts


def _draft(spoken: SpokenTurn, sentence: Sentence) -> Draft:
    spots = within(spoken.spots, sentence)
    subject: PersonDraft | None = None
    explicit = False
    values: list[tuple[Value, PersonDraft | None]] = []
    for number, part in enumerate(_parts(sentence)):
        here = within(spoken.spots, part)
        who, says = subject_of(part.text, here)
        if number == 0:
            explicit = says
            subject = who if says else spoken.dropped if sentence.start == 0 else None
        if says and not RE.reports.search(sentence.text[: part.start - sentence.start]):
            values += [(value, who) for value in facts_of(part.text, here, who)]
    wish = subject is None and not spoken.in_chat and wishes(sentence.text)
    return Draft(spoken, sentence, spots, subject, explicit, values, wish=wish)


def joined(first: Draft, second: Draft) -> Draft | None:
    """A sentence with the one right before it; None where they are apart or too long together."""
    spoken = first.spoken
    start = first.sentence.start
    end = second.sentence.start + len(second.sentence.text)
    between = spoken.text[start + len(first.sentence.text) : second.sentence.start]
    apart = between.strip() != first.sentence.end_mark
    if spoken is not second.spoken or apart or end - start > LONGEST:
        return None
    whole = Sentence(spoken.text[start:end], start, second.sentence.end_mark)
    values = [*first.values, *second.values]
    return replace(first, sentence=whole, spots=within(spoken.spots, whole), values=values)


def _notes(
    text: str, spots: Sequence[Spot], said_at: datetime, dropped: PersonDraft | None = None
) -> list[tuple[int, str]]:
    """Notes and their places: whom a pronoun or nobody's being named means for certain, each once, and
    which day or month a relative date is."""
    chinese = is_chinese(text)
    named = {spot.who for spot in spots if spot.how == "name"}
    found: list[tuple[int, str]] = []
    if dropped is not None and dropped.named and dropped not in named:
        found.append((0, dropped.name))
        named.add(dropped)
    for spot in spots:
        one = spot.who
        certain = spot.how == "pronoun" and spot.confidence >= NOTED
        if certain and one is not None and one.named and one not in named:
            verb = _SHORT_VERB.match(text, spot.end)
            found.append((verb.end() if verb else spot.end, one.name))
            named.add(one)
    dates = find_dates(text, said_at, chinese)
    begins = [hit.start for hit in dates]
    found += [
        (hit.end, note)
        for hit in dates
        # Of two dates together, the one behind says more of the first (January of last year).
        if hit.at is not None
        and not any(hit.end <= at <= hit.end + len(" of ") for at in begins)
        and (note := _date_note(text[hit.start : hit.end], hit.text, hit.at))
        and _is_certain(text[hit.start : hit.end], hit.at, said_at)
    ]
    form = "（{}）" if chinese else " [{}]"
    placed = [(at, form.format(note)) for at, note in sorted(found, key=lambda each: each[0])]
    return [(at, note if at or chinese else f"{note.strip()} ") for at, note in placed]


def _date_note(said: str, written: str, at: datetime) -> str:
    """What the words of a date leave open: all of it, or only its year."""
    if not written or written in said:
        return ""
    plain = said.lower().strip()
    if written.lower().startswith(plain):
        return written[len(plain) :].strip(" ,")
    return "" if str(at.year) in said else written


def _is_certain(said: str, at: datetime, said_at: datetime) -> bool:
    """Whether the words of a date say which one it is, by their direction (last, next, 昨, 下), or of a
    month where the nearest is not far off. A weekday alone may be the last or the next one."""
    near = abs((at - said_at).days) <= NEAR_DAYS
    return bool(RE.directed.match(said) or (near and RE.month.search(said)))


def _with_notes(text: str, notes: Sequence[tuple[int, str]]) -> tuple[str, list[tuple[int, int]]]:
    parts: list[str] = []
    spans: list[tuple[int, int]] = []
    at = size = 0
    for place, note in notes:
        parts += [text[at:place], note]
        size += place - at
        spans.append((size, size + len(note)))
        size += len(note)
        at = place
    return "".join([*parts, text[at:]]), spans


def _parts(sentence: Sentence) -> Iterator[Sentence]:
    """The clauses of a sentence: at commas, gaps in Chinese, and English conjunctions with a subject."""
    for clause in clauses(sentence) if is_chinese(sentence.text) else [sentence]:
        yield from _cut(clause)


def _cut(sentence: Sentence) -> Iterator[Sentence]:
    at = 0
    for end in (*(match.end() for match in RE.gap.finditer(sentence.text)), len(sentence.text)):
        piece = sentence.text[at:end]
        if text := piece.strip():
            start = sentence.start + at + len(piece) - len(piece.lstrip())
            yield Sentence(text, start, sentence.end_mark)
        at = end
