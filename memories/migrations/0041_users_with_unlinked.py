"""Notes which end users have memories of people that are linked to nobody."""

from django.db import migrations

_NOTE = """
UPDATE accounts_enduser u SET has_unlinked = true WHERE EXISTS (
    SELECT FROM memories_memory m WHERE m.end_user_id = u.id AND m.status = 'active' AND m.kind = 'fact'
        AND m.subtype IN ('friend', 'family', 'colleague', 'partner') AND NOT m.unread
        AND NOT EXISTS (SELECT FROM memories_link l WHERE l.memory_id = m.id))
"""


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0015_users_with_unlinked"),
        ("memories", "0040_open_work_and_tallies"),
    ]

    operations = [migrations.RunSQL(_NOTE, migrations.RunSQL.noop)]
