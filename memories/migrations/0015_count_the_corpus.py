"""Word search asks how many memories there are, and how long: kept, not counted."""

import django.db.models.deletion
import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


COUNT = """
INSERT INTO memories_corpus (end_user_id, status, size, length)
SELECT end_user_id, status, count(*), sum(cardinality(tokens)) FROM memories_memory GROUP BY 1, 2;
DELETE FROM memories_posting WHERE token = ''
"""
COUNT_BY_POSTINGS = """
INSERT INTO memories_posting (end_user_id, token, memory_id, status, times, length)
SELECT end_user_id, '', id, status, 1, cardinality(tokens) FROM memories_memory
"""


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0004_find_changes'),
        ('memories', '0014_latest_links_of_a_person'),
    ]

    operations = [
        migrations.CreateModel(
            name='Corpus',
            fields=[
                ('end_user', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='accounts.enduser')),
                ('pk', models.CompositePrimaryKey('end_user_id', 'status', blank=True, editable=False, primary_key=True, serialize=False)),
                ('status', models.CharField(max_length=8)),
                ('size', models.BigIntegerField()),
                ('length', models.BigIntegerField()),
            ],
        ),
        migrations.RunSQL(COUNT, COUNT_BY_POSTINGS),
        pgtrigger.migrations.RemoveTrigger(
            model_name='memory',
            name='index_added',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='memory',
            name='index_removed',
        ),
        pgtrigger.migrations.RemoveTrigger(
            model_name='memory',
            name='index_changed',
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='memory',
            trigger=pgtrigger.compiler.Trigger(name='index_added', sql=pgtrigger.compiler.UpsertTriggerSql(func="\n    INSERT INTO memories_posting (end_user_id, token, memory_id, status, times, length)\n    SELECT m.end_user_id, word.token, m.id, m.status, word.times, cardinality(m.tokens)\n    FROM new_rows m CROSS JOIN LATERAL (\n        SELECT CASE WHEN raw LIKE '<%' THEN substr(raw, 2) ELSE raw END AS token,\n               sum(CASE WHEN raw LIKE '<%' THEN 0.45 ELSE 1 END)::real AS times\n        FROM unnest(m.tokens) AS raw WHERE raw NOT IN ('', '<') GROUP BY 1) word\n;\n    \n    INSERT INTO memories_corpus AS c (end_user_id, status, size, length)\n    SELECT end_user_id, status, sum(sign), sum(sign * cardinality(tokens))\n    FROM (SELECT 1 AS sign, * FROM new_rows) added GROUP BY 1, 2 ORDER BY 1, 2\n    ON CONFLICT (end_user_id, status)\n        DO UPDATE SET size = c.size + excluded.size, length = c.length + excluded.length;\n\n    RETURN NULL;\n", hash='f1788f26663ab9237ab51a282ac1eed6cbb343e8', level='STATEMENT', operation='INSERT', pgid='pgtrigger_index_added_77cdb', referencing='REFERENCING NEW TABLE AS new_rows ', table='memories_memory', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='memory',
            trigger=pgtrigger.compiler.Trigger(name='index_removed', sql=pgtrigger.compiler.UpsertTriggerSql(declare='DECLARE was RECORD;', func="\n    FOR was IN SELECT end_user_id, id, tokens FROM old_rows LOOP \n        DELETE FROM memories_posting\n        WHERE end_user_id = was.end_user_id AND memory_id = was.id AND token = ANY (ARRAY(\n            SELECT CASE WHEN raw LIKE '<%' THEN substr(raw, 2) ELSE raw END\n            FROM unnest(was.tokens) AS raw));\n\n    END LOOP;\n    \n    INSERT INTO memories_corpus AS c (end_user_id, status, size, length)\n    SELECT end_user_id, status, sum(sign), sum(sign * cardinality(tokens))\n    FROM (SELECT -1 AS sign, * FROM old_rows) removed GROUP BY 1, 2 ORDER BY 1, 2\n    ON CONFLICT (end_user_id, status)\n        DO UPDATE SET size = c.size + excluded.size, length = c.length + excluded.length;\n \n    DELETE FROM memories_corpus\n    WHERE size = 0 AND end_user_id IN (SELECT end_user_id FROM old_rows);\n\n    RETURN NULL;\n", hash='552ce97600313c1693146a159fdf650498e151bb', level='STATEMENT', operation='DELETE', pgid='pgtrigger_index_removed_ec7f1', referencing='REFERENCING OLD TABLE AS old_rows ', table='memories_memory', when='AFTER')),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='memory',
            trigger=pgtrigger.compiler.Trigger(name='index_changed', sql=pgtrigger.compiler.UpsertTriggerSql(declare='DECLARE was RECORD;', func="\n    FOR was IN\n        SELECT o.end_user_id, o.id, o.tokens, n.status, n.content <> o.content AS says_else,\n            (n.tokens, n.status) IS DISTINCT FROM (o.tokens, o.status) AS moved\n        FROM old_rows o JOIN new_rows n USING (id)\n        WHERE (o.tokens, o.status, o.content) IS DISTINCT FROM (n.tokens, n.status, n.content)\n    LOOP\n        IF was.says_else THEN\n            DELETE FROM memories_vector\n            WHERE end_user_id = was.end_user_id AND memory_id = was.id;\n        END IF;\n        IF was.moved THEN \n        DELETE FROM memories_posting\n        WHERE end_user_id = was.end_user_id AND memory_id = was.id AND token = ANY (ARRAY(\n            SELECT CASE WHEN raw LIKE '<%' THEN substr(raw, 2) ELSE raw END\n            FROM unnest(was.tokens) AS raw));\n\n            UPDATE memories_vector v SET status = was.status\n            WHERE v.end_user_id = was.end_user_id AND v.memory_id = was.id\n                AND v.status <> was.status;\n        END IF;\n    END LOOP;\n    IF FOUND THEN \n    INSERT INTO memories_posting (end_user_id, token, memory_id, status, times, length)\n    SELECT m.end_user_id, word.token, m.id, m.status, word.times, cardinality(m.tokens)\n    FROM (\n        SELECT n.* FROM old_rows o JOIN new_rows n USING (id)\n        WHERE (o.tokens, o.status) IS DISTINCT FROM (n.tokens, n.status)) m CROSS JOIN LATERAL (\n        SELECT CASE WHEN raw LIKE '<%' THEN substr(raw, 2) ELSE raw END AS token,\n               sum(CASE WHEN raw LIKE '<%' THEN 0.45 ELSE 1 END)::real AS times\n        FROM unnest(m.tokens) AS raw WHERE raw NOT IN ('', '<') GROUP BY 1) word\n;\n        \n    INSERT INTO memories_corpus AS c (end_user_id, status, size, length)\n    SELECT end_user_id, status, sum(sign), sum(sign * cardinality(tokens))\n    FROM (\n        SELECT -1 AS sign, o.end_user_id, o.status, o.tokens\n        FROM old_rows o JOIN new_rows n USING (id)\n        WHERE (o.tokens, o.status) IS DISTINCT FROM (n.tokens, n.status)\n        UNION ALL\n        SELECT 1, n.end_user_id, n.status, n.tokens\n        FROM old_rows o JOIN new_rows n USING (id)\n        WHERE (o.tokens, o.status) IS DISTINCT FROM (n.tokens, n.status)) moved GROUP BY 1, 2 ORDER BY 1, 2\n    ON CONFLICT (end_user_id, status)\n        DO UPDATE SET size = c.size + excluded.size, length = c.length + excluded.length;\n \n    DELETE FROM memories_corpus\n    WHERE size = 0 AND end_user_id IN (SELECT end_user_id FROM old_rows);\n\n    END IF;\n    RETURN NULL;\n", hash='8cd2fe82cad9422b39dca3f79b219c96348156c9', level='STATEMENT', operation='UPDATE', pgid='pgtrigger_index_changed_b9e57', referencing='REFERENCING OLD TABLE AS old_rows  NEW TABLE AS new_rows ', table='memories_memory', when='AFTER')),
        ),
    ]
