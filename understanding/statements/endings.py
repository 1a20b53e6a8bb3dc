"""Recognises that a sentence ends a value which somebody had, or denies that they ever had it."""

import re

from understanding.lexicon.rules import patterns
from understanding.sentences import clauses, sentences
from understanding.text import simplified

RE = patterns(__file__)
_WORK, _HEALTH = frozenset({"company", "job_title"}), frozenset({"allergy", "health", "diet"})


def is_over(text: str, key: str, value: str) -> bool:
    """Whether a clause of ``text``, which is about one person, states that the ``value`` of the
    attribute ``key`` is no longer valid or never was (she left Acme; 小岑不在这家公司; he isn't allergic
    to nuts). False unless it is where somebody works or lives, or their health: elsewhere the same
    words often mean something else."""
    ending = RE.work if key in _WORK else RE.health if key in _HEALTH else RE.home
    if not value or key not in _WORK | _HEALTH | {"location"}:
        return False
    plain = simplified(text).replace("@", " ")
    marked = re.sub(re.escape(simplified(value)), "@", plain, flags=re.I)
    return any(
        ending.search(clause.text) and not RE.meant.search(clause.text)
        for sentence in sentences(marked)
        if not RE.open.search(sentence.whole)
        for clause in clauses(sentence)
    )
