"""Decorators of views: they check what an operator may do and load the rows of the address."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial, wraps
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.cache import patch_cache_control
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods
from django_htmx.middleware import HtmxDetails

from accounts import cells, placement
from accounts.cells import atomic
from accounts.models import App, Cell, EndUser
from accounts.reasons import CodedError
from accounts.scope import all_users
from contacts import store
from contacts.models import Contact
from dashboard import feedback, state_tokens
from dashboard.models import ADMINISTER, CORRECT, LOOK
from dashboard.words import ASKERS
from memories.erasure.receipts import By
from memories.models import Memory

View = Callable[..., HttpResponseBase]
GET, POST = ("GET", "HEAD"), ("POST",)
CELL = "cell"  # key of the session
MAX_DIGITS = 19  # an id has fewer


def form(show: Any, save: View) -> View:
    """Returns one view for an address: ``save`` for POST, else ``show``, the page with the form."""

    def either(request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        return (save if request.method == "POST" else show)(request, **kwargs)

    either.permission = show.permission  # type: ignore[attr-defined]
    return either


def _guarded(
    permission: str,
    methods: tuple[str, ...],
    view: View | None = None,
    *,
    all_cells: bool = False,
    token: bool = True,
) -> Any:
    """Guards a view by permission and methods, or returns the decorator that does. The view gets
    rows, not ids; ``render`` is the view unguarded. ``all_cells``: it shows what all cells share.
    ``token`` False: an action whose form needs no token (``dashboard.state_tokens``)."""
    if view is None:
        return partial(_guarded, permission, methods, all_cells=all_cells, token=token)

    @wraps(view)
    def checked(request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        if not request.user.has_perm(permission):
            raise PermissionDenied
        cell = cells.entered(cells.SHARED) if all_cells else entered_cell(request, kwargs)
        # A page may show many end users; each view reads only those that the operator may see.
        with all_users(), cell:
            if is_away():
                text = _("The database that holds this does not answer. Try again soon.")
                feedback.refused(request, text)
                return redirect("dashboard:home")
            with _in_time_zone_of(rows := _loaded_rows(request, kwargs)):
                answer = _call_view(view, request, rows, token=token)
        # No copy in the browser: Back shows the current and whole page, not a part that a script
        # fetched from the same address, and after signing out it shows nothing.
        patch_cache_control(answer, private=True, no_store=True)
        return answer

    allowed = require_http_methods(methods)(checked)

    @wraps(view)
    def guarded(request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        if request.user.is_authenticated:
            return allowed(request, **kwargs)
        return _redirect_to_sign_in(request)

    guarded.permission, guarded.render = permission, view  # type: ignore[attr-defined]
    return guarded


# A page or fragment to look at, for everyone with a role.
page = partial(_guarded, LOOK, GET)
# A query whose text must not be in an address; changes nothing; for everyone with a role.
query_by_post = partial(_guarded, LOOK, POST, token=False)
# A correction, by reviewers and admins.
action = partial(_guarded, CORRECT, POST)
# A page that only admins may look at.
admin_page = partial(_guarded, ADMINISTER, GET)
# An action that can't be undone, or concerns keys and jobs, by admins.
admin_action = partial(_guarded, ADMINISTER, POST)


def _call_view(
    view: View, request: HttpRequest, rows: dict[str, Any], *, token: bool
) -> HttpResponseBase:
    """Calls the view. Refuses an action and shows why if rows differ from what its form showed, if
    the form carries no token, or if the verb refuses."""
    if request.method != "POST":
        return view(request, **rows)
    if token and not state_tokens.carried(request):
        return state_tokens.changed_page(request, [])
    try:
        with atomic() if state_tokens.carried(request) else nullcontext():
            changed = state_tokens.changed(request)
            if not changed:
                return view(request, **rows)
    except CodedError as error:
        feedback.refused(request, error.reason)
        return redirect(feedback.page_of(request))
    return state_tokens.changed_page(request, changed)


def _redirect_to_sign_in(request: HttpRequest) -> HttpResponseBase:
    """Redirects to the sign-in form, which leads back; after an action to the page of its form."""
    if request.method in ("GET", "HEAD"):
        return redirect_to_login(request.get_full_path())
    messages.error(request, _("You were signed out before this was done. Please do it again."))
    return redirect_to_login(feedback.page_of(request, asked=False))


def _in_time_zone_of(rows: dict[str, Any]) -> AbstractContextManager[None]:
    """Sets the time zone of the end user whom the address names, else the server's."""
    row = next(iter(rows[name] for name in ("end_user", "person", "memory") if name in rows), None)
    end_user = row if isinstance(row, EndUser) else getattr(row, "end_user", None)
    return timezone.override(end_user.zone if end_user else None)


def _loaded_rows(request: HttpRequest, arguments: dict[str, Any]) -> dict[str, Any]:
    """Returns a view's arguments: ``person``, ``memory`` or ``end_user`` instead of ids. Raises
    Http404 for a row that this operator may not see; ``request.gone`` says which."""
    if "user" not in arguments:
        return arguments
    end_user = get_object_or_404(end_users_of(request), pk=arguments.pop("user"))
    rows: dict[str, Any] = {}
    for name, key, get in (
        ("contact", "person", surviving_contact),
        ("memory", "memory", get_memory),
    ):
        if name in arguments:
            request.gone = name  # type: ignore[attr-defined]
            rows[key] = get(end_user, arguments.pop(name))
    request.gone = ""  # type: ignore[attr-defined]
    return arguments | (rows or {"end_user": end_user})


@contextmanager
def entered_cell(request: HttpRequest, named: Mapping[str, Any]) -> Iterator[None]:
    """Enters the cell of the end user in the address (or in ``?user=``), else the chosen cell."""
    if not cells.several():
        yield
        return
    # ``?user=`` narrows a queue to an end user.
    user = named.get("user") or next(iter(valid_numbers([request.GET.get("user", "")])), None)
    with cells.entered(placement.cell_of(user) if user else _chosen_cell(request)):
        yield


def _chosen_cell(request: HttpRequest) -> str:
    """Returns the cell chosen in this session, else (or if it is away) the last that answers."""
    names = [row.name for row in Cell.objects.all() if row.name in cells.names()]
    chosen = request.session.get(CELL)
    preferred = [chosen] if chosen in names else []
    return next(
        (name for name in [*preferred, *reversed(names)] if not cells.is_away(name)), cells.SHARED
    )


def is_away() -> bool:
    """Whether the database of the current cell does not answer."""
    return cells.several() and cells.is_away(cells.current())


def cells_to_choose() -> list[tuple[str, bool]]:
    """Returns all cells, each with whether its server does not answer; [] if there is one cell."""
    names = cells.names() if cells.several() else ()
    return [(name, cells.is_away(name)) for name in names]


def apps_of(request: HttpRequest) -> Any:
    """Returns the apps whose data this operator may see."""
    apps = App.objects.order_by("name")
    limit = getattr(request.user, "operator", None)
    return apps.filter(operators=limit) if limit is not None else apps


def end_users_of(request: HttpRequest) -> Any:
    """Returns the end users whom this operator may see, of apps that are not archived."""
    users = EndUser.objects.select_related("app").filter(app__archived_at=None)
    limit = getattr(request.user, "operator", None)
    if limit is None:
        return users
    if cells.several():  # a cell does not know which apps these are
        return users.filter(app__in=list(apps_of(request).values_list("pk", flat=True)))
    return users.filter(app__operators=limit)


def get_contact(end_user: EndUser, pk: UUID) -> Contact:
    """Returns a contact of this end user, also a merged one. Raises Http404."""
    contact = get_object_or_404(Contact.objects.of(end_user).light(), pk=pk)
    contact.end_user = end_user
    return contact


def chosen_contact(end_user: EndUser, sent: str) -> Contact | None:
    """Returns the contact whose id a form sent, or None. Raises Http404 for another user's."""
    ids = valid_ids([sent])
    return get_contact(end_user, ids[0]) if ids else None


def surviving_contact(end_user: EndUser, pk: UUID) -> Contact:
    """Returns a contact of this end user, for a merged one the survivor. Raises Http404."""
    contact = get_contact(end_user, pk)
    survivor = store.survivor(end_user, pk) if contact.merged_into_id else contact
    if survivor is None:
        raise Http404
    return survivor


def get_memory(end_user: EndUser, pk: UUID) -> Memory:
    """Returns a memory of this end user. Raises Http404."""
    memory = get_object_or_404(Memory.objects.of(end_user), pk=pk)
    memory.end_user = end_user
    return memory


def valid_ids(values: Iterable[str]) -> list[UUID]:
    """Returns the UUIDs among the strings that a form sent, each once, in their order."""
    ids: dict[UUID, None] = {}
    for value in values:
        with suppress(ValueError):
            ids[UUID(value)] = None
    return list(ids)


def valid_numbers(values: Iterable[str]) -> list[int]:
    """Returns the decimal numbers among these strings that are short enough to be ids."""
    return [int(value) for value in values if value.isdecimal() and len(value) < MAX_DIGITS]


def actor(request: HttpRequest) -> str:
    """Returns the name of this operator as the actor of changes."""
    return f"operator:{request.user.get_username()}"


def erased_by(request: HttpRequest) -> By:
    """Returns who erases, and who asked for it according to the confirmation form."""
    asked = request.POST.get("asked_by", "")
    return By(actor(request), asked if asked in ASKERS else "")


def target(request: HttpRequest) -> str | None:
    """Returns the id of the element that an htmx request replaces, None for other requests."""
    return HtmxDetails(request).target


def wants_part(request: HttpRequest) -> bool:
    """Whether htmx asks for a part of the page, not for a boosted link or the Back button."""
    asked = HtmxDetails(request)
    return bool(asked) and not asked.boosted and not asked.history_restore_request
