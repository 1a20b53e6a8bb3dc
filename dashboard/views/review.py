"""Decisions that wait for a person: who is one person, which value is right, what is about whom."""

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

_CLAIMED = re.compile(
    r"(contacts\.suggestion|memories\.link|memories\.edge|contacts\.contact):[\w-]{1,36}"
)
NEXT_SHOWN = 12  # of the queue beside the pair in hand
# What each page shows.
QUEUES = {
    "merges": ["merges"],
    "links": ["links"],
    "conflicts": ["conflicts", "contradictions"],
}


def _queue_page(
    request: HttpRequest,
    template: str,
    first: Callable[[QuerySet[EndUser], int], Iterable[Any]],
    people: Callable[[Any], Iterable[Contact]],
    at_hand: Callable[[Any], dict[str, Any]] = lambda _at: {},
) -> HttpResponse:
    """The ``first`` rows of a queue, of all end users or of the one that ``?user=`` names; ``at_hand``
    is shown of the one that ``?at=`` names, else of the very first."""
    everybody = access.end_users_of(request)
    wanted = access.valid_numbers([request.GET.get("user", "")])
    users = everybody.filter(pk__in=wanted) if wanted else everybody
    chosen = users.first() if wanted else None
    queue = list(first(users, NEXT_SHOWN + 1))
    at_first = queue[0] if queue else None
    at = next((one for one in queue if str(one.pk) == request.GET.get("at", "")), at_first)
    after = [*queue[queue.index(at) + 1 :], *queue][0] if at else None
    following = after if after != at else None
    asked = {"user": request.GET.get("user", ""), "at": following.pk if following else ""}
    query = urlencode({name: value for name, value in asked.items() if value})
    tell_apart(person for one in queue for person in people(one))
    waiting = queries.waiting_for(everybody, QUEUES[template]) | ({chosen} if chosen else set())
    queues = queries.queues(users)
    of_page = {name: queues[name] for name in QUEUES[template]}
    context = {
        "at": at,
        "following": following,
        "next": f"{request.path}?{query}" if query else request.path,
        "claims": queries.claims_of(queue),
        "queue": queue,
        "counts": queries.capped(queues),
        "elsewhere": [] if queue or chosen else queries.elsewhere(of_page),
        "chosen": chosen,
        "waiting": sorted(waiting, key=lambda one: (one.external_id, one.pk)),
        **(at_hand(at) if at else {}),
    }
    return render(request, f"review/{template}.html", context)


@access.page
def review(request: HttpRequest) -> HttpResponse:
    """The merge suggestion that waits longest for a decision, with the queue beside it."""
    return _queue_page(
        request,
        "merges",
        lambda users, most: queries.open_suggestions(users)[:most],
        lambda one: (one.first, one.second),
        lambda at: _pair(request, at.end_user, at.first, at.second, at),
    )


@access.page
def conflicts(request: HttpRequest) -> HttpResponse:
    """Values of a person, and memories, of which only one may be true, one after the other."""
    return _queue_page(
        request,
        "conflicts",
        lambda users, most: queries.in_doubt(users, most, language_of()),
        lambda one: one.people,
    )


@access.page
def links(request: HttpRequest) -> HttpResponse:
    """Memories that may be about somebody else, one after the other."""
    return _queue_page(
        request,
        "links",
        lambda users, most: queries.doubtful_links(users)[:most],
        lambda one: [one.contact],
        queries.beside_link,
    )


@access.page
def compare(request: HttpRequest, end_user: EndUser, one: UUID, other: UUID) -> HttpResponse:
    """Any two people beside each other, whether suggested or not."""
    left, right = access.get_contact(end_user, one), access.get_contact(end_user, other)
    if left.pk == right.pk or left.merged_into_id or right.merged_into_id:
        feedback.refused(request, _("These two are one person already."))
        return redirect("dashboard:contact", end_user.pk, left.merged_into_id or left.pk)
    smaller, larger = sorted((left.pk, right.pk))
    known = Suggestion.objects.of(end_user).filter(first=smaller, second=larger).first()
    context = _pair(request, end_user, left, right, known)
    tell_apart([left, right])
    return render(request, "review/compare.html", context | {"at": known})


def _pair(
    request: HttpRequest,
    end_user: EndUser,
    left: Contact,
    right: Contact,
    suggestion: Suggestion | None,
) -> dict[str, Any]:
    """Two people as the comparison shows them, who stays on the left."""
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


# Before the key of an attribute of which something is chosen, and what can be: a value, all of
# both, or nothing yet.
VALUE, RIGHT, BOTH = "value:", "right:", "both"


def _choice(request: HttpRequest, stays: Contact, goes: Contact) -> Choice:
    """What was chosen in the comparison; all of both where nothing was."""
    sent = request.POST
    if "chosen" not in sent:
        return AS_IT_IS
    called = {*stays.aliases, goes.name, *goes.aliases}
    chosen = {name.removeprefix(VALUE): str(what) for name, what in sent.items()
              if name.startswith(VALUE)}  # fmt: skip
    relationship = sent.get("relationship")
    return Choice(
        values={key: what.removeprefix(RIGHT) for key, what in chosen.items()
                if what.startswith(RIGHT)},
        both=[key for key, what in chosen.items() if what == BOTH and key in stays.attributes],
        relationship=relationship if relationship in (stays.relationship, goes.relationship) else None,
        without=called - {*sent.getlist("alias")},
    )  # fmt: skip


@access.action(token=False)
def preview(request: HttpRequest, end_user: EndUser, one: UUID, other: UUID) -> HttpResponse:
    """The card after a merge with what is chosen: the part of the page."""
    stays, goes = access.get_contact(end_user, one), access.get_contact(end_user, other)
    choice = _choice(request, stays, goes)
    card = queries.preview(goes, stays, access.actor(request), choice)
    sides = {"stays": {"contact": stays}, "goes": {"contact": goes}}
    context = {"end_user": end_user, **sides, "preview": card}
    return render(request, "review/_preview.html", context)


@access.action
def decide(request: HttpRequest, end_user: EndUser, one: UUID, other: UUID) -> HttpResponse:
    """Merges ``other`` into ``one``, keeps them apart, or puts the question off."""
    stays, goes = access.get_contact(end_user, one), access.get_contact(end_user, other)
    names = {"one": stays.name, "other": goes.name}
    by = {"actor": access.actor(request), "why": request.POST.get("why", "")}
    match request.POST.get("decision"):
        case "merge":
            choice = _choice(request, stays, goes)
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
    """Says of all pairs chosen in the queue that they are two people each."""
    actor = access.actor(request)
    _each(
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
    """Confirms all links chosen in the queue, or says of all that they are wrong."""
    actor = access.actor(request)

    def confirm(link: Link) -> Change | None:
        return review_links.confirm(link.end_user, link.pk, actor=actor)

    def unlink(link: Link) -> Change | None:
        return edit_memories.unlink(link.end_user, link.memory_id, link.contact_id, actor=actor)

    right = ngettext_lazy("%(n)d link is right.", "%(n)d links are right.", "n")
    wrong = ngettext_lazy("%(n)d link was wrong.", "%(n)d links were wrong.", "n")
    verb, message = (confirm, right) if request.POST.get("decision") == "right" else (unlink, wrong)
    ids = request.POST.getlist("link")
    _each(request, ids, queries.doubtful_links, verb, message, _("Choose links first."))
    return feedback.back(request, "dashboard:links")


def _each(
    request: HttpRequest,
    sent: Sequence[str],
    waiting: Callable[[QuerySet[EndUser]], QuerySet],
    verb: Callable[[Any], Change | None],
    message: Any,
    missing: str,
) -> None:
    """Calls the verb with every row whose id was ``sent``, or with none where one refuses."""
    ids = access.valid_numbers(sent)[: NEXT_SHOWN + 1]
    made: dict[EndUser, list[Change | None]] = {}
    with atomic():
        for row in waiting(access.end_users_of(request)).filter(pk__in=ids):
            made.setdefault(row.end_user, []).append(verb(row))
    for changes in made.values():
        feedback.done(request, message, *changes, n=len(changes))
    if not ids:
        feedback.refused(request, missing)


@access.action
def settle(request: HttpRequest, end_user: EndUser, edge: int) -> HttpResponse:
    """Keeps the one of two memories that is true, or both."""
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
    """Confirms that a memory is about a person, says that it is not, or gives it to another."""
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
    """Claims a row of the queue for this operator, or leaves it."""
    what, operator = request.POST.get("what", ""), request.user.get_username()
    if not _CLAIMED.fullmatch(what):
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
