"""Text as search tokens, the same at store time and at query time, in Chinese and English.

Over the normal form (NFKC, case folded, simplified): Chinese is cut as jieba's search mode
does (the likeliest words by its dictionary, and the shorter words within long ones),
English words are stemmed (Porter 2), numbers are kept. Characters that belong to no word of
the dictionary, such as those of most names, become overlapping pairs: a name then gives the
same tokens whatever stands beside it. What a sentence is about adds tokens of its own
(:mod:`memories.search.concepts`), and what was said around it adds weaker ones.
"""

from collections.abc import Iterable, Iterator

import regex

from memories.search import concepts
from understanding import segmentation
from understanding.lexicon import words
from understanding.text import normalise, stem

# A token longer than this is noise (a key, a hash, base64), and an index entry has a limit.
LONGEST = 64
# Before a token of what was said around a memory.
AROUND = "<"

# A stretch of Han, a number with its separators, or a word of any other script.
_PIECES = regex.compile(
    r"(?P<han>\p{Han}+)|(?P<number>\d+(?:[.,:/-]\d+)*)"
    r"|(?P<word>(?:(?!\p{Han})\p{L})(?:(?!\p{Han})[\p{L}\p{M}\d])*(?:'\p{L}+)?)"
)
_SHORTER = (2, 3)  # jieba's search mode: words of these lengths inside a longer word
# Left out of documents and queries, and out of queries besides.
_STOP = words("stopwords", "search")
_QUESTIONS = words("stopwords", "questions")
# Single characters that a name or a number follows: they never begin a pair with it.
_VERBS = words("grammar_zh", "verbs_alone")
_UNITS = {"cm": "厘米", "公分": "厘米", "kg": "公斤", "千克": "公斤", "km": "公里", "号": "日"}
# Parts of speech whose characters are words by themselves: verbs, adverbs, pronouns,
# prepositions, conjunctions, numerals, measures, places (jieba's tags).
_WORDS_ALONE = frozenset("vdrpcmqf")


def tokenise(text: str, around: Iterable[str] = ()) -> list[str]:
    """The tokens of a document, repeats included.

    ``around`` are the texts said just before and after it in the same conversation: their
    tokens are marked, and weigh less.
    """
    norm = normalise(text)
    tokens = [*_words(norm), *concepts.about(norm)]
    if concepts.has_time(norm):
        tokens.append(concepts.HAS_TIME)
    for other in around:
        tokens += [AROUND + token for token in _words(normalise(other))]
    return tokens


def own(tokens: Iterable[str]) -> list[str]:
    """The tokens of a document itself, without those of what was said around it."""
    return [token for token in tokens if not token.startswith(AROUND)]


def distinct_words(text: str) -> list[str]:
    """The distinct words of a text, without what they mean or ask for."""
    return list(dict.fromkeys(_words(normalise(text))))


def query_tokens(text: str) -> list[str]:
    """The distinct tokens of a query, without question words."""
    return list(query_weights(text))


def query_weights(text: str) -> dict[str, float]:
    """The distinct tokens of a query, each with how much it counts."""
    norm = normalise(text)
    weights = dict.fromkeys((*_words(norm, _QUESTIONS), *concepts.about(norm)), 1.0)
    if concepts.asks_time(norm):
        weights[concepts.HAS_TIME] = concepts.TIME_WEIGHT
    return weights


def _words(norm: str, unwanted: frozenset[str] = frozenset()) -> Iterator[str]:
    after_number = False
    for piece in _PIECES.finditer(norm):
        found = piece[0]
        if piece["han"]:
            tokens = _han(found, unwanted, after_number)
        elif piece["number"]:
            tokens = _number(found)
        else:
            tokens = _word(found, unwanted)
        after_number = bool(piece["number"])
        yield from (token for token in tokens if len(token) <= LONGEST)


def _word(word: str, unwanted: frozenset[str]) -> Iterator[str]:
    base = word.partition("'")[0]
    if base in _STOP or word in _STOP or base in unwanted:
        return
    yield _UNITS.get(base) or stem(base)
    yield from concepts.role(base)


def _number(number: str) -> Iterator[str]:
    """The number, and its parts where it is a date, a time or a range: 05-07 is 5 and 7."""
    parts = regex.split(r"[:/-]", number.replace(",", ""))
    if len(parts) > 1:
        yield number
    for part in parts:
        yield part.lstrip("0") or "0" if len(part) <= 2 else part


def _han(stretch: str, unwanted: frozenset[str], after_number: bool) -> Iterator[str]:
    singles = ""
    for index, word in enumerate(w.text for w in segmentation.cut(stretch)):
        if word in _UNITS and after_number and index == 0:
            word = _UNITS[word]
        dropped = word in _STOP or word in unwanted
        if len(word) == 1 and not dropped and word not in _VERBS:
            singles += word
            yield from concepts.role(word)
            continue
        yield from _pairs(singles)
        singles = ""
        if dropped:
            continue
        for size in _SHORTER:
            if len(word) > size:
                parts = (word[i : i + size] for i in range(len(word) - size + 1))
                yield from (part for part in parts if segmentation.frequency(part))
        yield word
        yield from concepts.role(word)
    yield from _pairs(singles)


def _pairs(singles: str) -> Iterator[str]:
    """Characters side by side that are no word together: a name, or words of one character."""
    if len(singles) == 1:
        yield singles
        return
    yield from (char for char in singles if segmentation.tag(char)[:1] in _WORDS_ALONE)
    yield from (singles[i : i + 2] for i in range(len(singles) - 1))
