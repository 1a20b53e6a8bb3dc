"""What a sentence is about beyond its words: an attribute of a person, a time, a relative.

Each becomes a token of its own, so that 老家 finds 家乡 and hometown, 母亲 finds 妈 and mum,
and a question for a time finds sentences that have one (predictive annotation: Prager,
Brown, Coden and Radev, "Question-answering by predictive annotation", SIGIR 2000).
Tokens of text hold no letters before a colon, so these never meet them.
"""

from functools import cache
from importlib import resources

import regex

from memories.models.memory import ROLE
from understanding.roles import terms

HAS_TIME = "has:time"
# A question for a time asks for it more than for any of its words. Measured: 2 to 3.
TIME_WEIGHT = 2.5

# How the attributes of people are stated and asked for.
_ATTRIBUTES = resources.files(__package__).joinpath("attribute_patterns.tsv").read_text("utf-8")
_ABOUT = {
    f"about:{key}": regex.compile(pattern)
    for key, tab, pattern in (line.partition("\t") for line in _ATTRIBUTES.splitlines())
    if tab
}

_TIMES = regex.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|recently|since|just|weekend|weeks?"
    r"|months?|years?|days?|birthday|this (?:morning|summer|winter|spring|fall|autumn)"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|june|july"
    r"|august|september|october|november|december|(?:19|20)\d\d|\d+(?:st|nd|rd|th))\b"
    r"|昨|今[天晚早年]|明[天晚早年]|后天|前天|上(?:周|个?月|个?星期)|下(?:周|个?月|个?星期)|去年|周末"
    r"|星期|礼拜|[\d一二三四五六七八九十][年月日号点]|以前|最近|刚才|小时候"
)
_ASKS_TIME = regex.compile(
    r"\b(?:when|what (?:date|day|year|month|time)|how long|how many (?:days|weeks|months|years)"
    r"|which (?:year|month|day|date))\b"
    r"|什么时候|何时|哪[年天月]|哪一[年天月]|几[点月号]|多久|什么时间|啥时候|时间是"
)


def about(norm: str) -> list[str]:
    """The attributes that a normalised text states or asks for."""
    return [token for token, pattern in _ABOUT.items() if pattern.search(norm)]


def has_time(norm: str) -> bool:
    """Whether a normalised text says when."""
    return bool(_TIMES.search(norm))


def asks_time(norm: str) -> bool:
    """Whether a normalised question asks when, or for how long."""
    return bool(_ASKS_TIME.search(norm))


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
