"""Turns into drafts of memories: clauses of one subject, told together."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from contacts.attributes import is_single
from contacts.lexicon.rules import patterns, sets
from contacts.segmentation import tagged
from contacts.text import HAN, is_chinese
from memories.providers.offline.heads.judge import Judgement
from memories.providers.offline.reading import third_person
from memories.providers.offline.reading.circle import Someone
from memories.providers.offline.reading.discourse_reading import Heard
from memories.providers.offline.reading.entity_linking import Spot
from memories.providers.offline.reading.facts import read_values
from memories.providers.offline.reading.stated_values import Value
from memories.text.sentences import Sentence, clauses, sentences

RE = patterns(__file__)
_WORDS = sets(__file__, "words")
MAX_CHARS = 120
LONGEST_LEAD = 40  # characters before a subject


@dataclass(eq=False, slots=True)
class Clause:
    """Words of a turn with the places in them that mean somebody; ``explicit`` where they say
    themselves whom they are about."""

    text: str
    spots: list[Spot]
    subject: Someone | None
    explicit: bool
    values: list[Value] = field(default_factory=list)
    sure: float = 1.0


@dataclass(eq=False, slots=True)
class Draft:
    """A memory under construction; ``subject`` None is the user, or nobody."""

    heard: Heard
    sentence: Sentence
    clauses: list[Clause]
    judgement: Judgement | None = None
    vector: Sequence[float] = ()
    extra_turns: list[int] = field(default_factory=list)
    agreed: bool = False
    # The question that it answers in too few words to stand alone, with whom that means.
    asked: tuple[str, list[Spot]] | None = None

    @property
    def subject(self) -> Someone | None:
        return self.clauses[0].subject

    @property
    def turn_id(self) -> int:
        return self.heard.turn.id

    def text(self) -> str:
        """The user's words."""
        return _joined([clause.text for clause in self.clauses])

    def people(self) -> list[Someone]:
        """Everybody it is about, its subject first."""
        found = [self.subject] if self.subject is not None else []
        for clause in self.clauses:
            found += [p for spot in clause.spots for p in spot.people]
        return list(dict.fromkeys(found))

    def sure(self) -> float:
        """The least confidence that a word for somebody means whom it is taken to mean."""
        told = [
            s.confidence for c in self.clauses for s in c.spots if s.how in ("pronoun", "several")
        ]
        return min([*told, *(c.sure for c in self.clauses)], default=1.0)

    def content(self, chinese: bool) -> str:
        """The memory in the third person."""
        parts = []
        for number, clause in enumerate(self.clauses):
            zh = HAN.search(clause.text) is not None
            text = third_person.retold(clause.text, clause.spots, chinese=chinese and zh)
            if number == 0 and not clause.explicit and self.asked is None:
                text = self._opened(text, chinese)
            parts.append(text)
        if self.asked is not None:
            asked, spots = self.asked
            zh = HAN.search(asked) is not None
            parts[0] = f"{third_person.asked_of_user(asked, spots, chinese=zh)} {parts[0]}"
        out = re.sub(r"\s{2,}", " ", _joined(parts)).strip(" ,，")
        out = out.replace("用户用户", "用户")
        return out[:1].upper() + out[1:]

    def _opened(self, text: str, chinese: bool) -> str:
        if self.subject is None:
            return text
        name = third_person.display(self.subject, chinese)
        return (
            text
            if name in text[: len(name) + 6]
            else third_person.with_subject(text, name, chinese)
        )


def _joined(parts: Sequence[str]) -> str:
    return ("，" if any(HAN.search(part) for part in parts) else ", ").join(parts)


def drafts_of(heard: Heard) -> Iterator[Draft]:
    """The statements of a turn of the user's, whatever they do, each clause group by its subject.
    A clause that leaves its subject out is about whom the one before it is about; values are read
    only where that is said: of nobody's being said, few are the user's."""
    subject, sure = heard.dropped, heard.dropped_confidence
    said, rival = subject is not None, False
    for sentence in sentences(heard.text):
        draft: Draft | None = None
        for part in _parts(sentence):
            clause = _clause(heard, part)
            if clause is None:
                continue
            if clause.explicit:
                clause.subject = _presented(clause) or clause.subject
                subject, sure = clause.subject, 1.0
                said, rival = True, _speaks_of_another(clause)
            else:
                clause.subject, clause.sure = subject, sure if subject is not None else 1.0
            if clause.explicit or (said and not rival and not RE.somebody.match(clause.text)):
                clause.values = read_values(clause.text, clause.spots, clause.subject)
            if draft is not None and draft.subject is subject and _takes(draft, clause):
                draft.clauses.append(clause)
                continue
            if draft is not None:
                yield draft
            draft = Draft(heard, part if draft is not None else sentence, [clause])
        if draft is not None:
            yield draft


FRAGMENT = 6  # words, or Chinese characters and half as many again, that a statement mostly has


def is_fragment(draft: Draft) -> bool:
    """Whether an answer is too short to stand without its question."""
    text = draft.text()
    size = len(re.findall(r"[^\W\d_]+", HAN.sub(" ", text))) + len(HAN.findall(text)) / 1.5
    return not any(clause.explicit for clause in draft.clauses) and size < FRAGMENT


def _takes(draft: Draft, clause: Clause) -> bool:
    """Whether a clause joins a memory: not when it states a single-valued attribute beside another
    one, so that each can become outdated alone."""
    if len(draft.text()) + len(clause.text) > MAX_CHARS:
        return False
    mine = any(is_single(v.key) for c in draft.clauses for v in c.values)
    return not (mine and any(is_single(v.key) for v in clause.values))


def _parts(sentence: Sentence) -> Iterator[Sentence]:
    """The clauses of a sentence: at commas, at gaps between Chinese words, and before an English
    conjunction with a subject of its own."""
    if not is_chinese(sentence.text):
        yield from _cut(sentence, RE.english_split)
        return
    for clause in clauses(sentence):
        yield from _cut(clause, RE.chinese_gap)


def _cut(sentence: Sentence, pattern: re.Pattern[str]) -> Iterator[Sentence]:
    ends = [0, *(match.end() for match in pattern.finditer(sentence.text)), len(sentence.text)]
    for start, end in pairwise(ends):
        text = sentence.text[start:end]
        if text.strip():
            yield Sentence(text, sentence.start + start, sentence.end_mark)


def _clause(heard: Heard, part: Sentence) -> Clause | None:
    """The words of a part without fillers, with what stands in them."""
    text = third_person.clean(part.text)
    if not text:
        return None
    start = part.start + part.text.index(text)
    spots = [
        spot.moved(-start)
        for spot in heard.spots
        if start <= spot.start and spot.end <= start + len(text)
    ]
    subject, explicit = _subject(text, spots)
    return Clause(text, spots, subject, explicit)


def _subject(text: str, spots: Sequence[Spot]) -> tuple[Someone | None, bool]:
    """Whom the words are about, and whether they say so: the first place that no verb or
    preposition stands before, and that does not only say whose the next one is."""
    for spot in spots:
        before = text[: spot.start]
        if _owns_next(text, spot, spots):
            continue
        if _leads(before):
            return spot.who, True
        return None, False
    return None, False


def _presented(clause: Clause) -> Someone | None:
    """Whom a clause brings up by saying that there is such a one (我公司也有个何婷): what follows
    is said of them."""
    for spot in clause.spots:
        if spot.who is not None and RE.presents.search(clause.text[: spot.start]):
            return spot.who
    return None


def _speaks_of_another(clause: Clause) -> bool:
    """Whether what follows without a subject may be about somebody else than the clause's subject,
    as after what somebody says of others (小褚说他女朋友在读博，研究蝙蝠)."""
    return any(
        person is not clause.subject
        for spot in clause.spots
        for person in spot.people
        if not _owns_next(clause.text, spot, clause.spots)
    )


def _owns_next(text: str, spot: Spot, spots: Sequence[Spot]) -> bool:
    """Whether a place only says whose the person right behind it is."""
    if spot.how != "user":
        return any(
            other.who not in (None, spot.who) and RE.of_gap.fullmatch(text[spot.end : other.start])
            for other in spots
            if other.start >= spot.end
        )
    return any(
        other.who is not None
        and other.start >= spot.end
        and RE.own_gap.fullmatch(text[spot.end : other.start])
        and (spot.text.lower() in ("my", "our") or HAN.search(spot.text))
        for other in spots
    )


def _leads(before: str) -> bool:
    """Whether what stands before somebody leaves them the subject."""
    if not before.strip():
        return True
    if HAN.search(before):
        flags = [flag for word, flag in tagged(before.strip()) if word.strip()]
        return not any(flag[0] in "vp" for flag in flags)
    return len(before) <= LONGEST_LEAD and _only_leads(before.lower().split())


def _only_leads(before: Sequence[str]) -> bool:
    """Whether English words are of those that stand before a subject (and then, on Monday)."""
    at = 0
    while at < len(before):
        word = before[at].strip(" ,:“”\"'(")
        opens = word in _WORDS["openers"] and at + 1 < len(before)
        if not (opens or word in _WORDS["leads"] or word.endswith("ly")):
            return False
        at += 2 if opens else 1
    return True
