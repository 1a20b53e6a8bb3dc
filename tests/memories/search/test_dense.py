"""Meaning search: exact for most users, along a graph for large ones."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from django.db import connection

from accounts.models import EndUser
from memories.models import Memory, Vector
from memories.search import ann
from memories.search.dense import nearest
from memories.search.sql import Scope, Subset
from tests.factories import make_end_user, make_memory
from tools.bench.synthetic import Source, fill

# Together: the large user is made once in a process.
pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("dense")]

SPACE = "multilingual-e5-small/384"
ACTIVE = (Memory.Status.ACTIVE,)
LARGE = 2500


@pytest.fixture(scope="module")
def large_user(django_db_setup: None, django_db_blocker: Any) -> Iterator[EndUser]:
    """A user with some thousand vectors, among others with some; made once, with
    its partition's graph."""
    with django_db_blocker.unblock():
        end_user = make_end_user()
        others = [make_end_user(app=end_user.app) for _ in range(8)]
        fill({end_user: LARGE} | dict.fromkeys(others, 50), SPACE, 384, progress=False)
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE memories_vector")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ann, "STEP", 1)  # so large that a graph pays
            assert ann.build(SPACE) == 1
    yield end_user
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        end_user.app.delete()
        cursor.execute(f"DROP INDEX {ann.name_of(SPACE)}")


def by_hand(end_user: EndUser, asked: list[list[float]], limit: int) -> list[list[UUID]]:
    """The nearest of all memories of the end user to each vector that is asked for."""
    rows = list(Vector.objects.of(end_user).values_list("memory_id", "embedding"))
    matrix = np.array([embedding for _, embedding in rows])
    similarity = np.array(asked) @ (matrix / np.linalg.norm(matrix, axis=1, keepdims=True)).T
    return [[rows[place][0] for place in row[:limit]] for row in np.argsort(-similarity)]


@pytest.fixture
def always_along_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ann, "STEP", 0)


def test_each_vector_by_itself_is_exact(large_user: EndUser) -> None:
    end_user = large_user
    asked = Source(384, seed=9).vectors(3).tolist()
    for vector, wanted in zip(asked, by_hand(end_user, asked, 100), strict=True):
        ((found,), others, _) = nearest(Scope(end_user, ACTIVE), SPACE, [vector], 100)[0]
        assert len(set(found) & set(wanted)) >= 99  # halves round
        assert others == []


def test_the_graph_finds_99_of_100_neighbours(
    large_user: EndUser, always_along_graph: None
) -> None:
    end_user = large_user
    assert ann.pay(end_user.pk, SPACE, 100)
    shares = []
    asked = Source(384, seed=9).vectors(20).tolist()
    for vector, wanted in zip(asked, by_hand(end_user, asked, 100), strict=True):
        ((found,), others, _) = nearest(Scope(end_user, ACTIVE), SPACE, [vector], 100)[0]
        assert len(found) == len(set(found)) == 100
        assert others == []
        shares.append(len(set(found) & set(wanted)) / 100)
    assert np.mean(shares) >= 0.99


def test_the_graph_is_asked_with_an_index_and_yields_the_right_order(
    large_user: EndUser, always_along_graph: None
) -> None:
    end_user = large_user
    (vector,) = Source(384, seed=9).vectors(1).tolist()
    ((found,), *_) = nearest(Scope(end_user, ACTIVE), SPACE, [vector], 50)[0]
    places = {pk: place for place, pk in enumerate(by_hand(end_user, [vector], LARGE)[0])}
    assert [places[pk] for pk in found] == sorted(places[pk] for pk in found)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT sum(idx_scan) FROM pg_stat_xact_user_tables WHERE relname ~ '^memories_vector_'"
        )
        assert cursor.fetchone()[0] > 0


def test_along_the_graph_never_fewer_are_found_than_exist(
    large_user: EndUser, always_along_graph: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        ann,
        "SETTINGS",
        ann.SETTINGS.replace("max_scan_tuples = 100000", "max_scan_tuples = 1"),
    )
    end_user = large_user
    Memory.objects.of(end_user).filter(content__contains="w1 ").update(status="outdated")
    left = Memory.objects.of(end_user).active().count()
    assert left < LARGE
    (vector,) = Source(384, seed=9).vectors(1).tolist()
    ((found,), others, _) = nearest(Scope(end_user, ACTIVE), SPACE, [vector], LARGE)[0]
    assert len(found) + len(others) == left


def test_a_space_without_an_index_is_searched_exactly(always_along_graph: None) -> None:
    end_user = make_end_user()
    one = make_memory(end_user, "one", embedding=[1.0, 0.0], space="other/2")
    assert not ann.pay(end_user.pk, "other/2", 10)
    assert nearest(Scope(end_user, ACTIVE), "other/2", [[1.0, 0.0]], 10)[0][0] == [[one.pk]]


@pytest.mark.parametrize("size", [None, 100.0])
def test_small_users_are_compared_one_by_one(large_user: EndUser, size: float | None) -> None:
    assert not ann.pay(large_user.pk, SPACE, 300, size)


def test_a_known_size_spares_a_statement(django_assert_num_queries: Any) -> None:
    end_user = make_end_user()
    with django_assert_num_queries(1):
        nearest(Scope(end_user, ACTIVE), SPACE, [[1.0] + [0.0] * 383], 10, size=10.0)


def test_what_no_vector_ranks_comes_after_the_rest_latest_first() -> None:
    end_user = make_end_user()
    ranked = make_memory(end_user, "one", embedding=[1.0, 0.0], space="other/2")
    old, new = (
        make_memory(end_user, f"{year}", said_at=f"{year}-01-01T00:00Z") for year in (2020, 2024)
    )
    assert nearest(Scope(end_user, ACTIVE), "other/2", [[1.0, 0.0]], 3)[0] == (
        [[ranked.pk]],
        [new.pk, old.pk],
        [{ranked.pk: 1.0}],
    )
    found = nearest(Scope(end_user, ACTIVE), "other/2", [[1.0, 0.0]], 1)[0]
    assert found == ([[ranked.pk]], [], [{ranked.pk: 1.0}])
    assert nearest(Scope(end_user, ACTIVE), "other/2", [], 2)[0][:2] == ([], [ranked.pk, new.pk])


def test_results_can_be_narrowed() -> None:
    end_user = make_end_user()
    one, two, _ = (
        make_memory(end_user, name, embedding=[1.0, 0.0], space="other/2") for name in "abc"
    )
    within = Subset.of(Memory.objects.of(end_user).filter(pk__in=[one.pk, two.pk]).values("pk"))
    ((found,), others, _) = nearest(Scope(end_user, ACTIVE, within), "other/2", [[1.0, 0.0]], 10)[0]
    assert set(found) == {one.pk, two.pk}
    assert others == []


@pytest.mark.parametrize("graph", [False, True])
def test_those_inside_are_ranked_besides(
    large_user: EndUser, graph: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ann, "STEP", 0 if graph else 10**9)
    (vector,) = Source(384, seed=9).vectors(1).tolist()
    some = Memory.objects.of(large_user).filter(content__contains="w1 ").values("pk")
    wanted = set(some.values_list("pk", flat=True))
    inside = Scope(large_user, ACTIVE, None, Subset.of(some, "inside"), inside_limit=LARGE)
    everything, found = nearest(inside, SPACE, [vector], 100)
    assert everything == nearest(Scope(large_user, ACTIVE), SPACE, [vector], 100)[0]
    ((order,), *_) = nearest(Scope(large_user, ACTIVE), SPACE, [vector], LARGE)[0]
    assert found[:2] == ([[pk for pk in order if pk in wanted]], [])
