"""One utterance, taken apart: simplified text, clauses, and the names that stand in it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from contacts.coreference import weights as w
from contacts.coreference.syntax import Clauses
from contacts.text import simplified
from contacts.types import Mention, Utterance

# What an assistant politely calls the user's parents.
_POLITE_KIN = frozenset("叔叔 阿姨 伯父 伯母".split())

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Turn:
    """What is read of an utterance; spans count characters of its text. ``exact`` are those
    of ``names`` in so many words, not by a role."""

    original: str
    role: str
    text: str
    clauses: Clauses
    names: list[Mention]
    spans: list[Span]
    exact: list[Span]

    def clause(self, at: int) -> int:
        return self.clauses.index(at)


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
    exact = {(m.start, m.end) for m in named if m.how != "kinship" and m.confidence >= w.NAME_FROM}
    # In 房东马姐 the role word only says who 马姐 is.
    names = sorted(
        (m for m in named if m.how != "kinship" or not beside(text, (m.start, m.end), exact)),
        key=lambda m: (m.start, m.end),
    )
    spans = sorted({(m.start, m.end) for m in names})
    return Turn(utterance.text, utterance.role, text, Clauses(text), names, spans, sorted(exact))


def inside(at: int, spans: Sequence[Span]) -> bool:
    return any(start <= at < end for start, end in spans)


def beside(text: str, span: Span, spans: Iterable[Span]) -> bool:
    """Whether the span stands right beside another, nothing or a space between."""
    return any(
        not text[min(end, span[1]) : max(start, span[0])].strip()
        for start, end in spans
        if end <= span[0] or span[1] <= start
    )
