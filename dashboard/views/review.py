"""Pages of the review queues: duplicates, contradictions, and links that may be wrong."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import ngettext_lazy

from accounts.cells import atomic
from accounts.models import Change, EndUser
from contacts.merge import AS_IT_IS, Choice, not_the_same, put_off
from contacts.models import Contact, Suggestion
from dashboard import access, feedback
from dashboard.queries import review as queries
from dashboard.queries.contacts import tell_apart
from dashboard.words import language_of
from memories.corrections import edit_edges, edit_memories, merge_contacts, review_links
from memories.models import Claim, Link

_CLAIM_NAME = re.compile(
    r"(contacts\.suggestion|memories\.link|memories\.edge|contacts\.contact):[\w-]{1,36}"
)
NEXT_SHOWN = 12  # rows of the queue beside the one to decide
# The queues that each page shows.
QUEUES = {"merges": ["merges"], "links": ["links"], "conflicts": ["conflicts", "contradictions"]}


def _queue_page(
    request: HttpRequest,
    template: str,
    read: Callable[[QuerySet[EndUser], int], Iterable[Any]],
    people: Callable[[Any], Iterable[Contact]],
    details: Callable[[Any], dict[str, Any]] = lambda _row: {},
) -> HttpResponse:
    """Shows the rows that ``read`` returns, of all end users or the one in ``?user=``, with
    ``details`` of the row in ``?at=``, else of the first. ``people`` returns those of a row."""
    visible_users = access.end_users_of(request)
    ids = access.valid_numbers([request.GET.get("user", "")])
    users = visible_users.filter(pk__in=ids) if ids else visible_users
    chosen = users.first() if ids else None
    queue = list(read(users, NEXT_SHOWN + 1))
    first = queue[0] if queue else None
    row = next((one for one in queue if str(one.pk) == request.GET.get("at", "")), first)
    next_row = [*queue[queue.index(row) + 1 :], *queue][0] if row else None
    following = next_row if next_row != row else None
    asked = {"user": request.GET.get("user", ""), "at": following.pk if following else ""}
    query = urlencode({name: value for name, value in asked.items() if value})
    tell_apart(person for one in queue for person in people(one))
    waiting = queries.waiting_for(visible_users, QUEUES[template]) | ({chosen} if chosen else set())
    queues = queries.queues(users)
    of_page = {name: queues[name] for name in QUEUES[template]}
    context = {
        "at": row,
        "following": following,
        "next": f"{request.path}?{query}" if query else request.path,
        "claims": queries.claims_of(queue),
        "queue": queue,
        "counts": queries.capped(queues),
        "elsewhere": [] if queue or chosen else queries.elsewhere(of_page),
        "chosen": chosen,
        "waiting": sorted(waiting, key=lambda one: (one.external_id, one.pk)),
        **(details(row) if row else {}),
    }
    return render(request, f"review/{template}.html", context)


@access.page
def review(request: HttpRequest) -> HttpResponse:
    """The page of merge suggestions: one to decide, the most probable first, and the queue."""
    return _queue_page(
        request,
        "merges",
        lambda users, most: queries.open_suggestions(users)[:most],
        lambda one: (one.first, one.second),
        lambda at: _comparison(request, at.end_user, at.first, at.second, at),
    )


@access.page
def conflicts(request: HttpRequest) -> HttpResponse:
    """The page of contradictions: values of a person, or memories, of which one can be true."""
    return _queue_page(
        request,
        "conflicts",
        lambda users, most: queries.open_contradictions(users, most, language_of()),
        lambda one: one.people,
    )


@access.page
def links(request: HttpRequest) -> HttpResponse:
    """The page of links to memories that may be about somebody else."""
    return _queue_page(
        request,
        "links",
        lambda users, most: queries.doubtful_links(users)[:most],
        lambda one: [one.contact],
        queries.beside_link,
    )


@access.page
def compare(request: HttpRequest, end_user: EndUser, one: UUID, other: UUID) -> HttpResponse:
    """The page that compares any two people, whether or not a merge is suggested."""
    left, right = access.get_contact(end_user, one), access.get_contact(end_user, other)
    if left.pk == right.pk or left.merged_into_id or right.merged_into_id:
        feedback.refused(request, _("These two are one person already."))
        return redirect("dashboard:contact", end_user.pk, left.merged_into_id or left.pk)
    smaller, larger = sorted((left.pk, right.pk))
    suggestion = Suggestion.objects.of(end_user).filter(first=smaller, second=larger).first()
    context = _comparison(request, end_user, left, right, suggestion)
    tell_apart([left, right])
    return render(request, "review/compare.html", context | {"at": suggestion})


def _comparison(
    request: HttpRequest,
    end_user: EndUser,
    left: Contact,
    right: Contact,
    suggestion: Suggestion | None,
) -> dict[str, Any]:
    """Returns the two people as the comparison shows them, the one who stays on the left."""
    sides = [queries.side(left), queries.side(right)]
    fuller = max(sides, key=lambda side: (side["memory_count"], side["contact"].mention_count))
    keep = request.GET.get("keep", "")
    stays = next((side for side in sides if str(side["contact"].pk) == keep), fuller)
    goes = next(side for side in sides if side is not stays)
    staying, going = stays["contact"], goes["contact"]
    staying.end_user = going.end_user = end_user
    return {
        "end_user": end_user,
        "stays": stays,
        "goes": goes,
        "rows": (rows := queries.beside(staying, going, language_of())),
        "evidence": queries.evidence(suggestion, rows) if suggestion else [],
        "preview": queries.preview(going, staying, access.actor(request)),
    }


# VALUE begins the name of a field that chooses for an attribute. RIGHT begins a chosen value, BOTH
# chooses all values of both; anything else leaves it open.
VALUE, RIGHT, BOTH = "value:", "right:", "both"


def _chosen(request: HttpRequest, stays: Contact, goes: Contact) -> Choice:
    """Returns what was chosen in the comparison; everything of both people if nothing was."""
    sent = request.POST
    if "chosen" not in sent:
        return AS_IT_IS
    names = {*stays.aliases, goes.name, *goes.aliases}
    choices = {name.removeprefix(VALUE): str(what) for name, what in sent.items()
              if name.startswith(VALUE)}  # fmt: skip
    relationship = sent.get("relationship")
    return Choice(
        values={key: what.removeprefix(RIGHT) for key, what in choices.items()
                if what.startswith(RIGHT)},
        both=[key for key, what in choices.items() if what == BOTH and key in stays.attributes],
        relationship=relationship if relationship in (stays.relationship, goes.relationship) else None,
        without=names - {*sent.getlist("alias")},
    )  # fmt: skip


@access.action(token=False)
def preview(request: HttpRequest, end_user: EndUser, one: UUID, other: UUID) -> HttpResponse:
    """Shows the card that a merge with these choices would give: a part of the page."""
    stays, goes = access.get_contact(end_user, one), access.get_contact(end_user, other)
    choice = _chosen(request, stays, goes)
    card = queries.preview(goes, stays, access.actor(request), choice)
    sides = {"stays": {"contact": stays}, "goes": {"contact": goes}}
    context = {"end_user": end_user, **sides, "preview": card}
    return render(request, "review/_preview.html", context)


@access.action
def decide(request: HttpRequest, end_user: EndUser, one: UUID, other: UUID) -> HttpResponse:
    """Merges ``other`` into ``one``, marks them as different, or postpones the decision."""
    stays, goes = access.get_contact(end_user, one), access.get_contact(end_user, other)
    names = {"one": stays.name, "other": goes.name}
    by = {"actor": access.actor(request), "why": request.POST.get("why", "")}
    match request.POST.get("decision"):
        case "merge":
            choice = _chosen(request, stays, goes)
            change = merge_contacts.merge(end_user, goes.pk, stays.pk, choice=choice, **by)
            message = _("%(other)s and %(one)s are one person now.")
            feedback.done(request, message, change, **names)
        case "different":
            change = not_the_same(end_user, goes.pk, stays.pk, **by)
            message = _("%(one)s and %(other)s stay two people. This is not asked again.")
            feedback.done(request, message, change, **names)
        case "later":
            put_off(end_user, stays.pk, goes.pk, actor=by["actor"])
            feedback.done(request, _("Moved to the end of the queue."))
        case _:
            feedback.refused(request, _("Choose merge, not the same, or later."))
    return feedback.back(request, "dashboard:review")


@access.action
def decide_many(request: HttpRequest) -> HttpResponse:
    """Marks all pairs chosen in the queue as two different people each."""
    actor = access.actor(request)
    _apply_to_rows(
        request,
        request.POST.getlist("pair"),
        queries.open_suggestions,
        lambda pair: not_the_same(pair.end_user, pair.first_id, pair.second_id, actor=actor),
        ngettext_lazy("%(n)d pair stays two people.", "%(n)d pairs stay two people.", "n"),
        _("Choose pairs first."),
    )
    return feedback.back(request, "dashboard:review")


@access.action
def decide_links(request: HttpRequest) -> HttpResponse:
    """Confirms all links chosen in the queue, or marks all as wrong."""
    actor = access.actor(request)

    def confirm(link: Link) -> Change | None:
        return review_links.confirm(link.end_user, link.pk, actor=actor)

    def unlink(link: Link) -> Change | None:
        return edit_memories.unlink(link.end_user, link.memory_id, link.contact_id, actor=actor)

    right = ngettext_lazy("%(n)d link is right.", "%(n)d links are right.", "n")
    wrong = ngettext_lazy("%(n)d link was wrong.", "%(n)d links were wrong.", "n")
    verb, message = (confirm, right) if request.POST.get("decision") == "right" else (unlink, wrong)
    ids = request.POST.getlist("link")
    _apply_to_rows(request, ids, queries.doubtful_links, verb, message, _("Choose links first."))
    return feedback.back(request, "dashboard:links")


def _apply_to_rows(
    request: HttpRequest,
    sent: Sequence[str],
    queue_of: Callable[[QuerySet[EndUser]], QuerySet],
    verb: Callable[[Any], Change | None],
    message: Any,
    none_chosen: str,
) -> None:
    """Calls the verb with every row of the queue whose id was ``sent``, or none if one refuses."""
    ids = access.valid_numbers(sent)[: NEXT_SHOWN + 1]
    changes_by_user: dict[EndUser, list[Change | None]] = {}
    with atomic():
        for row in queue_of(access.end_users_of(request)).filter(pk__in=ids):
            changes_by_user.setdefault(row.end_user, []).append(verb(row))
    for changes in changes_by_user.values():
        feedback.done(request, message, *changes, n=len(changes))
    if not ids:
        feedback.refused(request, none_chosen)


@access.action
def settle(request: HttpRequest, end_user: EndUser, edge: int) -> HttpResponse:
    """Records which of two memories is true, or that both are."""
    sent, actor = request.POST.get("right", ""), access.actor(request)
    try:
        right = None if sent == BOTH else UUID(sent)
        change = edit_edges.settle(end_user, edge, right, actor=actor)
        message = _("Both stand.") if right is None else _("The other is no longer true.")
        feedback.done(request, message, change)
    except ValueError:
        feedback.refused(request, _("Choose what is true."))
    return feedback.back(request, "dashboard:conflicts")


@access.action
def decide_link(request: HttpRequest, end_user: EndUser, link: int) -> HttpResponse:
    """Confirms that a memory is about a person, unlinks it, or moves it to another person."""
    row = get_object_or_404(Link.objects.of(end_user).select_related("contact"), pk=link)
    name, actor = row.contact.name, access.actor(request)
    link_ends = (row.memory_id, row.contact_id)
    match request.POST.get("decision"):
        case "right":
            change = review_links.confirm(end_user, row.pk, actor=actor)
            feedback.done(request, _("Confirmed: it is about %(name)s."), change, name=name)
        case "wrong":
            change = edit_memories.unlink(end_user, *link_ends, actor=actor)
            feedback.done(request, _("Unlinked from %(name)s."), change, name=name)
        case "move":
            target = access.chosen_contact(end_user, request.POST.get("to", ""))
            if target is None:
                raise edit_memories.InvalidCorrection(_("Choose the person that it is about."))
            change = edit_memories.move(end_user, *link_ends, target.pk, actor=actor)
            feedback.done(request, _("Moved to %(name)s."), change, name=target.name)
        case _:
            feedback.refused(request, _("Choose right, wrong, or another person."))
    return feedback.back(request, "dashboard:links")


@access.action(token=False)
def claim(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    """Claims a row of the queue for this operator, or releases it."""
    what, operator = request.POST.get("what", ""), request.user.get_username()
    if not _CLAIM_NAME.fullmatch(what):
        feedback.refused(request, _("There is no such row in the queue."))
    elif request.POST.get("leave"):
        Claim.objects.of(end_user).filter(what=what, operator=operator).delete()
    elif (holder := queries.claim(end_user, what, operator)) != operator:
        feedback.refused(request, _("%(name)s is on this already."), name=holder)
    return feedback.back(request, "dashboard:review")


urls = [
    path("review/", review, name="review"),
    path("review/conflicts/", conflicts, name="conflicts"),
    path("review/links/", links, name="links"),
    path("u/<int:user>/claim/", claim, name="claim"),
    path("review/apart/", decide_many, name="decide-many"),
    path("review/links/decide/", decide_links, name="decide-links"),
    path("u/<int:user>/review/<uuid:one>/<uuid:other>/", compare, name="compare"),
    path("u/<int:user>/review/<uuid:one>/<uuid:other>/decide/", decide, name="decide"),
    path("u/<int:user>/review/<uuid:one>/<uuid:other>/preview/", preview, name="preview"),
    path("u/<int:user>/links/<int:link>/decide/", decide_link, name="decide-link"),
    path("u/<int:user>/edges/<int:edge>/settle/", settle, name="settle"),
]
