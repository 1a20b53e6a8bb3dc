"""Who may see and do what: every view is made by one of these, and gets the rows of its address."""

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from functools import wraps
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

from accounts import cells
from accounts.cells import atomic
from accounts.models import App, EndUser
from accounts.scope import all_users
from contacts import store
from contacts.models import Contact
from dashboard import cell_picker, changed_page, feedback, state_tokens
from dashboard.cell_picker import MAX_DIGITS
from dashboard.permissions import ADMINISTER, CORRECT, LOOK
from memories.models import Memory

View = Callable[..., HttpResponseBase]


def page(view: View) -> View:
    """A page or fragment to look at: GET, for everyone with a role."""
    return _guarded(view, LOOK, ["GET", "HEAD"])


def question(view: View) -> View:
    """What is asked in words that no address should hold, and changes nothing: POST, for
    everyone with a role."""
    return _guarded(needs_no_token(view), LOOK, ["POST"])


def action(view: View) -> View:
    """A correction: POST, for reviewers and admins."""
    return _guarded(view, CORRECT, ["POST"])


def admin_page(view: View) -> View:
    """A page that only admins may look at."""
    return _guarded(view, ADMINISTER, ["GET", "HEAD"])


def admin_action(view: View) -> View:
    """What can't be undone, or concerns keys and jobs: POST, for admins."""
    return _guarded(view, ADMINISTER, ["POST"])


def form(show: View, save: View) -> View:
    """One address of two views: the page with the form, and the action that it sends."""

    def either(request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        return (save if request.method == "POST" else show)(request, **kwargs)

    either.permission = show.permission  # type: ignore[attr-defined]
    return either


def _guarded(view: View, permission: str, methods: list[str]) -> View:
    @wraps(view)
    def checked(request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        if not request.user.has_perm(permission):
            raise PermissionDenied
        # Whom an operator may see is asked of every address; it may be many end users at once.
        with all_users(), _in_cell(view, request, kwargs):
            if cells.several() and cells.is_away(cells.current()):
                return _away(request)
            with _days_of(rows := _fetched(request, kwargs)):
                answer = _decided(view, request, rows)
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

    guarded.permission = permission  # type: ignore[attr-defined]
    return guarded


def _decided(view: View, request: HttpRequest, rows: dict[str, Any]) -> HttpResponseBase:
    """What the view answers or, where rows are no longer as the form saw them or it does not say
    what it saw, a page that says so: then nothing is done. Compared and done in one transaction."""
    if request.method != "POST":
        return view(request, **rows)
    if not state_tokens.carried(request):
        if getattr(view, "needs_no_token", False):
            return view(request, **rows)
        return changed_page.page(request, [])
    with atomic():
        changed = state_tokens.changed(request)
        if not changed:
            return view(request, **rows)
    return changed_page.page(request, changed)


def needs_no_token(view: View) -> View:
    """An action that overwrites nothing that its form showed, or compares by itself; made before
    it is guarded."""
    view.needs_no_token = True  # type: ignore[attr-defined]
    return view


def of_all_cells(view: View) -> View:
    """A view of what all cells share, made before it is guarded."""
    view.of_all_cells = True  # type: ignore[attr-defined]
    return view


def _in_cell(
    view: View, request: HttpRequest, named: dict[str, Any]
) -> AbstractContextManager[None]:
    if getattr(view, "of_all_cells", False):
        return cells.entered(cells.SHARED)
    return cell_picker.entered(request, named)


def _away(request: HttpRequest) -> HttpResponseBase:
    """To a page of a cell that answers."""
    feedback.refused(request, _("The database that holds this does not answer. Try again soon."))
    return redirect("dashboard:home")


def _sign_in(request: HttpRequest) -> HttpResponseBase:
    """To the form, and from there to the page: of an action, which a GET can't repeat, the page
    that it was done on."""
    if request.method in ("GET", "HEAD"):
        return redirect_to_login(request.get_full_path())
    messages.error(request, _("You were signed out before this was done. Please do it again."))
    return redirect_to_login(feedback.page_of(request, asked=False))


def _days_of(rows: dict[str, Any]) -> AbstractContextManager[None]:
    """What an address shows of an end user stands in that user's days, all else in the server's."""
    row = next(iter(rows[name] for name in ("end_user", "person", "memory") if name in rows), None)
    end_user = row if isinstance(row, EndUser) else getattr(row, "end_user", None)
    return timezone.override(end_user.zone if end_user else None)


def _fetched(request: HttpRequest, named: dict[str, Any]) -> dict[str, Any]:
    """The rows that an address names, instead of their ids: ``person`` for ``contact``,
    ``memory``, and ``end_user`` where it names neither, since they know whose they are.
    Http404 when there is none that this operator may see."""
    if "user" not in named:
        return named
    end_user = get_object_or_404(end_users_of(request), pk=named.pop("user"))
    rows: dict[str, Any] = {}
    for name, row, get in (("contact", "person", _standing), ("memory", "memory", get_memory)):
        if name in named:
            request.gone = name  # type: ignore[attr-defined]  # what the page of a 404 says is not here any more
            rows[row] = get(end_user, named.pop(name))
            request.gone = ""  # type: ignore[attr-defined]
    return named | (rows or {"end_user": end_user})


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


def _standing(end_user: EndUser, pk: UUID) -> Contact:
    """A contact of this end user, for a merged one the survivor; Http404."""
    contact = get_contact(end_user, pk)
    if contact.merged_into_id:
        survivor = store.survivor(end_user, pk)
        if survivor is None:
            raise Http404
        contact = survivor
        contact.end_user = end_user
    return contact


def get_memory(end_user: EndUser, pk: UUID) -> Memory:
    """A memory of this end user; Http404."""
    memory = get_object_or_404(Memory.objects.of(end_user), pk=pk)
    memory.end_user = end_user
    return memory


def valid_ids(values: Iterable[str]) -> list[UUID]:
    """The UUIDs among what a form sent, each once."""
    found = []
    for value in values:
        try:
            found.append(UUID(value))
        except ValueError:
            continue
    return list(dict.fromkeys(found))


def valid_numbers(values: Iterable[str]) -> list[int]:
    """The ids that are numbers among what was sent."""
    return [int(value) for value in values if value.isdecimal() and len(value) < MAX_DIGITS]


def actor(request: HttpRequest) -> str:
    """How a Change names this person."""
    return f"operator:{request.user.get_username()}"
