"""Has the triggers look at each memory that tells a date of its user's own."""

from django.db import migrations

FILL = """
UPDATE memories_memory SET facts = facts
WHERE facts @? '$[*] ? (@.person == null && @.key like_regex "^(birthday|(wedding_|death_)?anniversary|name_day)$")'
"""


class Migration(migrations.Migration):
    dependencies = [('memories', '0030_own_dates_of_users')]
    operations = [migrations.RunSQL(FILL, migrations.RunSQL.noop, elidable=True)]
