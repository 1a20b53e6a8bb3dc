"""A search narrowed to a person costs in proportion to what is known of the person."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memories.bench.synthetic import Source, fill
from memories.models import Link, Memory
from memories.providers.embeddings import LocalEmbedder
from memories.search.recall import search
from memories.search.vectors import space
from tests.factories import make_contact, make_end_user

pytestmark = pytest.mark.django_db

EMBEDDER = LocalEmbedder()
FEW, MANY = 250, 1000
QUESTION = "w1 w3 w9 w40 recently?"  # both word searches, the vectors, and those of a time


def rows_touched(plan: dict[str, Any]) -> float:
    """The rows that all nodes of a plan gave out or threw away, over all their loops."""
    thrown = sum(count for name, count in plan.items() if name.startswith("Rows Removed"))
    own = plan["Actual Loops"] * (plan["Actual Rows"] + thrown)
    return own + sum(map(rows_touched, plan.get("Plans", ())))


def cost(memories: int) -> float:
    """The rows that a search touches where one person has so many memories, all the user's."""
    end_user = make_end_user()
    fill({end_user: memories}, space(EMBEDDER), EMBEDDER.dimensions, progress=False)
    contact = make_contact(end_user)
    Link.objects.bulk_create(
        Link(end_user=end_user, contact=contact, memory=memory, made_by="extractor")
        for memory in Memory.objects.of(end_user)
    )
    (vector,) = Source(EMBEDDER.dimensions).vectors(1).tolist()
    with CaptureQueriesContext(connection) as queries:
        search(end_user, QUESTION, embedder=EMBEDDER, vector=vector, contact_ids=[contact.pk])
    touched = 0.0
    with connection.cursor() as cursor:
        for query in queries:
            cursor.execute("EXPLAIN (ANALYZE, FORMAT JSON) " + query["sql"])
            ((plans,),) = cursor.fetchall()
            touched += rows_touched(plans[0]["Plan"])
    return touched


def test_four_times_as_many_memories_of_a_person_cost_four_times_as_much() -> None:
    # No ANALYZE: the planner expects a handful of rows, as it does of a person who is mentioned
    # far more often than most.
    assert cost(MANY) < 1.5 * MANY / FEW * cost(FEW)
