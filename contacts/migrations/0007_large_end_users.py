"""What grew with an end user: links made in bulk, and the queue of suggestions."""

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0004_find_changes"),
        ("contacts", "0006_find_while_typing"),
    ]

    operations = [
        pgtrigger.migrations.RemoveTrigger(
            model_name="contact",
            name="memory_ids_guard",
        ),
        migrations.AddIndex(
            model_name="suggestion",
            index=models.Index(
                condition=models.Q(("state__in", ["open", "later"])),
                fields=["-state", "-confidence", "id"],
                name="suggestion_waiting",
            ),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name="contact",
            trigger=pgtrigger.compiler.Trigger(
                name="memory_ids_guard",
                sql=pgtrigger.compiler.UpsertTriggerSql(
                    condition="WHEN (pg_trigger_depth() = 0)",
                    func="\n    NEW.memory_ids := ARRAY(\n        SELECT link.memory_id FROM memories_link link\n        WHERE link.contact_id = NEW.id AND NOT link.rejected ORDER BY link.id);\n    RETURN NEW;\n",
                    hash="91f8f39de0db858f3082e757c7383e7bd56f11ff",
                    operation='INSERT OR UPDATE OF "memory_ids"',
                    pgid="pgtrigger_memory_ids_guard_29ab2",
                    table="contacts_contact",
                    when="BEFORE",
                ),
            ),
        ),
    ]
