"""Foreign keys between a user's rows name two columns, of which each alone is shared by many rows."""

import pytest
from django.apps import apps
from django.db import connection

pytestmark = pytest.mark.django_db

# Each foreign key of several columns, with whether an index begins with these, in any order. That
# of a partial index is enough where it leaves out the rows that point at nothing.
_KEYS = """
SELECT conrelid::regclass || '.' || conname, EXISTS (
    SELECT FROM pg_index
    WHERE indrelid = conrelid AND indisvalid
        AND (indkey::int2[])[0:cardinality(conkey) - 1] @> conkey
        AND coalesce(pg_get_expr(indpred, indrelid) ~ '^\\(\\w+ IS NOT NULL\\)$', true))
FROM pg_constraint WHERE contype = 'f' AND cardinality(conkey) > 1
"""


def test_what_points_at_a_row_is_found_by_the_whole_key() -> None:
    # By one column of it, a planner without statistics reads all rows of the user for each row
    # that is deleted.
    with connection.cursor() as cursor:
        cursor.execute(_KEYS)
        found = dict(cursor.fetchall())
    assert len(found) > 30
    assert [name for name, indexed in found.items() if not indexed] == []


def test_every_index_and_constraint_of_the_models_is_in_the_database() -> None:
    # A migration that takes the index of a column away may take others of that column with it.
    with connection.cursor() as cursor:
        cursor.execute("SELECT relname FROM pg_class UNION SELECT conname FROM pg_constraint")
        there = {name for (name,) in cursor.fetchall()}
    named = {
        one.name
        for model in apps.get_models()
        for one in (*model._meta.indexes, *model._meta.constraints)
    }
    assert len(named) > 50
    assert named - there == set()
