"""What a request to forget is about: which matter, and how much when it names none."""

import re
from dataclasses import dataclass

from contacts.lexicon import words
from contacts.lexicon.rules import parts_of, patterns, rows
from contacts.roles import terms
from contacts.segmentation import tagged
from contacts.text import HAN, normalise
from memories.text import forget_intent

RE = patterns(__file__, **parts_of(forget_intent.__file__))
# Topics by which people ask, and the attributes under which what they told was kept.
_TOPICS = rows(__file__, "topics")


def everything(text: str) -> bool:
    """Whether a request that names no person and no matter means all that is kept."""
    return bool(RE.everything.search(text)) and not (
        RE.just.search(text) or RE.somebody.search(text)
    )


def whole_person(text: str, called: list[str]) -> bool:
    """Whether a request that names no matter of the people it ``called`` so means all about
    them. A pronoun alone is too little to hold that on."""
    if RE.just.search(text):
        return False
    if RE.whole.search(text):
        return True
    return bool(RE.bare.search(text)) and not any(map(RE.pronoun.fullmatch, called))


def pronoun_spans(text: str) -> list[tuple[int, int]]:
    """Where ``text`` points to somebody by a pronoun."""
    return [match.span() for match in RE.pronoun_in.finditer(text)]


# Verbs that many memories share: they name no matter beside a word that does.
_COMMON = words("grammar_en", "shared_verbs") | words("grammar_zh", "shared_verbs")

# Nouns of one character that say nothing of what is meant.
_VAGUE = words("grammar_zh", "vague")


@dataclass(frozen=True, slots=True)
class Request:
    """``words`` and ``keys`` narrow it to a matter; neither: no matter is named. ``kin``: words
    for somebody (前女友, ex), who need not be known."""

    words: tuple[str, ...]
    keys: tuple[str, ...]
    kin: tuple[str, ...] = ()


def matter(text: str, people: list[str]) -> Request:
    """What of them is to be forgotten; ``people`` are the words in ``text`` that mean persons."""
    for person in sorted(people, key=len, reverse=True):
        text = text.replace(person, " ")
    plain = RE.filler.sub(" ", text)
    keys = dict.fromkeys(
        key for row in _TOPICS if row["pattern"].search(text) for key in row["keys"]
    )
    words = [
        word
        for word, flag in tagged(plain)
        if (len(word) > 1 and (flag[0] in "nvaijelx" or flag == "eng") and word.strip())
        or (flag[0] == "n" and word not in _VAGUE and HAN.match(word))
    ]
    kin = [w for w, _ in tagged(plain) if normalise(w) in terms()]
    words = [w for w in words if w not in kin and not re.fullmatch(r"\W+", w)]
    words = [w for w in words if w.lower() not in _COMMON] or words
    return Request(tuple(dict.fromkeys(words)), tuple(keys), tuple(dict.fromkeys(kin)))
