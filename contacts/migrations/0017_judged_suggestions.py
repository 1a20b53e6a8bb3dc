"""What a model said of a pair that may be one person, and why."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("contacts", "0016_side_by_side")]
    operations = [
        migrations.AddField(
            "suggestion",
            "judgement",
            models.CharField(
                max_length=9,
                choices=[("same", "Same"), ("different", "Different"), ("unsure", "Unsure")],
                blank=True,
                default="",
                db_default="",
            ),
        ),
        migrations.AddField(
            "suggestion",
            "judged_reason",
            models.TextField(blank=True, default="", db_default=""),
        ),
        migrations.AddField(
            "suggestion",
            "judged_by",
            models.CharField(max_length=100, blank=True, default="", db_default=""),
        ),
        migrations.AddField("suggestion", "judged_at", models.DateTimeField(null=True, blank=True)),
    ]
