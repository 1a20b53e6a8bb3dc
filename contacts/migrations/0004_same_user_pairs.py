"""Relations and suggestions join two contacts of one end user, in the database too."""

from django.db import migrations

KEYS = [
    ("contacts_relation", "subject_id"),
    ("contacts_relation", "object_id"),
    ("contacts_suggestion", "first_id"),
    ("contacts_suggestion", "second_id"),
]


def add(table, column):
    name = f"{table}_{column}_same_user"
    return migrations.RunSQL(
        f"ALTER TABLE {table} ADD CONSTRAINT {name} FOREIGN KEY (end_user_id, {column}) "
        "REFERENCES contacts_contact (end_user_id, id) ON DELETE CASCADE "
        "DEFERRABLE INITIALLY DEFERRED",
        f"ALTER TABLE {table} DROP CONSTRAINT {name}",
    )


class Migration(migrations.Migration):
    dependencies = [("contacts", "0003_relations_and_suggestions")]
    operations = [add(*key) for key in KEYS]
