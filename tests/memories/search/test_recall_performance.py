"""A search narrowed to a person costs in proportion to what is known of the person."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memories.models import Link, Memory
from memories.providers.embeddings import LocalEmbedder
from memories.search.recall import SearchRequest, search
from tests.factories import make_contact, make_end_user
from tools.bench.synthetic import Source, fill

pytestmark = pytest.mark.django_db

EMBEDDER = LocalEmbedder()
FEW, MANY = 250, 1000
QUESTION = "w1 w3 w9 w40 recently?"  # both word searches, the vectors, and those of a time


def rows_touched(plan: dict[str, Any]) -> float:
    """The rows that all nodes of a plan gave out or threw away, over all their loops."""
    thrown = sum(count for name, count in plan.items() if name.startswith("Rows Removed"))
    own = plan["Actual Loops"] * (plan["Actual Rows"] + thrown)
    return own + sum(map(rows_touched, plan.get("Plans", ())))


def touched_by(queries: CaptureQueriesContext, *holding: str) -> float:
    """The rows that those statements touched that hold these words."""
    touched = 0.0
    with connection.cursor() as cursor:
        for query in queries:
            if all(word in query["sql"] for word in holding):
                cursor.execute("EXPLAIN (ANALYZE, FORMAT JSON) " + query["sql"])
                ((plans,),) = cursor.fetchall()
                touched += rows_touched(plans[0]["Plan"])
    return touched


def searched(memories: int, question: str) -> CaptureQueriesContext:
    """The statements of a search where one person has so many memories, all the user's."""
    end_user = make_end_user()
    fill({end_user: memories}, EMBEDDER.space, EMBEDDER.dimensions, progress=False)
    contact = make_contact(end_user)
    Link.objects.bulk_create(
        Link(end_user=end_user, contact=contact, memory=memory, made_by="extractor")
        for memory in Memory.objects.of(end_user)
    )
    (vector,) = Source(EMBEDDER.dimensions).vectors(1).tolist()
    with CaptureQueriesContext(connection) as queries:
        search(
            end_user,
            SearchRequest(question, contact_ids=[contact.pk]),
            embedder=EMBEDDER,
            vector=vector,
        )
    return queries


def test_four_times_as_many_memories_of_a_person_cost_four_times_as_much() -> None:
    # No ANALYZE: the planner expects a handful of rows, as it does of a person who is mentioned
    # far more often than most.
    few, many = (touched_by(searched(size, QUESTION)) for size in (FEW, MANY))
    assert many < 1.5 * MANY / FEW * few


def test_a_time_in_which_nothing_was_is_looked_up_once_beside_the_vectors() -> None:
    asked = (QUESTION, QUESTION.replace("recently", "in 1990"))
    something, nothing = (touched_by(searched(MANY, one), "memories_vector") for one in asked)
    assert nothing <= something


def test_no_second_word_search_where_no_memory_holds_what_the_first_leaves_open() -> None:
    held, not_held = (
        sum("memories_posting" in query["sql"] for query in searched(FEW, question))
        for question in ("w1 w3 w9 w40", "w1 zyzzyva")
    )
    assert (held, not_held) == (2, 1)
