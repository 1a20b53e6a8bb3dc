"""What a search reads instead of the memories themselves: their vectors and their words. Database
triggers derive both, so that no code path can let them disagree with the memories: words follow
``Memory.tokens``, vectors ``Memory.embedding`` (in half precision, which ranks the same), and both
have the memory's status."""

from typing import Any

import pgtrigger
from django.db import models
from pgvector.django import HalfVectorField, VectorField

from accounts.models import EndUser, UserRow, reference
from accounts.sql_files import sql_pieces
from memories.sql_triggers import after
from memories.types import AROUND

# The weight of tokens from the texts around a memory, relative to the memory's own tokens. Measured
# on LoCoMo: 0.3 to 0.5 are equally good.
AROUND_SHARE = 0.45

_SQL = sql_pieces(__file__, around=AROUND, share=AROUND_SHARE)
POSTINGS, _COUNT = _SQL["postings"], _SQL["count"]
_VECTORS = """
    INSERT INTO memories_vector (end_user_id, memory_id, space, status, embedding)
    SELECT end_user_id, id, embedding_model, status, embedding::halfvec
    FROM {rows} m WHERE embedding IS NOT NULL"""
_ADDED = f"""{POSTINGS.format(source="new_rows")};
    {_VECTORS.format(rows="new_rows")};
    {_COUNT.format(rows="(SELECT 1 AS sign, * FROM new_rows) added")}
    RETURN NULL;
"""  # noqa: S608

_REMOVED = _SQL["removed"].format(rows="(SELECT -1 AS sign, * FROM old_rows) removed")
_CHANGED = _SQL["changed"].format(source=_SQL["moved"].strip(), rows=_SQL["recounted"].strip())
_FOLLOWS = f"""{_VECTORS.format(rows="(SELECT NEW.*)")}
    ON CONFLICT (end_user_id, memory_id, space) DO UPDATE SET embedding = excluded.embedding
        WHERE memories_vector.embedding <> excluded.embedding;
    RETURN NULL;
"""

# Triggers of Memory.
TRIGGERS = [
    after(pgtrigger.Insert, "index_added", _ADDED),
    after(pgtrigger.Delete, "index_removed", _REMOVED, record="was"),
    after(pgtrigger.Update, "index_changed", _CHANGED, record="was"),
    # Changed content waits for a new vector, whoever changed it.
    pgtrigger.Trigger(
        name="vector_waits",
        when=pgtrigger.Before,
        operation=pgtrigger.UpdateOf("content", "embedding_model"),
        condition=pgtrigger.Q(old__content__df=pgtrigger.F("new__content"))
        | pgtrigger.Q(new__embedding_model=""),
        func="NEW.embedding_model = ''; NEW.embedding = NULL; RETURN NEW;",
    ),
    # A row trigger, not a statement trigger: it runs only if a vector is written.
    pgtrigger.Trigger(
        name="vector_follows",
        when=pgtrigger.After,
        operation=pgtrigger.UpdateOf("embedding"),
        condition=pgtrigger.Q(new__embedding__isnull=False),
        func=_FOLLOWS,
    ),
]


class EmbeddingField(VectorField):
    """A vector as text with six digits, the precision of a model's numbers; writing more digits
    takes a fifth of the time of storing a memory."""

    def get_prep_value(self, value: Any) -> str | None:
        if value is None or isinstance(value, str):
            return value
        return f"[{'%.6g,' * (len(value) - 1)}%.6g]" % tuple(value)


class Vector(UserRow):
    """The embedding of a memory in one space: a model and its dimension (``model/384``). In the
    space of ``Memory.embedding_model`` it is the memory's ``embedding``. A memory may have vectors
    in other spaces, so that another model can be prepared while this one answers. Only vectors of
    one space are compared. The table is partitioned by end user (migration 0005): a user's vectors
    are adjacent."""

    pk = models.CompositePrimaryKey("end_user_id", "memory_id", "space")
    end_user = reference(EndUser)
    memory = reference("memories.Memory", related_name="vectors")
    space = models.CharField(max_length=120)
    status = models.CharField(max_length=8, help_text="The memory's own.")
    embedding = HalfVectorField()


class Posting(UserRow):
    """A word of a memory, and how often the memory contains it (around the memory, in part).
    ``length`` is the number of all its tokens. The primary key includes the other columns, so that
    a search reads one index and nothing else."""

    pk = models.CompositePrimaryKey("end_user_id", "token", "memory_id")
    end_user = reference(EndUser)
    token = models.TextField(db_collation="C")
    memory = reference("memories.Memory", related_name="postings")
    status = models.CharField(max_length=8, help_text="The memory's own.")
    times = models.FloatField()
    length = models.IntegerField()


class Corpus(UserRow):
    """How many memories of a status an end user has, and how many tokens they have in all: stored
    for word search, so that no search counts them."""

    pk = models.CompositePrimaryKey("end_user_id", "status")
    end_user = reference(EndUser)
    status = models.CharField(max_length=8)
    size = models.BigIntegerField()
    length = models.BigIntegerField()
