"""Vectors and words leave the memories for tables of their own, made for searching.

Both directions keep the data; going back keeps the vectors of the space that embedded each
memory last.
"""

import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
import pgvector.django.halfvec
from django.db import migrations, models

# A user's vectors lie in one of these, close together; an index over one of them is small
# enough to be built in memory, and mostly holds those of its large users.
PARTITIONS = 16

# MAIN: a vector of up to 4,000 dimensions stays in its row, where a scan finds it.
VECTORS = """
CREATE TABLE memories_vector (
    end_user_id bigint NOT NULL,
    memory_id uuid NOT NULL,
    space varchar(120) NOT NULL,
    status varchar(8) NOT NULL,
    embedding halfvec STORAGE MAIN NOT NULL,
    PRIMARY KEY (end_user_id, memory_id, space)
) PARTITION BY HASH (end_user_id)
"""
# Few of a word's rows are read for each that is written, so they are vacuumed often enough
# for the index alone to answer.
WORDS = """
CREATE TABLE memories_posting (
    end_user_id bigint NOT NULL,
    token text COLLATE "C" NOT NULL,
    memory_id uuid NOT NULL,
    status varchar(8) NOT NULL,
    times real NOT NULL,
    length integer NOT NULL,
    PRIMARY KEY (end_user_id, token, memory_id) INCLUDE (status, times, length)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02)
"""
COPY_VECTORS = """
UPDATE memories_memory SET embedding_model =
    CASE WHEN embedding IS NULL THEN '' ELSE embedding_model || '/' || vector_dims(embedding) END;
INSERT INTO memories_vector (end_user_id, memory_id, space, status, embedding)
SELECT end_user_id, id, embedding_model, status, embedding::halfvec
FROM memories_memory WHERE embedding IS NOT NULL
"""
COPY_WORDS = """
INSERT INTO memories_posting (end_user_id, token, memory_id, status, times, length)
SELECT m.end_user_id, word.token, m.id, m.status, word.times, cardinality(m.tokens)
FROM memories_memory m CROSS JOIN LATERAL (
    SELECT CASE WHEN raw LIKE '<%' THEN substr(raw, 2) ELSE raw END AS token,
           sum(CASE WHEN raw LIKE '<%' THEN 0.45 ELSE 1 END)::real AS times
    FROM unnest(m.tokens) AS raw WHERE raw NOT IN ('', '<') GROUP BY 1
    UNION ALL SELECT '', 1) word
"""
# A vector can't belong to another user's memory, and goes with its own.
KEY = """
ALTER TABLE memories_vector ADD CONSTRAINT memories_vector_memory_id_same_user
FOREIGN KEY (end_user_id, memory_id) REFERENCES memories_memory (end_user_id, id)
ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED
"""
# Of the default space; ``reembed`` makes those of others (memories.search.neighbours). In the
# first a user's vectors lie side by side, whatever order they came in.
SIDE_BY_SIDE = """
CREATE INDEX memories_vector_multilingual_e5_small_384_scan ON memories_vector
(end_user_id, memory_id) INCLUDE (status, embedding)
WHERE space = 'multilingual-e5-small/384'
"""
NEIGHBOURS = """
CREATE INDEX memories_vector_multilingual_e5_small_384 ON memories_vector
USING hnsw ((embedding::halfvec(384)) halfvec_cosine_ops)
WHERE space = 'multilingual-e5-small/384'
"""
COPY_BACK = """
UPDATE memories_memory m SET embedding = v.embedding::vector,
    embedding_model = regexp_replace(m.embedding_model, '/[0-9]+$', '')
FROM memories_vector v
WHERE v.end_user_id = m.end_user_id AND v.memory_id = m.id AND v.space = m.embedding_model
"""


class Migration(migrations.Migration):
    dependencies = [
        ('memories', '0004_engine_same_user_keys'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(WORDS, "DROP TABLE memories_posting"),
                migrations.RunSQL(VECTORS, "DROP TABLE memories_vector"),
                *(
                    migrations.RunSQL(
                        f"CREATE TABLE memories_vector_{n} PARTITION OF memories_vector "
                        f"FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {n})",
                        migrations.RunSQL.noop,
                    )
                    for n in range(PARTITIONS)
                ),
            ],
            state_operations=[
                migrations.CreateModel(
                    name='Posting',
                    fields=[
                        ('pk', models.CompositePrimaryKey('end_user_id', 'token', 'memory_id', blank=True, editable=False, primary_key=True, serialize=False)),
                        ('token', models.TextField(db_collation='C')),
                        ('status', models.CharField(help_text="The memory's own.", max_length=8)),
                        ('times', models.FloatField()),
                        ('length', models.IntegerField()),
                    ],
                ),
                migrations.CreateModel(
                    name='Vector',
                    fields=[
                        ('pk', models.CompositePrimaryKey('end_user_id', 'memory_id', 'space', blank=True, editable=False, primary_key=True, serialize=False)),
                        ('space', models.CharField(max_length=120)),
                        ('status', models.CharField(help_text="The memory's own.", max_length=8)),
                        ('embedding', pgvector.django.halfvec.HalfVectorField()),
                    ],
                ),
                migrations.AddField(
                    model_name='posting',
                    name='end_user',
                    field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='accounts.enduser'),
                ),
                migrations.AddField(
                    model_name='posting',
                    name='memory',
                    field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='postings', to='memories.memory'),
                ),
                migrations.AddField(
                    model_name='vector',
                    name='end_user',
                    field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='accounts.enduser'),
                ),
                migrations.AddField(
                    model_name='vector',
                    name='memory',
                    field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='vectors', to='memories.memory'),
                ),
            ],
        ),
        migrations.AlterField(
            model_name='memory',
            name='embedding_model',
            field=models.CharField(blank=True, default='', help_text="The space of its vector, '' while it waits.", max_length=120),
        ),
        migrations.RunSQL(COPY_VECTORS, COPY_BACK),
        migrations.RunSQL(COPY_WORDS, migrations.RunSQL.noop),
        migrations.RunSQL(KEY, migrations.RunSQL.noop),
        migrations.RunSQL(SIDE_BY_SIDE, migrations.RunSQL.noop),
        migrations.RunSQL(NEIGHBOURS, migrations.RunSQL.noop),
        migrations.RemoveIndex(model_name='memory', name='memory_tokens'),
        migrations.RemoveIndex(model_name='memory', name='memory_unembedded'),
        migrations.RemoveField(model_name='memory', name='embedding'),
        migrations.AddIndex(
            model_name='memory',
            index=models.Index(fields=['embedding_model', 'end_user'], name='memory_embedded'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='memory',
            trigger=pgtrigger.compiler.Trigger(name='index_added', sql=pgtrigger.compiler.UpsertTriggerSql(func="\n    INSERT INTO memories_posting (end_user_id, token, memory_id, status, times, length)\n    SELECT m.end_user_id, word.token, m.id, m.status, word.times, cardinality(m.tokens)\n    FROM new_rows m CROSS JOIN LATERAL (\n        SELECT CASE WHEN raw LIKE '<%' THEN substr(raw, 2) ELSE raw END AS token,\n               sum(CASE WHEN raw LIKE '<%' THEN 0.45 ELSE 1 END)::real AS times\n        FROM unnest(m.tokens) AS raw WHERE raw NOT IN ('', '<') GROUP BY 1\n        UNION ALL SELECT '', 1) word\n;\n    RETURN NULL;", hash='64f6e3f7c5d0e02370bafb20b66cb37c11172f50', level='STATEMENT', operation='INSERT', pgid='pgtrigger_index_added_77cdb', referencing='REFERENCING NEW TABLE AS new_rows ', table='memories_memory', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='memory',
            trigger=pgtrigger.compiler.Trigger(name='index_removed', sql=pgtrigger.compiler.UpsertTriggerSql(declare='DECLARE was RECORD;', func="\n    FOR was IN SELECT end_user_id, id, tokens FROM old_rows LOOP \n        DELETE FROM memories_posting\n        WHERE end_user_id = was.end_user_id AND memory_id = was.id AND token = ANY (ARRAY(\n            SELECT CASE WHEN raw LIKE '<%' THEN substr(raw, 2) ELSE raw END\n            FROM unnest(array_append(was.tokens, '')) AS raw));\n\n    END LOOP;\n    RETURN NULL;\n", hash='8bdd1d61fd5a457980960deb867e218b6e8afcc3', level='STATEMENT', operation='DELETE', pgid='pgtrigger_index_removed_ec7f1', referencing='REFERENCING OLD TABLE AS old_rows ', table='memories_memory', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='memory',
            trigger=pgtrigger.compiler.Trigger(name='index_changed', sql=pgtrigger.compiler.UpsertTriggerSql(declare='DECLARE was RECORD;', func="\n    FOR was IN\n        SELECT o.end_user_id, o.id, o.tokens, n.status, n.content <> o.content AS says_else,\n            (n.tokens, n.status) IS DISTINCT FROM (o.tokens, o.status) AS moved\n        FROM old_rows o JOIN new_rows n USING (id)\n        WHERE (o.tokens, o.status, o.content) IS DISTINCT FROM (n.tokens, n.status, n.content)\n    LOOP\n        IF was.says_else THEN\n            DELETE FROM memories_vector\n            WHERE end_user_id = was.end_user_id AND memory_id = was.id;\n        END IF;\n        IF was.moved THEN \n        DELETE FROM memories_posting\n        WHERE end_user_id = was.end_user_id AND memory_id = was.id AND token = ANY (ARRAY(\n            SELECT CASE WHEN raw LIKE '<%' THEN substr(raw, 2) ELSE raw END\n            FROM unnest(array_append(was.tokens, '')) AS raw));\n\n            UPDATE memories_vector v SET status = was.status\n            WHERE v.end_user_id = was.end_user_id AND v.memory_id = was.id\n                AND v.status <> was.status;\n        END IF;\n    END LOOP;\n    IF FOUND THEN \n    INSERT INTO memories_posting (end_user_id, token, memory_id, status, times, length)\n    SELECT m.end_user_id, word.token, m.id, m.status, word.times, cardinality(m.tokens)\n    FROM (\n        SELECT n.* FROM old_rows o JOIN new_rows n USING (id)\n        WHERE (o.tokens, o.status) IS DISTINCT FROM (n.tokens, n.status)) m CROSS JOIN LATERAL (\n        SELECT CASE WHEN raw LIKE '<%' THEN substr(raw, 2) ELSE raw END AS token,\n               sum(CASE WHEN raw LIKE '<%' THEN 0.45 ELSE 1 END)::real AS times\n        FROM unnest(m.tokens) AS raw WHERE raw NOT IN ('', '<') GROUP BY 1\n        UNION ALL SELECT '', 1) word\n;\n    END IF;\n    RETURN NULL;\n", hash='955a17a31c9cd32aba41ede4a25cca71bc2231ba', level='STATEMENT', operation='UPDATE', pgid='pgtrigger_index_changed_b9e57', referencing='REFERENCING OLD TABLE AS old_rows  NEW TABLE AS new_rows ', table='memories_memory', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='memory',
            trigger=pgtrigger.compiler.Trigger(name='vector_waits', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."content" IS DISTINCT FROM (NEW."content"))', func="NEW.embedding_model = ''; RETURN NEW;", hash='0ec02cd45307930a1df142a932ba73ced68a62f3', operation='UPDATE OF "content"', pgid='pgtrigger_vector_waits_142b1', table='memories_memory', when='BEFORE')),
        ),
    ]
