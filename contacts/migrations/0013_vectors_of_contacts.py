"""Contacts say in which space their vector is, and wait for another when more is known of them."""

import pgtrigger.compiler
import pgtrigger.migrations
import pgvector.django.vector
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('accounts', '0005_time_zones'),
        ('contacts', '0012_index_important_dates'),
    ]

    operations = [
        migrations.AddField(
            model_name='contact',
            name='embedding_model',
            field=models.CharField(blank=True, default='', editable=False, help_text="The space of its embedding, '' while it waits.", max_length=120),
        ),
        migrations.AlterField(
            model_name='contact',
            name='embedding',
            field=pgvector.django.vector.VectorField(blank=True, editable=False, null=True),
        ),
        migrations.AddIndex(
            model_name='contact',
            index=models.Index(condition=models.Q(('merged_into', None)), fields=['embedding_model', 'end_user'], name='contact_embedded'),
        ),
        pgtrigger.migrations.AddTrigger(
            model_name='contact',
            trigger=pgtrigger.compiler.Trigger(name='vector_waits', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."aliases" IS DISTINCT FROM (NEW."aliases") OR OLD."attributes" IS DISTINCT FROM (NEW."attributes") OR OLD."name" IS DISTINCT FROM (NEW."name") OR OLD."personality" IS DISTINCT FROM (NEW."personality") OR OLD."relationship" IS DISTINCT FROM (NEW."relationship") OR OLD."timeline" IS DISTINCT FROM (NEW."timeline"))', func="NEW.embedding_model = ''; NEW.embedding = NULL; RETURN NEW;", hash='b61b23a471e3ae1e51cd59d5584e8d82eb384bf5', operation='UPDATE OF "name", "aliases", "relationship", "attributes", "personality", "timeline"', pgid='pgtrigger_vector_waits_28603', table='contacts_contact', when='BEFORE')),
        ),
    ]
