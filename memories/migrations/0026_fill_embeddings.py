"""Fills the embeddings of memories from the search index, some at a time, so that it may be stopped
and started again; what has no vector waits for one."""

from typing import Any
from uuid import UUID

from django.db import migrations, models

CHUNK = 2000
NEXT = """SELECT id FROM memories_memory WHERE end_user_id = %s AND id > %s ORDER BY id LIMIT %s"""
FILL = """
UPDATE memories_memory m SET embedding = v.embedding::vector FROM memories_vector v
WHERE m.id = ANY(%(ids)s) AND m.embedding IS NULL AND v.end_user_id = m.end_user_id
    AND v.memory_id = m.id AND v.space = m.embedding_model
"""
WAIT = """
UPDATE memories_memory SET embedding_model = ''
WHERE id = ANY(%(ids)s) AND embedding IS NULL AND embedding_model <> ''
"""


def fill(_apps: Any, editor: Any) -> None:
    with editor.connection.cursor() as cursor:
        cursor.execute("SELECT id FROM accounts_enduser ORDER BY id")
        for (end_user,) in cursor.fetchall():
            after = UUID(int=0)
            while True:
                cursor.execute(NEXT, [end_user, after, CHUNK])
                ids = [pk for (pk,) in cursor.fetchall()]
                if not ids:
                    break
                cursor.execute(FILL, {"ids": ids})
                cursor.execute(WAIT, {"ids": ids})
                after = ids[-1]


class Migration(migrations.Migration):
    atomic = False
    dependencies = [
        ('memories', '0025_embedding_of_memories'),
    ]

    operations = [
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.AddConstraint(
            model_name='memory',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('embedding', None), ('embedding_model', '')), models.Q(models.Q(('embedding_model', ''), _negated=True), ('embedding__isnull', False)), _connector='OR'), name='embedding_says_its_space'),
        ),
    ]
