"""The latest memories of a person are read from one index."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("contacts", "0007_large_end_users"),
        ("memories", "0013_latest_by_status_and_type"),
    ]

    operations = [
        migrations.RemoveIndex(
            model_name="link",
            name="link_latest",
        ),
        migrations.AddIndex(
            model_name="link",
            index=models.Index(
                condition=models.Q(("rejected", False)),
                fields=["contact", "-id"],
                include=("memory",),
                name="link_latest",
            ),
        ),
    ]
