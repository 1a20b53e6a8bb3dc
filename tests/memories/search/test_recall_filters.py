"""Search in time, by importance, with history and along edges."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import EndUser
from memories.models import Edge, Memory
from memories.providers.embeddings import LocalEmbedder
from memories.search.query import asks_past, understand
from memories.search.recall import Hit, SearchRequest, search
from tests.factories import make_end_user, make_memory

EMBEDDER = LocalEmbedder()
NOW = datetime(2026, 3, 18, 10, 0, tzinfo=UTC)  # a Wednesday
VECTOR = [1.0] + [0.0] * (EMBEDDER.dimensions - 1)
db = pytest.mark.django_db


@pytest.fixture
def end_user() -> EndUser:
    return make_end_user()


def find(end_user: EndUser, query: str, **how: Any) -> list[Hit]:
    return search(end_user, SearchRequest(query, now=NOW, **how), embedder=EMBEDDER, vector=VECTOR)


def ids(hits: list[Hit]) -> list[UUID]:
    return [hit.memory.pk for hit in hits]


def relate(source: Memory, kind: str, target: Memory) -> None:
    Edge.objects.create(end_user=source.end_user, source=source, target=target, kind=kind)


@db
def test_since_and_until_leave_out_what_happened_at_another_time(end_user: EndUser) -> None:
    old = make_memory(end_user, "Nina baked bread", said_at=NOW - timedelta(days=40))
    new = make_memory(end_user, "Nina baked rolls", said_at=NOW - timedelta(days=2))
    # Said long ago of a day to come: when it happens counts.
    party = make_memory(
        end_user,
        "Nina baked a cake",
        said_at=NOW - timedelta(days=60),
        happens_at=NOW - timedelta(days=1),
    )
    week_ago = NOW - timedelta(days=7)
    assert set(ids(find(end_user, "What did Nina bake?", since=week_ago))) == {new.pk, party.pk}
    assert ids(find(end_user, "What did Nina bake?", until=week_ago)) == [old.pk]
    edge = {"since": new.said_at, "until": new.said_at + timedelta(seconds=1)}
    assert ids(find(end_user, "What did Nina bake?", **edge)) == [new.pk]
    assert find(end_user, "Nina", until=new.said_at, since=NOW - timedelta(days=30)) == []


@db
def test_unimportant_memories_can_be_left_out(end_user: EndUser) -> None:
    kept = make_memory(end_user, "Nina plays chess", importance=0.6)
    make_memory(end_user, "Nina plays darts", importance=0.59)
    assert ids(find(end_user, "Nina plays", min_importance=0.6)) == [kept.pk]


@db
def test_a_time_in_the_question_leads_but_leaves_nothing_out(end_user: EndUser) -> None:
    others = [
        make_memory(
            end_user, f"昨天的午饭是第{n}种面，小红做的午饭", said_at=NOW - timedelta(days=30 + n)
        )
        for n in range(30)
    ]
    asked = make_memory(end_user, "小红做了咖喱", said_at=datetime(2026, 3, 11, tzinfo=UTC))
    beside = make_memory(end_user, "地铁坏了", said_at=datetime(2026, 3, 12, tzinfo=UTC))
    hits = find(end_user, "上周小红做的午饭是什么？", limit=40)
    assert ids(hits)[:2] == [asked.pk, beside.pk]
    assert len(hits) == len(others) + 2
    assert [hit.in_range for hit in hits[:3]] == [True, True, False]
    assert "from the time asked about" in str(hits[0].reason)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    # The same without a time: words decide.
    untimed = find(end_user, "小红做的午饭是什么？", limit=40)
    assert untimed[0].memory.pk in {other.pk for other in others}
    assert untimed[0].in_range is None


@db
def test_a_range_that_is_given_counts_instead_of_the_one_asked_for(end_user: EndUser) -> None:
    make_memory(end_user, "Nina rowed", said_at=datetime(2026, 3, 11, tzinfo=UTC))
    older = make_memory(end_user, "Nina swam", said_at=datetime(2026, 2, 11, tzinfo=UTC))
    hits = find(end_user, "What did Nina do last week?", until=datetime(2026, 3, 1, tzinfo=UTC))
    assert ids(hits) == [older.pk]
    assert hits[0].in_range is None


def test_a_query_is_understood_as_intent_and_time() -> None:
    asked = understand("What did Nina do last week?", None, NOW)
    assert asked.intent == "recall"
    assert asked.span is not None
    assert asked.span.since == datetime(2026, 3, 9, tzinfo=UTC)
    assert understand("Nina", "explore", NOW).intent == "explore"
    with pytest.raises(ValueError, match="unknown"):
        understand("Nina", "unknown", NOW)


@db
def test_history_is_marked_and_stands_below_what_took_its_place(end_user: EndUser) -> None:
    old = make_memory(end_user, "Nina loves pizza", status="outdated", outdated_at=NOW)
    new = make_memory(end_user, "Nina gave up cheese and eats rice")
    relate(new, Edge.Kind.SUPERSEDES, old)
    assert ids(find(end_user, "Does Nina love pizza?")) == [new.pk]
    hits = find(end_user, "Does Nina love pizza?", statuses=["active", "outdated"])
    assert ids(hits) == [new.pk, old.pk]
    current, history = hits
    assert (current.history, current.superseded_by) == (False, ())
    assert (history.history, history.superseded_by) == (True, (new.pk,))
    assert "no longer true" in str(history.reason)


@db
def test_memories_beside_a_hit_come_below_it_with_the_way_there(end_user: EndUser) -> None:
    # The question's words are in the cause's neighbour only; no vector ranks anything.
    left = make_memory(end_user, "Nina quit the bakery", said_at=NOW)
    why = make_memory(end_user, "Night shifts made everybody ill", said_at=NOW - timedelta(days=9))
    further = make_memory(end_user, "A law on ovens", said_at=NOW - timedelta(days=9))
    relate(left, Edge.Kind.MOTIVATED_BY, why)
    relate(further, Edge.Kind.CAUSES, why)
    for n in range(40):
        make_memory(end_user, f"Rain on day {n}", said_at=NOW - timedelta(days=1))
    hits = find(end_user, "Why did Nina quit?", limit=3)
    assert ids(hits)[:2] == [left.pk, why.pk]
    assert (hits[0].hops, hits[0].path) == (0, ())
    assert (hits[1].hops, hits[1].path) == (1, (("motivated_by", left.pk),))
    assert hits[1].bm25_rank is None
    assert "motivated_by" in str(hits[1].reason)
    assert hits[0].score > hits[1].score > hits[2].score
    two = find(end_user, "Why did Nina quit?", limit=3, hops=2)
    assert ids(two) == [left.pk, why.pk, further.pk]
    assert two[2].hops == 2
    assert two[2].path == (("motivated_by", left.pk), ("causes", why.pk))
    assert why.pk not in ids(find(end_user, "Why did Nina quit?", limit=3, hops=0))


@db
def test_what_the_filters_leave_out_is_not_reached_either(end_user: EndUser) -> None:
    left = make_memory(end_user, "Nina quit the bakery", type="professional")
    old = make_memory(end_user, "She slept badly", status="outdated", type="professional")
    other = make_memory(end_user, "Night shifts are long", type="health")
    relate(left, Edge.Kind.MOTIVATED_BY, old)
    relate(left, Edge.Kind.MOTIVATED_BY, other)
    assert ids(find(end_user, "Why did Nina quit?", types=["professional"])) == [left.pk]


@db
def test_a_question_with_time_history_and_edges_takes_few_statements(end_user: EndUser) -> None:
    old = make_memory(end_user, "Nina rowed", status="outdated")
    relate(make_memory(end_user, "Nina swam in the lake"), Edge.Kind.SUPERSEDES, old)
    both = ["active", "outdated"]
    with CaptureQueriesContext(connection) as queries:
        find(end_user, "Where did Nina swim last week?", statuses=both, hops=2)
    assert len(queries) <= 9


@pytest.mark.parametrize(
    ("message", "past"),
    [
        ("What did Nina used to eat?", True),
        ("Where did she live before?", True),
        ("What was Oskar's previous job?", True),
        ("小红以前喜欢吃什么？", True),
        ("他原来在哪儿上班？", True),
        ("What does Nina eat?", False),
        ("小红喜欢吃什么？", False),
        ("我上课之前要吃早饭", False),
        ("Call me before noon", False),
    ],
)
def test_a_message_may_ask_for_what_used_to_be(message: str, past: bool) -> None:
    assert asks_past(message) is past
