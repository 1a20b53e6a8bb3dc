"""Decorators of views: who may see and do what; the view gets the rows that its address names."""

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
CELL = "cell"  # of the session
MAX_DIGITS = 19  # of an id


def form(show: Any, save: View) -> View:
    """One address of two views: the page with the form, and the action that it sends."""

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
    """Guards a view, or returns the decorator that does; its ``render`` is the unguarded view.
    ``all_cells``: it shows what all cells share. ``token`` False: an action whose form need not say
    what it saw (``dashboard.state_tokens``)."""
    if view is None:
        return partial(_guarded, permission, methods, all_cells=all_cells, token=token)

    @wraps(view)
    def checked(request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        if not request.user.has_perm(permission):
            raise PermissionDenied
        cell = cells.entered(cells.SHARED) if all_cells else entered_cell(request, kwargs)
        # Whom an operator may see is asked of every address; it may be many end users at once.
        with all_users(), cell:
            if is_away():
                text = _("The database that holds this does not answer. Try again soon.")
                feedback.refused(request, text)
                return redirect("dashboard:home")
            with _days_of(rows := _fetched(request, kwargs)):
                answer = _decided(view, request, rows, token=token)
        # A browser keeps no copy: the way back shows what is so now, whole and not the part that
        # a script fetched from the same address, and after signing out it shows nothing.
        patch_cache_control(answer, private=True, no_store=True)
        return answer

    allowed = require_http_methods(methods)(checked)

    @wraps(view)
    def guarded(request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        if request.user.is_authenticated:
            return allowed(request, **kwargs)
        return _sign_in(request)

    guarded.permission, guarded.render = permission, view  # type: ignore[attr-defined]
    return guarded


# A page or fragment to look at, for everyone with a role.
page = partial(_guarded, LOOK, GET)
# What is asked in words that no address should hold, and changes nothing; for everyone with a role.
question = partial(_guarded, LOOK, POST, token=False)
# A correction, by reviewers and admins.
action = partial(_guarded, CORRECT, POST)
# What only admins may look at.
admin_page = partial(_guarded, ADMINISTER, GET)
# What can't be undone, or concerns keys and jobs, by admins.
admin_action = partial(_guarded, ADMINISTER, POST)


def _decided(
    view: View, request: HttpRequest, rows: dict[str, Any], *, token: bool
) -> HttpResponseBase:
    """Calls the view. An action is not done, and a page says why, where rows are no longer as its
    form saw them, or the form does not say what it saw, or a verb refuses."""
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


def _sign_in(request: HttpRequest) -> HttpResponseBase:
    """Redirects to the sign-in form, which leads back; after an action to the page of its form."""
    if request.method in ("GET", "HEAD"):
        return redirect_to_login(request.get_full_path())
    messages.error(request, _("You were signed out before this was done. Please do it again."))
    return redirect_to_login(feedback.page_of(request, asked=False))


def _days_of(rows: dict[str, Any]) -> AbstractContextManager[None]:
    """Sets the time zone: that of the end user of the address, else the server's."""
    row = next(iter(rows[name] for name in ("end_user", "person", "memory") if name in rows), None)
    end_user = row if isinstance(row, EndUser) else getattr(row, "end_user", None)
    return timezone.override(end_user.zone if end_user else None)


def _fetched(request: HttpRequest, named: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a view: ``person``, ``memory`` or ``end_user`` instead of the ids in the
    address. Http404 where there is none that this operator may see; ``request.gone`` says which."""
    if "user" not in named:
        return named
    end_user = get_object_or_404(end_users_of(request), pk=named.pop("user"))
    rows: dict[str, Any] = {}
    for name, row, get in (("contact", "person", standing), ("memory", "memory", get_memory)):
        if name in named:
            request.gone = name  # type: ignore[attr-defined]
            rows[row] = get(end_user, named.pop(name))
    request.gone = ""  # type: ignore[attr-defined]
    return named | (rows or {"end_user": end_user})


@contextmanager
def entered_cell(request: HttpRequest, named: Mapping[str, Any]) -> Iterator[None]:
    """Enters the cell that a page shows; ``named`` is what its address names."""
    if not cells.several():
        yield
        return
    # ``?user=`` narrows a queue to an end user.
    user = named.get("user") or next(iter(valid_numbers([request.GET.get("user", "")])), None)
    with cells.entered(placement.cell_of(user) if user else _chosen_cell(request)):
        yield


def _chosen_cell(request: HttpRequest) -> str:
    """The cell that was chosen; the first that answers where none was, or that one is away."""
    names = [row.name for row in Cell.objects.all() if row.name in cells.names()]
    wanted = request.session.get(CELL)
    first = [wanted] if wanted in names else []
    return next(
        (name for name in [*first, *reversed(names)] if not cells.is_away(name)), cells.SHARED
    )


def is_away() -> bool:
    """Whether the database of the current cell does not answer."""
    return cells.several() and cells.is_away(cells.current())


def cells_to_choose() -> list[tuple[str, bool]]:
    """All cells with whether their server does not answer; none where there is one cell."""
    names = cells.names() if cells.several() else ()
    return [(name, cells.is_away(name)) for name in names]


def apps_of(request: HttpRequest) -> Any:
    """The apps whose data this person may see."""
    apps = App.objects.order_by("name")
    limit = getattr(request.user, "operator", None)
    return apps.filter(operators=limit) if limit is not None else apps


def end_users_of(request: HttpRequest) -> Any:
    """The end users whom this person may see: of apps that are not archived."""
    users = EndUser.objects.select_related("app").filter(app__archived_at=None)
    limit = getattr(request.user, "operator", None)
    if limit is None:
        return users
    if cells.several():  # which apps these are, a cell does not know
        return users.filter(app__in=list(apps_of(request).values_list("pk", flat=True)))
    return users.filter(app__operators=limit)


def get_contact(end_user: EndUser, pk: UUID) -> Contact:
    """A contact of this end user, merged ones included; Http404."""
    contact = get_object_or_404(Contact.objects.of(end_user).light(), pk=pk)
    contact.end_user = end_user
    return contact


def chosen_contact(end_user: EndUser, sent: str) -> Contact | None:
    """The contact whose id a form sent; None where it sent none; Http404 for a stranger's."""
    ids = valid_ids([sent])
    return get_contact(end_user, ids[0]) if ids else None


def standing(end_user: EndUser, pk: UUID) -> Contact:
    """A contact of this end user, for a merged one the survivor; Http404."""
    contact = get_contact(end_user, pk)
    survivor = store.survivor(end_user, pk) if contact.merged_into_id else contact
    if survivor is None:
        raise Http404
    return survivor


def get_memory(end_user: EndUser, pk: UUID) -> Memory:
    """A memory of this end user; Http404."""
    memory = get_object_or_404(Memory.objects.of(end_user), pk=pk)
    memory.end_user = end_user
    return memory


def valid_ids(values: Iterable[str]) -> list[UUID]:
    """The UUIDs among what a form sent, each once."""
    ids: dict[UUID, None] = {}
    for value in values:
        with suppress(ValueError):
            ids[UUID(value)] = None
    return list(ids)


def valid_numbers(values: Iterable[str]) -> list[int]:
    """The ids that are numbers among what was sent."""
    return [int(value) for value in values if value.isdecimal() and len(value) < MAX_DIGITS]


def actor(request: HttpRequest) -> str:
    """How a Change names this person."""
    return f"operator:{request.user.get_username()}"


def erased_by(request: HttpRequest) -> By:
    """Who erases, for whom: as the form that asks before it is done says."""
    asked = request.POST.get("asked_by", "")
    return By(actor(request), asked if asked in ASKERS else "")


def target(request: HttpRequest) -> str | None:
    """The id of the part of a page that a script asks for."""
    return HtmxDetails(request).target


def wants_part(request: HttpRequest) -> bool:
    """Whether a script asks for a part of the page, not for a boosted link or the way back."""
    asked = HtmxDetails(request)
    return bool(asked) and not asked.boosted and not asked.history_restore_request
