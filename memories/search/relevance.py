"""The probability that a memory is relevant to a query: calibrated, whereas ranks only order.

A logistic regression over the cosine, BM25, the share of the query's words that the memory
contains, by rarity, and what the query's own vector shows: whether people write like this about
their own lives, or to anybody. Weights and their source: ``relevance.json``. They are for one
embedding model; with any other there is no relevance and no floor.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import regex

from memories.models import Memory
from memories.search.tokens import own
from understanding import lexicon, segmentation
from understanding.text import is_chinese, stem

_TABLE: dict[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
_WEIGHTS: Mapping[str, float] = _TABLE["weights"]
_PERSONAL = np.array(_TABLE["personal"]["weights"])
#: The space of the vectors that the weights are for.
SPACE: str = _TABLE["space"]
#: If no memory reaches this probability, nothing stored is relevant to the query.
FLOOR: float = _TABLE["floor"]

# From this share on, a memory contains most of a question's words, or most words are known.
MOST_WORDS = 0.5
# The required probability if most words of a question are unknown: they may be misspelt, or of
# another language, but as often they mean nothing.
SURE = 0.8
# Assumed further memories without any of the words: among a handful of memories, each word is as
# common as any other.
_PRIOR = 50.0
# The least frequency in jieba's corpus of characters that are words or parts of names; those of half
# the code table never occur.
_COMMON = 100
_LETTERS = regex.compile(r"\p{Latin}{2,}(?:'\p{Latin}+)?")
_PLAIN = regex.compile(r"[a-z\d\p{Han}'.]+|\d[\d.,:/-]*")


@dataclass(frozen=True, slots=True)
class Relevance:
    """``likely`` is the probability; ``cosine`` (None: not among the nearest, or not embedded yet),
    ``words``, the share of the query's words in 0..1, and ``bm25`` are its features. ``guessed``:
    not embedded yet, so that the usual cosine was assumed."""

    likely: float
    cosine: float | None
    words: float
    bm25: float
    guessed: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a query: its words with their weights, its vector, and what both searches found
    among ``size`` memories. ``rarity`` has the words that any of them contains."""

    words: Mapping[str, float]
    vector: Sequence[float]
    cosines: Mapping[UUID, float]
    bm25: Mapping[UUID, float]
    rarity: Mapping[str, float]
    size: float


@dataclass(frozen=True, slots=True)
class _Question:
    """``rarity`` has all its words, ``rarity_sum`` is their sum; ``base_logit`` is added to the
    logit of every memory; ``last_cosine`` is the cosine of the last memory that was read."""

    asked: Asked
    rarity: Mapping[str, float]
    base_logit: float
    rarity_sum: float
    last_cosine: float


class Judge:
    """Judges memories for the questions of a query. ``all_ranked``: every vector was ranked, so
    that a memory without a cosine is not embedded yet; ``dated``: the query asks about a time."""

    def __init__(
        self, query: str, asked: Sequence[Asked], *, all_ranked: bool, dated: bool
    ) -> None:
        self._chinese = is_chinese(query)
        self._all_ranked = all_ranked
        # The log odds that somebody writes so about their life, and not to anybody.
        bias = float(_TABLE["personal"]["bias"])
        personal = [float(_PERSONAL @ np.array(one.vector)) + bias for one in asked]
        self._personal = max(personal) > 0
        self._questions = list(map(_prepared, asked, personal))
        self._required = 0.0 if dated else _required_likelihood(query, asked)

    def judge(self, memories: Iterable[Memory], floor: float) -> dict[UUID, Relevance] | None:
        """Returns the relevance of each memory; None if none is likely enough or contains most of
        the query's words. If people write like the query about their own lives, an answer may use
        other words, and no memory is too unlikely."""
        judged = {memory.pk: self._relevance(memory) for memory in memories}
        if not floor:
            return judged
        if self._required is None:
            return None
        least = max(floor, self._required)
        is_answered = self._personal or any(
            one.likely >= least or one.words >= MOST_WORDS for one in judged.values()
        )
        return judged if is_answered else None

    def _relevance(self, memory: Memory) -> Relevance:
        """Returns the relevance to the question that the memory fits best."""
        tokens = own(memory.tokens)
        return max(
            (self._score(memory, tokens, one) for one in self._questions),
            key=lambda one: one.likely,
        )

    def _score(self, memory: Memory, tokens: Sequence[str], question: _Question) -> Relevance:
        shared = question.rarity.keys() & tokens
        share = sum(question.rarity[token] for token in shared) / question.rarity_sum
        cosine = question.asked.cosines.get(memory.pk)
        guessed = cosine is None and self._all_ranked
        if cosine is not None:
            used_cosine = cosine
        elif guessed:
            used_cosine = _TABLE["usual"]
        else:  # A memory that was not read is below the last one that was.
            used_cosine = question.last_cosine
        bm25 = question.asked.bm25.get(memory.pk, 0.0)
        chinese = is_chinese(memory.content)
        logit = question.base_logit + _weighted_sum(
            cosine=used_cosine,
            bm25=math.log1p(bm25),
            share=share,
            several=len(shared) > 1,
            chinese=chinese and self._chinese,
            crossing=chinese != self._chinese,
        )
        return Relevance(1 / (1 + math.exp(-logit)), cosine, share, bm25, guessed)


def _prepared(asked: Asked, personal: float) -> _Question:
    """Returns a question with the rarity of all its words, also of unknown ones."""
    unknown, prior = math.log(2 * asked.size + 2), math.log1p(_PRIOR / (asked.size + 1))
    rarity = {
        word: (asked.rarity.get(word, unknown) + prior) * weight
        for word, weight in asked.words.items()
    }
    base = _WEIGHTS["bias"] + _weighted_sum(personal=personal, short=len(rarity) < 2)
    last = min(asked.cosines.values(), default=0.0)
    return _Question(asked, rarity, base, sum(rarity.values()) or 1.0, last)


def _required_likelihood(query: str, asked: Sequence[Asked]) -> float | None:
    """Returns the probability that the best memory needs besides the floor: high if hardly a word
    is known to a memory or dictionary; None if the query means nothing."""
    words = {word for one in asked for word in one.words}
    if not words:
        return 0.0 if any(map(str.isalpha, query)) else None
    memory_words = {word for one in asked for word in one.rarity}
    known_words = [word for word in words if word in memory_words or _is_word(word)]
    if len(known_words) >= MOST_WORDS * len(words):
        return 0.0
    return SURE if any(map(_may_be_word, words)) else None


def _is_word(token: str) -> bool:
    """Whether a token is in a dictionary, is a mark (``about:job``) or of a script without one."""
    if not _PLAIN.fullmatch(token):
        return True
    return token in _stems() or segmentation.frequency(token) > (_COMMON if len(token) == 1 else 0)


def _may_be_word(token: str) -> bool:
    """Whether a token that is in no dictionary may still be a word: a name, or one misspelt."""
    if _LETTERS.fullmatch(token):
        return True
    return len(token) > 1 and all(segmentation.frequency(char) > _COMMON for char in token)


@cache
def _stems() -> frozenset[str]:
    return frozenset(map(stem, lexicon.words("english_words")))


def _weighted_sum(**features: float) -> float:
    return sum(_WEIGHTS[name] * value for name, value in features.items())
