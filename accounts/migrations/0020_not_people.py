"""Names that an end user says are no person's."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0019_no_log_of_the_admin")]
    operations = [
        migrations.AddField(
            "enduser",
            "not_people",
            models.JSONField(
                blank=True,
                db_default=models.Value([], models.JSONField()),
                default=list,
                help_text="Names, as they are compared, that the user says are no person's.",
            ),
        ),
    ]
