"""Word search: BM25 over the tokens of one end user's memories, computed in PostgreSQL.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, with the
never negative idf of Lucene: ln(1 + (N - n + 0.5) / (n + 0.5)). N, the average length and each
word's n are exact at the time of the search. Words around a memory count in part (the simple BM25F
of the same paper: fields are weighted within the term frequency).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from accounts.cells import fetch
from accounts.sql_files import sql_pieces
from memories.search.sql import Scope, hashed

# How fast further occurrences of a word stop counting, and how much long texts lose: Lucene's
# defaults.
K1 = 1.2
B = 0.75
# The share of an entity's words, by rarity, that a memory about it must contain: names of events
# and works are repeated in part. Measured: 0.3 to 0.5 are equally good.
COVER = 0.5
# A word of an entity in so many memories does not show which are about it and is left out: to read
# all of them would cost more, the more memories a user has.
COMMON = 5000

# With entity words, a memory must contain one of the other words; most contain none.
_ANSWERING = hashed(
    "memory_id", "SELECT memory_id FROM held JOIN asked USING (token) WHERE NOT of_entity"
)
_SQL = sql_pieces(__file__)


@dataclass(frozen=True, slots=True)
class Question:
    """Words with their weights. With ``entity`` words, only memories count that contain enough of
    these (COVER, by rarity; common ones don't count) and at least one of ``words``."""

    words: dict[str, float]
    entity: dict[str, float]


@dataclass(slots=True)
class Found:
    """The memories for one question: ``ids`` with their ``scores``, best first, and the best
    ``inside``; ``tokens`` are those of the first. ``corpus`` (how many memories were searched) and
    ``rarity`` (idf of all words that a memory contains) are known if anything was found."""

    ids: list[UUID]
    scores: list[float]
    tokens: list[str]
    corpus: float | None = None
    inside: list[UUID] = field(default_factory=list)
    rarity: dict[str, float] = field(default_factory=dict)


def search(scope: Scope, questions: Sequence[Question], limit: int) -> list[Found]:
    """Returns, for each question, its best memories by BM25, in one statement. Word statistics are
    those of all the end user's memories with the scope's statuses."""
    terms = [
        (part, token, weight, of_entity)
        for part, question in enumerate(questions)
        for of_entity, words in ((False, question.words), (True, question.entity))
        for token, weight in words.items()
    ]
    results = [Found([], [], []) for _ in questions]
    if not terms:
        return results
    conditions, read_tokens = ["true"], "%(words)s::text[]"
    words = {token for _, token, _, of_entity in terms if not of_entity}
    entities = {token for _, token, _, of_entity in terms if of_entity} - words
    if any(question.entity for question in questions):
        conditions.append(_ANSWERING)
        read_tokens = f"{read_tokens} || ARRAY({_SQL['telling']})"
    if scope.within:
        conditions.append(hashed("memory_id", scope.within.sql))
    params: dict[str, Any] = scope.params | {
        "parts": [part for part, _, _, _ in terms],
        "tokens": [token for _, token, _, _ in terms],
        "weights": [weight for _, _, weight, _ in terms],
        "of_entity": [of_entity for _, _, _, of_entity in terms],
        "words": sorted(words),
        "of_entities": sorted(entities),
        "common": COMMON,
        "k1": K1,
        "b": B,
        "cover": COVER,
        "limit": limit,
    }
    sql = _SQL["best"].format(
        wanted=" AND ".join(conditions),
        read=read_tokens,
        inside=scope.inside.sql if scope.inside else "SELECT NULL::uuid WHERE false",
        among_inside=hashed("id", "SELECT id FROM inside") if scope.inside else "false",
    )
    rows = fetch(sql, params)
    for part, inside, pk, score, tokens, corpus, rarity in rows:
        if inside:
            results[part].inside.append(pk)
            continue
        results[part].ids.append(pk)
        results[part].scores.append(score)
        if tokens is not None:
            results[part].tokens, results[part].corpus = tokens, corpus
            results[part].rarity = rarity
    return results
