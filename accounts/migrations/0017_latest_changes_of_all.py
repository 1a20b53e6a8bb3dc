"""The latest changes over all end users are found by index."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0016_own_facts_of_users")]
    operations = [
        migrations.AddIndex(
            "change",
            models.Index(fields=["-created_at", "id"], name="change_latest_of_all"),
        ),
    ]
