"""The types of events that a webhook can have.

Triggers write all but ``date.upcoming`` into the outbox, so that no code path can forget one. To add
a type, add a row here and in docs/webhooks.md, write the client's types (``python -m tools
client_types --write``), and add a migration (``makemigrations webhooks --empty``) with ``RunSQL``
of a trigger on the table, whose function calls ``webhooks_note(end_user_id, type, id, more)``, and
of what drops it; ``webhooks_suggestion`` in ``migrations/0002_outbox.sql`` is the shortest."""

TYPES = (
    "contact.created",
    "contact.updated",
    "contact.merged",
    "contact.unmerged",
    "suggestion.created",
    "memory.created",
    "memory.updated",
    "memory.outdated",
    "memory.forgotten",
    "forgetting.requested",
    "forgetting.erased",
    "user.processed",
    "date.upcoming",
)
# Sent to one endpoint because somebody wants to see whether it works.
TEST = "webhook.test"
