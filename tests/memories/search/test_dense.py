"""Meaning search compares all of a user's vectors."""

from uuid import UUID

import numpy as np
import pytest

from accounts.models import EndUser
from memories.models import Memory, Vector
from memories.search.dense import nearest
from memories.search.sql import Scope, Subset
from tests.factories import make_end_user, make_memory
from tools.bench.synthetic import Source, fill

pytestmark = pytest.mark.django_db

SPACE = "multilingual-e5-small/384"
ACTIVE = (Memory.Status.ACTIVE,)
LARGE = 1000


@pytest.fixture
def large_user() -> EndUser:
    """A user with some thousand vectors, among others with some."""
    end_user = make_end_user()
    others = [make_end_user(app=end_user.app) for _ in range(8)]
    fill({end_user: LARGE} | dict.fromkeys(others, 50), SPACE, 384, progress=False)
    return end_user


def by_hand(end_user: EndUser, asked: list[list[float]], limit: int) -> list[list[UUID]]:
    """The nearest of all memories of the end user to each vector that is asked for."""
    rows = list(Vector.objects.of(end_user).values_list("memory_id", "embedding"))
    matrix = np.array([embedding for _, embedding in rows])
    similarity = np.array(asked) @ (matrix / np.linalg.norm(matrix, axis=1, keepdims=True)).T
    return [[rows[place][0] for place in row[:limit]] for row in np.argsort(-similarity)]


def test_each_vector_by_itself_is_exact(large_user: EndUser) -> None:
    end_user = large_user
    asked = Source(384, seed=9).vectors(3).tolist()
    for vector, wanted in zip(asked, by_hand(end_user, asked, 100), strict=True):
        ((found,), others, _) = nearest(Scope(end_user, ACTIVE), SPACE, [vector], 100)[0]
        assert len(set(found) & set(wanted)) >= 99  # halves round
        assert others == []


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


def test_those_inside_are_ranked_besides(large_user: EndUser) -> None:
    (vector,) = Source(384, seed=9).vectors(1).tolist()
    some = Memory.objects.of(large_user).filter(content__contains="w1 ").values("pk")
    wanted = set(some.values_list("pk", flat=True))
    inside = Scope(large_user, ACTIVE, None, Subset.of(some, "inside"), inside_limit=LARGE)
    everything, found = nearest(inside, SPACE, [vector], 100)
    assert everything == nearest(Scope(large_user, ACTIVE), SPACE, [vector], 100)[0]
    ((order,), *_) = nearest(Scope(large_user, ACTIVE), SPACE, [vector], LARGE)[0]
    assert found[:2] == ([[pk for pk in order if pk in wanted]], [])
