"""Pages of the people of an end user: the list, the map, and merging."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _

from accounts.models import EndUser
from contacts.merge import not_the_same
from contacts.models import Contact
from dashboard import access, feedback, pager, words
from dashboard.forms import typed
from dashboard.queries import contacts as queries
from dashboard.queries.people_map import people_map
from dashboard.views import contact, contact_memories
from understanding.names import GROUPS

MOST_APART = 12  # people marked as different at once: every pair of them is stored


@access.page
def contacts(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    """Lists the people of an end user, searched, filtered and sorted."""
    q, group, only = (typed(request, name) for name in ("q", "group", "only"))
    sort = request.GET.get("sort", "")
    sort = sort if sort in queries.SORTS else "recent"
    rows = queries.people(end_user, q, group, only)
    page = pager.page_of(request, rows, queries.SORTS[sort])
    is_complete = page.first and not page.next
    queries.tell_apart(page.rows)
    queries.describe(end_user, page.rows)
    context = {
        "end_user": end_user,
        "page": page,
        "asked": {"q": q, "group": group, "only": only, "sort": sort},
        "narrowed": bool(q or group or only),
        "groups": _groups(),
        "total": len(page.rows) if is_complete else queries.capped(rows),
        "most": queries.MOST,
    }
    template = "_list.html" if access.target(request) == "people" else "list.html"
    return render(request, f"contacts/{template}", context)


def _groups() -> list[tuple[str, str]]:
    """Returns the groups to filter by, with their names."""
    named = [(group, words.in_words(words.GROUPS, group)) for group in GROUPS]
    return [*named, (queries.NO_GROUP, _("Unknown"))]


@access.page
def contacts_map(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    """The page of who knows whom, as a drawing and as a list."""
    chosen = next(iter(access.valid_numbers([request.GET.get("group", "")])), None)
    drawn = people_map(end_user, chosen)
    queries.tell_apart(one.contact for _title, people in drawn["groups"] for one in people)
    context = {"end_user": end_user, "map": drawn, "chosen": chosen}
    return render(request, "contacts/map.html", context)


@access.action(token=False)
def merge_chosen(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    """Redirects to the comparison of two people chosen in the list."""
    chosen = access.valid_ids(request.POST.getlist("contact"))
    if len(chosen) != 2:
        feedback.refused(request, _("Choose exactly two people to merge."))
        return redirect("dashboard:contacts", end_user.pk)
    one, other = (access.get_contact(end_user, pk) for pk in chosen)
    return redirect("dashboard:compare", end_user.pk, one.pk, other.pk)


@access.action
def tell_apart(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    """Records that the people chosen in the list are different, each pair of them."""
    chosen = access.valid_ids(request.POST.getlist("contact"))
    if 2 <= len(chosen) <= MOST_APART:
        change = not_the_same(end_user, *chosen, actor=access.actor(request))
        message = _("These %(n)d stay different people. This is not asked again.")
        feedback.done(request, message, change, n=len(chosen))
    else:
        feedback.refused(request, _("Choose 2 to %(most)d people."), most=MOST_APART)
    return feedback.back(request, "dashboard:contacts", end_user.pk)


@access.page
def merge_with(request: HttpRequest, person: Contact) -> HttpResponse:
    """The page to choose a person to compare with another before a merge."""
    chosen = access.valid_ids(request.GET.getlist("person"))
    if chosen:
        other = access.get_contact(person.end_user, chosen[0])
        return redirect("dashboard:compare", person.end_user_id, person.pk, other.pk)
    context = {
        "end_user": person.end_user,
        "contact": person,
        **contact.picker(request, person.end_user, same=person),
    }
    return render(request, "contacts/merge.html", context)


urls = [
    path("u/<int:user>/people/", contacts, name="contacts"),
    path("u/<int:user>/people/map/", contacts_map, name="contacts_map"),
    path("u/<int:user>/people/merge/", merge_chosen, name="contacts_merge"),
    path("u/<int:user>/people/apart/", tell_apart, name="contacts_apart"),
    path("u/<int:user>/people/<uuid:contact>/merge/", merge_with, name="contact_merge"),
    *contact.urls,
    *contact_memories.urls,
]
