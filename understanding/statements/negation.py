"""Words that negate, in Chinese and English."""

import re

from understanding.lexicon import alternation, words
from understanding.text import normalise

# 不 and 没 in words that deny nothing (不过, 不仅, 没想到), by hand.
NOT_ZH = (
    r"不(?!仅|光|只|但|止|久|错|断|少|小心|料|愧|管|论|过|好意思)|没(?!想到|料|准|多久|几)"
    r"|并非|未(?!来|婚)"
)
NOT_EN = rf"\b(?:{alternation(words('negation', 'clause'))})\b|n['’]t\b"
_NEGATION = re.compile(
    rf"{NOT_EN}|\b(?:{alternation(words('negation', 'text'))})\b|{NOT_ZH}|无法|别(?!人|的|墅)",
    re.I,
)


def negations(text: str) -> int:
    """How often a text negates."""
    return len(_NEGATION.findall(normalise(text)))
