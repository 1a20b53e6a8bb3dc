"""How likely it is that a memory has to do with a query: calibrated, where ranks only order.

A logistic regression over the cosine, BM25, the share of the query's words that the memory holds
by rarity, and what the query's own vector says of it: whether people write so of their lives, or to
anybody. Weights and their source: ``relevance.json``. They are of one embedding model; of any other
nothing is said, and no floor holds.
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
#: Below it a query has to do with nothing that is known.
FLOOR: float = _TABLE["floor"]

# What holds so much of a question, by rarity, or is known of it, counts as most of it.
MOST_WORDS = 0.5
# So likely must be what a question of words that nobody knows is to find: it may be misspelt, or
# of another language, but as often it means nothing.
SURE = 0.8
# So many further memories that hold none of the words: among a handful, each word is as common as
# any other.
_PRIOR = 50.0
# Characters that are words, or stand in names, are so often in jieba's corpus; those of half the code
# table never are.
_COMMON = 100
_LETTERS = regex.compile(r"\p{Latin}{2,}(?:'\p{Latin}+)?")
_PLAIN = regex.compile(r"[a-z\d\p{Han}'.]+|\d[\d.,:/-]*")


@dataclass(frozen=True, slots=True)
class Relevance:
    """``likely`` is in 0..1; ``cosine`` (None: not among the nearest, or not embedded yet),
    ``words``, the share of the query's in 0..1, and ``bm25`` are what it comes from.
    ``guessed``: not embedded yet, so that its meaning was taken on trust."""

    likely: float
    cosine: float | None
    words: float
    bm25: float
    guessed: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a query: its words with their weights, its vector, and what both found among
    ``size`` memories. ``rarity`` is that of the words that any of them holds."""

    words: Mapping[str, float]
    vector: Sequence[float]
    cosines: Mapping[UUID, float]
    bm25: Mapping[UUID, float]
    rarity: Mapping[str, float]
    size: float


@dataclass(frozen=True, slots=True)
class _Question:
    """``rarity`` is that of all its words, ``whole`` their sum; ``base`` is what it adds to every
    logit; ``last`` is the cosine of the last memory that was read."""

    asked: Asked
    rarity: Mapping[str, float]
    base: float
    whole: float
    last: float


class Judge:
    """Judges memories for the questions of a query. ``all_ranked``: what none of them is near to
    is not embedded yet; ``dated``: the query asks about a time."""

    def __init__(
        self, query: str, asked: Sequence[Asked], *, all_ranked: bool, dated: bool
    ) -> None:
        self._chinese = is_chinese(query)
        self._all_ranked = all_ranked
        personal = [_personal(one.vector) for one in asked]
        self._personal = max(personal) > 0
        self._questions = list(map(_question, asked, personal))
        self._bar = 0.0 if dated else _bar(query, asked)

    def judge(self, memories: Iterable[Memory], floor: float) -> dict[UUID, Relevance] | None:
        """The relevance of each; None where nothing is likely enough, or holds most of the query's
        words. Where people write so of their own lives it may stand in other words, and nothing
        is too low."""
        judged = {memory.pk: self._relevance(memory) for memory in memories}
        if not floor:
            return judged
        if self._bar is None:
            return None
        least = max(floor, self._bar)
        stands = self._personal or any(
            one.likely >= least or one.words >= MOST_WORDS for one in judged.values()
        )
        return judged if stands else None

    def _relevance(self, memory: Memory) -> Relevance:
        """That to the question that it fits best."""
        tokens = own(memory.tokens)
        return max(
            (self._to(memory, tokens, one) for one in self._questions), key=lambda one: one.likely
        )

    def _to(self, memory: Memory, tokens: Sequence[str], one: _Question) -> Relevance:
        held = one.rarity.keys() & tokens
        share = sum(one.rarity[token] for token in held) / one.whole
        cosine = one.asked.cosines.get(memory.pk)
        guessed = cosine is None and self._all_ranked
        if cosine is not None:
            near = cosine
        elif guessed:
            near = _TABLE["usual"]
        else:  # What was not read stands below the last that was.
            near = one.last
        bm25 = one.asked.bm25.get(memory.pk, 0.0)
        chinese = is_chinese(memory.content)
        logit = one.base + _sum(
            cosine=near,
            bm25=math.log1p(bm25),
            share=share,
            several=len(held) > 1,
            chinese=chinese and self._chinese,
            crossing=chinese != self._chinese,
        )
        return Relevance(1 / (1 + math.exp(-logit)), cosine, share, bm25, guessed)


def _question(asked: Asked, personal: float) -> _Question:
    unheard, more = math.log(2 * asked.size + 2), math.log1p(_PRIOR / (asked.size + 1))
    rarity = {
        word: (asked.rarity.get(word, unheard) + more) * weight
        for word, weight in asked.words.items()
    }
    base = _WEIGHTS["bias"] + _sum(personal=personal, short=len(rarity) < 2)
    last = min(asked.cosines.values(), default=0.0)
    return _Question(asked, rarity, base, sum(rarity.values()) or 1.0, last)


def _personal(vector: Sequence[float]) -> float:
    """The log odds that somebody writes so of their life, and not to anybody."""
    return float(_PERSONAL @ np.array(vector)) + float(_TABLE["personal"]["bias"])


def _bar(query: str, asked: Sequence[Asked]) -> float | None:
    """How likely the best must be besides the floor: much where hardly a word is known, to a
    memory or a dictionary; None where the query says nothing."""
    words = {word for one in asked for word in one.words}
    if not words:
        return 0.0 if any(map(str.isalpha, query)) else None
    held = {word for one in asked for word in one.rarity}
    known = [word for word in words if word in held or _is_word(word)]
    if len(known) >= MOST_WORDS * len(words):
        return 0.0
    return SURE if any(map(_may_name, words)) else None


def _is_word(token: str) -> bool:
    """Whether a token is one of a dictionary, an idea, or of a language that none is at hand for."""
    if not _PLAIN.fullmatch(token):
        return True
    return token in _stems() or segmentation.frequency(token) > (_COMMON if len(token) == 1 else 0)


def _may_name(token: str) -> bool:
    """Whether a token that no dictionary has may still be a word: a name, or one misspelt."""
    if _LETTERS.fullmatch(token):
        return True
    return len(token) > 1 and all(segmentation.frequency(char) > _COMMON for char in token)


@cache
def _stems() -> frozenset[str]:
    return frozenset(map(stem, lexicon.words("english_words")))


def _sum(**features: float) -> float:
    return sum(_WEIGHTS[name] * value for name, value in features.items())
