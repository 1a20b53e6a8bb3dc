"""Links of a person that go all at once cost as much as they are many, not the square of it."""

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('memories', '0015_count_the_corpus'),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name='link',
            name='memory_ids_removed',
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='link',
            trigger=pgtrigger.compiler.Trigger(name='memory_ids_removed', sql=pgtrigger.compiler.UpsertTriggerSql(func='\n    UPDATE contacts_contact c\n    SET memory_ids = ARRAY(\n        SELECT kept FROM unnest(c.memory_ids) WITH ORDINALITY AS old (kept, place)\n        WHERE NOT EXISTS (SELECT FROM unnest(removed.ids) AS gone WHERE gone = kept)\n        ORDER BY place)\n    FROM (SELECT contact_id, array_agg(memory_id) AS ids\n          FROM old_rows WHERE NOT rejected GROUP BY contact_id) removed\n    WHERE c.id = removed.contact_id;\n    RETURN NULL;\n', hash='2199488cd99856f504cc530dbf2fb4e1f482af30', level='STATEMENT', operation='DELETE', pgid='pgtrigger_memory_ids_removed_af123', referencing='REFERENCING OLD TABLE AS old_rows ', table='memories_link', when='AFTER')),
        ),
    ]
