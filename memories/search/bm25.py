"""Word search: BM25 over the tokens of one end user's memories, computed in PostgreSQL.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, with
the never negative idf of Lucene: ln(1 + (N - n + 0.5) / (n + 0.5)). N, the average length
and each word's n are exact at the moment of the search. Words said around a memory count in
part (the simple BM25F of the same paper: fields weigh into the term frequency).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from accounts.cells import fetch
from memories.search.sql import Scope, hashed
from memories.sql_files import sql_pieces

# How fast further occurrences of a word stop to count, and how much long texts are held
# back: Lucene's defaults.
K1 = 1.2
B = 0.75
# The part of an entity's words, by rarity, that a memory must hold to be about it: names of
# events and works are repeated in part. Measured: 0.3 to 0.5 are equally good.
COVER = 0.5
# An entity's word that so many memories hold doesn't tell which are about it, and is left out:
# to read all that hold it would cost more the more a user has told.
COMMON = 5000

# With an entity a memory must hold one of the other words, and most hold none.
_ANSWERING = hashed(
    "memory_id", "SELECT memory_id FROM held JOIN asked USING (token) WHERE NOT of_entity"
)
_SQL = sql_pieces(__file__)


@dataclass(frozen=True, slots=True)
class Question:
    """Words with their weights. With ``entity`` words, only memories count that hold most
    of those (by rarity; common ones don't count) and at least one of the others."""

    words: dict[str, float]
    entity: dict[str, float]


@dataclass(slots=True)
class Found:
    """``ids`` with their ``scores``, best first, and those of the best ``inside``; ``tokens`` are those of
    the first. ``corpus``, how many memories were searched, is known where anything was
    found, and so is the ``rarity`` of the words that any memory holds (idf)."""

    ids: list[UUID]
    scores: list[float]
    tokens: list[str]
    corpus: float | None = None
    inside: list[UUID] = field(default_factory=list)
    rarity: dict[str, float] = field(default_factory=dict)


def search(scope: Scope, questions: Sequence[Question], limit: int) -> list[Found]:
    """For each question the memories that hold any of its words, in one statement.

    Word statistics are those of all the end user's memories of the scope's statuses.
    """
    asked = [
        (part, token, weight, of_entity)
        for part, question in enumerate(questions)
        for of_entity, words in ((False, question.words), (True, question.entity))
        for token, weight in words.items()
    ]
    found = [Found([], [], []) for _ in questions]
    if not asked:
        return found
    wanted, read = ["true"], "%(words)s::text[]"
    words = {token for _, token, _, of_entity in asked if not of_entity}
    entities = {token for _, token, _, of_entity in asked if of_entity} - words
    if any(question.entity for question in questions):
        wanted.append(_ANSWERING)
        read = f"{read} || ARRAY({_SQL['telling']})"
    if scope.within:
        wanted.append(hashed("memory_id", scope.within.sql))
    params: dict[str, Any] = scope.params | {
        "parts": [part for part, _, _, _ in asked],
        "tokens": [token for _, token, _, _ in asked],
        "weights": [weight for _, _, weight, _ in asked],
        "of_entity": [of_entity for _, _, _, of_entity in asked],
        "words": sorted(words),
        "of_entities": sorted(entities),
        "common": COMMON,
        "k1": K1,
        "b": B,
        "cover": COVER,
        "limit": limit,
    }
    sql = _SQL["best"].format(
        wanted=" AND ".join(wanted),
        read=read,
        inside=scope.inside.sql if scope.inside else "SELECT NULL::uuid WHERE false",
        among_inside=hashed("id", "SELECT id FROM inside") if scope.inside else "false",
    )
    rows = fetch(sql, params)
    for part, inside, pk, score, tokens, corpus, rarity in rows:
        if inside:
            found[part].inside.append(pk)
            continue
        found[part].ids.append(pk)
        found[part].scores.append(score)
        if tokens is not None:
            found[part].tokens, found[part].corpus = tokens, corpus
            found[part].rarity = rarity
    return found
