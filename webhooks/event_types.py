"""What a webhook can tell of. Names of ``migrations/0002_outbox.sql``, which writes all but ``date.upcoming``."""

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
