"""A turn's sentences as quotes: the user's own words, with names and dates added in brackets."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain

from memories.providers.offline.judge import Judgement
from memories.providers.offline.reading.circle import Circle, PersonDraft
from memories.providers.offline.reading.discourse_reading import SpokenTurn
from memories.providers.offline.reading.entity_linking import Spot, within
from memories.providers.offline.reading.facts import Value, facts_of, subject_of
from memories.types import ForgetRequest
from understanding.certainty import CERTAIN, CONTINUED_CONFIDENCE, NOTE_THRESHOLD
from understanding.dates.relative_dates import find_dates
from understanding.languages import language_of_text, wording
from understanding.lexicon.rules import patterns
from understanding.sentences import Sentence, clauses, sentences
from understanding.text import HAN, is_chinese, simplified

RE = patterns(__file__)
# A sentence with fewer words (in Chinese, half as many characters again) can't stand alone:
# FRAGMENT if it does not say whom it is about, NAME if it does.
FRAGMENT, NAME = 6, 3
LONGEST = 300  # characters of sentences quoted together
NEAR_DAYS = 90  # a month without a year is certain if it is nearer
# A verb glued to a pronoun (she's).
_SHORT_VERB = re.compile(r"['’]\w+")


def injects(text: str) -> bool:
    """Whether ``text`` poses as an instruction to a model."""
    return bool(RE.injects.search(text))


def wishes(text: str) -> bool:
    """Whether a sentence asks how all future answers should be (always in short, 以后都用列表)."""
    return not injects(text) and bool(RE.wishes.search(simplified(text)))


@dataclass(frozen=True, slots=True)
class Before:
    """What a quote is shown after: the question that it answers, or the sentence it corrects."""

    text: str
    spots: Sequence[Spot]
    said_at: datetime


@dataclass(eq=False, slots=True)
class Draft:
    """A quote under construction, with the mentions in its ``sentence``. ``subject`` is whom it is
    about, None for the user or nobody; ``explicit`` if the sentence itself mentions the subject."""

    spoken: SpokenTurn
    sentence: Sentence
    spots: list[Spot]
    subject: PersonDraft | None
    explicit: bool
    values: list[tuple[Value, PersonDraft | None]] = field(default_factory=list)
    judgement: Judgement | None = None
    extra_turns: list[int] = field(default_factory=list)
    before: Before | None = None
    wish: bool = False  # asks how all future answers should be
    goes_on: float = 0.0  # confidence that its subject is that of the sentence before it

    @property
    def judged(self) -> Judgement:
        """Its judgement. Raises ValueError if it was not judged."""
        if self.judgement is None:
            raise ValueError("not judged")
        return self.judgement

    @property
    def turn_id(self) -> int:
        return self.spoken.turn.id

    def people(self) -> list[PersonDraft]:
        """Returns everybody it is about, its subject first."""
        people = [self.subject] if self.subject is not None else []
        for spot in (*self.spots, *(self.before.spots if self.before else ())):
            people += spot.people
        return list(dict.fromkeys(people))

    def sure(self) -> float:
        """Returns the lowest confidence of its pronouns and its dropped subject; 1 without any."""
        confidences = [spot.confidence for spot in self.spots if spot.how in ("pronoun", "several")]
        return min((*confidences, *self._dropped_confidences()), default=1.0)

    def sure_of(self, one: PersonDraft) -> float:
        """Returns the highest confidence of the words that refer to ``one``; 1 if there's none."""
        confidences = self._dropped_confidences() if one is self.subject else []
        for spot in (*self.spots, *(self.before.spots if self.before else ())):
            if one in spot.people:
                confidences.append(spot.confidence_in(one))
        return max(confidences, default=1.0)

    def _dropped_confidences(self) -> list[float]:
        """Returns the confidence in the subject, as a list of one, if it is dropped, else []."""
        left_out = self.subject is not None and not self.explicit
        return [self.goes_on or self.spoken.dropped_confidence] if left_out else []

    def words(self) -> str:
        """Returns the user's words as they were typed, with the mark that ends them."""
        added = self._added_apostrophes()
        typed = [char for at, char in enumerate(self.sentence.text) if at not in added]
        return "".join(typed) + self.sentence.end_mark

    def _added_apostrophes(self) -> list[int]:
        start, end = self.sentence.start, self.sentence.start + len(self.sentence.text)
        return [at - start for at in self.spoken.added if start <= at < end]

    def is_fragment(self) -> bool:
        """Whether it is too short to be understood without the sentence before it."""
        return not self.wish and self.size() < (NAME if self.explicit else FRAGMENT)

    def size(self) -> float:
        """Returns its number of words; in Chinese, two for three characters."""
        text = self.sentence.text
        return len(re.findall(r"[^\W\d_]+", HAN.sub(" ", text))) + len(HAN.findall(text)) / 1.5

    def content(self) -> tuple[str, list[tuple[int, int]]]:
        """Returns the quote with notes in brackets, and the start and end of each added part."""
        said_at = self.spoken.turn.said_at
        subject = self.subject
        is_dropped = subject is not None and not self.explicit and self.sure() >= CERTAIN
        noted = _notes(self.sentence.whole, self.spots, said_at, subject if is_dropped else None)
        added = self._added_apostrophes()
        notes = [(at - bisect_left(added, at), note) for at, note in noted]
        text = self.words()
        if self.before is None:
            return _with_notes(text, notes)
        question_notes = _notes(self.before.text, self.before.spots, self.before.said_at)
        question, _ = _with_notes(self.before.text, question_notes)
        dash = wording(language_of_text(question))["dash"]
        return _with_notes(text, [(0, question + dash), *notes])


@dataclass(slots=True)
class DraftBook:
    """The drafts of a batch so far. ``retracted`` are ids of turns that the user took back;
    ``clock`` counts the user's turns, ``asked_at`` is its value at the last request to forget, and
    ``before_id`` is the id of the user's turn before the one being read."""

    circle: Circle
    user_names: Sequence[str] = ()
    drafts: list[Draft] = field(default_factory=list)
    retracted: list[int] = field(default_factory=list)
    forget: list[ForgetRequest] = field(default_factory=list)
    clock: int = 0
    asked_at: int = -9
    before_id: int = 0

    def wipe(self, draft: Draft) -> None:
        """Removes a draft, and its turn from the turns that mention its people."""
        self.drafts.remove(draft)
        for person in draft.people():
            if draft.turn_id in person.turns:
                person.turns.remove(draft.turn_id)

    def about(self, people: Sequence[PersonDraft]) -> list[Draft]:
        """Returns the drafts about one of ``people``, or all if none are given."""
        return [d for d in self.drafts if not people or any(p in people for p in d.people())]


def drafts_of(spoken: SpokenTurn) -> list[Draft]:
    """Returns the drafts of a user's turn, one per sentence, in order. A Chinese sentence that
    mentions nobody takes over the subject of the one before it."""
    drafts: list[Draft] = []
    for sentence in sentences(spoken.text):
        draft = _draft(spoken, sentence)
        goes_on = (
            drafts and not draft.spots and draft.subject is None and HAN.search(draft.sentence.text)
        )
        if goes_on and (subject := drafts[-1].subject) is not None:
            draft.subject, draft.goes_on = subject, min(CONTINUED_CONFIDENCE, drafts[-1].sure())
        drafts.append(draft)
    return drafts


def _draft(spoken: SpokenTurn, sentence: Sentence) -> Draft:
    spots = within(spoken.spots, sentence)
    subject: PersonDraft | None = None
    explicit = False
    values: list[tuple[Value, PersonDraft | None]] = []
    parts = clauses(sentence) if is_chinese(sentence.text) else [sentence]
    for number, part in enumerate(chain.from_iterable(map(_split_at_gaps, parts))):
        spots_in_part = within(spoken.spots, part)
        who, says_who = subject_of(part.text, spots_in_part)
        if number == 0:
            explicit = says_who
            subject = who if says_who else spoken.dropped if sentence.start == 0 else None
        if says_who and not RE.reports.search(sentence.text[: part.start - sentence.start]):
            values += [(value, who) for value in facts_of(part.text, spots_in_part, who)]
    wish = subject is None and not spoken.in_chat and wishes(sentence.text)
    return Draft(spoken, sentence, spots, subject, explicit, values, wish=wish)


def joined(first: Draft, second: Draft) -> Draft | None:
    """Returns two sentences as one draft; None if they are not adjacent or too long together."""
    spoken = first.spoken
    start = first.sentence.start
    end = second.sentence.start + len(second.sentence.text)
    between = spoken.text[start + len(first.sentence.text) : second.sentence.start]
    are_apart = between.strip() != first.sentence.end_mark
    if spoken is not second.spoken or are_apart or end - start > LONGEST:
        return None
    whole = Sentence(spoken.text[start:end], start, second.sentence.end_mark)
    values = [*first.values, *second.values]
    return replace(first, sentence=whole, spots=within(spoken.spots, whole), values=values)


def _notes(
    text: str, spots: Sequence[Spot], said_at: datetime, dropped: PersonDraft | None = None
) -> list[tuple[int, str]]:
    """Returns places and notes: the name of each person whom only a pronoun or a dropped subject
    refers to, if certain, and the day or month of each relative date."""
    chinese = is_chinese(text)
    named = {spot.who for spot in spots if spot.how == "name"}
    notes: list[tuple[int, str]] = []
    if dropped is not None and dropped.named and dropped not in named:
        notes.append((0, dropped.name))
        named.add(dropped)
    for spot in spots:
        one = spot.who
        is_certain = spot.how == "pronoun" and spot.confidence >= NOTE_THRESHOLD
        if is_certain and one is not None and one.named and one not in named:
            verb = _SHORT_VERB.match(text, spot.end)
            notes.append((verb.end() if verb else spot.end, one.name))
            named.add(one)
    dates = find_dates(text, said_at, chinese)
    begins = [hit.start for hit in dates]
    notes += [
        (hit.end, note)
        for hit in dates
        # Of two dates together, the second completes the first (January of last year).
        if hit.at is not None
        and not any(hit.end <= at <= hit.end + len(" of ") for at in begins)
        and (note := _date_note(text[hit.start : hit.end], hit.text, hit.at))
        and _is_certain(text[hit.start : hit.end], hit.at, said_at)
    ]
    form = "（{}）" if chinese else " [{}]"
    placed = [(at, form.format(note)) for at, note in sorted(notes, key=lambda each: each[0])]
    return [(at, note if at or chinese else f"{note.strip()} ") for at, note in placed]


def _date_note(words: str, full_form: str, at: datetime) -> str:
    """Returns what the words of a date leave open: all of the date, only its year, or nothing."""
    if not full_form or full_form in words:
        return ""
    plain = words.lower().strip()
    if full_form.lower().startswith(plain):
        return full_form[len(plain) :].strip(" ,")
    return "" if str(at.year) in words else full_form


def _is_certain(words: str, at: datetime, said_at: datetime) -> bool:
    """Whether the words of a date determine it, by a direction (last, next, 昨, 下), or as a month of
    which the nearest is not far off. A weekday alone may be the last or the next one."""
    near = abs((at - said_at).days) <= NEAR_DAYS
    return bool(RE.directed.match(words) or (near and RE.month.search(words)))


def _with_notes(text: str, notes: Sequence[tuple[int, str]]) -> tuple[str, list[tuple[int, int]]]:
    """Returns ``text`` with the notes inserted, and the start and end of each."""
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


def _split_at_gaps(sentence: Sentence) -> Iterator[Sentence]:
    at = 0
    for end in (*(match.end() for match in RE.gap.finditer(sentence.text)), len(sentence.text)):
        piece = sentence.text[at:end]
        if text := piece.strip():
            start = sentence.start + at + len(piece) - len(piece.lstrip())
            yield Sentence(text, start, sentence.end_mark)
        at = end
