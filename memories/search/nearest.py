"""Meaning search: cosine over the embeddings of one end user's memories."""

from collections.abc import Sequence
from uuid import UUID

from django.db import connection
from django.db.models import Case, F, FloatField, QuerySet, Value, When
from pgvector.django import CosineDistance

from memories.models import MemoryQuerySet


def nearest(
    memories: MemoryQuerySet, model: str, vectors: Sequence[Sequence[float]], limit: int
) -> tuple[list[list[UUID]], list[UUID]]:
    """For each vector the embedded ``memories``, nearest by cosine first; and, where that is
    not enough to fill ``limit``, the others, latest first. One statement."""
    arms = [_arm(memories, model, vector, limit) for vector in vectors] or [
        _arm(memories, model, None, limit)
    ]
    compiled = [arm.query.sql_with_params() for arm in arms]
    selects = [f"(SELECT {n}, * FROM ({sql}) arm)" for n, (sql, _) in enumerate(compiled)]  # noqa: S608 n is a number
    ranked: list[list[UUID]] = [[] for _ in vectors]
    others: dict[UUID, None] = {}
    with connection.cursor() as cursor:
        cursor.execute(
            " UNION ALL ".join(selects), [param for _, params in compiled for param in params]
        )
        # A stable sort: those without a distance stay in the order of their subquery.
        for part, pk, distance in sorted(cursor.fetchall(), key=_place):
            if distance is None:
                others[pk] = None
            else:
                ranked[part].append(pk)
    return ranked, list(others)


def _place(row: tuple[int, UUID, float | None]) -> tuple[int, bool, float]:
    part, _, distance = row
    return part, distance is None, distance or 0.0


def _arm(
    memories: MemoryQuerySet, model: str, vector: Sequence[float] | None, limit: int
) -> QuerySet:
    distance: Case | Value = Value(None, output_field=FloatField())
    if vector is not None:
        # Vectors of another model, perhaps of another dimension, stay out of the comparison.
        comparable = When(embedding_model=model, then=CosineDistance("embedding", vector))
        distance = Case(comparable, output_field=FloatField())
    return (
        memories.annotate(distance=distance)
        .order_by(F("distance").asc(nulls_last=True), "-said_at", "id")
        .values_list("id", "distance")[:limit]
    )
