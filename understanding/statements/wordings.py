"""Wordings in Chinese and English: negations, greetings, and how somebody's words are quoted."""

import re

import regex

from understanding.languages import wording
from understanding.lexicon import alternation, words
from understanding.lexicon.rules import patterns
from understanding.text import normalise, one_line, simplified

# 不 and 没 in words that deny nothing (不过, 不仅, 没想到), by hand.
NOT_ZH = (
    r"不(?!仅|光|只|但|止|久|错|断|少|小心|料|愧|管|论|过|好意思)|没(?!想到|料|准|多久|几)"
    r"|并非|未(?!来|婚)"
)
NOT_EN = rf"\b(?:{alternation(words('negation', 'clause'))})\b|n['’]t\b"
_NEGATION = re.compile(
    rf"{NOT_EN}|\b(?:{alternation(words('negation', 'text'))})\b|{NOT_ZH}|无法|别(?!人|的|墅)", re.I
)


def negations(text: str) -> int:
    """Returns how often a text negates."""
    return len(_NEGATION.findall(normalise(text)))


_RE = patterns(__file__)
_CLAUSES = regex.compile(r"[\p{L}\p{N}' ]+")


def greets(text: str) -> bool:
    """Whether ``text`` only greets ("hi, good morning!"); punctuation is ignored."""
    clauses = [part.strip() for part in _CLAUSES.findall(simplified(text.replace("’", "'")))]
    return any(clauses) and all(_RE.greets.match(part) for part in clauses if part)


MOST_SPEAKER = 60  # graphemes


def attributed(words: str, speaker: str, language: str) -> str:
    """Returns ``words`` as a quotation of ``speaker``: the user said “…”."""
    sentence = wording(language)
    who = sentence["user"] if speaker == "user" else one_line(speaker, MOST_SPEAKER)
    return sentence["said"].format(who, words)
