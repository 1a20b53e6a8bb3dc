"""Phrases by which the user may mean a person, and those that somebody took away."""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("contacts", "0017_judged_suggestions")]
    operations = [
        migrations.AddField(
            "contact",
            "references",
            models.JSONField(
                blank=True, default=list, db_default=models.Value([], models.JSONField())
            ),
        ),
        migrations.AddField(
            "contact",
            "references_denied",
            django.contrib.postgres.fields.ArrayField(
                models.TextField(),
                blank=True,
                default=list,
                db_default=models.Value(
                    [], django.contrib.postgres.fields.ArrayField(models.TextField())
                ),
            ),
        ),
    ]
