"""What a deleted row was is said by the trigger, not by the name of its table: a shard of Citus has
another one."""

from django.db import migrations

FUNCTION = """
CREATE OR REPLACE FUNCTION webhooks_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM webhooks_delivery d USING gone
    WHERE d.end_user_id = gone.end_user_id AND d.type <> 'memory.forgotten'
        AND strpos(d.data::text, gone.id::text) > 0;
    IF {is_memory} THEN
        PERFORM webhooks_note(gone.end_user_id, 'memory.forgotten', gone.id) FROM gone
        WHERE gone.kind = 'fact';
    END IF;
    RETURN NULL;
END $$
"""
TRIGGER = """
CREATE OR REPLACE TRIGGER webhooks_memories_gone AFTER DELETE ON memories_memory
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION webhooks_gone({argument})
"""


class Migration(migrations.Migration):
    dependencies = [("webhooks", "0002_outbox"), ("memories", "0034_model_call_messages")]
    operations = [
        migrations.RunSQL(
            TRIGGER.format(argument="'memories'"),
            TRIGGER.format(argument=""),
        ),
        migrations.RunSQL(
            FUNCTION.format(is_memory="TG_NARGS > 0"),
            FUNCTION.format(is_memory="TG_TABLE_NAME = 'memories_memory'"),
        ),
    ]
