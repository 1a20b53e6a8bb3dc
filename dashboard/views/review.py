"""Decisions that wait for a person: who is one person, which value is right, what is about whom."""

from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _

from accounts.models import EndUser
from contacts.merge import InvalidMerge, not_the_same, put_off
from contacts.models import Contact, Suggestion
from dashboard import access, feedback
from dashboard.queries import review as queries
from dashboard.words import language_of
from memories.corrections import edit_memories, merge_contacts, review_links
from memories.models import Link

M = TypeVar("M", bound=Model)
NEXT_SHOWN = 12  # of the queue beside the pair in hand


def users_in_view(request: HttpRequest) -> Any:
    """The end users whose queue is shown: the one that ``?user=`` names, or all visible."""
    users = access.end_users_of(request)
    wanted = request.GET.get("user", "")
    return users.filter(pk=wanted) if wanted.isdecimal() else users


def _counts(users: Any) -> dict[str, int]:
    return queries.capped(queries.queues(users))


def _in_hand(request: HttpRequest, waiting: QuerySet[M]) -> tuple[list[M], M | None]:
    """The first of a queue, and the one among them that ``?at=`` names, or the very first."""
    queue = list(waiting[: NEXT_SHOWN + 1])
    chosen = request.GET.get("at", "")
    return queue, next((one for one in queue if str(one.pk) == chosen), queue[0] if queue else None)


@access.page
def review(request: HttpRequest) -> HttpResponse:
    """The merge suggestion that waits longest for a decision, with the queue beside it."""
    users = users_in_view(request)
    queue, at = _in_hand(request, queries.open_suggestions(users))
    context: dict[str, Any] = {"counts": _counts(users), "queue": queue, "at": at}
    if at is not None:
        context |= _pair(request, at.end_user, at.first, at.second, at)
    return render(request, "review/merges.html", context)


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
    return render(request, "review/compare.html", {"at": known, **context})


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
        "stays": stays,
        "goes": goes,
        "rows": queries.beside(stays.contact, goes.contact, language_of()),
        "evidence": queries.evidence(suggestion) if suggestion else [],
        "preview": queries.preview(goes.contact, stays.contact, access.actor(request)),
    }


@access.action
def decide(request: HttpRequest, end_user: EndUser, one: UUID, other: UUID) -> HttpResponse:
    """Merges ``other`` into ``one``, keeps them apart, or puts the question off."""
    stays, goes = access.get_contact(end_user, one), access.get_contact(end_user, other)
    names = {"one": feedback.apart(stays.name), "other": feedback.apart(goes.name)}
    actor, why = access.actor(request), request.POST.get("why", "")
    try:
        match request.POST.get("decision"):
            case "merge":
                change = merge_contacts.merge(end_user, goes.pk, stays.pk, actor=actor, why=why)
                feedback.done(
                    request, _("%(other)s and %(one)s are one person now.") % names, change
                )
            case "different":
                change = not_the_same(end_user, goes.pk, stays.pk, actor=actor, why=why)
                feedback.done(
                    request,
                    _("%(one)s and %(other)s stay two people. This is not asked again.") % names,
                    change,
                )
            case "later":
                put_off(end_user, stays.pk, goes.pk, actor=actor)
                feedback.done(request, _("Put at the end of the queue."))
            case _:
                feedback.refused(request, _("Choose merge, not the same, or later."))
    except InvalidMerge as error:
        feedback.refused(request, error.reason)
    return feedback.back(request, "dashboard:review")


@access.page
def conflicts(request: HttpRequest) -> HttpResponse:
    """People of whom two things are held that can't both be so."""
    users = users_in_view(request)
    rows = [
        (contact, queries.conflicts_of(contact, language_of()))
        for contact in queries.conflicts(users)[: queries.MOST // 4]
    ]
    context = {"counts": _counts(users), "rows": rows}
    return render(request, "review/conflicts.html", context)


@access.page
def links(request: HttpRequest) -> HttpResponse:
    """Memories that may be about somebody else, one after the other."""
    users = users_in_view(request)
    queue, at = _in_hand(request, queries.doubtful_links(users))
    context: dict[str, Any] = {"counts": _counts(users), "queue": queue, "at": at}
    if at is not None:
        after = [*queue[queue.index(at) + 1 :], *queue][0]
        following = after if after != at else None
        asked = request.GET.copy()
        asked["at"] = str(following.pk) if following else ""
        context |= {"following": following, "next": f"{request.path}?{asked.urlencode()}"}
        person = at.contact
        twins = Contact.objects.of(at.end_user).standing().light().filter(name_key=person.name_key)
        context |= {
            "around": queries.messages_around(at),
            "names": [person.name, *person.aliases],
            "twins": [twin for twin in twins if twin.pk != person.pk],
        }
    return render(request, "review/links.html", context)


@access.action
def decide_link(request: HttpRequest, end_user: EndUser, link: int) -> HttpResponse:
    """Confirms that a memory is about a person, says that it is not, or gives it to another."""
    row = get_object_or_404(Link.objects.of(end_user).select_related("contact"), pk=link)
    actor, name = access.actor(request), {"name": feedback.apart(row.contact.name)}
    try:
        match request.POST.get("decision"):
            case "right":
                change = review_links.confirm(end_user, row.pk, actor=actor)
                feedback.done(request, _("Confirmed: it is about %(name)s.") % name, change)
            case "wrong":
                change = edit_memories.unlink(end_user, row.memory_id, row.contact_id, actor=actor)
                feedback.done(request, _("It is not about %(name)s any more.") % name, change)
            case "move":
                target = access.chosen_contact(end_user, request.POST.get("to", ""))
                if target is None:
                    raise edit_memories.InvalidCorrection(_("Choose the person that it is about."))
                change = edit_memories.move(
                    end_user, row.memory_id, row.contact_id, target.pk, actor=actor
                )
                feedback.done(
                    request, _("Moved to %(name)s.") % {"name": feedback.apart(target.name)}, change
                )
            case _:
                feedback.refused(request, _("Choose right, wrong, or another person."))
    except edit_memories.InvalidCorrection as error:
        feedback.refused(request, error.reason)
    return feedback.back(request, "dashboard:links")


urls = [
    path("review/", review, name="review"),
    path("review/conflicts/", conflicts, name="conflicts"),
    path("review/links/", links, name="links"),
    path("u/<int:user>/review/<uuid:one>/<uuid:other>/", compare, name="compare"),
    path("u/<int:user>/review/<uuid:one>/<uuid:other>/decide/", decide, name="decide"),
    path("u/<int:user>/links/<int:link>/decide/", decide_link, name="decide-link"),
]
