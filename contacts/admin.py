"""Contacts in Django's admin, to look at: corrections go through the verbs of the product."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from accounts.admin import ReadOnlyAdmin, ReadOnlyInline
from contacts.models import Contact, ContactKey, Relation, Suggestion, memory_count


class KeyInline(ReadOnlyInline):
    model = ContactKey
    fields = readonly_fields = ("key", "how", "text")


@admin.register(Contact)
class ContactAdmin(ReadOnlyAdmin):
    list_display = ["name", "end_user", "relationship", "memory_count", "mention_count",
                    "last_mentioned_at", "merged_into"]  # fmt: skip
    list_filter = ["gender", ("merged_into", admin.EmptyFieldListFilter), "last_mentioned_at"]
    search_fields = ["=id", "name", "keys__text", "end_user__external_id"]
    list_select_related = ["end_user", "merged_into"]
    exclude = ["memory_ids"]
    inlines = [KeyInline]
    deferred = ("memory_ids", "merged_into__memory_ids")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Contact]:
        return super().get_queryset(request).annotate(memory_count=memory_count())

    @admin.display(description="memories")
    def memory_count(self, contact: Contact) -> int:
        return contact.memory_count


@admin.register(ContactKey)
class ContactKeyAdmin(ReadOnlyAdmin):
    list_display = ["key", "how", "text", "contact", "end_user"]
    list_filter = ["how"]
    search_fields = ["key", "text", "end_user__external_id"]
    list_select_related = ["contact", "end_user"]
    deferred = ("contact__memory_ids",)


class PairAdmin(ReadOnlyAdmin):
    """A row about two contacts, without the columns that grow with them."""

    pair: tuple[str, str]

    def get_queryset(self, request: HttpRequest) -> QuerySet:
        rows = super().get_queryset(request).select_related("end_user", *self.pair)
        return rows.defer(*(f"{side}__memory_ids" for side in self.pair))


@admin.register(Relation)
class RelationAdmin(PairAdmin):
    pair = ("subject", "object")
    list_display = ["subject", "kind", "object", "end_user", "created_at"]
    list_filter = ["kind"]
    search_fields = ["subject__name", "object__name", "end_user__external_id"]


@admin.register(Suggestion)
class SuggestionAdmin(PairAdmin):
    pair = ("first", "second")
    list_display = ["first", "second", "verdict", "confidence", "state", "decided_by", "end_user"]
    list_filter = ["state", "verdict", "created_at"]
    search_fields = ["first__name", "second__name", "end_user__external_id"]
