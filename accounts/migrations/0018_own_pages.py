"""The end user's own page: which of its addresses are refused, and what is not to be remembered."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0017_latest_changes_of_all")]
    operations = [
        migrations.AddField(
            "enduser",
            "pages_void_until",
            models.DateTimeField(
                blank=True,
                editable=False,
                help_text="Addresses of the user's own page that were made until then are refused.",
                null=True,
            ),
        ),
        migrations.AddField(
            "enduser",
            "unwanted",
            models.JSONField(
                blank=True,
                db_default=models.Value([], models.JSONField()),
                default=list,
                help_text="Kinds of memories that the user wants none of, such as health.",
            ),
        ),
    ]
