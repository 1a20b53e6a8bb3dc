"""Messages, work, memories and model calls in Django's admin, to look at. What failed is sent round
again on the dashboard."""

from collections.abc import Callable
from typing import Any

from django.contrib import admin
from django.db.models import Model

from accounts.admin import ReadOnlyAdmin, UserRowAdmin, worded
from memories.models import (
    Batch,
    Claim,
    Consolidation,
    Edge,
    Entity,
    EntityLink,
    Erasure,
    GatewayTurn,
    Injected,
    JobRun,
    Link,
    Memory,
    Message,
    ModelCall,
    Outage,
    ProcessJob,
    Receipt,
    Retrieval,
    SlowModel,
    Tally,
)
from understanding.text import truncate

WIDTH = 80  # graphemes of a text in a list
USER = "end_user__external_id"
# Columns that grow with a contact's history, or are large.
CONTACT, MEMORY = "contact__memory_ids", ("memory__tokens", "memory__embedding")

Columns = list[str | Callable[[Any], str]]


@admin.display(description="content")
def content(row: Memory | Message) -> str:
    """The beginning of a text, for a list."""
    return truncate(row.content, WIDTH)


# Each model with its columns, filters, the fields that are searched and what else its page has.
ROWS: dict[type[Model], tuple[Columns, list[str], list[str], dict[str, Any]]] = {
    Message: (["end_user", "seq", "role", content, "session_id", "created_at"], ["role", "created_at"],
              ["=client_id", "=session_id", USER, "content"], {"ordering": ["-pk"]}),
    Batch: (["end_user", "first_seq", "last_seq", "state", "attempts", "provider", "finished_at", worded("error")],
            ["state", "provider", "created_at"], ["=id", USER, "error"], {}),
    Consolidation: (["contact", "end_user", "state", "attempts", "provider", "finished_at", worded("error")],
                    ["state", "provider", "created_at"], ["=id", USER, "contact__name", "error"],
                    {"list_select_related": ["end_user", "contact"], "deferred": [CONTACT]}),
    Memory: ([content, "end_user", "kind", "type", "status", "importance", "said_at"],
             ["status", "kind", "type", "subtype", "said_at"], ["=id", "content", USER],
             {"exclude": ["tokens"], "raw_id_fields": ["batch", "consolidated_into"], "deferred": ["tokens"]}),
    Link: (["contact", "memory", "end_user", "made_by", "confidence", "rejected"], ["made_by", "rejected", "created_at"],
           ["=memory__id", "contact__name", USER],
           {"list_select_related": ["contact", "memory", "end_user"], "deferred": [CONTACT, *MEMORY]}),
    Edge: (["source_id", "kind", "target_id", "end_user", worded("reason"), "created_at"], ["kind", "created_at"],
           ["=source__id", "=target__id", USER], {}),
    ModelCall: (["created_at", "purpose", "provider", "model", "outcome", "tokens_in", "tokens_out", "latency_ms", "end_user"],
                ["outcome", "purpose", "provider", "model", "created_at"], [USER], {"date_hierarchy": "created_at"}),
    Entity: (["name", "kind", "end_user", "created_at"], ["kind"], ["name", USER], {}),
    EntityLink: (["entity_id", "memory_id", "end_user"], [], ["=memory__id", USER], {}),
    Erasure: (["requested_at", "end_user", "state", "due_at", "finished_at"], ["state"], [USER], {}),
    Receipt: (["erased_at", "app", "what", "done_by"], ["what"], [], {}),
    Injected: (["created_at", "end_user", "session_id"], [], ["=session_id", USER], {}),
    GatewayTurn: (["created_at", "end_user", "session_id"], [], ["=session_id", USER], {}),
    Retrieval: (["day", "end_user", "linked", "fallback"], ["day"], [USER], {}),
    ProcessJob: (["id", "end_user", "up_to_seq", "created_at", "finished_at"], [], ["=id", USER], {}),
    Claim: (["at", "end_user", "what", "operator"], [], ["operator", USER], {}),
    JobRun: (["job", "state", "started_at", "finished_at", "effect"], ["job", "state"], ["job"], {}),
    Outage: (["provider", "model", "error", "since"], ["provider"], ["model"], {}),
    SlowModel: (["model", "since"], [], [], {}),
    Tally: (["ledger", "until"], [], [], {}),
}  # fmt: skip
for model, (columns, filters, searched, options) in ROWS.items():
    admin.site.register(
        model,
        UserRowAdmin if "end_user" in columns else ReadOnlyAdmin,
        **{"list_display": columns, "list_filter": filters, "search_fields": searched, **options},
    )
