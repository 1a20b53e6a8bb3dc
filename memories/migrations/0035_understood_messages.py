"""Whom extraction found each message to be about, for the pronouns of the next."""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("memories", "0034_model_call_messages")]
    operations = [
        migrations.AddField(
            "message",
            "understood",
            django.contrib.postgres.fields.ArrayField(
                models.UUIDField(),
                blank=True,
                default=list,
                db_default=models.Value(
                    [], django.contrib.postgres.fields.ArrayField(models.UUIDField())
                ),
                editable=False,
                help_text="The contacts whom extraction found it to be about.",
            ),
        ),
    ]
