"""Messages, work, memories and model calls in Django's admin: to look at, and to retry."""

from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from accounts.admin import ReadOnlyAdmin, ReadOnlyInline, UserRowAdmin, worded
from memories import queue
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
    Work,
)
from understanding.text import truncate

WIDTH = 80  # graphemes of a text in a list
HEAVY = ("contact__memory_ids",)  # the column of a row's contact that grows with it
USER = "end_user__external_id"


@admin.register(Message)
class MessageAdmin(UserRowAdmin):
    list_display = ["end_user", "seq", "role", "said", "session_id", "created_at"]
    list_filter = ["role", "created_at"]
    search_fields = ["=client_id", "=session_id", USER, "content"]
    ordering = ["-pk"]

    @admin.display(description="content")
    def said(self, message: Message) -> str:
        return truncate(message.content, WIDTH)


class WorkAdmin(UserRowAdmin):
    """A unit of work; what failed or is in quarantine may be tried again."""

    list_filter = ["state", "provider", "created_at"]
    actions = ["try_again"]
    task = ""

    @admin.action(description="Try the selected work again")
    def try_again(self, request: HttpRequest, works: QuerySet) -> None:
        stuck = works.filter(state__in=[Work.State.FAILED, Work.State.QUARANTINED])
        users = sorted(set(stuck.values_list("end_user_id", flat=True)))
        count = stuck.update(state=Work.State.PENDING, attempts=0, retry_at=None)
        for end_user_id in users:
            queue.enqueue(self.task, end_user_id)
        messages.success(request, f"{count} will be tried again.")


@admin.register(Batch)
class BatchAdmin(WorkAdmin):
    list_display = ["end_user", "first_seq", "last_seq", "state", "attempts", "provider",
                    "finished_at", worded("error")]  # fmt: skip
    search_fields = ["=id", USER, "error"]
    task = "extract"


@admin.register(Consolidation)
class ConsolidationAdmin(WorkAdmin):
    list_display = ["contact", "end_user", "state", "attempts", "provider", "finished_at",
                    worded("error")]  # fmt: skip
    search_fields = ["=id", USER, "contact__name", "error"]
    list_select_related = ["end_user", "contact"]
    deferred = HEAVY
    task = "consolidate"


class LinkInline(ReadOnlyInline):
    model = Link
    fields = readonly_fields = ("contact", "made_by", "confidence", "rejected", "consolidated_at")
    deferred = HEAVY

    def get_queryset(self, request: HttpRequest) -> QuerySet[Link]:
        return super().get_queryset(request).select_related("contact")


@admin.register(Memory)
class MemoryAdmin(UserRowAdmin):
    list_display = ["says", "end_user", "kind", "type", "status", "importance", "said_at"]
    list_filter = ["status", "kind", "type", "subtype", "said_at"]
    search_fields = ["=id", "content", USER]
    exclude = ["tokens"]
    raw_id_fields = ["batch", "consolidated_into"]
    inlines = [LinkInline]
    deferred = ("tokens",)

    @admin.display(description="content")
    def says(self, memory: Memory) -> str:
        return truncate(memory.content, WIDTH)


@admin.register(Link)
class LinkAdmin(ReadOnlyAdmin):
    list_display = ["contact", "memory", "end_user", "made_by", "confidence", "rejected"]
    list_filter = ["made_by", "rejected", "created_at"]
    search_fields = ["=memory__id", "contact__name", USER]
    deferred = (*HEAVY, "memory__tokens", "memory__embedding")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Link]:
        return super().get_queryset(request).select_related("contact", "memory", "end_user")


@admin.register(Edge)
class EdgeAdmin(UserRowAdmin):
    list_display = ["source_id", "kind", "target_id", "end_user", worded("reason"), "created_at"]
    list_filter = ["kind", "created_at"]
    search_fields = ["=source__id", "=target__id", USER]


@admin.register(ModelCall)
class ModelCallAdmin(UserRowAdmin):
    list_display = ["created_at", "purpose", "provider", "model", "outcome", "tokens_in",
                    "tokens_out", "latency_ms", "end_user"]  # fmt: skip
    list_filter = ["outcome", "purpose", "provider", "model", "created_at"]
    search_fields = [USER]
    date_hierarchy = "created_at"


# The other models, with their columns, filters and the fields that are searched.
ROWS: dict[type[Model], tuple[list[str], list[str], list[str]]] = {
    Entity: (["name", "kind", "end_user", "created_at"], ["kind"], ["name", USER]),
    EntityLink: (["entity_id", "memory_id", "end_user"], [], ["=memory__id", USER]),
    Erasure: (["requested_at", "end_user", "state", "due_at", "finished_at"], ["state"], [USER]),
    Receipt: (["erased_at", "app", "what", "done_by"], ["what"], []),
    Injected: (["created_at", "end_user", "session_id"], [], ["=session_id", USER]),
    GatewayTurn: (["created_at", "end_user", "session_id"], [], ["=session_id", USER]),
    Retrieval: (["day", "end_user", "linked", "fallback"], ["day"], [USER]),
    ProcessJob: (["id", "end_user", "up_to_seq", "created_at", "finished_at"], [], ["=id", USER]),
    Claim: (["at", "end_user", "what", "operator"], [], ["operator", USER]),
    JobRun: (["job", "state", "started_at", "finished_at", "effect"], ["job", "state"], ["job"]),
    Outage: (["provider", "model", "error", "since"], ["provider"], ["model"]),
    SlowModel: (["model", "since"], [], []),
    Tally: (["ledger", "until"], [], []),
}
for model, (columns, filters, searched) in ROWS.items():
    admin.site.register(
        model,
        UserRowAdmin if "end_user" in columns else ReadOnlyAdmin,
        list_display=columns,
        list_filter=filters,
        search_fields=searched,
    )
