"""Webhooks of the apps: made, tried, stopped, given new secrets; and what was sent."""

from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from accounts import cells
from accounts.paging import of_cells
from dashboard import access, feedback, pager
from understanding.text import clean
from webhooks import endpoints
from webhooks.event_types import TYPES
from webhooks.models import MAX_URL, Delivery, Endpoint
from webhooks.safe_post import Refused

MAX_LABEL = 60


def _visible(request: HttpRequest) -> QuerySet[Endpoint]:
    rows = Endpoint.objects.filter(app__in=access.apps_of(request).filter(archived_at=None))
    return rows.select_related("app").order_by("app__name", "created_at")


@access.admin_page
@access.of_all_cells
def show(request: HttpRequest) -> HttpResponse:
    """All webhooks, and the log of deliveries: of all, or of the one in ``?webhook=``."""
    return _page(request)


def _page(request: HttpRequest, status: int = 200, **more: object) -> HttpResponse:
    hooks = list(_visible(request))
    chosen = access.valid_ids([request.GET.get("webhook", "")])
    shown = [hook for hook in hooks if not chosen or hook.pk == chosen[0]]
    log = Delivery.objects.filter(endpoint__in=shown).with_endpoint()
    with cells.everywhere():
        page = pager.page_of(request, log, ["-created_at", "id"])
    context = {
        "hooks": hooks,
        "chosen": shown[0] if chosen and shown else None,
        "page": page,
        "apps": access.apps_of(request).filter(archived_at=None),
        "types": TYPES,
        **more,
    }
    return render(request, "webhooks/list.html", context, status=status)


@access.admin_action
@access.needs_no_token
@access.of_all_cells
@sensitive_variables("secret")
def new(request: HttpRequest) -> HttpResponse:
    """Makes a webhook; its secret is on this answer only."""
    sent = request.POST
    ids = access.valid_numbers([sent.get("app", "")])
    app = get_object_or_404(access.apps_of(request).filter(archived_at=None), pk__in=ids)
    url, label = sent.get("url", "").strip(), clean(sent.get("label", ""), MAX_LABEL)[:MAX_LABEL]
    try:
        if len(url) > MAX_URL:
            raise Refused
        made, secret = endpoints.create(app, url, sent.getlist("types"), label)
    except (Refused, endpoints.TooMany) as error:
        problem = (
            _(
                "Give an address that begins with https:// or http://, of a public host. "
                "Addresses of this machine need MIO_WEBHOOKS_TO_LOOPBACK=on."
            )
            if isinstance(error, Refused)
            else _("This app has as many webhooks as it may have.")
        )
        kept = {"url": url, "label": label, "app": app.pk, "types": sent.getlist("types")}
        return _page(request, 422, problem=problem, sent=kept)
    return _page(request, made=made, secret=secret)


@access.admin_action
@access.of_all_cells
@sensitive_variables("secret")
def rotate(request: HttpRequest, webhook: UUID) -> HttpResponse:
    """Gives a webhook a new secret; it is on this answer only."""
    endpoint = get_object_or_404(_visible(request), pk=webhook)
    secret = endpoints.rotate(endpoint)
    return _page(request, made=endpoint, secret=secret, rotated=True)


@access.admin_action
@access.of_all_cells
def switch(request: HttpRequest, webhook: UUID) -> HttpResponse:
    """Stops a webhook, or starts it again: the one is the undo of the other."""
    endpoint = get_object_or_404(_visible(request), pk=webhook)
    if request.POST.get("enabled"):
        endpoints.enable(endpoint)
        feedback.done(request, _("It is told of what happens from now on."))
    else:
        endpoints.stop(endpoint)
        feedback.done(request, _("Nothing is sent to it until you enable it again."))
    return redirect("dashboard:webhooks")


@access.admin_action
@access.needs_no_token
@access.of_all_cells
def test(request: HttpRequest, webhook: UUID) -> HttpResponse:
    """Sends an event that tells of nothing."""
    endpoint = get_object_or_404(_visible(request), pk=webhook)
    if endpoint.disabled_at is None:
        endpoints.send_test(endpoint)
        feedback.done(request, _("The test is on its way: the log below shows what comes of it."))
    else:
        feedback.refused(request, _("Enable the webhook first."))
    return feedback.back(request, "dashboard:webhooks")


@access.admin_action
@access.needs_no_token
@access.of_all_cells
def resend(request: HttpRequest, delivery: UUID) -> HttpResponse:
    """Sends an event once more."""
    rows = Delivery.objects.filter(endpoint__in=list(_visible(request)), pk=delivery)
    with cells.everywhere():
        found = next(iter(of_cells(rows.with_endpoint(), list)), None)
    if found is None:
        raise Http404
    if found.endpoint.disabled_at is None:
        with cells.entered(found._state.db or cells.SHARED):
            endpoints.resend(found)
        feedback.done(request, _("It is sent once more."))
    else:
        feedback.refused(request, _("Enable the webhook first."))
    return feedback.back(request, "dashboard:webhooks")


urls = [
    path("webhooks/", show, name="webhooks"),
    path("webhooks/new/", access.form(show, new), name="new-webhook"),
    path("webhooks/<uuid:webhook>/rotate/", rotate, name="rotate-webhook"),
    path("webhooks/<uuid:webhook>/switch/", switch, name="switch-webhook"),
    path("webhooks/<uuid:webhook>/test/", test, name="test-webhook"),
    path("webhooks/deliveries/<uuid:delivery>/resend/", resend, name="resend"),
]
