"""Chinese words: segmentation and part-of-speech tagging over jieba's dictionary.

:func:`cut` is the same unigram model as jieba's (maximum product of word frequencies, found by
dynamic programming), with the names of one user added for one call: ``jieba.lcut`` can only do
that by changing a dictionary that everyone shares. :func:`tagged` is jieba's own tagger, whose
hidden Markov model also finds names and words that no dictionary has.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import import_module
from typing import Any

from understanding.lexicon import words
from understanding.text import HAN

# Rarer entries of the dictionary are noise of the corpus that it was counted on.
_LEAST_FREQUENCY = 3
_LONGEST_WORD = 8
_CACHE_LIMIT = 64
_UNKNOWN = 1.0
# The frequency of a user's own name: that of a fairly common word.
NAME_FREQUENCY = 1000
# A brand or set phrase is one word unless another cut is far likelier.
_BRAND_FREQUENCY = 5000
# Words newer than the dictionary, or missing from it.
_ADDED_FREQUENCY = 300
_NAME_CHARACTER = "晖"  # a character of names that jieba's tables have


@dataclass(frozen=True, slots=True)
class Word:
    """A token: its position in the stretch, and jieba's part of speech ("" if unknown)."""

    start: int
    end: int
    text: str
    tag: str


@cache
def _dictionary() -> tuple[dict[str, tuple[float, str]], float]:
    # Loaded at first use, as in _tagger: with its resources it takes a tenth of a second.
    import jieba

    total = 0
    table: dict[str, tuple[float, str]] = {}
    with jieba.get_dict_file() as lines:
        for line in lines:
            word, count, tag = line.decode("utf-8").split()
            total += int(count)
            if int(count) >= _LEAST_FREQUENCY and len(word) <= _LONGEST_WORD:
                table[word] = (math.log(int(count)), tag)
    for word in words("chinese_added"):
        table.setdefault(word, (math.log(_ADDED_FREQUENCY), ""))
    for word in words("chinese_brands"):
        table[word] = (math.log(_BRAND_FREQUENCY), "nz")
    return table, math.log(total)


def entries() -> Iterator[tuple[str, str]]:
    """Yields the words of jieba's dictionary, each with its part of speech."""
    return ((word, tag) for word, (_, tag) in _dictionary()[0].items())


def tag(word: str) -> str:
    """Returns jieba's part of speech of ``word``, or "" if the dictionary lacks it."""
    entry = _dictionary()[0].get(word)
    return entry[1] if entry else ""


def frequency(word: str) -> float:
    """Returns how often ``word`` occurs in jieba's corpus, or 0."""
    entry = _dictionary()[0].get(word)
    return math.exp(entry[0]) if entry else 0.0


@cache
def _tagger() -> Any:
    """Returns jieba's part-of-speech tagger. Its tables are built here: to read them from jieba's
    cache file takes as long, and that file is in a folder that all users of the machine share."""
    import jieba

    words = jieba.Tokenizer()
    words.FREQ, words.total = words.gen_pfdict(words.get_dict_file())
    words.initialized = True
    # Imported on first use: its tables take half a second, and most commands tag nothing.
    return import_module("jieba.posseg").POSTokenizer(words)


@lru_cache(maxsize=4096)
def tagged(text: str) -> tuple[tuple[str, str], ...]:
    """Returns ``text`` as (word, part of speech) pairs, words unknown to the dictionary included.

    A character that jieba's tables lack may be in any of its 256 states, which takes 20 ms for
    each; most are in names, so it is read as a character of names."""
    states = import_module("jieba.posseg").char_state_tab_P
    plain = HAN.sub(lambda match: match[0] if match[0] in states else _NAME_CHARACTER, text)
    pairs, start = [], 0
    for pair in _tagger().cut(plain):
        end = start + len(pair.word)
        pairs.append((text[start:end], pair.flag))
        start = end
    return tuple(pairs)


def cut(text: str, names: Mapping[str, float] | None = None) -> list[Word]:
    """Returns ``text`` (one stretch of Chinese) as words; ``names`` maps further words to their
    frequencies, which win over the dictionary's if higher."""
    if names or len(text) > _CACHE_LIMIT:
        return _cut(text, names)
    return list(_cached_cut(text, None))


def _cut(text: str, names: Mapping[str, float] | None) -> list[Word]:
    table, log_total = _dictionary()
    extra = {name: math.log(weight) for name, weight in (names or {}).items()}
    longest = max(_LONGEST_WORD, *map(len, extra)) if extra else _LONGEST_WORD
    size = len(text)
    best: list[tuple[float, int]] = [(0.0, size)] * (size + 1)
    for start in range(size - 1, -1, -1):
        score, stop = -math.inf, start + 1
        for end in range(start + 1, min(size, start + longest) + 1):
            piece = text[start:end]
            entry = table.get(piece)
            weight = entry[0] if entry else None
            if piece in extra:
                weight = max(weight or 0.0, extra[piece])
            if weight is None:
                if end > start + 1:
                    continue
                weight = math.log(_UNKNOWN)
            total = weight - log_total + best[end][0]
            if total > score:
                score, stop = total, end
        best[start] = (score, stop)
    words, start = [], 0
    while start < size:
        stop = best[start][1]
        piece = text[start:stop]
        words.append(Word(start, stop, piece, tag(piece)))
        start = stop
    return words


# One rule after the other needs the same words around a place.
_cached_cut = lru_cache(maxsize=4096)(_cut)
