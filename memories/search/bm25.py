"""Word search: BM25 over the tokens of one end user's memories, computed in PostgreSQL.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, with
the never negative idf of Lucene: ln(1 + (N - n + 0.5) / (n + 0.5)). N, the average length
and each word's n are exact at the moment of the search. Words said around a memory count in
part (the simple BM25F of the same paper: fields weigh into the term frequency).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet

from memories.models import MemoryQuerySet
from memories.search.tokens import AROUND

# How fast further occurrences of a word stop to count, and how much long texts are held
# back: Lucene's defaults.
K1 = 1.2
B = 0.75
# What a word around a memory counts, measured on LoCoMo: 0.3 to 0.5 are equally good.
AROUND_SHARE = 0.45

_SQL = """
WITH asked AS (
    SELECT * FROM unnest(%(parts)s::int[], %(tokens)s::text[], %(weights)s::float8[],
                         %(of_entity)s::bool[]) AS t (part, token, weight, of_entity)
), spelled AS (
    SELECT * FROM unnest(%(raws)s::text[], %(raw_of)s::text[], %(shares)s::float8[])
        AS t (raw, token, share)
), corpus AS (
    SELECT count(*)::float8 AS size, avg(cardinality(m.tokens))::float8 AS length
    FROM ({corpus}) m
), matched AS MATERIALIZED (
    SELECT m.id, cardinality(m.tokens) AS length, m.tokens
    FROM ({corpus}) m WHERE m.tokens && %(raws)s::text[]
), occurrences AS MATERIALIZED (
    SELECT matched.id, matched.length, spelled.token, sum(spelled.share) AS times
    FROM matched CROSS JOIN unnest(matched.tokens) AS word (raw) JOIN spelled USING (raw)
    GROUP BY matched.id, matched.length, spelled.token
), rarity AS MATERIALIZED (
    SELECT token, ln(1 + (min(corpus.size) - count(*) + 0.5) / (count(*) + 0.5)) AS idf
    FROM occurrences CROSS JOIN corpus GROUP BY token
), entities AS (
    SELECT part, sum(idf) AS idf FROM asked JOIN rarity USING (token)
    WHERE of_entity GROUP BY part
), scored AS (
    SELECT asked.part, o.id,
        sum(asked.weight * rarity.idf * o.times * (%(k1)s + 1)
            / (o.times + %(k1)s * (1 - %(b)s + %(b)s * o.length / corpus.length))) AS score,
        sum(rarity.idf) FILTER (WHERE asked.of_entity) AS shared,
        bool_or(NOT asked.of_entity) AS answers
    FROM occurrences o JOIN rarity USING (token) JOIN asked USING (token) CROSS JOIN corpus
    WHERE {wanted}
    GROUP BY asked.part, o.id
), ranked AS (
    SELECT part, id, score,
        row_number() OVER (PARTITION BY part ORDER BY score DESC, id) AS rank
    FROM scored LEFT JOIN entities USING (part)
    WHERE entities.idf IS NULL OR answers AND shared >= %(cover)s * entities.idf
)
SELECT part, id, score, CASE WHEN rank = 1 THEN matched.tokens END
FROM ranked JOIN matched USING (id) WHERE rank <= %(limit)s ORDER BY part, rank
"""


@dataclass(frozen=True, slots=True)
class Question:
    """Words with their weights. With ``entity`` words, only memories count that hold most
    of those (by rarity) and at least one of the others."""

    words: dict[str, float]
    entity: dict[str, float]


@dataclass(frozen=True, slots=True)
class Found:
    """``ids`` with their ``scores``, best first; ``tokens`` are those of the first."""

    ids: list[UUID]
    scores: list[float]
    tokens: list[str]


# The part of an entity's words, by rarity, that a memory must hold to be about it: names of
# events and works are repeated in part. Measured: 0.3 to 0.5 are equally good.
COVER = 0.5


def search(
    corpus: MemoryQuerySet,
    questions: Sequence[Question],
    limit: int,
    within: MemoryQuerySet | None = None,
) -> list[Found]:
    """For each question the memories that hold any of its words, in one statement.

    Word statistics are those of ``corpus``; results may be narrowed to those ``within``.
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
    tokens = list(dict.fromkeys(token for _, token, _, _ in asked))
    rows, corpus_params = _named(corpus.values("id", "tokens"), "corpus")
    wanted, within_params = "true", dict[str, Any]()
    if within is not None:
        ids, within_params = _named(within.values("id"), "within")
        wanted = f"o.id IN ({ids})"
    with connection.cursor() as cursor:
        cursor.execute(
            _SQL.format(corpus=rows, wanted=wanted),
            {
                **corpus_params,
                **within_params,
                "parts": [part for part, _, _, _ in asked],
                "tokens": [token for _, token, _, _ in asked],
                "weights": [weight for _, _, weight, _ in asked],
                "of_entity": [of_entity for _, _, _, of_entity in asked],
                "raws": [*tokens, *(AROUND + token for token in tokens)],
                "raw_of": [*tokens, *tokens],
                "shares": [1.0] * len(tokens) + [AROUND_SHARE] * len(tokens),
                "k1": K1,
                "b": B,
                "cover": COVER,
                "limit": limit,
            },
        )
        for part, pk, score, first_tokens in cursor.fetchall():
            found[part].ids.append(pk)
            found[part].scores.append(score)
            found[part].tokens.extend(first_tokens or ())
    return found


def _named(queryset: QuerySet, name: str) -> tuple[str, dict[str, Any]]:
    """The SQL of a QuerySet with named parameters, to stand inside a larger statement."""
    sql, params = queryset.order_by().query.sql_with_params()
    names = [f"{name}_{n}" for n in range(len(params))]
    return sql % tuple(f"%({n})s" for n in names), dict(zip(names, params, strict=True))
