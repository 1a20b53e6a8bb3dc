"""Found at once: the latest memories of a type, the few that are not active, the profiles."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ('memories', '0012_compared_memories'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='memory',
            index=models.Index(fields=['end_user', 'type', '-said_at', 'id'], name='memory_latest_of_type'),
        ),
        migrations.AddIndex(
            model_name='memory',
            index=models.Index(condition=models.Q(('status', 'active'), _negated=True), fields=['end_user', 'status', '-said_at', 'id'], name='memory_latest_inactive'),
        ),
        migrations.AddIndex(
            model_name='memory',
            index=models.Index(condition=models.Q(('content_hash__gte', 'profile')), fields=['end_user', 'content_hash'], name='memory_profiles'),
        ),
    ]
