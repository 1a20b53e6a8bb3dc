"""What stepped back behind a profile that left it out stands for itself again."""

from typing import Any

from django.db import migrations

STAND_AGAIN = """
UPDATE memories_memory m SET consolidated_into_id = NULL, importance = 0.5
WHERE m.end_user_id = %(end_user)s AND m.consolidated_into_id IS NOT NULL AND m.id NOT IN (
    SELECT l.memory_id FROM memories_link l JOIN (
        SELECT c.id AS contact_id, source.id::uuid AS memory_id
        FROM contacts_contact c CROSS JOIN LATERAL (
            SELECT jsonb_path_query(c.attributes, '$.*[*].sources[*]') #>> '{}' AS id
            UNION SELECT jsonb_array_elements_text(c.personality_sources)
            UNION SELECT jsonb_path_query(c.timeline, '$[*].sources[*]') #>> '{}') source
        WHERE c.end_user_id = %(end_user)s
        UNION SELECT unnest(ARRAY[subject_id, object_id]), source
        FROM contacts_relation CROSS JOIN unnest(sources) source WHERE end_user_id = %(end_user)s
    ) told USING (contact_id, memory_id) WHERE NOT l.rejected)
"""


def stand_again(_apps: Any, editor: Any) -> None:
    with editor.connection.cursor() as cursor:
        cursor.execute("SELECT id FROM accounts_enduser ORDER BY id")
        for (end_user,) in cursor.fetchall():
            cursor.execute(STAND_AGAIN, {"end_user": end_user})


class Migration(migrations.Migration):
    atomic = False
    dependencies = [('memories', '0027_unusable_answers')]

    operations = [migrations.RunPython(stand_again, migrations.RunPython.noop)]
