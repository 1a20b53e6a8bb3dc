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
from django.utils.translation import ngettext

from accounts.cells import atomic
from accounts.models import Change, EndUser
from contacts.merge import AS_IT_IS, Choice, not_the_same, put_off
from contacts.models import Contact, Suggestion
from dashboard import access, feedback
from dashboard.queries import review as queries
from dashboard.queries.contacts import tell_apart
from dashboard.words import language_of
from memories.corrections import edit_edges, edit_memories, merge_contacts, review_links
from memories.models import Link

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


def users_in_view(request: HttpRequest) -> tuple[Any, EndUser | None]:
    """The end users whose queue is shown, all visible or the one that ``?user=`` names, who is
    returned as well."""
    users = access.end_users_of(request)
    wanted = access.valid_numbers([request.GET.get("user", "")])
    if not wanted:
        return users, None
    one = users.filter(pk__in=wanted)
    return one, one.first()


def _queue_page(
    request: HttpRequest, template: str, shown: Sequence[Any], **context: Any
) -> HttpResponse:
    """A queue with what all have: how many wait in each, and for whom. ``shown`` are its rows."""
    users, chosen = users_in_view(request)
    queues = queries.queues(users)
    of_page = {name: queues[name] for name in QUEUES[template]}
    everybody = access.end_users_of(request)
    waiting = queries.waiting_for(everybody, QUEUES[template]) | ({chosen} if chosen else set())
    context |= {
        "claims": queries.claims_of(shown),
        "queue": shown,
        "counts": queries.capped(queues),
        "elsewhere": [] if shown or chosen else queries.elsewhere(of_page),
        "chosen": chosen,
        "waiting": sorted(waiting, key=lambda one: (one.external_id, one.pk)),
    }
    return render(request, f"review/{template}.html", context)


def _here(request: HttpRequest, **changes: str) -> str:
    """The address of this queue, for the same end user, with these values."""
    asked = {"user": request.GET.get("user", "")} | changes
    query = urlencode({name: value for name, value in asked.items() if value})
    return f"{request.path}?{query}" if query else request.path


def _in_hand(request: HttpRequest, waiting: QuerySet | Sequence) -> tuple[list[Any], Any]:
    """The first of a queue, and the one among them that ``?at=`` names, or the very first."""
    queue = list(waiting[: NEXT_SHOWN + 1])
    chosen = request.GET.get("at", "")
    return queue, next((one for one in queue if str(one.pk) == chosen), queue[0] if queue else None)


def _following(request: HttpRequest, queue: Sequence[Any], at: Any) -> dict[str, Any]:
    """Which of a queue comes after the one in hand, and the address of the page that shows it."""
    after = [*queue[queue.index(at) + 1 :], *queue][0] if at else None
    following = after if after != at else None
    return {
        "following": following,
        "next": _here(request, at=str(following.pk) if following else ""),
    }


@access.page
def review(request: HttpRequest) -> HttpResponse:
    """The merge suggestion that waits longest for a decision, with the queue beside it."""
    users, _chosen = users_in_view(request)
    queue, at = _in_hand(request, queries.open_suggestions(users))
    context: dict[str, Any] = {"at": at, "next": _here(request)}
    if at is not None:
        context |= _pair(request, at.end_user, at.first, at.second, at)
    tell_apart(person for one in queue for person in (one.first, one.second))
    return _queue_page(request, "merges", queue, **context)


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
    fuller = max(sides, key=lambda side: (side.memory_count, side.contact.mention_count))
    keep = request.GET.get("keep", "")
    stays = next((side for side in sides if str(side.contact.pk) == keep), fuller)
    goes = next(side for side in sides if side is not stays)
    stays.contact.end_user = goes.contact.end_user = end_user
    return {
        "end_user": end_user,
        "stays_pk": stays.contact.pk,
        "goes_pk": goes.contact.pk,
        "stays": stays,
        "goes": goes,
        "rows": (rows := queries.beside(stays.contact, goes.contact, language_of())),
        "evidence": queries.evidence(suggestion, rows) if suggestion else [],
        "preview": queries.preview(goes.contact, stays.contact, access.actor(request)),
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
    context = {"end_user": end_user, "stays_pk": one, "goes_pk": other, "preview": card}
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
    ids = access.valid_numbers(request.POST.getlist("pair"))
    users = access.end_users_of(request)
    pairs = queries.open_suggestions(users).filter(pk__in=ids[: NEXT_SHOWN + 1])
    actor = access.actor(request)
    if not ids:
        feedback.refused(request, _("Choose pairs first."))
    _each(
        request,
        pairs,
        lambda pair: not_the_same(pair.end_user, pair.first_id, pair.second_id, actor=actor),
        lambda n: ngettext("%(n)d pair stays two people.", "%(n)d pairs stay two people.", n),
    )
    return feedback.back(request, "dashboard:review")


def _each(
    request: HttpRequest,
    rows: Iterable[Any],
    verb: Callable[[Any], Change | None],
    message: Callable[[int], str],
) -> None:
    """Calls the verb with every row or, where one refuses, changes none. Says so with one Undo for
    each end user, whose changes they are."""
    made: dict[EndUser, list[Change | None]] = {}
    with atomic():
        for row in rows:
            made.setdefault(row.end_user, []).append(verb(row))
    for changes in made.values():
        feedback.done(request, message(len(changes)), *changes, n=len(changes))


@access.action
def decide_links(request: HttpRequest) -> HttpResponse:
    """Confirms all links chosen in the queue, or says of all that they are wrong."""
    ids = access.valid_numbers(request.POST.getlist("link"))[: NEXT_SHOWN + 1]
    right, actor = request.POST.get("decision") == "right", access.actor(request)
    waiting = queries.doubtful_links(access.end_users_of(request)).filter(pk__in=ids)

    def verb(link: Link) -> Change | None:
        if right:
            return review_links.confirm(link.end_user, link.pk, actor=actor)
        return edit_memories.unlink(link.end_user, link.memory_id, link.contact_id, actor=actor)

    def message(n: int) -> str:
        if right:
            return ngettext("%(n)d link is right.", "%(n)d links are right.", n)
        return ngettext("%(n)d link was wrong.", "%(n)d links were wrong.", n)

    if not ids:
        feedback.refused(request, _("Choose links first."))
    _each(request, waiting, verb, message)
    return feedback.back(request, "dashboard:links")


@access.page
def conflicts(request: HttpRequest) -> HttpResponse:
    """Values of a person, and memories, of which only one may be true, one after the other."""
    users, _chosen = users_in_view(request)
    queue, at = _in_hand(request, queries.in_doubt(users, NEXT_SHOWN + 1, language_of()))
    tell_apart(person for one in queue for person in one.people)
    return _queue_page(request, "conflicts", queue, at=at, **_following(request, queue, at))


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


@access.page
def links(request: HttpRequest) -> HttpResponse:
    """Memories that may be about somebody else, one after the other."""
    users, _chosen = users_in_view(request)
    queue, at = _in_hand(request, queries.doubtful_links(users))
    context: dict[str, Any] = {"at": at, **_following(request, queue, at)}
    if at is not None:
        person = at.contact
        same_name = Contact.objects.of(at.end_user).standing().light()
        twins = list(same_name.filter(name_key=person.name_key).exclude(pk=person.pk))
        context |= {
            "around": queries.messages_around(at),
            "names": [person.name, *person.aliases],
            "twins": twins,
        }
        tell_apart([*twins, *(one.contact for one in queue)])
    return _queue_page(request, "links", queue, **context)


@access.action
def decide_link(request: HttpRequest, end_user: EndUser, link: int) -> HttpResponse:
    """Confirms that a memory is about a person, says that it is not, or gives it to another."""
    row = get_object_or_404(Link.objects.of(end_user).select_related("contact"), pk=link)
    name, actor, link_ends = (
        row.contact.name,
        access.actor(request),
        (row.memory_id, row.contact_id),
    )
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
        queries.leave_claim(end_user, what, operator)
    elif (taken := queries.take_claim(end_user, what, operator)).operator != operator:
        feedback.refused(request, _("%(name)s is on this already."), name=taken.operator)
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
