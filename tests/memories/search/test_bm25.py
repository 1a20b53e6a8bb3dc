"""The word search in SQL against a plain BM25."""

import math
from collections import defaultdict
from typing import Any

import pytest
from django.db import connection
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import EndUser
from memories.models import AROUND_SHARE, Memory
from memories.models.memory import content_hash
from memories.search import bm25
from memories.search.bm25 import Question
from memories.search.sql import Scope, Subset
from memories.types import AROUND
from tests.factories import make_end_user, make_memory

pytestmark = pytest.mark.django_db

ACTIVE = (Memory.Status.ACTIVE,)
WORDS = ["tea", "run", "小红", "腾讯", "2024", "role:mother"]
DOCUMENTS = st.lists(
    st.lists(st.sampled_from(WORDS + [AROUND + word for word in WORDS]), max_size=9), max_size=9
)
QUERIES = st.dictionaries(st.sampled_from([*WORDS, "never"]), st.sampled_from([1.0, 2.0]))


def stored(end_user: EndUser, documents: list[list[str]]) -> list[Memory]:
    return Memory.objects.bulk_create(
        Memory(
            end_user=end_user,
            content=str(n),
            content_hash=content_hash(str(n)),
            type="personal",
            subtype="self",
            tokens=tokens,
        )
        for n, tokens in enumerate(documents)
    )


def plain_bm25(documents: list[list[str]], query: dict[str, float]) -> list[float]:
    """The formula, word by word."""
    counts: list[dict[str, float]] = [defaultdict(float) for _ in documents]
    for count, tokens in zip(counts, documents, strict=True):
        for token in tokens:
            count[token.removeprefix(AROUND)] += AROUND_SHARE if token[0] == AROUND else 1.0
    size, length = len(documents), sum(map(len, documents)) / len(documents)
    scores = []
    for count, tokens in zip(counts, documents, strict=True):
        score = 0.0
        for word, weight in query.items():
            holders = sum(word in other for other in counts)
            idf = math.log(1 + (size - holders + 0.5) / (holders + 0.5))
            times = count.get(word, 0.0)
            norm = bm25.K1 * (1 - bm25.B + bm25.B * len(tokens) / length) if length else 1
            score += weight * idf * times * (bm25.K1 + 1) / (times + norm) if times else 0.0
        scores.append(score)
    return scores


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(DOCUMENTS, st.lists(QUERIES, min_size=1, max_size=3))
def test_scores_are_those_of_the_formula(
    documents: list[list[str]], queries: list[dict[str, float]]
) -> None:
    end_user = make_end_user()
    memories = stored(end_user, documents)
    # Another user's words and a memory that is no longer true change nothing.
    stored(make_end_user(), documents[:1])
    make_memory(end_user, "outdated", tokens=["tea"] * 5, status="outdated")
    found = bm25.search(Scope(end_user, ACTIVE), [Question(query, {}) for query in queries], 50)
    for query, answer in zip(queries, found, strict=True):
        expected = plain_bm25(documents, query) if documents else []
        positive = {m.pk: s for m, s in zip(memories, expected, strict=True) if s > 0}
        assert dict(zip(answer.ids, answer.scores, strict=True)) == pytest.approx(positive)
        assert answer.scores == sorted(answer.scores, reverse=True)


def test_equal_scores_come_in_one_order() -> None:
    end_user = make_end_user()
    memories = stored(end_user, [["tea"]] * 5)
    (found,) = bm25.search(Scope(end_user, ACTIVE), [Question({"tea": 1.0}, {})], 3)
    assert found.ids == sorted(memory.pk for memory in memories)[:3]
    assert found.tokens == ["tea"]


def test_narrowing_the_results_leaves_the_statistics_alone() -> None:
    end_user = make_end_user()
    memories = stored(end_user, [["tea"], ["tea", "run"], ["run"]])
    question = Question({"tea": 1.0}, {})
    (everything,) = bm25.search(Scope(end_user, ACTIVE), [question], 9)
    only = Subset.of(Memory.objects.of(end_user).filter(pk=memories[1].pk).values("pk"))
    (one,) = bm25.search(Scope(end_user, ACTIVE, only), [question], 9)
    assert one.ids == [memories[1].pk]
    assert one.scores[0] == everything.scores[everything.ids.index(memories[1].pk)]


def test_those_inside_are_ranked_besides() -> None:
    end_user = make_end_user()
    memories = stored(end_user, [["tea"], ["tea", "run"], ["tea", "tea"]])
    some = Memory.objects.of(end_user).filter(pk__in=[m.pk for m in memories[:2]]).values("pk")
    scope = Scope(end_user, ACTIVE, None, Subset.of(some, "inside"), inside_limit=1)
    (found,) = bm25.search(scope, [Question({"tea": 1.0}, {})], 9)
    assert len(found.ids) == len(found.scores) == 3
    assert found.inside == [pk for pk in found.ids if pk != memories[2].pk][:1]


def test_where_nothing_lies_inside_the_rest_is_ranked() -> None:
    end_user = make_end_user()
    stored(end_user, [["tea"]])
    nothing = Subset.of(Memory.objects.of(end_user).filter(content="never").values("pk"), "inside")
    scope = Scope(end_user, ACTIVE, None, nothing, inside_limit=1)
    (found,) = bm25.search(scope, [Question({"tea": 1.0}, {})], 9)
    assert (len(found.ids), found.inside) == (1, [])


def test_with_an_entity_only_what_is_about_it_and_answers_counts() -> None:
    end_user = make_end_user()
    about, other, silent = stored(end_user, [["小红", "tea"], ["tea"], ["小红", "run"]])
    (found,) = bm25.search(Scope(end_user, ACTIVE), [Question({"tea": 1.0}, {"小红": 1.0})], 9)
    assert found.ids == [about.pk]
    assert {other.pk, silent.pk}.isdisjoint(found.ids)


def test_common_words_of_an_entity_say_nothing_about_which_is_meant(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bm25, "COMMON", 3)
    end_user = make_end_user()
    about, _, _, _ = stored(
        end_user, [["小红", "run", "tea"], ["run", "tea"], ["run", "tea"], ["run"]]
    )
    (found,) = bm25.search(
        Scope(end_user, ACTIVE), [Question({"tea": 1.0}, {"小红": 1.0, "run": 1.0})], 9
    )
    assert found.ids == [about.pk]
    (none,) = bm25.search(Scope(end_user, ACTIVE), [Question({"tea": 1.0}, {"run": 1.0})], 9)
    assert none.ids == []


def test_no_words_cost_no_statement(django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        assert bm25.search(Scope(EndUser(pk=1), ACTIVE), [Question({}, {})], 5)[0].ids == []


def test_words_with_sql_in_them_are_only_words() -> None:
    end_user = make_end_user()
    odd = "'); DROP TABLE memories_memory; --%s{}"
    (memory,) = stored(end_user, [[odd]])
    (found,) = bm25.search(Scope(end_user, ACTIVE), [Question({odd: 1.0}, {})], 5)
    assert found.ids == [memory.pk]
    assert connection.introspection.table_names()
