"""A SELECT that goes along with another one."""

from typing import Any

import pytest

from memories.search.sql import Along, fetch

pytestmark = pytest.mark.django_db


def one(read: Any = list) -> Along[Any]:
    return Along("SELECT %(n)s::int AS n", {"n": 1}, read)


def test_two_selects_take_one_round_trip(django_assert_num_queries: Any) -> None:
    along = one()
    with django_assert_num_queries(1):
        assert fetch("SELECT 2 AS n, %(n)s::int", {"n": 1}, along) == [(2, 1)]
        assert along.result() == [(1,)]


def test_what_was_sent_is_not_sent_again(django_assert_num_queries: Any) -> None:
    read: list[Any] = []
    along = one(read.append)
    with django_assert_num_queries(2):
        fetch("SELECT 2", {}, along)
        assert fetch("SELECT 3", {}, along) == [(3,)]
    along.result()
    assert read == [[(1,)]]


def test_without_another_it_goes_by_itself(django_assert_num_queries: Any) -> None:
    along = one()
    with django_assert_num_queries(1):
        assert along.result() == along.result() == [(1,)]
