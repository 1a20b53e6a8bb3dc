"""Reasons that nothing gives any more are kept in words, or go with the work that they were about."""

from django.db import migrations

_IN_WORDS = """
UPDATE accounts_change SET why = replace(
    why, '{"code": "one_says_all", "params": {}}', '"one says all that the others say"')
WHERE why LIKE '%one_says_all%'
"""
_OF_REMOTE_BATCHES = """
UPDATE memories_batch SET error = '' WHERE error ~ '^\\{"code": "(batch_(unreadable|no_time|cancelled|refused|gone|unknown)|said_changed|never_handed_over|never_reached|request_lost|no_answer_in_time|not_ended_in_time|not_awaited|files_left|batches_off|request_refused|file_refused|no_answer|not_batch_protocol)"'
"""


class Migration(migrations.Migration):
    dependencies = [
        ('accounts', '0018_own_pages'),
        ('memories', '0051_no_remote_batches'),
    ]

    operations = [
        migrations.RunSQL(_IN_WORDS, migrations.RunSQL.noop),
        migrations.RunSQL(_OF_REMOTE_BATCHES, migrations.RunSQL.noop),
    ]
