"""Has the triggers look at one memory of each user that states something of the user."""

from django.db import migrations

FILL = """
UPDATE memories_memory SET facts = facts WHERE id IN (
    SELECT DISTINCT ON (end_user_id) id FROM memories_memory
    WHERE facts @? '$[*] ? (@.person == null && @.key like_regex
        "^(answer_wish|allergy|diet|health|medication|language|location|job_title|company|school|family|marital_status|pet|birthday|(wedding_|death_)?anniversary|name_day)$")'
    ORDER BY end_user_id, id)
"""


class Migration(migrations.Migration):
    dependencies = [('memories', '0046_own_facts_of_users')]
    operations = [migrations.RunSQL(FILL, migrations.RunSQL.noop, elidable=True)]
