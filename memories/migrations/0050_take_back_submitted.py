"""Batches that a model server's batch API was to answer are extracted as all others are."""

from django.db import migrations

_TAKE_BACK = """
UPDATE memories_batch SET state = 'pending', attempts = greatest(attempts - 1, 0), result = '{}'
WHERE state = 'submitted'
"""


class Migration(migrations.Migration):
    dependencies = [
        ('memories', '0049_claims'),
    ]

    operations = [migrations.RunSQL(_TAKE_BACK, migrations.RunSQL.noop)]
