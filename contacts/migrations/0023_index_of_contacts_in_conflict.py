"""The index of contacts in conflict becomes one of the model's, with the condition that it has, so
that ``makemigrations`` sees when the single attributes change."""

from django.db import migrations, models
from django.db.models.expressions import RawSQL


class Migration(migrations.Migration):

    dependencies = [
        ('contacts', '0022_no_vectors_of_contacts'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(state_operations=[migrations.AddIndex(
            model_name='contact',
            index=models.Index(condition=models.Q(RawSQL('jsonb_path_exists(contacts_contact.attributes - contacts_contact.side_by_side, \'$.keyvalue() ? (@.key == "job_title" || @.key == "company" || @.key == "school" || @.key == "major" || @.key == "education" || @.key == "location" || @.key == "hometown" || @.key == "birthday" || @.key == "wedding_anniversary" || @.key == "anniversary" || @.key == "name_day" || @.key == "death_anniversary" || @.key == "age" || @.key == "zodiac" || @.key == "height" || @.key == "phone" || @.key == "email" || @.key == "marital_status" || @.key == "diet" || @.key == "vehicle").value[1]\'::jsonpath)', [], output_field=models.BooleanField()), ('merged_into', None)), fields=['end_user', 'id'], name='contact_in_conflict'),
        )]),
    ]
