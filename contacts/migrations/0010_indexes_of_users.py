"""Drops indexes that are the beginning of others: a check of a foreign key took them, where
the planner had no statistics yet, and read all contacts of a user for each key."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0004_find_changes'),
        ('contacts', '0009_links_keep_memory_ids'),
    ]

    operations = [
        migrations.AlterField(
            model_name='contact',
            name='end_user',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='contacts', to='accounts.enduser'),
        ),
        migrations.AlterField(
            model_name='contactkey',
            name='contact',
            field=models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='keys', to='contacts.contact'),
        ),
        migrations.AlterField(
            model_name='contactkey',
            name='end_user',
            field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='accounts.enduser'),
        ),
    ]
