"""Memories know when they were compared with others for overlaps, so that none is twice."""

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ('memories', '0011_link_doubtful'),
    ]

    operations = [
        migrations.AddField(
            model_name='memory',
            name='compared_at',
            field=models.DateTimeField(blank=True, help_text="When its words were compared with others' for overlaps.", null=True),
        ),
        migrations.AddIndex(
            model_name='memory',
            index=models.Index(condition=models.Q(('compared_at', None), ('kind', 'fact'), ('status', 'active')), fields=['end_user', 'id'], name='memory_uncompared'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='memory',
            trigger=pgtrigger.compiler.Trigger(name='compared_anew', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."content" IS DISTINCT FROM (NEW."content"))', func='NEW.compared_at = NULL; RETURN NEW;', hash='f080cfae1c2542eb51a623646e503a55817c3f84', operation='UPDATE OF "content"', pgid='pgtrigger_compared_anew_67ef2', table='memories_memory', when='BEFORE')),
        ),
    ]
