"""People are listed by name as it is read: 张伟 stands at Z, among names of other scripts."""

import itertools

from django.db import migrations, models
from django.db.models import Q

import contacts.models
from contacts import key_index

CHUNK = 1000


def fill(apps, schema_editor):
    Contact = apps.get_model("contacts", "Contact")
    rows = Contact.objects.only("pk", "name").order_by("pk").iterator(CHUNK)
    while chunk := list(itertools.islice(rows, CHUNK)):
        for row in chunk:
            row.sort_key = key_index.sort_key(row.name)
        Contact.objects.bulk_update(chunk, ["sort_key"])


class Migration(migrations.Migration):
    dependencies = [("contacts", "0007_large_end_users")]
    operations = [
        migrations.AddField(
            "contact",
            "sort_key",
            contacts.models.SortKey(default="", editable=False, max_length=200),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop, elidable=True),
        migrations.AddIndex(
            "contact",
            models.Index(
                fields=["end_user", "sort_key", "name_key", "namesake"],
                condition=Q(merged_into=None),
                name="contact_by_name",
            ),
        ),
    ]
