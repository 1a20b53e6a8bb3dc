"""The contents of the document of an end user, and its export."""

from datetime import date, datetime
from typing import Any
from uuid import UUID

from django.db import models
from django.utils import timezone

from accounts.cells import atomic, connection
from accounts.models import Change, EndUser
from contacts.models import Contact, Relation, Suggestion
from memories.models import (
    Batch,
    Edge,
    Entity,
    EntityLink,
    Erasure,
    GatewayTurn,
    Link,
    Memory,
    Message,
)

FORMAT, VERSION = "mio-user", 2
CHUNK = 2000  # rows at once
Rows = list[dict[str, Any]]

USER_COLUMNS = (
    "external_id", "names", "language", "message_seq", "extracted_seq", "consolidated_seq",
    "time_zone", "learnt_offset", "activity_days", "last_active_on", "last_message_at", "due_seq",
    "forgetting_until", "created_at", "unwanted", "not_people",
)  # fmt: skip
# Not in the exports of earlier releases.
ADDED = ("time_zone", "learnt_offset", "unwanted", "not_people")
# Columns of each table that a document leaves out: derived ones, besides the end user.
_LEFT_OUT: dict[type[models.Model], tuple[str, ...]] = {
    Batch: ("leased_until", "server_start"),  # of a worker of this database
    Contact: ("memory_ids", "card", "coming", "sort_key"),
    Memory: ("embedding", "embedding_model", "tokens"),
    Edge: ("inverse",),
    Message: ("understood",),
}
# In the order in which rows refer to each other.
SECTIONS: dict[str, type[models.Model]] = {
    "messages": Message,
    "batches": Batch,
    "contacts": Contact,
    "relations": Relation,
    "suggestions": Suggestion,
    "memories": Memory,
    "links": Link,
    "edges": Edge,
    "entities": Entity,
    "entity_links": EntityLink,
    "changes": Change,
    "erasures": Erasure,
    "gateway_turns": GatewayTurn,
}
ADDED_SECTIONS = ("gateway_turns",)  # not in the exports of earlier releases


def columns(model: type[models.Model]) -> list[str]:
    """Returns the columns of a table that a document contains."""
    left_out = (*_LEFT_OUT.get(model, ()), "end_user_id")
    return [field.attname for field in model._meta.concrete_fields if field.attname not in left_out]


def export_user(end_user: EndUser) -> dict[str, Any]:
    """Returns everything that is stored about an end user at one moment, as plain JSON values.
    Inside a transaction of the caller it locks out writers, otherwise it locks nothing."""
    in_transaction = connection.in_atomic_block
    with atomic():
        if in_transaction:
            user_row = EndUser.objects.lock(end_user.pk) or end_user
        else:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            user_row = EndUser.objects.filter(pk=end_user.pk).first() or end_user
        return {
            "format": FORMAT,
            "version": VERSION,
            "exported_at": _as_json(timezone.now()),
            "user": {name: _as_json(getattr(user_row, name)) for name in USER_COLUMNS},
            **{
                section: [
                    {name: _as_json(value) for name, value in row.items()}
                    for row in model._default_manager.filter(end_user=user_row)
                    .order_by("pk")
                    .values(*columns(model))
                    .iterator(CHUNK)
                ]
                for section, model in SECTIONS.items()
            },
        }


def _as_json(value: Any) -> Any:
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, list):
        return [_as_json(item) for item in value]
    return value
