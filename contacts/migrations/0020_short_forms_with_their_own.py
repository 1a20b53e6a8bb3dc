"""People known before are found by every short form of their names: Thomas as Tom, though Tom has
short forms of its own."""

import itertools

from django.db import migrations

from understanding.names import diminutives, lookup_keys
from understanding.types import Person

CHUNK = 1000


def add_keys(apps, _schema):
    ContactKey = apps.get_model("contacts", "ContactKey")
    standing = apps.get_model("contacts", "Contact").objects.filter(merged_into=None)
    rows = standing.order_by("pk").values_list("pk", "end_user_id", "name", "aliases")
    missing = (
        ContactKey(end_user_id=user, contact_id=pk, key=found.key, how=found.how, text=found.text)
        for pk, user, name, aliases in rows.iterator(CHUNK)
        for found in lookup_keys(Person(pk, name, tuple(aliases)))
        if diminutives(found.key)
    )
    while chunk := list(itertools.islice(missing, CHUNK)):
        ContactKey.objects.bulk_create(chunk, ignore_conflicts=True)


class Migration(migrations.Migration):
    dependencies = [("contacts", "0019_keys_of_two_columns")]
    operations = [migrations.RunPython(add_keys, migrations.RunPython.noop, elidable=True)]
