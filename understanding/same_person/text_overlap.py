"""The words that free texts about two people share; the rarer a word, the more it weighs."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from understanding import segmentation
from understanding.lexicon import words
from understanding.numerals import CARDINALS, MONTH, MONTHS, ORDINALS, with_digits
from understanding.text import normalise

# Function words, and words that are used about everybody (closed classes of both grammars).
_STOP = words("stopwords", "comparison")
# Also ordinals, but not "first" (mostly no number) and "second" (mostly a time).
_ENGLISH_NUMBERS = CARDINALS | {word: n for word, n in ORDINALS.items() if n > 2}
_PIECE = re.compile(
    r"(?P<date>\d{1,2} ?月 ?\d{1,2} ?[日号]?|(?P<month>"
    + MONTH
    + r")\.? ?(?P<day>\d{1,2})(?:st|nd|rd|th)?\b)"
    r"|(?P<number>\d+(?:[:-]\d+)*)|(?P<latin>[a-z]+)|(?P<han>[㐀-鿿]+)"
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_CALENDAR = frozenset("年月日号点")  # what memories write dates with
# Years and small counts are shared by chance; longer numbers and days of the year hardly.
_DATE_WEIGHT = 2.5
_NUMBER_WEIGHTS = (0.3, 0.3, 0.9, 1.6)
_INNER = 0.8  # the share of its weight that a word inside a longer one counts: 厦门 of 厦门人
_LOG_CORPUS = math.log(60_000_000)  # the size of jieba's corpus
_COMMON_ENGLISH, _RARE_ENGLISH = 0.9, 1.5
# English words that begin alike mean much the same (truncation beats no stemming: Harman,
# "How effective is suffixing?", JASIS 1991).
_STEM = 5

Words = Mapping[str, float]


@lru_cache(maxsize=16384)
def plain(text: str) -> str:
    """Returns the normal form of a text, with its numbers in digits."""
    norm = with_digits(normalise(text))
    return re.sub(r"(?<=\d)(?:st|nd|rd|th)\b", "", norm)


def without_subject(text: str, names: Iterable[str]) -> str:
    """Returns ``text`` without the one of ``names`` that it begins with: 小红叫王芳 of 小红 is 叫王芳."""
    norm = normalise(text)
    for name in sorted(map(normalise, names), key=len, reverse=True):
        if name and norm.startswith(name) and len(norm) == len(text):
            remainder = text[len(name) :]
            if not (name[-1].isascii() and remainder[:1].isalpha() and remainder[0].isascii()):
                return remainder.strip()
    return text


@dataclass(frozen=True, slots=True)
class Shared:
    """The words that two texts have in common, heaviest first, and their weight together.

    Years and small counts are in the weight, but in the words only if nothing else is shared."""

    words: tuple[str, ...]
    weight: float


def read(texts: Iterable[str], without: Iterable[str] = ()) -> Words:
    """Returns the words of ``texts`` with their weights; the names ``without`` are left out."""
    names = sorted({normalise(name) for name in without if name.strip()}, key=len, reverse=True)
    weights: dict[str, float] = {}
    for text in texts:
        for word, weight in _weighted_words(text):
            weights.setdefault(word, weight)
    for name in names:
        for word, _ in _weighted_words(name):
            weights.pop(word, None)
    return weights


@lru_cache(maxsize=16384)
def _weighted_words(text: str) -> tuple[tuple[str, float], ...]:
    """The words, numbers and days of the year of a text with their weights, in order."""
    weighted: list[tuple[str, float]] = []
    for piece in _PIECE.finditer(plain(text)):
        if piece["date"]:
            numbers = [int(n) for n in re.findall(r"\d+", piece[0])]
            month = MONTHS[piece["month"]] if piece["month"] else numbers[0]
            weighted.append((f"{month}/{numbers[-1]}", _DATE_WEIGHT))
        elif piece["number"]:
            digits = 1 if _YEAR.fullmatch(piece[0]) else sum(map(str.isdecimal, piece[0]))
            size = min(digits, len(_NUMBER_WEIGHTS))
            weighted.append((piece[0].lstrip("0") or "0", _NUMBER_WEIGHTS[size - 1]))
        elif piece["latin"]:
            weighted += _weighted_latin(piece[0])
        else:
            weighted += _weighted_han(piece["han"])
    return tuple(weighted)


def _weighted_latin(word: str) -> list[tuple[str, float]]:
    """The stem of an English word, or its number, with its weight; nothing for a stop word."""
    if word in _STOP or len(word) < 2:
        return []
    if word in _ENGLISH_NUMBERS:
        return [(str(_ENGLISH_NUMBERS[word]), _NUMBER_WEIGHTS[0])]
    common = word in words("english_words")
    stem = word[:_STEM] if len(word) > _STEM else word.removesuffix("s")
    return [(stem, _COMMON_ENGLISH if common else _RARE_ENGLISH)]


def _weighted_han(stretch: str) -> list[tuple[str, float]]:
    """The words of Chinese text, and the pairs of characters in longer ones, with their weights."""
    weighted = []
    singles = ""
    for word in (piece.text for piece in segmentation.cut(stretch)):
        if len(word) == 1:
            singles += "" if word in _STOP or word in _CALENDAR else word
            continue
        weighted += _weighted_singles(singles)
        singles = ""
        if word not in _STOP:
            weighted.append((word, _rarity(word)))
            inner = (word[i : i + 2] for i in range(len(word) - 1) if len(word) > 2)
            weighted += [(p, _rarity(p) * _INNER) for p in inner if segmentation.frequency(p)]
    return weighted + _weighted_singles(singles)


def _weighted_singles(singles: str) -> list[tuple[str, float]]:
    """Characters that belong to no word, each with half the weight of a word."""
    return [(char, _rarity(char) / 2) for char in singles]


@lru_cache(maxsize=65536)
def _rarity(word: str) -> float:
    """The information of a word in jieba's corpus, 1 at a frequency of about 1,500."""
    return (_LOG_CORPUS - math.log(segmentation.frequency(word) + 1)) / 10


def shared(first: Words, second: Words, rarity: Mapping[str, float]) -> Shared:
    """Returns the words that both have, weighted by ``rarity`` (1 for a word that it lacks)."""
    both = {
        word: min(first[word], second[word]) * rarity.get(word, 1.0)
        for word in first.keys() & second.keys()
    }
    ordered = sorted(both, key=lambda word: (-both[word], word))
    # Years and small counts are shared by chance.
    informative = [
        word
        for word in ordered
        if not (word.isdecimal() and (len(word) <= 2 or _YEAR.fullmatch(word)))
    ]
    return Shared(tuple(informative or ordered), sum(both.values()))


def rarity_of(people: Collection[Words]) -> dict[str, float]:
    """Returns how informative each word is among these people: 1 if two use it, 0 if all do."""
    spread = Counter(word for words in people for word in words)
    most = math.log(max(len(people), 2))
    return {
        word: max(0.0, 1 - math.log(count - 1) / most)
        for word, count in spread.items()
        if count > 2
    }
