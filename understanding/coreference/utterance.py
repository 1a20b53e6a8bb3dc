"""One utterance, taken apart: simplified text, words, clauses, and the names that stand in it."""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from understanding.lexicon.rules import patterns
from understanding.segmentation import cut
from understanding.text import simplified
from understanding.types import Mention, Utterance

lex = patterns(__file__)

_STOPS = "，。！？；,.!?; \n"
# What an assistant politely calls the user's parents.
_POLITE_KIN = frozenset("叔叔 阿姨 伯父 伯母".split())
# A mention this sure is a name; a role word found as less may still point back (医生).
_NAME_FROM = 0.8

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Word:
    start: int
    text: str


@dataclass(frozen=True, slots=True)
class Turn:
    """What is read of an utterance; spans count characters of its text, and ``clauses`` are
    where these begin. ``exact`` are the spans of ``names`` in so many words, not by a role."""

    original: str
    role: str
    text: str
    words: list[Word]
    clauses: list[int]
    names: list[Mention]
    spans: list[Span]
    exact: list[Span]

    def clause(self, at: int) -> int:
        """Which clause holds position ``at``."""
        return bisect_right(self.clauses, at) - 1

    def first_clause(self) -> Span:
        """The span of the first clause, without the marks that end it."""
        end = self.clauses[1] if len(self.clauses) > 1 else len(self.text)
        return 0, len(self.text[:end].rstrip(_STOPS)) or len(self.text)


def read_turn(utterance: Utterance, limit: int) -> Turn:
    """The first ``limit`` characters of an utterance."""
    text = simplified(utterance.text[:limit])
    named = [
        m
        for m in utterance.mentions
        if m.how != "pronoun"
        and m.end <= limit
        and not (utterance.role == "assistant" and m.text in _POLITE_KIN)
    ]
    exact = {(m.start, m.end) for m in named if m.how != "kinship" and m.confidence >= _NAME_FROM}
    # In 房东闵姐 the role word only says who 闵姐 is.
    names = sorted(
        (m for m in named if m.how != "kinship" or not beside(text, (m.start, m.end), exact)),
        key=lambda m: (m.start, m.end),
    )
    spans = sorted({(m.start, m.end) for m in names})
    words, clauses = _words(text), _clauses(text)
    return Turn(utterance.text, utterance.role, text, words, clauses, names, spans, sorted(exact))


def _words(text: str) -> list[Word]:
    """The words of a text in lower case, Chinese ones by the dictionary."""
    found = []
    for run in lex.run.finditer(text):
        if run["zh"]:
            found += [Word(run.start() + word.start, word.text) for word in cut(run["zh"])]
        else:
            found.append(Word(run.start(), run.group().lower()))
    return found


def _clauses(text: str) -> list[int]:
    starts = [0]
    for match in lex.clause_break.finditer(text):
        if starts[-1] < match.end() < len(text):
            starts.append(match.end())
    return starts


def inside(span: Span, spans: Iterable[Span]) -> bool:
    """Whether the span overlaps one of the others."""
    return any(start < span[1] and span[0] < end for start, end in spans)


def beside(text: str, span: Span, spans: Iterable[Span]) -> bool:
    """Whether the span stands right beside another, nothing or a space between."""
    return any(
        not text[min(end, span[1]) : max(start, span[0])].strip()
        for start, end in spans
        if end <= span[0] or span[1] <= start
    )
