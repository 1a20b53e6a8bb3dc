"""Pages of webhooks: create, test, stop, rotate the secret; and the log of deliveries."""

from typing import Any
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
from dashboard.forms import typed_label
from webhooks import endpoints
from webhooks.event_types import TYPES
from webhooks.models import MAX_URL, Delivery, Endpoint
from webhooks.safe_post import Refused


def _endpoints_of(request: HttpRequest) -> QuerySet[Endpoint]:
    """Returns the webhooks of the apps that this operator may see."""
    rows = Endpoint.objects.filter(app__in=access.apps_of(request).filter(archived_at=None))
    return rows.select_related("app").order_by("app__name", "created_at")


@access.admin_page(all_cells=True)
def show(request: HttpRequest, status: int = 200, **more: object) -> HttpResponse:
    """Lists all webhooks, and the deliveries of all or of the one in ``?webhook=``."""
    hooks = list(_endpoints_of(request))
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


@access.admin_action(all_cells=True, token=False)
@sensitive_variables("secret")
def new(request: HttpRequest) -> HttpResponse:
    """Creates a webhook; only this answer shows its secret."""
    sent = request.POST
    ids = access.valid_numbers([sent.get("app", "")])
    app = get_object_or_404(access.apps_of(request).filter(archived_at=None), pk__in=ids)
    url, label = sent.get("url", "").strip(), typed_label(request)
    types = sent.getlist("types")
    try:
        if len(url) > MAX_URL:
            raise Refused
        made, secret = endpoints.create(app, url, types, label)
    except Refused:
        problem = _(
            "Give an address that begins with https:// or http://, of a public host. "
            "Addresses of this machine need MIO_WEBHOOKS_TO_LOOPBACK=on."
        )
    except endpoints.TooMany:
        problem = _("This app has as many webhooks as it may have.")
    else:
        return show.render(request, made=made, secret=secret)
    typed = {"url": url, "label": label, "app": app.pk, "types": types}
    return show.render(request, 422, problem=problem, sent=typed)


@access.admin_action(all_cells=True)
@sensitive_variables("secret")
def rotate(request: HttpRequest, webhook: UUID) -> HttpResponse:
    """Gives a webhook a new secret, which only this answer shows."""
    endpoint = get_object_or_404(_endpoints_of(request), pk=webhook)
    secret = endpoints.rotate(endpoint)
    return show.render(request, made=endpoint, secret=secret, rotated=True)


@access.admin_action(all_cells=True)
def switch(request: HttpRequest, webhook: UUID) -> HttpResponse:
    """Stops a webhook, or starts it again."""
    endpoint = get_object_or_404(_endpoints_of(request), pk=webhook)
    if request.POST.get("enabled"):
        endpoints.switch(endpoint, on=True)
        feedback.done(request, _("It is told of what happens from now on."))
    else:
        endpoints.switch(endpoint, on=False)
        feedback.done(request, _("Nothing is sent to it until you enable it again."))
    return redirect("dashboard:webhooks")


def _send(request: HttpRequest, webhook: Endpoint, send: Any, message: str) -> HttpResponse:
    """Calls ``send`` and shows the message, or that the webhook is stopped."""
    if webhook.disabled_at is None:
        send()
        feedback.done(request, message)
    else:
        feedback.refused(request, _("Enable the webhook first."))
    return feedback.back(request, "dashboard:webhooks")


@access.admin_action(all_cells=True, token=False)
def test(request: HttpRequest, webhook: UUID) -> HttpResponse:
    """Sends a test event."""
    endpoint = get_object_or_404(_endpoints_of(request), pk=webhook)
    message = _("The test is on its way: the log below shows what comes of it.")
    return _send(request, endpoint, lambda: endpoints.send_test(endpoint), message)


@access.admin_action(all_cells=True, token=False)
def resend(request: HttpRequest, delivery: UUID) -> HttpResponse:
    """Sends an event once more."""
    rows = Delivery.objects.filter(endpoint__in=list(_endpoints_of(request)), pk=delivery)
    with cells.everywhere():
        row = next(iter(of_cells(rows.with_endpoint(), list)), None)
    if row is None:
        raise Http404
    with cells.entered(row._state.db or cells.SHARED):
        message = _("It is sent once more.")
        return _send(request, row.endpoint, lambda: endpoints.resend(row), message)


urls = [
    path("webhooks/", show, name="webhooks"),
    path("webhooks/new/", access.form(show, new), name="new-webhook"),
    path("webhooks/<uuid:webhook>/rotate/", rotate, name="rotate-webhook"),
    path("webhooks/<uuid:webhook>/switch/", switch, name="switch-webhook"),
    path("webhooks/<uuid:webhook>/test/", test, name="test-webhook"),
    path("webhooks/deliveries/<uuid:delivery>/resend/", resend, name="resend"),
]
