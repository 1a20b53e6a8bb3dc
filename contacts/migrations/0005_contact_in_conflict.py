"""The queue of contacts whose attributes contradict each other is one small index."""

from django.db import migrations


# contacts.models.IN_CONFLICT says the same.
SINGLE = [
    "job_title",
    "company",
    "school",
    "major",
    "education",
    "location",
    "hometown",
    "birthday",
    "age",
    "zodiac",
    "height",
    "phone",
    "email",
    "marital_status",
    "diet",
    "vehicle",
]
CONDITION = (
    "jsonb_path_exists(contacts_contact.attributes, '$.keyvalue() ? ("
    + " || ".join(f'@.key == "{key}"' for key in SINGLE)
    + ").value[1]'::jsonpath)"
)


class Migration(migrations.Migration):
    dependencies = [("contacts", "0004_same_user_pairs")]
    operations = [
        migrations.RunSQL(
            "CREATE INDEX contact_in_conflict ON contacts_contact (end_user_id, id) "
            f"WHERE merged_into_id IS NULL AND {CONDITION}",
            "DROP INDEX contact_in_conflict",
        )
    ]
