"""Messages, work, memories and model calls in Django's admin: to look at, and to retry."""

from django.contrib import admin, messages
from django.db.models import QuerySet
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
# The columns of a row's contact that grow with it.
HEAVY = ("contact__embedding", "contact__memory_ids")


@admin.register(Message)
class MessageAdmin(UserRowAdmin):
    list_display = ["end_user", "seq", "role", "said", "session_id", "created_at"]
    list_filter = ["role", "created_at"]
    search_fields = ["=client_id", "=session_id", "end_user__external_id", "content"]
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
    search_fields = ["=id", "end_user__external_id", "error"]
    task = "extract"


@admin.register(Consolidation)
class ConsolidationAdmin(WorkAdmin):
    list_display = ["contact", "end_user", "state", "attempts", "provider", "finished_at",
                    worded("error")]  # fmt: skip
    search_fields = ["=id", "end_user__external_id", "contact__name", "error"]
    list_select_related = ["end_user", "contact"]
    deferred = HEAVY
    task = "consolidate"


@admin.register(ProcessJob)
class ProcessJobAdmin(UserRowAdmin):
    list_display = ["id", "end_user", "up_to_seq", "created_at", "finished_at"]
    search_fields = ["=id", "end_user__external_id"]


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
    search_fields = ["=id", "content", "end_user__external_id"]
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
    search_fields = ["=memory__id", "contact__name", "end_user__external_id"]
    deferred = (*HEAVY, "memory__tokens", "memory__embedding")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Link]:
        return super().get_queryset(request).select_related("contact", "memory", "end_user")


@admin.register(Edge)
class EdgeAdmin(UserRowAdmin):
    list_display = ["source_id", "kind", "target_id", "end_user", worded("reason"), "created_at"]
    list_filter = ["kind", "created_at"]
    search_fields = ["=source__id", "=target__id", "end_user__external_id"]


@admin.register(ModelCall)
class ModelCallAdmin(UserRowAdmin):
    list_display = ["created_at", "purpose", "provider", "model", "outcome", "tokens_in",
                    "tokens_out", "latency_ms", "end_user"]  # fmt: skip
    list_filter = ["outcome", "purpose", "provider", "model", "created_at"]
    search_fields = ["end_user__external_id"]
    date_hierarchy = "created_at"


@admin.register(Retrieval)
class RetrievalAdmin(UserRowAdmin):
    list_display = ["day", "end_user", "linked", "fallback"]
    list_filter = ["day"]
    search_fields = ["end_user__external_id"]


@admin.register(Entity)
class EntityAdmin(UserRowAdmin):
    list_display = ["name", "kind", "end_user", "created_at"]
    list_filter = ["kind"]
    search_fields = ["name", "end_user__external_id"]


@admin.register(EntityLink)
class EntityLinkAdmin(UserRowAdmin):
    list_display = ["entity_id", "memory_id", "end_user"]
    search_fields = ["=memory__id", "end_user__external_id"]


@admin.register(Erasure)
class ErasureAdmin(UserRowAdmin):
    list_display = ["requested_at", "end_user", "state", "due_at", "finished_at"]
    list_filter = ["state"]
    search_fields = ["end_user__external_id"]


@admin.register(Injected)
class InjectedAdmin(UserRowAdmin):
    list_display = ["created_at", "end_user", "session_id"]
    search_fields = ["=session_id", "end_user__external_id"]


@admin.register(GatewayTurn)
class GatewayTurnAdmin(UserRowAdmin):
    list_display = ["created_at", "end_user", "session_id"]
    search_fields = ["=session_id", "end_user__external_id"]


@admin.register(JobRun)
class JobRunAdmin(ReadOnlyAdmin):
    list_display = ["job", "state", "started_at", "finished_at", "effect"]
    list_filter = ["job", "state"]
    search_fields = ["job"]


@admin.register(Outage)
class OutageAdmin(ReadOnlyAdmin):
    list_display = ["provider", "model", worded("error"), "since"]
    list_filter = ["provider"]
    search_fields = ["model"]


@admin.register(SlowModel)
class SlowModelAdmin(ReadOnlyAdmin):
    list_display = ["model", "since"]


@admin.register(Tally)
class TallyAdmin(ReadOnlyAdmin):
    list_display = ["ledger", "until"]


@admin.register(Receipt)
class ReceiptAdmin(ReadOnlyAdmin):
    list_display = ["erased_at", "app", "what", "done_by"]
    list_filter = ["what"]


@admin.register(Claim)
class ClaimAdmin(UserRowAdmin):
    list_display = ["at", "end_user", "what", "operator"]
    search_fields = ["operator", "end_user__external_id"]
