"""What is to come of people who were known before is an empty list, not the text of one."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("contacts", "0014_archived_contacts")]
    operations = [
        migrations.AlterField(
            "contact",
            "coming",
            models.JSONField(
                blank=True,
                db_default=models.Value([], models.JSONField()),
                default=list,
                editable=False,
            ),
        ),
        migrations.RunSQL(
            "UPDATE contacts_contact SET coming = '[]' WHERE jsonb_typeof(coming) = 'string'",
            migrations.RunSQL.noop,
        ),
    ]
