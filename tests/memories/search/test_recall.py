"""Hybrid search from end to end."""

from typing import Any
from uuid import UUID

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import EndUser
from memories.models import PROFILE_IMPORTANCE, Memory
from memories.models.memory import content_hash
from memories.providers.embeddings import LocalEmbedder
from memories.providers.errors import TransientError
from memories.search.recall import Hit, SearchRequest, search
from memories.search.tokens import tokenise
from tests.factories import make_contact, make_end_user, make_memory

pytestmark = pytest.mark.django_db

EMBEDDER = LocalEmbedder()


class BrokenEmbedder(LocalEmbedder):
    """A server that can't be reached."""

    def embed_query(self, text: str) -> list[float]:
        raise TransientError("unreachable")


def direction(place: int) -> list[float]:
    """A unit vector; different places are at right angles."""
    vector = [0.0] * EMBEDDER.dimensions
    vector[place] = 1.0
    return vector


def remember(end_user: EndUser, content: str, place: int | None = None, **fields: Any) -> Memory:
    if place is not None:
        fields["embedding"] = direction(place)
    return make_memory(end_user, content, **fields)


def ids(hits: list[Hit]) -> list[UUID]:
    return [hit.memory.pk for hit in hits]


def test_words_and_meaning_both_find() -> None:
    end_user = make_end_user()
    by_words = remember(end_user, "Ben collects stamps", 1)
    by_meaning = remember(end_user, "He has a large album at home", 0)
    for n in range(2, 8):
        remember(end_user, f"The weather was grey on day {n}", n)
    hits = search(
        end_user, SearchRequest("stamps", limit=2), embedder=EMBEDDER, vector=direction(0)
    )
    assert {by_words.pk, by_meaning.pk} == set(ids(hits))
    words = next(hit for hit in hits if hit.memory.pk == by_words.pk)
    meaning = next(hit for hit in hits if hit.memory.pk == by_meaning.pk)
    assert words.bm25_rank == 1
    assert "keyword rank 1" in str(words.reason)
    assert meaning.bm25_rank is None
    assert meaning.vector_rank == 1
    assert "meaning rank 1" in str(meaning.reason)


def test_the_intent_decides_which_of_them_leads() -> None:
    end_user = make_end_user()
    by_words = remember(end_user, "stamps", 1)
    by_meaning = remember(end_user, "a large album", 0)
    vector = direction(0)
    exact = search(
        end_user, SearchRequest("stamps", intent="exact"), embedder=EMBEDDER, vector=vector
    )
    explore = search(
        end_user, SearchRequest("stamps", intent="explore"), embedder=EMBEDDER, vector=vector
    )
    assert {by_words.pk, by_meaning.pk} == set(ids(exact))
    assert exact[0].score > explore[0].score
    with pytest.raises(ValueError, match="unknown"):
        search(
            end_user, SearchRequest("stamps", intent="unknown"), embedder=EMBEDDER, vector=vector
        )


@pytest.mark.parametrize("query", ["小红", "nothing like it", "", "？"])
@pytest.mark.parametrize("limit", [1, 7, 40])
def test_never_fewer_results_than_exist(query: str, limit: int) -> None:
    end_user = make_end_user()
    for n in range(12):
        remember(end_user, f"小红第{n}天去跑步", n if n % 3 else None)
    hits = search(
        end_user, SearchRequest(query, limit=limit), embedder=EMBEDDER, vector=direction(1)
    )
    assert len(hits) == len(set(ids(hits))) == min(limit, 12)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(0 <= hit.score <= 1 for hit in hits)


def test_a_limit_of_nothing_finds_nothing() -> None:
    assert search(make_end_user(), SearchRequest("小红", limit=0), embedder=EMBEDDER) == []


def test_another_users_memories_are_never_found() -> None:
    end_user, stranger = make_end_user(), make_end_user()
    mine = remember(end_user, "小红喜欢喝茶", 0)
    remember(stranger, "小红喜欢喝茶", 0)
    hits = search(end_user, SearchRequest("小红喜欢喝茶"), embedder=EMBEDDER, vector=direction(0))
    assert ids(hits) == [mine.pk]


def test_results_can_be_narrowed_by_status_type_and_contact() -> None:
    end_user = make_end_user()
    hong, ming = make_contact(end_user, "小红"), make_contact(end_user, "小明")
    tea = make_memory(end_user, "小红爱喝茶", hong, type="preference")
    old = make_memory(end_user, "小红爱喝咖啡", hong, type="preference", status="outdated")
    job = make_memory(end_user, "小明爱喝茶", ming, type="personal")

    def found(**how: Any) -> set[UUID]:
        hits = search(
            end_user, SearchRequest("爱喝茶", **how), embedder=EMBEDDER, vector=direction(0)
        )
        return set(ids(hits))

    assert found() == {tea.pk, job.pk}
    assert found(statuses=["active", "outdated"]) == {tea.pk, old.pk, job.pk}
    assert found(types=["personal"]) == {job.pk}
    assert found(contact_ids=[hong.pk]) == {tea.pk}
    assert found(contact_ids=[hong.pk, ming.pk], types=["preference"]) == {tea.pk}
    ming.links.update(rejected=True)
    assert found(contact_ids=[ming.pk]) == set()


def test_a_profile_stands_before_the_memories_that_it_speaks_for() -> None:
    end_user = make_end_user()
    profile = remember(
        end_user,
        "小红：工程师，腾讯，住在深圳，爱喝茶，养猫",
        9,
        kind="profile",
        importance=PROFILE_IMPORTANCE,
    )
    for n in range(5):
        remember(end_user, f"小红爱喝茶，第{n}次说", 0, importance=0.05, consolidated_into=profile)
    hits = search(
        end_user, SearchRequest("小红爱喝茶", limit=3), embedder=EMBEDDER, vector=direction(0)
    )
    assert hits[0].memory.pk == profile.pk
    # Even from outside of both arms' reach.
    profile.tokens = []
    profile.save()
    profile.vectors.all().delete()
    hits = search(
        end_user, SearchRequest("小红爱喝茶", limit=2), embedder=EMBEDDER, vector=direction(0)
    )
    assert ids(hits)[0] == profile.pk
    assert "sums up" in str(hits[0].reason)
    assert hits[1].memory.consolidated_into_id == profile.pk


def test_a_profile_outside_of_what_is_asked_for_stays_out() -> None:
    end_user = make_end_user()
    profile = remember(end_user, "小红的一切", 9, kind="profile", status="outdated")
    source = remember(end_user, "小红爱喝茶", 0, importance=0.05, consolidated_into=profile)
    hits = search(end_user, SearchRequest("小红爱喝茶"), embedder=EMBEDDER, vector=direction(0))
    assert ids(hits) == [source.pk]


def test_a_consolidated_memory_is_found_when_it_alone_holds_the_answer() -> None:
    end_user = make_end_user()
    profile = remember(end_user, "小红：工程师，腾讯", 9, kind="profile", importance=0.8)
    answer = remember(end_user, "小红对花生过敏", 0, importance=0.05, consolidated_into=profile)
    for n in range(30):
        remember(end_user, f"第{n}天小红在公司加班到很晚", n + 10)
    hits = search(
        end_user, SearchRequest("小红对什么过敏？", limit=3), embedder=EMBEDDER, vector=direction(0)
    )
    assert answer.pk in ids(hits)[:2]


def test_of_equal_finds_the_more_important_leads() -> None:
    end_user = make_end_user()
    low = remember(end_user, "Ben collects stamps at home", 0, importance=0.1)
    high = remember(end_user, "Ben collects stamps abroad", 0, importance=0.9)
    hits = search(
        end_user, SearchRequest("Ben collects stamps"), embedder=EMBEDDER, vector=direction(0)
    )
    assert ids(hits) == [high.pk, low.pk]


def test_the_rest_of_a_question_is_found_over_the_one_it_describes() -> None:
    end_user = make_end_user()
    works = remember(end_user, "我婶婶在动物园上班")
    birthday = remember(end_user, "我婶婶的生日是7月1日")
    for n, who in enumerate(["我舅舅", "我表姐", "我同事", "我奶奶"]):
        remember(end_user, f"{who}的生日是7月{n + 9}日")
    hits = search(
        end_user,
        SearchRequest("那个在动物园上班的人，生日是哪天？"),
        embedder=EMBEDDER,
        vector=direction(0),
    )
    assert ids(hits)[:2] == [works.pk, birthday.pk]
    assert "what the best hit" in str(hits[1].reason)


def test_each_of_several_questions_finds_its_answer() -> None:
    end_user = make_end_user()
    tea = remember(end_user, "小红爱喝龙井茶")
    cat = remember(end_user, "小明养了一只橘猫")
    for n in range(20):
        remember(end_user, f"小红小明第{n}天一起打羽毛球")
    query = "小红爱喝什么茶？另外，小明养了什么猫？"
    hits = search(end_user, SearchRequest(query, limit=2), embedder=EMBEDDER, vector=direction(0))
    assert set(ids(hits)) == {tea.pk, cat.pk}


def test_repetitions_leave_room_for_other_facts() -> None:
    end_user = make_end_user()
    for ending in ["", "。", "！", "，对", "啊"]:
        remember(end_user, f"小红爱喝龙井茶{ending}")
    other = remember(end_user, "小红在茶叶公司上班")
    hits = search(
        end_user, SearchRequest("小红 茶", limit=2), embedder=EMBEDDER, vector=direction(0)
    )
    assert other.pk in ids(hits)


def test_without_the_embedder_words_alone_decide() -> None:
    end_user = make_end_user()
    remember(end_user, "a large album", 0)
    stamps = remember(end_user, "Ben collects stamps", 1)
    hits = search(end_user, SearchRequest("stamps"), embedder=BrokenEmbedder())
    assert ids(hits)[0] == stamps.pk
    assert len(hits) == 2
    assert all(hit.vector_rank is None for hit in hits)


def test_vectors_of_another_model_are_not_compared() -> None:
    end_user = make_end_user()
    foreign = remember(end_user, "one", embedding=[1.0, 0.0], space="another/2")
    known = remember(end_user, "two", 0)
    hits = search(end_user, SearchRequest("nothing"), embedder=EMBEDDER, vector=direction(0))
    assert ids(hits) == [known.pk, foreign.pk]
    assert hits[1].vector_rank is None


def test_statements_and_columns_do_not_grow_with_memories() -> None:
    counts = []
    for size in (1, 60):
        end_user = make_end_user()
        noise = np.random.default_rng(size)
        contents = [f"小红第{n}天在公园跑步" for n in range(size)]
        Memory.objects.bulk_create(
            Memory(
                end_user=end_user,
                content=content,
                content_hash=content_hash(content),
                tokens=tokenise(content),
                type="activity",
                subtype="friend",
                embedding_model=EMBEDDER.space,
                embedding=list(noise.normal(size=EMBEDDER.dimensions)),
            )
            for content in contents
        )
        with CaptureQueriesContext(connection) as queries:
            hits = search(
                end_user, SearchRequest("小红在哪里游泳？"), embedder=EMBEDDER, vector=direction(0)
            )
            [(hit.memory.content, hit.memory.importance, str(hit.memory)) for hit in hits]
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 5
