"""The queue of doubtful links is one small index (memories.doubts)."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("memories", "0007_erasure_messages")]
    operations = [
        migrations.RunSQL(
            "CREATE INDEX link_doubtful ON memories_link (end_user_id, id) "
            "WHERE NOT rejected AND confidence < 0.8 AND made_by <> 'operator'",
            "DROP INDEX link_doubtful",
        ),
    ]
