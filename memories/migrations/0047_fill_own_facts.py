"""Has the triggers look at each memory that states something of its user."""

from django.db import migrations

EMPTY = "UPDATE accounts_enduser SET own_facts = '[]' WHERE own_facts <> '[]'"
FILL = """
UPDATE memories_memory SET facts = facts WHERE facts @? '$[*] ? (@.person == null && @.key like_regex
    "^(answer_wish|allergy|diet|health|medication|language|location|job_title|company|school|family|marital_status|pet|birthday|(wedding_|death_)?anniversary|name_day)$")'
"""


class Migration(migrations.Migration):
    dependencies = [('memories', '0046_own_facts_of_users')]
    operations = [migrations.RunSQL([EMPTY, FILL], migrations.RunSQL.noop, elidable=True)]
