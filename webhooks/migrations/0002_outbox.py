"""The triggers that write the outbox, which stand in the file beside."""

from pathlib import Path

from django.db import migrations

FORWARDS = (Path(__file__).parent / "0002_outbox.sql").read_text(encoding="utf-8")
BACKWARDS = """
DROP FUNCTION webhooks_contact, webhooks_suggestion, webhooks_memory, webhooks_gone,
    webhooks_user_gone, webhooks_erasure, webhooks_processed, webhooks_change CASCADE;
DROP FUNCTION webhooks_note
"""


class Migration(migrations.Migration):
    dependencies = [
        ("webhooks", "0001_initial"),
        ("accounts", "0011_key_of_one_user"),
        ("contacts", "0018_references"),
        ("memories", "0034_model_call_messages"),
    ]
    operations = [migrations.RunSQL(FORWARDS, BACKWARDS)]
