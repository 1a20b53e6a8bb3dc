"""People whose important dates are known already are found by them."""

from django.db import migrations

from understanding import attribute_index
from understanding.dates import important_dates
from understanding.attributes import YEARLY


def index(apps, _schema):
    contacts = apps.get_model("contacts", "Contact").objects.filter(attributes__has_any_keys=YEARLY)
    keys = apps.get_model("contacts", "ContactKey").objects
    for contact in contacts.only("end_user_id", "attributes", "merged_into_id").iterator(500):
        dates = [
            {"kind": kind, "value": value}
            for kind, value, _ in important_dates.of_attributes(contact.attributes)
        ]
        if not dates:
            continue
        contacts.filter(pk=contact.pk).update(coming=dates)
        if contact.merged_into_id is None:
            keys.bulk_create(
                [
                    keys.model(
                        end_user_id=contact.end_user_id,
                        contact_id=contact.pk,
                        key=found.key,
                        how=found.how,
                        text=found.text,
                    )
                    for found in attribute_index.keys_of(contact.attributes)
                    if found.key.startswith(attribute_index.DAY)
                ],
                ignore_conflicts=True,
            )


class Migration(migrations.Migration):
    dependencies = [("contacts", "0011_coming_and_important_dates")]
    operations = [migrations.RunPython(index, migrations.RunPython.noop)]
