"""What is to come of a person beside the card, and important dates, of which there is one of a
kind at a time."""

from django.db import migrations, models

# contacts.models.IN_CONFLICT says the same.
_OLD = """job_title company school major education location hometown birthday age zodiac height phone
    email marital_status diet vehicle""".split()
_NEW = """job_title company school major education location hometown birthday wedding_anniversary
    anniversary name_day death_anniversary age zodiac height phone email marital_status diet
    vehicle""".split()


def _index(keys):
    either = " || ".join(f'@.key == "{key}"' for key in keys)
    return (
        "DROP INDEX contact_in_conflict; "
        "CREATE INDEX contact_in_conflict ON contacts_contact (end_user_id, id) "
        "WHERE merged_into_id IS NULL AND jsonb_path_exists(contacts_contact.attributes, "
        f"'$.keyvalue() ? ({either}).value[1]'::jsonpath)"
    )


class Migration(migrations.Migration):
    dependencies = [("contacts", "0010_indexes_of_users")]
    operations = [
        migrations.AddField(
            "contact",
            "coming",
            models.JSONField(
                blank=True,
                db_default=models.Value("[]", models.JSONField()),
                default=list,
                editable=False,
            ),
        ),
        migrations.RunSQL(_index(_NEW), _index(_OLD)),
    ]
