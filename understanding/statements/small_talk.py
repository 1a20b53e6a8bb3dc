"""Messages that greet, thank or agree, and neither tell nor ask for anything."""

import regex

from understanding.lexicon.rules import patterns
from understanding.text import simplified

_RE = patterns(__file__)
_CLAUSES = regex.compile(r"[\p{L}\p{N}' ]+")


def greets(text: str) -> bool:
    """Whether each clause of ``text`` is such a word ("hi, good morning!"); signs say nothing."""
    clauses = [part.strip() for part in _CLAUSES.findall(simplified(text.replace("’", "'")))]
    return any(clauses) and all(_RE.greets.match(part) for part in clauses if part)
