"""The new keys carry the end user too, and what is there already gets what is derived from it."""

from django.db import migrations

# table, column, referenced table, what deleting the referenced row does
KEYS = [
    ("memories_memory", "merged_into_id", "memories_memory", "SET NULL (merged_into_id)"),
    ("memories_entitylink", "entity_id", "memories_entity", "CASCADE"),
    ("memories_entitylink", "memory_id", "memories_memory", "CASCADE"),
    ("memories_erasure", "change_id", "accounts_change", "SET NULL (change_id)"),
]


def add(table, column, target, on_delete):
    name = f"{table}_{column}_same_user"
    return migrations.RunSQL(
        f"ALTER TABLE {table} ADD CONSTRAINT {name} FOREIGN KEY (end_user_id, {column}) "
        f"REFERENCES {target} (end_user_id, id) ON DELETE {on_delete} "
        "DEFERRABLE INITIALLY DEFERRED",
        f"ALTER TABLE {table} DROP CONSTRAINT {name}",
    )


MIRRORS = """
INSERT INTO memories_edge
    (end_user_id, source_id, target_id, kind, inverse, reason, confidence, created_at)
SELECT end_user_id, target_id, source_id, kind, true, reason, confidence, created_at
FROM memories_edge WHERE NOT inverse
ON CONFLICT DO NOTHING
"""
OUTDATED = """
UPDATE memories_memory SET outdated_at = COALESCE(valid_to, updated_at) WHERE status = 'outdated'
"""


class Migration(migrations.Migration):
    # Keys that are checked at commit keep a table from being altered in the same transaction.
    atomic = False
    dependencies = [("accounts", "0002_change_of_user"), ("memories", "0003_engine")]
    operations = [
        *(add(*key) for key in KEYS),
        migrations.RunSQL(MIRRORS, "DELETE FROM memories_edge WHERE inverse"),
        migrations.RunSQL(OUTDATED, migrations.RunSQL.noop),
    ]
