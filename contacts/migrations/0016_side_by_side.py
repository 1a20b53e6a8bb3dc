"""Attributes of which several values are right at a time, of one person: they contradict nothing."""

import django.contrib.postgres.fields
from django.db import migrations, models

# contacts.models.IN_CONFLICT says the same.
_SINGLE = """job_title company school major education location hometown birthday wedding_anniversary
    anniversary name_day death_anniversary age zodiac height phone email marital_status diet
    vehicle""".split()


def _index(attributes):
    either = " || ".join(f'@.key == "{key}"' for key in _SINGLE)
    return (
        "DROP INDEX contact_in_conflict; "
        "CREATE INDEX contact_in_conflict ON contacts_contact (end_user_id, id) "
        f"WHERE merged_into_id IS NULL AND jsonb_path_exists({attributes}, "
        f"'$.keyvalue() ? ({either}).value[1]'::jsonpath)"
    )


class Migration(migrations.Migration):
    dependencies = [("contacts", "0015_coming_is_a_list")]
    operations = [
        migrations.AddField(
            "contact",
            "side_by_side",
            django.contrib.postgres.fields.ArrayField(
                models.TextField(),
                blank=True,
                db_default=models.Value(
                    [], django.contrib.postgres.fields.ArrayField(models.TextField())
                ),
                default=list,
            ),
        ),
        migrations.RunSQL(
            _index("contacts_contact.attributes - contacts_contact.side_by_side"),
            _index("contacts_contact.attributes"),
        ),
    ]
