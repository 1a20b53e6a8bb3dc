"""Apps, keys, end users and the audit trail in Django's admin."""

from collections.abc import Callable
from typing import Any

from django.contrib import admin, messages
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html

from accounts.models import ApiKey, App, Cell, Change, EndUser, Placement
from accounts.reasons import read


def _never(_admin: Any, _request: HttpRequest, _obj: Any = None) -> bool:
    return False


class _Kept:
    has_delete_permission = _never


class _Given(_Kept):
    has_add_permission = _never


class _ReadOnly(_Given):
    has_change_permission = _never


class _Light:
    """Rows without the columns that grow with them."""

    deferred: tuple[str, ...] = ()

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).defer(*self.deferred)  # type: ignore[misc]


class ReadOnlyAdmin(_ReadOnly, _Light, admin.ModelAdmin):
    """Rows that only the product's own verbs write."""


class UserRowAdmin(ReadOnlyAdmin):
    """The same, of end users."""

    list_select_related = ["end_user"]


def worded(column: str) -> Callable[[Any], str]:
    """A list's column for what is stored as a reason, in English."""

    @admin.display(description=column)
    def shown(row: Any) -> str:
        return str(read(getattr(row, column)))

    return shown


class ReadOnlyInline(_ReadOnly, _Light, admin.TabularInline):
    """The same, within another row."""

    extra = 0


class KeyInline(ReadOnlyInline):
    model = ApiKey
    fields = readonly_fields = ("prefix", "created_at", "last_used_at", "revoked_at")


@admin.register(App)
class AppAdmin(_Kept, admin.ModelAdmin):
    list_display = ["name", "end_user_count", "created_at"]
    search_fields = ["name"]
    inlines = [KeyInline]

    def get_queryset(self, request: HttpRequest) -> QuerySet[App]:
        return super().get_queryset(request).annotate(users=Count("end_users"))

    @admin.display(description="end users", ordering="users")
    def end_user_count(self, app: App) -> int:
        return app.users  # type: ignore[attr-defined]

    def save_model(self, request: HttpRequest, obj: App, form: Any, change: bool) -> None:
        """A new app gets its first key at once, shown this once."""
        super().save_model(request, obj, form, change)
        if not change:
            _show_key(request, obj)


def _show_key(request: HttpRequest, app: App) -> None:
    _, secret = ApiKey.issue(app)
    text = format_html("The key of {}, shown this once: <code>{}</code>", app.name, secret)
    messages.warning(request, text)


@admin.register(ApiKey)
class ApiKeyAdmin(ReadOnlyAdmin):
    list_display = ["prefix", "app", "created_at", "last_used_at", "revoked_at"]
    list_filter = ["app", ("revoked_at", admin.EmptyFieldListFilter)]
    search_fields = ["prefix", "app__name"]
    list_select_related = ["app"]
    exclude = ["digest"]
    actions = ["revoke", "issue_another"]

    @admin.action(description="Revoke the selected keys")
    def revoke(self, request: HttpRequest, keys: QuerySet[ApiKey]) -> None:
        for key in keys.filter(revoked_at=None):
            key.revoke()
            messages.success(request, f"{key} was revoked.")

    @admin.action(description="Issue another key for the apps of the selected keys")
    def issue_another(self, request: HttpRequest, keys: QuerySet[ApiKey]) -> None:
        for app in App.objects.filter(keys__in=keys).distinct():
            _show_key(request, app)


@admin.register(EndUser)
class EndUserAdmin(_Given, admin.ModelAdmin):
    """The names and the time zone of an end user can be edited; ``forget_user`` deletes one."""

    list_display = ["external_id", "app", "language", "activity_days", "waiting", "last_message_at"]
    list_filter = ["app", "language", "last_message_at"]
    search_fields = ["external_id"]
    list_select_related = ["app"]
    readonly_fields = [
        "app",
        "external_id",
        "language",
        "message_seq",
        "extracted_seq",
        "consolidated_seq",
        "learnt_offset",
        "activity_days",
        "last_active_on",
        "last_message_at",
        "created_at",
    ]
    fields = ["names", "time_zone", *readonly_fields]

    @admin.display(description="messages waiting")
    def waiting(self, end_user: EndUser) -> int:
        return end_user.message_seq - end_user.extracted_seq

    def save_model(self, request: HttpRequest, obj: EndUser, form: Any, change: bool) -> None:  # noqa: ARG002
        """Writes only what was edited: the pipeline moves the counters meanwhile."""
        obj.save(update_fields=["names", "time_zone"])


@admin.register(Change)
class ChangeAdmin(UserRowAdmin):
    list_display = ["created_at", "verb", "actor", "end_user", worded("why"), "undone_at"]
    list_filter = ["verb", "created_at", ("undone_at", admin.EmptyFieldListFilter)]
    search_fields = ["=id", "end_user__external_id", "actor", "subjects"]
    date_hierarchy = "created_at"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Change]:
        rows = super().get_queryset(request)
        listing = request.resolver_match and request.resolver_match.url_name
        return rows.defer("rows") if listing == "accounts_change_changelist" else rows


@admin.register(Cell)
class CellAdmin(ReadOnlyAdmin):
    list_display = ["name", "number", "users", "closed", "created_at"]
    search_fields = ["name"]


@admin.register(Placement)
class PlacementAdmin(ReadOnlyAdmin):
    list_display = ["external_id", "app", "cell", "moving_to", "user_pk"]
    list_filter = ["cell"]
    list_select_related = ["app"]
    search_fields = ["external_id"]
