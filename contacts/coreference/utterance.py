"""One utterance, taken apart: simplified text, clauses, and the names that stand in it."""

from collections.abc import Iterable, Sequence

from contacts.coreference import patterns as lex
from contacts.coreference import weights as w
from contacts.coreference.syntax import Clauses
from contacts.text import simplified
from contacts.types import Utterance

Span = tuple[int, int]


class Turn:
    """What is read of an utterance; spans count characters of its text."""

    def __init__(self, utterance: Utterance, limit: int) -> None:
        self.original = utterance.text
        self.role = utterance.role
        self.text = simplified(utterance.text[:limit])
        self.clauses = Clauses(self.text)
        named = [
            m
            for m in utterance.mentions
            if m.how != "pronoun"
            and m.end <= limit
            and not (utterance.role == "assistant" and m.text in lex.POLITE_KIN)
        ]
        exact = {
            (m.start, m.end) for m in named if m.how != "kinship" and m.confidence >= w.NAME_FROM
        }
        # In 房东马姐 the role word only says who 马姐 is.
        self.names = sorted(
            (
                m
                for m in named
                if m.how != "kinship" or not beside(self.text, (m.start, m.end), exact)
            ),
            key=lambda m: (m.start, m.end),
        )
        self.spans = sorted({(m.start, m.end) for m in self.names})
        self.exact = sorted(exact)
        # Whether it has a pronoun or the like, whomever that means.
        self.points = False

    def clause(self, at: int) -> int:
        return self.clauses.index(at)


def inside(at: int, spans: Sequence[Span]) -> bool:
    return any(start <= at < end for start, end in spans)


def beside(text: str, span: Span, spans: Iterable[Span]) -> bool:
    """Whether the span stands right beside another, nothing or a space between."""
    return any(
        not text[min(end, span[1]) : max(start, span[0])].strip()
        for start, end in spans
        if end <= span[0] or span[1] <= start
    )
