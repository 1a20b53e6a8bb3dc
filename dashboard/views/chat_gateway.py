"""Pages of an app's gateway: model server, keys, trusted headers, settings of chat clients."""

import tomllib
from pathlib import Path

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables

from accounts.api import check_external_id
from accounts.errors import ApiError
from accounts.models import ApiKey, App
from dashboard import access, feedback
from dashboard.forms import typed_label
from gateway import upstreams
from gateway.models import Upstream

SHOWN_MODELS = 30
KEY = "mio_…"

# ``key`` is the kind of key for a client: "signed" or "trusted" if headers name the user, "app" if
# the body does, "bound" if nothing does. ``settings`` has placeholders for {base} and {key}.
CLIENTS: list[dict[str, str]] = tomllib.loads(
    Path(__file__).parent.with_name("chat_clients.toml").read_text(encoding="utf-8")
)["client"]


def _active_app(request: HttpRequest, pk: int) -> App:
    return get_object_or_404(access.apps_of(request).filter(archived_at=None), pk=pk)


@access.admin_page(all_cells=True)
@sensitive_variables("secret")
def show(
    request: HttpRequest, app: int, status: int = 200, secret: str = "", **more: object
) -> HttpResponse:
    """The page of the gateway: where the chats of an app are sent."""
    base = request.build_absolute_uri("/").rstrip("/")
    row = _active_app(request, app)
    upstream = Upstream.objects.filter(app=row).first()
    context = {
        "app": row,
        "upstream": upstream,
        "url": upstream.url if upstream else "",
        "placement": upstream.placement if upstream else Upstream.Placement.TAIL,
        "base": base,
        "keys": row.keys.filter(revoked_at=None).order_by("pk"),
        "clients": [
            (one, one["settings"].replace("{base}", base).replace("{key}", secret or KEY))
            for one in CLIENTS
        ],
        "secret": secret,
        **more,
    }
    return render(request, "users/gateway.html", context, status=status)


@access.admin_action(all_cells=True)
@sensitive_post_parameters("key", "open_webui_secret")
@sensitive_variables("sent", "key", "secret")
def save(request: HttpRequest, app: int) -> HttpResponse:
    """Sets the model server of an app; a secret that is left empty stays as it is."""
    row, sent = _active_app(request, app), request.POST
    url, placement = sent.get("url", "").strip(), sent.get("placement", "")
    if placement not in Upstream.Placement.values:
        placement = ""
    key, secret = _sent_secret(request, "key"), _sent_secret(request, "open_webui_secret")
    upstream = Upstream.objects.filter(app=row).first()
    problems = {}
    try:
        if upstream and upstream.key and key is None and upstreams.of_other_server(upstream, url):
            problems["key_problem"] = _(
                "The key that is kept is for another server. Enter the key of this one, or have the "
                "kept one taken away."
            )
        else:
            upstreams.configure(row, url, key=key, open_webui_secret=secret, placement=placement)
    except upstreams.NotAnUpstream:
        problems["url_problem"] = _(
            "Give an address that begins with http:// or https://, without a user, a query or a "
            "blank, and ends where /chat/completions begins."
        )
    except upstreams.NotASecret:
        problems["key_problem"] = _("A key is one word, without blanks or other alphabets.")
    if problems:
        typed = {"url": url, "placement": placement or Upstream.Placement.TAIL}
        return show.render(request, app, 422, **typed, **problems)
    feedback.done(request, _("Saved. Chats go there from now on."))
    return redirect("dashboard:gateway", app)


def _sent_secret(request: HttpRequest, name: str) -> str | None:
    """Returns a secret that a form sent: "" to remove it, None to keep the stored one."""
    if request.POST.get(f"no_{name}"):
        return ""
    return request.POST.get(name, "").strip() or None


@access.admin_action(all_cells=True, token=False)
def test(request: HttpRequest, app: int) -> HttpResponse:
    """Asks the model server for its models and shows the answer."""
    upstream = get_object_or_404(Upstream, app=_active_app(request, app))
    try:
        models = upstreams.models_of(upstream)
    except upstreams.NotAnswered as error:
        return show.render(request, app, failure=error)
    return show.render(request, app, tested=True, models=models[:SHOWN_MODELS], count=len(models))


@access.admin_action(all_cells=True)
def close(request: HttpRequest, app: int) -> HttpResponse:
    """Closes the gateway of an app: its chats are refused and its secrets deleted."""
    upstreams.remove(_active_app(request, app))
    feedback.done(request, _("The gateway of this app is closed. What was remembered stays."))
    return redirect("dashboard:gateway", app)


@access.admin_action(all_cells=True)
def trust(request: HttpRequest, key: int) -> HttpResponse:
    """Sets whether the plain headers of a key's client are trusted."""
    visible = access.apps_of(request).filter(archived_at=None)
    row = get_object_or_404(ApiKey.objects.filter(app__in=visible, revoked_at=None), pk=key)
    row.trusted = bool(request.POST.get("trusted"))
    row.save(update_fields=["trusted"])
    message = _("Plain headers of the client of %(key)s are no longer trusted.")
    if row.trusted:
        message = _("Whom the client of %(key)s names in plain headers is trusted.")
    feedback.done(request, message, key=row)
    return redirect("dashboard:gateway", row.app_id)


@access.admin_action(all_cells=True, token=False)
@sensitive_variables("secret")
def new_key(request: HttpRequest, app: int) -> HttpResponse:
    """Creates a key for a chat client, which only this answer shows."""
    row, sent = _active_app(request, app), request.POST
    user, label = sent.get("user", "").strip(), typed_label(request)
    kind = sent.get("kind", "")
    try:
        if kind == "bound" and not user:
            raise ApiError(400, "invalid_user", _("Say whose memory the key opens."))
        if user and kind != "bound":
            raise ApiError(400, "invalid_user", _("Choose “for one user”, or leave this empty."))
        check_external_id(user)
    except ApiError as error:
        typed = {"kind": kind, "label": label, "user": user}
        return show.render(request, app, 422, key_sent=typed, user_problem=str(error.detail))
    bound = user if kind == "bound" else ""
    made, secret = ApiKey.issue(row, label, bound, trusted=kind == "trusted")
    return show.render(request, app, secret=secret, made=made)


urls = [
    path("apps/<int:app>/gateway/", access.form(show, save), name="gateway"),
    path("apps/<int:app>/gateway/test/", access.form(show, test), name="gateway-test"),
    path("apps/<int:app>/gateway/close/", close, name="gateway-close"),
    path("apps/<int:app>/gateway/keys/", access.form(show, new_key), name="gateway-key"),
    path("keys/<int:key>/trust/", trust, name="trust-key"),
]
