"""Drops the log of Django's admin, which is no part of Mio any more: it holds words of end users."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("accounts", "0018_own_pages")]

    operations = [
        migrations.RunSQL(
            "DROP TABLE IF EXISTS django_admin_log", migrations.RunSQL.noop, elidable=True
        )
    ]
