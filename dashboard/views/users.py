"""Pages of end users and apps: what is stored of them, their keys and settings, export, erasing."""

import json
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext as _

from accounts import cells, time_zones
from accounts.api import check_external_id
from accounts.cells import atomic
from accounts.errors import ApiError
from accounts.models import ApiKey, App, EndUser
from dashboard import access, feedback, pager, words
from dashboard.forms import typed_label, with_value
from dashboard.queries import users as queries
from memories import own_card, portability, queue
from memories.corrections.edit_own_card import edit_own_card
from memories.erasure import erase
from memories.erasure.erase import decide
from memories.erasure.receipts import By
from memories.models import Erasure
from understanding.attributes import ON_OWN_CARD, is_single, label
from understanding.text import visible

MAX_NAME = 100
MAX_LIMIT = 999_999  # requests per minute
SHOWN_ERASURES = 10


@access.page
def users(request: HttpRequest) -> HttpResponse:
    """Lists end users by the id that their app gave them. A single result is opened at once."""
    wanted, app = request.GET.get("q", "").strip(), request.GET.get("app", "")
    visible = access.end_users_of(request)
    sort = request.GET.get("sort", "")
    sort = sort if sort in queries.SORTS else "id"
    with cells.everywhere():
        page = pager.page_of(
            request, queries.matching_end_users(visible, wanted, app), queries.SORTS[sort]
        )
    if wanted and page.first and len(page.rows) == 1:
        return redirect("dashboard:contacts", page.rows[0].pk)
    context = {"page": page, "q": wanted, "app": app, "sort": sort, "apps": access.apps_of(request)}
    return render(request, "users/list.html", context)


@access.page
def one_user(
    request: HttpRequest, end_user: EndUser, status: int = 200, **more: object
) -> HttpResponse:
    """The page of an end user: what is stored, their card, time zone and requests to forget."""
    context = {
        "end_user": end_user,
        "kept": queries.row_counts(end_user),
        "erasures": Erasure.objects.of(end_user)[:SHOWN_ERASURES],
        "time_zone": end_user.time_zone,
        "time_zones": time_zones.names(),
        "own_card": queries.own_keys(end_user),
        "own_text": own_card.text_of(end_user),
        "own_keys": [(key, label(key, words.language_of())) for key in ON_OWN_CARD],
        **more,
    }
    return render(request, "users/one.html", context, status=status)


@access.action
def user_time_zone(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    """Sets the time zone in which an end user's days are counted from now on."""
    if wrong := _set_time_zone(request, end_user):
        return one_user.render(request, end_user, status=422, **wrong)
    return redirect("dashboard:user", end_user.pk)


def _set_time_zone(request: HttpRequest, row: EndUser | App) -> dict[str, str]:
    """Sets the time zone that a form sent; returns {}, or what was sent and why it is invalid."""
    name = request.POST.get("time_zone", "").strip()
    try:
        row.settle(name)
    except ValidationError as error:
        return {"time_zone": name, "problem": error.messages[0]}
    feedback.done(request, _("Days now follow the time zone %(zone)s."), zone=row.zone)
    return {}


@access.action
def edit_card(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    """Adds a value to the user's own card (``new``), replaces ``old`` by it, or removes ``old``."""
    key, old, new = (
        request.POST.get(name, "").replace("\0", "").strip() for name in ("key", "old", "new")
    )
    new = "" if "remove" in request.POST else new
    values = [one["value"] for one in own_card.current_attributes(end_user).get(key, ())]
    stated = {key: with_value(values, old, new, single=is_single(key))}
    change = edit_own_card(end_user, stated, actor=access.actor(request))
    message = _("Saved.") if new else _("Removed.")
    feedback.done(request, message if change else _("This is already known."), change)
    return redirect("dashboard:user", end_user.pk)


@access.action(token=False)
def read_now(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    """Has the workers read and consolidate all waiting messages now, whatever the schedule."""
    queue.enqueue("process", end_user.pk)
    feedback.done(request, _("It will be read as soon as a worker is free."))
    return redirect("dashboard:user", end_user.pk)


@access.admin_page
def export(_request: HttpRequest, end_user: EndUser) -> HttpResponse:
    """Returns all that is stored of an end user, as a file that ``import_user`` reads."""
    name = slugify(end_user.external_id) or f"user-{end_user.pk}"
    return as_file(portability.export_user(end_user), name)


def as_file(document: dict[str, Any], name: str) -> HttpResponse:
    """Returns an exported end user as a JSON file to save."""
    return HttpResponse(
        json.dumps(document, cls=DjangoJSONEncoder, ensure_ascii=False, indent=1),
        content_type="application/json",
        headers={"Content-Disposition": f'attachment; filename="{name}.json"'},
    )


@access.admin_page
def before_forgetting(
    request: HttpRequest, end_user: EndUser, status: int = 200, **more: object
) -> HttpResponse:
    """The page that shows what erasing an end user deletes, and asks for confirmation."""
    context = {"end_user": end_user, "kept": queries.row_counts(end_user), **more}
    return render(request, "users/forget.html", context, status=status)


@access.admin_action
def forget_user(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    """Erases an end user for good if their id was typed to confirm it."""
    typed, external_id = request.POST.get("confirm", ""), end_user.external_id
    if typed.strip() not in (external_id.strip(), visible(external_id).strip()):
        problem = _("This is not the ID. Nothing was erased.")
        return before_forgetting.render(request, end_user, 422, typed=typed, problem=problem)
    erased = erase.forget_everything(end_user, access.erased_by(request))
    feedback.erased(request, erased, end_user.external_id)
    if erased.receipt:
        return redirect("dashboard:receipt", erased.receipt)
    return redirect("dashboard:users")


@access.page
def undecided(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    """The page of messages and people that an erasure left for an operator to decide."""
    context = {"end_user": end_user, "wishes": queries.undecided(end_user)}
    return render(request, "users/undecided.html", context)


@access.admin_action
def decide_undecided(request: HttpRequest, end_user: EndUser, wish: UUID) -> HttpResponse:
    """Erases or keeps the chosen messages or people that an erasure left undecided."""
    sent = request.POST
    decide(
        end_user,
        wish,
        redact=access.valid_numbers(sent.getlist("redact")),
        keep=access.valid_numbers(sent.getlist("keep")),
        forget=access.valid_ids(sent.getlist("forget")),
        keep_people=access.valid_ids(sent.getlist("keep_people")),
        by=By(access.actor(request)),
    )
    feedback.done(request, _("Decision saved."))
    return redirect("dashboard:undecided", end_user.pk)


@access.admin_page(all_cells=True)
def apps(request: HttpRequest, app: int = 0, status: int = 200, **more: object) -> HttpResponse:
    """The page of apps, with the keys and settings of the chosen or only one. A new secret is shown
    in the answer that creates it, never after a redirect."""
    rows = queries.with_keys(access.apps_of(request))
    rows.sort(key=lambda one: bool(one.archived_at))
    active = [one for one in rows if not one.archived_at]
    wanted = [app or 0, *access.valid_numbers([request.GET.get("app", "")])]
    chosen = [one for one in active if one.pk in wanted] or active[: len(active) == 1]
    context = {
        "apps": rows,
        "chosen": chosen[0] if chosen else None,
        "open": not hasattr(request.user, "operator"),
        "time_zones": time_zones.names(),
        **more,
    }
    return render(request, "users/apps.html", context, status=status)


@access.admin_action(all_cells=True, token=False)
def new_app(request: HttpRequest) -> HttpResponse:
    """Creates an app with its first key, which is shown only once."""
    name = request.POST.get("name", "").strip()
    problem = _name_problem(name)
    if hasattr(request.user, "operator"):
        problem = _("You are assigned to certain apps and can't create others.")
    if problem:
        return apps.render(request, name=name, problem=problem, status=422)
    with atomic():
        app = App.objects.create(name=name)
        _made, secret = ApiKey.issue(app)
    return apps.render(request, app.pk, made=app, secret=secret)


def _name_problem(name: str) -> str:
    """Returns why an app can't have this name, or ""."""
    if not 0 < len(name) <= MAX_NAME or not name.isprintable():
        return _("An app's name has 1 to 100 printable characters.")
    if App.objects.filter(name=name).exists():
        return _("There is already an app with this name.")
    return ""


def _redirect_to_app(pk: int) -> HttpResponse:
    return redirect(f"{reverse('dashboard:apps')}?app={pk}")


@access.admin_action(all_cells=True)
def rename_app(request: HttpRequest, app: int) -> HttpResponse:
    """Renames an app; its keys and users stay."""
    row = get_object_or_404(access.apps_of(request), pk=app)
    name = request.POST.get("name", "").strip()
    problem = "" if name == row.name else _name_problem(name)
    if problem:
        feedback.refused(request, problem)
    elif name != row.name:
        row.name = name
        row.save(update_fields=["name"])
        feedback.done(request, _("The app is called %(name)s now."), name=name)
    return _redirect_to_app(row.pk)


@access.admin_action(all_cells=True)
def archive_app(request: HttpRequest, app: int) -> HttpResponse:
    """Archives an app (its keys are refused, its users not shown), or restores it."""
    row = get_object_or_404(access.apps_of(request), pk=app)
    archived = bool(request.POST.get("archived"))
    row.archived_at = (row.archived_at or timezone.now()) if archived else None
    row.save(update_fields=["archived_at"])
    restored, gone = _("%(name)s is back."), _("%(name)s is in the archive: its keys are refused.")
    feedback.done(request, gone if archived else restored, name=row.name)
    return _redirect_to_app(row.pk)


@access.admin_action(all_cells=True, token=False)
def new_key(request: HttpRequest, app: int) -> HttpResponse:
    """Creates another key of an app, or of one of its users; it is shown only once."""
    row = get_object_or_404(access.apps_of(request), pk=app)
    user = request.POST.get("user", "").strip()
    try:
        check_external_id(user)
    except ApiError as error:
        feedback.refused(request, str(error.detail))
        return _redirect_to_app(row.pk)
    _made, secret = ApiKey.issue(row, typed_label(request), user)
    return apps.render(request, app, made=row, secret=secret)


@access.admin_action(all_cells=True)
def app_time_zone(request: HttpRequest, app: int) -> HttpResponse:
    """Sets the time zone of an app's users who have none of their own."""
    row = get_object_or_404(access.apps_of(request), pk=app)
    if wrong := _set_time_zone(request, row):
        wrong["zone_problem"] = wrong.pop("problem")
        return apps.render(request, app, status=422, zone_of=row.pk, **wrong)
    return _redirect_to_app(row.pk)


def _active_key(request: HttpRequest, pk: int) -> ApiKey:
    """Returns a key that is not revoked, of an app that this operator may see. Raises Http404."""
    rows = ApiKey.objects.filter(app__in=access.apps_of(request), revoked_at=None)
    return get_object_or_404(rows, pk=pk)


@access.admin_action(all_cells=True)
def edit_key(request: HttpRequest, key: int) -> HttpResponse:
    """Sets the label of a key and its limit of requests per minute; empty: that of the setting."""
    row, limit = _active_key(request, key), request.POST.get("limit", "").strip()
    is_number = limit.isascii() and limit.isdecimal() and len(limit) <= len(str(MAX_LIMIT))
    if limit and not is_number:
        feedback.refused(request, _("Give a whole number up to %(n)d."), n=MAX_LIMIT)
    else:
        row.label, row.rate_limit = typed_label(request), int(limit) if limit else None
        row.save(update_fields=["label", "rate_limit"])
        feedback.done(request, _("Saved."))
    return _redirect_to_app(row.app_id)


@access.admin_action(all_cells=True)
def revoke_key(request: HttpRequest, key: int) -> HttpResponse:
    """Revokes a key: calls with it are refused from now on."""
    row = _active_key(request, key)
    row.revoke()
    feedback.done(request, _("The key %(key)s is refused from now on."), key=row)
    return _redirect_to_app(row.app_id)


urls = [
    path("users/", users, name="users"),
    path("apps/", apps, name="apps"),
    path("apps/new/", access.form(apps, new_app), name="new-app"),
    path("apps/<int:app>/keys/new/", access.form(apps, new_key), name="new-key"),
    path("apps/<int:app>/time-zone/", access.form(apps, app_time_zone), name="app-time-zone"),
    path("keys/<int:key>/edit/", edit_key, name="edit-key"),
    path("apps/<int:app>/rename/", rename_app, name="rename-app"),
    path("apps/<int:app>/archive/", archive_app, name="archive-app"),
    path("keys/<int:key>/revoke/", revoke_key, name="revoke-key"),
    path("u/<int:user>/", one_user, name="user"),
    path("u/<int:user>/time-zone/", access.form(one_user, user_time_zone), name="user-time-zone"),
    path("u/<int:user>/card/", edit_card, name="own-card"),
    path("u/<int:user>/read/", read_now, name="read-now"),
    path("u/<int:user>/export/", export, name="export"),
    path("u/<int:user>/undecided/", undecided, name="undecided"),
    path("u/<int:user>/undecided/<uuid:wish>/", decide_undecided, name="decide-undecided"),
    path("u/<int:user>/forget/", before_forgetting, name="before-forgetting"),
    path(
        "u/<int:user>/forget/now/", access.form(before_forgetting, forget_user), name="forget-user"
    ),
]
