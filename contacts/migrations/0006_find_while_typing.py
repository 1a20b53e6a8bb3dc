"""People are found while their name is typed: the index serves beginnings of keys, and every
contact has the keys for it."""

import itertools

from django.db import migrations, models
from django.db.models import Q

from contacts import key_index
from understanding.types import Person

CHUNK = 1000


def add_keys(apps, schema_editor):
    Contact = apps.get_model("contacts", "Contact")
    ContactKey = apps.get_model("contacts", "ContactKey")
    standing = Contact.objects.filter(merged_into=None).order_by("pk")
    rows = standing.values_list("pk", "end_user_id", "name", "aliases").iterator(CHUNK)
    while chunk := list(itertools.islice(rows, CHUNK)):
        ContactKey.objects.bulk_create(
            [
                ContactKey(end_user_id=user, contact_id=pk, key=k.key, how=k.how, text=k.text[:200])
                for pk, user, name, aliases in chunk
                for k in key_index.keys_of(Person(pk, name, tuple(aliases)))
            ],
            ignore_conflicts=True,
            batch_size=CHUNK,
        )


def remove_keys(apps, schema_editor):
    ContactKey = apps.get_model("contacts", "ContactKey")
    ContactKey.objects.filter(key__startswith=key_index.PREFIX).delete()


class Migration(migrations.Migration):
    dependencies = [("contacts", "0005_contact_in_conflict")]
    operations = [
        migrations.AddIndex(
            "contact",
            models.Index(
                fields=["end_user", "-mention_count", "id"],
                condition=Q(merged_into=None),
                name="contact_most_mentioned",
            ),
        ),
        migrations.RemoveIndex("contactkey", "contact_key_lookup"),
        migrations.AddIndex(
            "contactkey",
            models.Index(
                fields=["end_user", "key"],
                opclasses=["int8_ops", "varchar_pattern_ops"],
                name="contact_key_lookup",
            ),
        ),
        migrations.RunPython(add_keys, remove_keys, elidable=True),
    ]
