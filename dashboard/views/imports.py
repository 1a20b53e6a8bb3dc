"""Pages of imports: upload a file, state who is who, start; and the address book as a file."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from accounts import time_zones
from accounts.models import EndUser
from dashboard import access, feedback
from dashboard.words import FIELDS, field, language_of
from imports import api, uploads
from imports.dumps import BOOKS, DUMPS, vcard
from imports.entry_matching import NEW, SKIP
from imports.formats import FORMATS, TITLES
from imports.models import Import
from understanding.attributes import label

SHOWN = 20
MAX_UPLOAD = 1_000_000_000
DAY_ORDERS = {"day": True, "month": False}


def _import(end_user: EndUser, pk: UUID) -> Import:
    """Returns an import of this end user. Raises Http404."""
    return get_object_or_404(Import.objects.of(end_user), pk=pk)


def _refuse_file(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    feedback.refused(request, _("This file is gone or can't be read: upload it again."))
    return redirect("dashboard:imports", end_user.pk)


@access.page
def imports(
    request: HttpRequest, end_user: EndUser, status: int = 200, **more: object
) -> HttpResponse:
    """Lists the imports of a user with their progress, and the form for another file."""
    rows = list(Import.objects.of(end_user)[:SHOWN])
    busy = any(row.state in (Import.State.UPLOADED, Import.State.RUNNING) for row in rows)
    context = {
        "end_user": end_user,
        "rows": [(row, TITLES.get(row.format, ""), uploads.preview_of(row)) for row in rows],
        "busy": busy,
        "formats": {
            "chats": dict.fromkeys(TITLES[one.NAME].partition(" (")[0] for one in FORMATS),
            "books": [TITLES[name] for name in BOOKS],
            "memories": [TITLES[one.NAME] for one in DUMPS if one.NAME not in BOOKS],
        },
        "time_zones": time_zones.names(),
        **more,
    }
    live = access.target(request) == "live"
    template = "imports/_rows.html" if live else "imports/list.html"
    return render(request, template, context, status=status)


@access.action(token=False)
def upload(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    """Stores a file, which a worker then looks through."""
    sent, zone = request.FILES.get("file"), request.POST.get("zone", "").strip()
    problem = zone_problem = ""
    if sent is None:
        problem = _("Choose a file.")
    elif (sent.size or 0) > MAX_UPLOAD:
        problem = _("The file is larger than 1 GB: import it with bin/mio import_chat.")
    try:
        if zone:
            time_zones.check(zone)
    except ValidationError as error:
        zone_problem = error.messages[0]
    if sent is None or problem or zone_problem:
        wrong = {"problem": problem, "zone_problem": zone_problem, "zone": zone}
        return imports.render(request, end_user, 422, **wrong)
    import_ = uploads.keep(end_user, sent, zone)
    uploads.enqueue("look", import_)
    return redirect("dashboard:import", end_user.pk, import_.pk)


@access.page
def one_import(
    request: HttpRequest, end_user: EndUser, chat: UUID, status: int = 200, **more: object
) -> HttpResponse:
    """The page of one import: what is in the file, who the user is, and its progress."""
    import_ = _import(end_user, chat)
    found = uploads.preview_of(import_)
    context = {
        "end_user": end_user,
        "import": import_,
        "added": {one["number"]: _added(one["adds"]) for one in found.entries} if found else {},
        "found": found,
        "title": TITLES.get(import_.format, ""),
        "first": parse_datetime(found.first or "") if found else None,
        "last": parse_datetime(found.last or "") if found else None,
        "zone": import_.zone or str(end_user.zone),
        **more,
    }
    live = access.target(request) == "live"
    template = "imports/_one.html" if live else "imports/one.html"
    return render(request, template, context, status=status)


def _added(adds: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    """Returns what an entry of a file adds, as pairs of a label and its values."""
    between = pgettext("list", ", ")
    return [
        (field(key) if key in FIELDS else label(key, language_of()), between.join(values))
        for key, values in adds.items()
        if values
    ]


@access.action
def look_again(request: HttpRequest, end_user: EndUser, chat: UUID) -> HttpResponse:
    """Has the dates of a file read in another order of day and month."""
    import_ = _import(end_user, chat)
    ready = Import.objects.filter(pk=import_.pk, state=Import.State.READY)
    order = DAY_ORDERS.get(request.POST.get("order", ""))
    if order is not None and ready.update(state=Import.State.UPLOADED, day_first=order):
        uploads.enqueue("look", import_)
    return redirect("dashboard:import", end_user.pk, import_.pk)


@access.action
def say_who(request: HttpRequest, end_user: EndUser, chat: UUID) -> HttpResponse:
    """Stores who in a file of people is the user, and has it looked through again."""
    import_ = _import(end_user, chat)
    found, me = uploads.preview_of(import_), request.POST.get("me")
    if found is None:
        return _refuse_file(request, end_user)
    keys = [one["key"] for one in found.owners] + ([""] if found.may_be_none else [])
    if me is None or me not in keys:
        return one_import.render(request, end_user, chat, 422, problem=_("Say who the user is."))
    uploads.answer(import_, Import.State.UPLOADED, me=me, answered=True)
    return redirect("dashboard:import", end_user.pk, import_.pk)


@access.admin_page
def address_book(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    """Returns the user's people as a file for other programs."""
    form = request.GET.get("format", "")
    return api.as_file(end_user, BOOKS.get(form, vcard))


@access.action
def start(request: HttpRequest, end_user: EndUser, chat: UUID) -> HttpResponse:
    """Starts the import of a file, with the answers and choices made."""
    import_, sent = _import(end_user, chat), request.POST
    found, me = uploads.preview_of(import_), sent.get("me", "")
    if found is None or found.error or not (found.messages or found.answered):
        return _refuse_file(request, end_user)
    chosen = {}
    for entry in found.entries:
        choice = sent.get(f"choice-{entry['number']}", "")
        if choice in (NEW, SKIP, *(one["key"] for one in entry["candidates"])):
            chosen[str(entry["number"])] = choice
    if found.answered:
        me = found.me
    elif not found.asks:
        me = ""
    elif me not in [one["key"] for one in found.speakers]:
        return one_import.render(request, end_user, chat, 422, problem=_("Say who the user is."))
    actor = access.actor(request)
    uploads.answer(import_, Import.State.RUNNING, me=me, actor=actor, choices=chosen)
    return redirect("dashboard:import", end_user.pk, import_.pk)


@access.action
def drop(request: HttpRequest, end_user: EndUser, chat: UUID) -> HttpResponse:
    """Deletes an upload that was not imported; nothing of it is stored anywhere else."""
    import_ = _import(end_user, chat)
    unanswered = Import.objects.filter(pk=import_.pk, state__in=uploads.UNANSWERED)
    if unanswered.delete()[0]:
        uploads.drop(import_)
        feedback.done(request, _("The upload is deleted; nothing of it was imported."))
    return redirect("dashboard:imports", end_user.pk)


ONE = "u/<int:user>/imports/<uuid:chat>/"
urls = [
    path("u/<int:user>/imports/", imports, name="imports"),
    path("u/<int:user>/address-book/", address_book, name="address-book"),
    path("u/<int:user>/imports/upload/", upload, name="upload-chat"),
    path(ONE, one_import, name="import"),
    path(f"{ONE}again/", look_again, name="look-again"),
    path(f"{ONE}who/", say_who, name="say-who"),
    path(f"{ONE}start/", start, name="start-import"),
    path(f"{ONE}drop/", drop, name="drop-import"),
]
