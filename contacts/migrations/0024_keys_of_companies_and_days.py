"""Of what is known of people only their companies and important dates are looked up by a key."""

from django.db import migrations

from understanding.attribute_index import COMPANY, DAY, PREFIX


def delete_others(apps, _schema):
    keys = apps.get_model("contacts", "ContactKey").objects.filter(key__startswith=PREFIX)
    keys.exclude(key__startswith=COMPANY).exclude(key__startswith=DAY).delete()


class Migration(migrations.Migration):
    dependencies = [("contacts", "0023_index_of_contacts_in_conflict")]
    operations = [migrations.RunPython(delete_others, migrations.RunPython.noop, elidable=True)]
