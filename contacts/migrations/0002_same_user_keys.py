"""A row of one end user can't point at a row of another: the keys carry the end user.

Deleting a row takes its dependants with it in the database, whatever code deletes it.
"""

from django.db import migrations

# table, column, referenced table, what deleting the referenced row does
KEYS = [
    ("contacts_contact", "merged_into_id", "contacts_contact", "CASCADE"),
    ("contacts_contactkey", "contact_id", "contacts_contact", "CASCADE"),
]


def add(table, column, target, on_delete):
    name = f"{table}_{column}_same_user"
    return migrations.RunSQL(
        f"ALTER TABLE {table} ADD CONSTRAINT {name} FOREIGN KEY (end_user_id, {column}) "
        f"REFERENCES {target} (end_user_id, id) ON DELETE {on_delete} "
        "DEFERRABLE INITIALLY DEFERRED",
        f"ALTER TABLE {table} DROP CONSTRAINT {name}",
    )


class Migration(migrations.Migration):
    dependencies = [("contacts", "0001_initial")]
    operations = [add(*key) for key in KEYS]
