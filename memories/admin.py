"""Messages, work, memories and model calls in Django's admin: to look at, and to retry."""

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts.admin import ReadOnlyAdmin, ReadOnlyInline, worded
from contacts.text import truncate
from memories import queue
from memories.models import (
    Batch,
    Consolidation,
    Edge,
    Entity,
    EntityLink,
    Erasure,
    Injected,
    JobRun,
    Link,
    Memory,
    Message,
    ModelCall,
    RemoteBatch,
    Retrieval,
    Work,
)

WIDTH = 80  # graphemes of a text in a list


@admin.register(Message)
class MessageAdmin(ReadOnlyAdmin):
    list_display = ["end_user", "seq", "role", "said", "session_id", "created_at"]
    list_filter = ["role", "created_at"]
    search_fields = ["=client_id", "=session_id", "end_user__external_id", "content"]
    list_select_related = ["end_user"]
    ordering = ["-pk"]

    @admin.display(description="content")
    def said(self, message: Message) -> str:
        return truncate(message.content, WIDTH)


class WorkAdmin(ReadOnlyAdmin):
    """A unit of work; what failed or is in quarantine may be tried again."""

    list_filter = ["state", "provider", "created_at"]
    list_select_related = ["end_user"]
    actions = ["try_again"]
    task = ""

    @admin.action(description="Try the selected work again", permissions=["operate"])
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
    task = "consolidate"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Consolidation]:
        return super().get_queryset(request).defer("contact__embedding", "contact__memory_ids")


class LinkInline(ReadOnlyInline):
    model = Link
    fields = readonly_fields = ("contact", "made_by", "confidence", "rejected", "consolidated_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Link]:
        rows = super().get_queryset(request).select_related("contact")
        return rows.defer("contact__embedding", "contact__memory_ids")


@admin.register(Memory)
class MemoryAdmin(ReadOnlyAdmin):
    list_display = ["says", "end_user", "kind", "type", "status", "importance", "said_at"]
    list_filter = ["status", "kind", "type", "subtype", "said_at"]
    search_fields = ["=id", "content", "end_user__external_id"]
    list_select_related = ["end_user"]
    exclude = ["tokens"]
    raw_id_fields = ["batch", "consolidated_into"]
    inlines = [LinkInline]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Memory]:
        return super().get_queryset(request).defer("tokens")

    @admin.display(description="content")
    def says(self, memory: Memory) -> str:
        return truncate(memory.content, WIDTH)


@admin.register(Link)
class LinkAdmin(ReadOnlyAdmin):
    list_display = ["contact", "memory", "end_user", "made_by", "confidence", "rejected"]
    list_filter = ["made_by", "rejected", "created_at"]
    search_fields = ["=memory__id", "contact__name", "end_user__external_id"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Link]:
        rows = super().get_queryset(request).select_related("contact", "memory", "end_user")
        return rows.defer("contact__embedding", "contact__memory_ids", "memory__tokens")


@admin.register(Edge)
class EdgeAdmin(ReadOnlyAdmin):
    list_display = ["source_id", "kind", "target_id", "end_user", worded("reason"), "created_at"]
    list_filter = ["kind", "created_at"]
    search_fields = ["=source__id", "=target__id", "end_user__external_id"]
    list_select_related = ["end_user"]


@admin.register(ModelCall)
class ModelCallAdmin(ReadOnlyAdmin):
    list_display = ["created_at", "purpose", "provider", "model", "outcome", "tokens_in",
                    "tokens_out", "latency_ms", "end_user"]  # fmt: skip
    list_filter = ["outcome", "purpose", "provider", "model", "created_at"]
    search_fields = ["end_user__external_id"]
    list_select_related = ["end_user"]
    date_hierarchy = "created_at"


@admin.register(Retrieval)
class RetrievalAdmin(ReadOnlyAdmin):
    list_display = ["day", "end_user", "linked", "fallback"]
    list_filter = ["day"]
    search_fields = ["end_user__external_id"]
    list_select_related = ["end_user"]


@admin.register(Entity)
class EntityAdmin(ReadOnlyAdmin):
    list_display = ["name", "kind", "end_user", "created_at"]
    list_filter = ["kind"]
    search_fields = ["name", "end_user__external_id"]
    list_select_related = ["end_user"]


@admin.register(EntityLink)
class EntityLinkAdmin(ReadOnlyAdmin):
    list_display = ["entity_id", "memory_id", "end_user"]
    search_fields = ["=memory__id", "end_user__external_id"]
    list_select_related = ["end_user"]


@admin.register(Erasure)
class ErasureAdmin(ReadOnlyAdmin):
    list_display = ["requested_at", "end_user", "state", "due_at", "finished_at"]
    list_filter = ["state"]
    search_fields = ["end_user__external_id"]
    list_select_related = ["end_user"]


@admin.register(Injected)
class InjectedAdmin(ReadOnlyAdmin):
    list_display = ["created_at", "end_user", "session_id"]
    search_fields = ["=session_id", "end_user__external_id"]
    list_select_related = ["end_user"]


@admin.register(JobRun)
class JobRunAdmin(ReadOnlyAdmin):
    list_display = ["job", "state", "started_at", "finished_at", "effect"]
    list_filter = ["job", "state"]
    search_fields = ["job"]


@admin.register(RemoteBatch)
class RemoteBatchAdmin(ReadOnlyAdmin):
    list_display = ["remote_id", "state", "requests", "answered", "failed", "created_at"]
    list_filter = ["state"]
    search_fields = ["=remote_id"]
