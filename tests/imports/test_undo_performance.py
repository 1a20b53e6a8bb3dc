"""The undo of an import reads in proportion to what the import brought, also before the database has
counted its tables."""

import pytest
from django.db import connection

from accounts.models import Change
from imports.dumps import read_book
from imports.people_intake import take_in
from memories.corrections.undo import undo_change
from tests.emptying import forget_counts
from tests.factories import make_end_user

pytestmark = pytest.mark.django_db

ACTOR = "operator:test"
HEADER = "First Name,Last Name,Nickname,Birthday,Notes,Phone 1 - Value,Relation 1 - Label,Relation 1 - Value\n"
FEW, MANY = 100, 400


def book(people: int) -> str:
    """Each with a note; every tenth is married to the one before."""
    names = [
        f"{first}{last}" for first in "abcdefghijklmnopqrst" for last in "abcdefghijklmnopqrst"
    ]
    rows = [
        f"Anna{name},Berg{name},,,Plays {name},+49 170 {1000000 + number},"
        + (f"Spouse,Anna{names[number - 1]} Berg{names[number - 1]}" if number % 10 == 9 else ",")
        for number, name in enumerate(names[:people])
    ]
    return HEADER + "\n".join(rows) + "\n"


def rows_read() -> int:
    """So far in this transaction, also by what the database does on its own (foreign keys, triggers):
    rows of tables, and entries of indexes."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT sum(seq_tup_read) FROM pg_stat_xact_user_tables")
        (rows,) = cursor.fetchone()
        cursor.execute(
            "SELECT sum(pg_stat_get_xact_tuples_returned(oid)) FROM pg_class WHERE relkind = 'i'"
        )
        (entries,) = cursor.fetchone()
    return int(rows + entries)


def cost(people: int) -> int:
    """What the undo of so many people reads, planned by what the planner finds then."""
    user = make_end_user()
    done, change = take_in(user, read_book(book(people).encode()), actor=ACTOR)
    assert done.counts["new"] == people
    with connection.cursor() as cursor:
        cursor.execute("DISCARD PLANS")
    before = rows_read()
    undo_change(Change.objects.get(pk=change.pk), actor=ACTOR)
    assert not user.contacts.exists()
    return rows_read() - before


def test_four_times_as_many_people_cost_four_times_as_much() -> None:
    forget_counts()
    few, many = cost(FEW), cost(MANY)
    assert many < 1.5 * MANY / FEW * few
