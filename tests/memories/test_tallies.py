"""Totals of ledgers: the same whatever was kept, never counted anew, never less."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from memories import tallies
from memories.models import ModelCall, Retrieval, Tally
from tests.factories import make_end_user

DAYS = st.integers(0, 6)


def call(days_ago: int, outcome: str = "ok", tokens: int = 3) -> None:
    made = ModelCall.objects.create(
        provider="openai", model="m", purpose="extract", outcome=outcome, tokens_in=tokens
    )
    ModelCall.objects.filter(pk=made.pk).update(
        created_at=timezone.now() - timedelta(days=days_ago)
    )


class WhateverWasKept(TestCase):
    @given(rows=st.lists(st.tuples(DAYS, st.sampled_from(["ok", "transient"]))), keeps=st.data())
    def test_the_totals_are_those_of_all_rows(
        self, rows: list[tuple[int, str]], keeps: st.DataObject
    ) -> None:
        for days_ago, outcome in rows:
            # What is written by now is of days that are not over yet, unless nothing was kept.
            call(days_ago if not Tally.objects.exists() else days_ago % 2, outcome)
            if keeps.draw(st.booleans()):
                tallies.store_past_days()
        counts = {labels[2]: sums[0] for labels, sums in tallies.total(tallies.MODEL_CALLS).items()}
        assert counts == {outcome: sum(said == outcome for _, said in rows) for _, outcome in rows}


@pytest.mark.django_db
def test_what_is_kept_is_not_read_again_and_stays_when_a_user_is_gone() -> None:
    end_user = make_end_user()
    old = timezone.localdate() - timedelta(days=9)
    Retrieval.objects.create(end_user=end_user, day=old, linked=5, fallback=2)
    Retrieval.objects.create(end_user=end_user, day=timezone.localdate(), linked=1)
    assert tallies.total(tallies.RETRIEVALS) == {(): [6, 2]}
    tallies.store_past_days()
    tallies.store_past_days()
    end_user.delete()
    assert tallies.total(tallies.RETRIEVALS) == {(): [5, 2]}


@pytest.mark.django_db
def test_only_days_that_are_not_over_are_added_up() -> None:
    for days_ago in (0, 1, 5, 9):
        call(days_ago)
    tallies.store_past_days()
    held = Tally.objects.get(ledger="model_calls")
    assert held.until == (datetime.now(UTC) - tallies.OVER).date()
    with CaptureQueriesContext(connection) as queries:
        ((_, sums),) = tallies.total(tallies.MODEL_CALLS).items()
    assert sums == [4, 12, 0, 0]
    assert any(str(held.until) in query["sql"] for query in queries)
