"""Recognises that a sentence ends a value which somebody had, or denies that they ever had it."""

import re

from understanding.lexicon.rules import patterns
from understanding.sentences import clauses, sentences
from understanding.text import simplified

RE = patterns(__file__)
# The pattern of words that end a value, by attribute.
_PATTERNS = {
    **dict.fromkeys(("company", "job_title"), "work"),
    **dict.fromkeys(("allergy", "health", "diet"), "health"),
    "location": "home",
}


def is_over(text: str, key: str, value: str) -> bool:
    """Whether a clause of ``text``, which is about one person, states that the ``value`` of the
    attribute ``key`` is no longer valid or never was (she left Acme; 小岑不在这家公司; he isn't allergic
    to nuts). False unless it is where somebody works or lives, or their health: elsewhere the same
    words often mean something else."""
    if key not in _PATTERNS or not value:
        return False
    ending = getattr(RE, _PATTERNS[key])
    plain = simplified(text).replace("@", " ")
    marked = re.sub(re.escape(simplified(value)), "@", plain, flags=re.I)
    return any(
        ending.search(clause.text) and not RE.meant.search(clause.text)
        for sentence in sentences(marked)
        if not RE.open.search(sentence.whole)
        for clause in clauses(sentence)
    )
