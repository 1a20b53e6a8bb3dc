"""Memories get their embedding themselves; the search index follows it.

A vector is stored as it is, out of line: the rest of the row is what is read of it.
"""

import django.contrib.postgres.fields
import memories.models.search_index
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0005_time_zones'),
        ('memories', '0024_unread_memories'),
    ]

    operations = [
        migrations.AlterModelOptions(
            name='memory',
            options={'base_manager_name': 'objects', 'verbose_name_plural': 'memories'},
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='memory',
            name='vector_waits',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='memory',
            name='index_added',
        ),
        migrations.AddField(
            model_name='memory',
            name='embedding',
            field=memories.models.search_index.EmbeddingField(blank=True, editable=False, null=True),
        ),
        migrations.RunSQL(
            """ALTER TABLE memories_memory ALTER COLUMN embedding SET STORAGE EXTERNAL;
               ALTER TABLE memories_memory SET (toast_tuple_target = 1536)""",
            "ALTER TABLE memories_memory RESET (toast_tuple_target)",
        ),
        migrations.AlterField(
            model_name='memory',
            name='embedding_model',
            field=models.CharField(blank=True, default='', help_text="The space of its embedding, '' while it waits.", max_length=120),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='memory',
            trigger=pgtrigger.compiler.Trigger(name='index_added', sql=pgtrigger.compiler.UpsertTriggerSql(func="\n    INSERT INTO memories_posting (end_user_id, token, memory_id, status, times, length)\n    SELECT m.end_user_id, word.token, m.id, m.status, word.times, cardinality(m.tokens)\n    FROM new_rows m CROSS JOIN LATERAL (\n        SELECT CASE WHEN raw LIKE '<%' THEN substr(raw, 2) ELSE raw END AS token,\n               sum(CASE WHEN raw LIKE '<%' THEN 0.45 ELSE 1 END)::real AS times\n        FROM unnest(m.tokens) AS raw WHERE raw NOT IN ('', '<') GROUP BY 1) word\n;\n    \n    INSERT INTO memories_vector (end_user_id, memory_id, space, status, embedding)\n    SELECT end_user_id, id, embedding_model, status, embedding::halfvec\n    FROM new_rows m WHERE embedding IS NOT NULL;\n    \n    INSERT INTO memories_corpus AS c (end_user_id, status, size, length)\n    SELECT end_user_id, status, sum(sign), sum(sign * cardinality(tokens))\n    FROM (SELECT 1 AS sign, * FROM new_rows) added GROUP BY 1, 2 ORDER BY 1, 2\n    ON CONFLICT (end_user_id, status)\n        DO UPDATE SET size = c.size + excluded.size, length = c.length + excluded.length;\n\n    RETURN NULL;\n", hash='550e4938608656c3c696d407e10a9ea90e4e7502', level='STATEMENT', operation='INSERT', pgid='pgtrigger_index_added_77cdb', referencing='REFERENCING NEW TABLE AS new_rows ', table='memories_memory', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='memory',
            trigger=pgtrigger.compiler.Trigger(name='vector_waits', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."content" IS DISTINCT FROM (NEW."content") OR NEW."embedding_model" = \'\')', func="NEW.embedding_model = ''; NEW.embedding = NULL; RETURN NEW;", hash='b34ef63b19a36d7d68bec3c57f1cec4e78054f50', operation='UPDATE OF "content", "embedding_model"', pgid='pgtrigger_vector_waits_142b1', table='memories_memory', when='BEFORE')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='memory',
            trigger=pgtrigger.compiler.Trigger(name='vector_follows', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (NEW."embedding" IS NOT NULL)', func='\n    INSERT INTO memories_vector (end_user_id, memory_id, space, status, embedding)\n    SELECT end_user_id, id, embedding_model, status, embedding::halfvec\n    FROM (SELECT NEW.*) m WHERE embedding IS NOT NULL\n    ON CONFLICT (end_user_id, memory_id, space) DO UPDATE SET embedding = excluded.embedding\n        WHERE memories_vector.embedding <> excluded.embedding;\n    RETURN NULL;\n', hash='e3dd893dbada1df94b35c5130ac8a155216e5b96', operation='UPDATE OF "embedding"', pgid='pgtrigger_vector_follows_3773a', table='memories_memory', when='AFTER')),
        ),
        migrations.AddField(
            model_name='erasure',
            name='missing',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), default=list, help_text='For what nothing kept was found; gone after a day.', size=None),
        ),
    ]
