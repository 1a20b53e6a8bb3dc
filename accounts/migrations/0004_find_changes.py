"""What changed about a person, and whom an operator has looked after, are found by index."""

import django.contrib.postgres.indexes
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("accounts", "0003_forgetting")]
    operations = [
        migrations.AddIndex(
            "change",
            django.contrib.postgres.indexes.GinIndex(fields=["subjects"], name="change_subjects"),
        ),
        migrations.AddIndex(
            "change",
            models.Index(
                fields=["end_user"],
                condition=Q(actor__startswith="operator:"),
                name="change_by_operator",
            ),
        ),
    ]
