"""Since when the addresses of an end user's own page are refused."""

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
    ]
