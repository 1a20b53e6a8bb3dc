"""Free text about a person as weighted words: the rarer a shared word, the more it says."""

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

# Function words, and what is said of everybody (closed classes of both grammars).
_STOP = words("stopwords", "comparison")
# Also ordinals; "first" is rather said of anything, "second" of time.
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
# What a word inside a longer one counts of its weight: 厦门 of 厦门人.
_INNER = 0.8
# Natural logarithm of the size of jieba's corpus.
_LOG_CORPUS = math.log(60_000_000)
_COMMON_ENGLISH, _RARE_ENGLISH = 0.9, 1.5
# English words that begin alike mean much the same (truncation beats no stemming: Harman,
# "How effective is suffixing?", JASIS 1991).
_STEM = 5

Words = Mapping[str, float]


@lru_cache(maxsize=16384)
def plain(text: str) -> str:
    """The normal form of a text, with its numbers in digits."""
    norm = with_digits(normalise(text))
    return re.sub(r"(?<=\d)(?:st|nd|rd|th)\b", "", norm)


def without_subject(text: str, names: Iterable[str]) -> str:
    """``text`` without the name that it begins with: 小红叫王芳 of 小红 is 叫王芳."""
    norm = normalise(text)
    for start in sorted(map(normalise, names), key=len, reverse=True):
        if start and norm.startswith(start) and len(norm) == len(text):
            rest = text[len(start) :]
            if not (start[-1].isascii() and rest[:1].isalpha() and rest[0].isascii()):
                return rest.strip()
    return text


@dataclass(frozen=True, slots=True)
class Shared:
    """What two texts have in common: the words, heaviest first, and their weight together.

    Years and small counts weigh, but are named only where nothing else is shared.
    """

    words: tuple[str, ...]
    weight: float


def read(texts: Iterable[str], without: Iterable[str] = ()) -> Words:
    """The words of ``texts`` with their weights; the names ``without`` don't count."""
    names = sorted({normalise(name) for name in without if name.strip()}, key=len, reverse=True)
    found: dict[str, float] = {}
    for text in texts:
        for word, weight in _words(text):
            found.setdefault(word, weight)
    for name in names:
        for word, _ in _words(name):
            found.pop(word, None)
    return found


@lru_cache(maxsize=16384)
def _words(text: str) -> tuple[tuple[str, float], ...]:
    found: list[tuple[str, float]] = []
    for piece in _PIECE.finditer(plain(text)):
        if piece["date"]:
            numbers = [int(n) for n in re.findall(r"\d+", piece[0])]
            month = MONTHS[piece["month"]] if piece["month"] else numbers[0]
            found.append((f"{month}/{numbers[-1]}", _DATE_WEIGHT))
        elif piece["number"]:
            digits = 1 if _YEAR.fullmatch(piece[0]) else len(re.sub(r"\D", "", piece[0]))
            size = min(digits, len(_NUMBER_WEIGHTS))
            found.append((piece[0].lstrip("0") or "0", _NUMBER_WEIGHTS[size - 1]))
        elif piece["latin"]:
            found += _latin(piece[0])
        else:
            found += _han(piece["han"])
    return tuple(found)


def _latin(word: str) -> list[tuple[str, float]]:
    if word in _STOP or len(word) < 2:
        return []
    if word in _ENGLISH_NUMBERS:
        return [(str(_ENGLISH_NUMBERS[word]), _NUMBER_WEIGHTS[0])]
    common = word in words("english_words")
    stem = word[:_STEM] if len(word) > _STEM else word.removesuffix("s")
    return [(stem, _COMMON_ENGLISH if common else _RARE_ENGLISH)]


def _han(stretch: str) -> list[tuple[str, float]]:
    found = []
    singles = ""
    for word in (piece.text for piece in segmentation.cut(stretch)):
        if len(word) == 1:
            singles += "" if word in _STOP or word in _CALENDAR else word
            continue
        found += _rare_pairs(singles)
        singles = ""
        if word not in _STOP:
            found.append((word, _rarity(word)))
            inner = (word[i : i + 2] for i in range(len(word) - 1) if len(word) > 2)
            found += [(p, _rarity(p) * _INNER) for p in inner if segmentation.frequency(p)]
    return found + _rare_pairs(singles)


def _rare_pairs(singles: str) -> list[tuple[str, float]]:
    return [(char, _rarity(char) / 2) for char in singles]


@lru_cache(maxsize=65536)
def _rarity(word: str) -> float:
    """Information of a word against jieba's corpus, 1 at a frequency of about 1,500."""
    return (_LOG_CORPUS - math.log(segmentation.frequency(word) + 1)) / 10


def shared(first: Words, second: Words, rarity: Mapping[str, float]) -> Shared:
    """The words that both hold; ``rarity`` (1 where it says nothing) scales their weights."""
    both = {
        word: min(first[word], second[word]) * rarity.get(word, 1.0)
        for word in first.keys() & second.keys()
    }
    ordered = sorted(both, key=lambda word: (-both[word], word))
    # Years and small counts are shared by chance.
    telling = [
        word
        for word in ordered
        if not (word.isdecimal() and (len(word) <= 2 or _YEAR.fullmatch(word)))
    ]
    return Shared(tuple(telling or ordered), sum(both.values()))


def rarity_of(people: Collection[Words]) -> dict[str, float]:
    """How much a word tells among these people: 1 where only two say it, 0 where all do."""
    spread = Counter(word for words in people for word in words)
    most = math.log(max(len(people), 2))
    return {
        word: max(0.0, 1 - math.log(count - 1) / most)
        for word, count in spread.items()
        if count > 2
    }
