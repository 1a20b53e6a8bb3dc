"""Search tokens of texts in Chinese and English, the same when a memory is stored and when it is
searched.

They are made from the normal form (NFKC, case folded, simplified): Chinese is cut as jieba's search
mode does (the likeliest words by its dictionary, and the shorter words within long ones), English
words are stemmed (Porter 2), numbers are kept. Characters that belong to no word of the dictionary,
such as those of most names, become overlapping pairs, so that a name gives the same tokens in any
context. The texts around a sentence add tokens of lower weight.

What a text is about beyond its words (an attribute of a person, a time, a relative) is a token too,
so that 老家 finds 家乡 and hometown, 母亲 finds 妈 and mum, and a question for a time finds
sentences that have one (predictive annotation: Prager, Brown, Coden and Radev, "Question-answering
by predictive annotation", SIGIR 2000). Tokens of words have no letters before a colon, so the two
never collide.
"""

from collections.abc import Iterable, Iterator
from functools import cache

import regex

from memories.types import AROUND, ROLE
from understanding import segmentation
from understanding.lexicon import finder, words
from understanding.roles import terms
from understanding.text import normalise, stem

# A token longer than this is noise (a key, a hash, base64), and an index entry has a limit.
LONGEST = 64
HAS_TIME = "has:time"
# In a question for a time, the time counts more than any of its words. Measured: 2 to 3.
TIME_WEIGHT = 2.5

# A stretch of Han, a number with its separators, or a word of any other script.
_PIECES = regex.compile(
    r"(?P<han>\p{Han}+)|(?P<number>\d+(?:[.,:/-]\d+)*)"
    r"|(?P<word>(?:(?!\p{Han})\p{L})(?:(?!\p{Han})[\p{L}\p{M}\d])*(?:'\p{L}+)?)"
)
_SHORTER = (2, 3)  # jieba's search mode: words of these lengths inside a longer word
# Words left out of documents and queries, and words left out of queries only.
_STOP = words("stopwords", "search")
_QUESTIONS = words("stopwords", "questions")
# Single characters before a name or a number, which never begin a pair with it.
_VERBS = words("grammar_zh", "verbs_alone")
_UNITS = {"cm": "厘米", "公分": "厘米", "kg": "公斤", "千克": "公斤", "km": "公里", "号": "日"}
# Parts of speech whose characters are words by themselves: verbs, adverbs, pronouns,
# prepositions, conjunctions, numerals, measures, places (jieba's tags).
_WORDS_ALONE = frozenset("vdrpcmqf")
# A year, an ordinal, or a number before a measure of time.
_DATED = regex.compile(
    r"\b(?:(?:19|20)\d\d|\d+(?:st|nd|rd|th))\b|[\d一二三四五六七八九十][年月日号点]"
)


def tokenise(text: str, around: Iterable[str] = ()) -> list[str]:
    """Returns the tokens of a document, with repetitions. ``around`` are the texts just before and
    after it in the same conversation: their tokens are marked and weigh less."""
    norm = normalise(text)
    tokens = [*_word_tokens(norm), *_attribute_tokens(norm)]
    if has_time(norm):
        tokens.append(HAS_TIME)
    for other in around:
        tokens += [AROUND + token for token in _word_tokens(normalise(other))]
    return tokens


def own(tokens: Iterable[str]) -> list[str]:
    """Returns the tokens of a document itself, without those of the texts around it."""
    return [token for token in tokens if not token.startswith(AROUND)]


def distinct_words(text: str) -> list[str]:
    """Returns the distinct word and role tokens of a text, but none of attributes or times."""
    return list(dict.fromkeys(_word_tokens(normalise(text))))


def query_weights(text: str) -> dict[str, float]:
    """Returns the distinct tokens of a query, without question words, with their weights."""
    norm = normalise(text)
    weights = dict.fromkeys((*_word_tokens(norm, _QUESTIONS), *_attribute_tokens(norm)), 1.0)
    if finder("time_words", "asks")(norm):  # when, or for how long
        weights[HAS_TIME] = TIME_WEIGHT
    return weights


def has_time(norm: str) -> bool:
    """Whether a normalised text states a time."""
    return bool(finder("time_words", "says")(norm)) or _DATED.search(norm) is not None


def _attribute_tokens(norm: str) -> list[str]:
    """Returns tokens of the attributes that a normalised text states or asks for."""
    return [f"about:{key}" for key in finder("attribute_words")(norm)]


@cache
def _role_tokens() -> dict[str, tuple[str, ...]]:
    """Returns the tokens of each role word: the same for 妈, 母亲 (mother) and mum."""
    # Not of professions, which state what someone does, not who they are to the user.
    return {
        word: tuple(
            dict.fromkeys(
                ROLE + "-".join([role.kind, *sorted(role.tags)])
                for role in roles
                if role.subtype != "other"
            )
        )
        for word, roles in terms().items()
    }


def _word_tokens(norm: str, unwanted: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yields word and role tokens of a normalised text, without stopwords and ``unwanted``
    words."""
    after_number = False
    for piece in _PIECES.finditer(norm):
        text = piece[0]
        if piece["han"]:
            tokens = _tokens_of_han(text, unwanted, after_number)
        elif piece["number"]:
            tokens = _tokens_of_number(text)
        else:
            tokens = _tokens_of_word(text, unwanted)
        after_number = bool(piece["number"])
        yield from (token for token in tokens if len(token) <= LONGEST)


def _tokens_of_word(word: str, unwanted: frozenset[str]) -> Iterator[str]:
    base = word.partition("'")[0]
    if base in _STOP or word in _STOP or base in unwanted:
        return
    yield _UNITS.get(base) or stem(base)
    yield from _role_tokens().get(base, ())


def _tokens_of_number(number: str) -> Iterator[str]:
    """Yields a number; of a date, time or range also its parts: 5 and 7 of 05-07."""
    parts = regex.split(r"[:/-]", number.replace(",", ""))
    if len(parts) > 1:
        yield number
    for part in parts:
        yield part.lstrip("0") or "0" if len(part) <= 2 else part


def _tokens_of_han(stretch: str, unwanted: frozenset[str], after_number: bool) -> Iterator[str]:
    """Yields the words of Han text and shorter words within them, roles, and pairs of the rest."""
    singles = ""
    for index, word in enumerate(w.text for w in segmentation.cut(stretch)):
        if word in _UNITS and after_number and index == 0:
            word = _UNITS[word]
        dropped = word in _STOP or word in unwanted
        if len(word) == 1 and not dropped and word not in _VERBS:
            singles += word
            yield from _role_tokens().get(word, ())
            continue
        yield from _tokens_of_singles(singles)
        singles = ""
        if dropped:
            continue
        for size in _SHORTER:
            if len(word) > size:
                parts = (word[i : i + size] for i in range(len(word) - size + 1))
                yield from (part for part in parts if segmentation.frequency(part))
        yield word
        yield from _role_tokens().get(word, ())
    yield from _tokens_of_singles(singles)


def _tokens_of_singles(singles: str) -> Iterator[str]:
    """Yields pairs of adjacent characters that form no word: a name, or words of one character."""
    if len(singles) == 1:
        yield singles
        return
    yield from (char for char in singles if segmentation.tag(char)[:1] in _WORDS_ALONE)
    yield from (singles[i : i + 2] for i in range(len(singles) - 1))
