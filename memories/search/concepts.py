"""What a sentence is about beyond its words: an attribute of a person, a time, a relative.

Each becomes a token of its own, so that 老家 finds 家乡 and hometown, 母亲 finds 妈 and mum,
and a question for a time finds sentences that have one (predictive annotation: Prager,
Brown, Coden and Radev, "Question-answering by predictive annotation", SIGIR 2000).
Tokens of text hold no letters before a colon, so these never meet them.
"""

from functools import cache

import regex

from memories.models.memory import ROLE
from understanding.lexicon import finder
from understanding.roles import terms

HAS_TIME = "has:time"
# A question for a time asks for it more than for any of its words. Measured: 2 to 3.
TIME_WEIGHT = 2.5
# A year, an ordinal, or a number before a measure of time.
_DATED = regex.compile(
    r"\b(?:(?:19|20)\d\d|\d+(?:st|nd|rd|th))\b|[\d一二三四五六七八九十][年月日号点]"
)


def about(norm: str) -> list[str]:
    """The attributes that a normalised text states or asks for."""
    return [f"about:{key}" for key in finder("attribute_words")(norm)]


def has_time(norm: str) -> bool:
    """Whether a normalised text says when."""
    return bool(finder("time_words", "says")(norm)) or _DATED.search(norm) is not None


def asks_time(norm: str) -> bool:
    """Whether a normalised question asks when, or for how long."""
    return bool(finder("time_words", "asks")(norm))


def role(word: str) -> tuple[str, ...]:
    """What a word calls someone: 妈, 母亲 and mum are the same; () for any other word."""
    return _roles().get(word, ())


@cache
def _roles() -> dict[str, tuple[str, ...]]:
    # Professions tell what someone does, not who they are to the user.
    named: dict[str, tuple[str, ...]] = {}
    for word, roles in terms().items():
        tokens = (
            ROLE + "-".join([role.kind, *sorted(role.tags)])
            for role in roles
            if role.subtype != "other"
        )
        named[word] = tuple(dict.fromkeys(tokens))
    return named
