"""Puts vectors into a graph only where a user is so large that a search follows it, and drops
an index that is the beginning of others.

With such a user already there, the graphs stay; a job builds those that are missing.
"""

import django.db.models.deletion
from django.db import migrations, models

DROP = """
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM memories_corpus GROUP BY end_user_id HAVING sum(size) > 56000) THEN
        DROP INDEX IF EXISTS memories_vector_multilingual_e5_small_384;
    END IF;
END $$
"""
BUILD = """
CREATE INDEX IF NOT EXISTS memories_vector_multilingual_e5_small_384 ON memories_vector
USING hnsw ((embedding::halfvec(384)) halfvec_cosine_ops)
WHERE space = 'multilingual-e5-small/384'
"""


class Migration(migrations.Migration):
    dependencies = [
        ('accounts', '0004_find_changes'),
        ('memories', '0017_guard_memory_ids'),
    ]

    operations = [
        migrations.RunSQL(DROP, BUILD),
        migrations.AlterField(
            model_name='memory',
            name='end_user',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='memories', to='accounts.enduser'),
        ),
    ]
