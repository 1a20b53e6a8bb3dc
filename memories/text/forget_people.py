"""Which people a sentence asks to forget altogether, however it means them: by name, role or
pronoun."""

import re
from collections.abc import Sequence
from pathlib import Path

from contacts.lexicon.rules import Row, patterns, rows

MASK = "￼"
Span = tuple[int, int]

RE = patterns(__file__)
_ANY = patterns(str(Path(__file__).with_name("forget_intent.py")))
_REQUESTS = rows(__file__, "requests")
# The same where nobody knows yet which words mean a person.
_MAYBE = rows(
    __file__,
    "requests",
    WHO="(?!错|仇|恨|一个人|某人)[^,，。;；?？]{1,30}?",
    ONE="[^ ,，。;；?？]{1,30}?",
)
_CLAUSE = re.compile(r"[^，,；;。]+")
# A longer sentence asks for more than that; it bounds the time of a match too.
LONGEST = 120


def asked(text: str, people: Sequence[Span]) -> list[int]:
    """Which of ``people``, places of persons in ``text``, it asks to forget altogether; none
    where it asks nothing, or for one matter only."""
    masked = text
    for start, end in people:
        masked = masked[:start] + MASK * (end - start) + masked[end:]
    parts = _fitting(masked, _REQUESTS) if people else []
    return [
        number
        for number, (start, end) in enumerate(people)
        if any(first <= start and end <= last for first, last in parts)
    ]


def may_ask(text: str) -> bool:
    """Whether the sentence ``text`` asks to forget somebody, if its words mean a person."""
    if not RE.triggers.search(text) or _ANY.other_things.search(text):
        return False
    return bool(_fitting(text, _MAYBE))


def _fitting(text: str, requests: Sequence[Row]) -> list[Span]:
    """The clauses that ask, or the whole sentence."""
    clauses = [match.span() for match in _CLAUSE.finditer(text)]
    return [
        (start, end)
        for start, end in dict.fromkeys([(0, len(text)), *clauses])
        if end - start <= LONGEST
        and any(
            row["pattern"].search(text[start:end].strip().rstrip(".!！~～?？ "))
            and not (row.get("alone") and _says_more(text, clauses, start, end))
            for row in requests
        )
    ]


def _says_more(text: str, clauses: Sequence[Span], start: int, end: int) -> bool:
    beside = [text[a:b] for a, b in clauses if not start <= a <= b <= end]
    return not all(map(_ANY.aside.match, beside))
