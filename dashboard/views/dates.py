"""Important dates of an end user and their people: seen, stated, taken away, and as a feed."""

from datetime import date
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from accounts.models import EndUser
from contacts.attributes import YEARLY, label
from contacts.edit import UnknownContact
from contacts.important_dates import LUNAR, date_text, read, text
from contacts.models import Contact
from dashboard import access, feedback, words
from memories.api.calendar_feed import address
from memories.corrections import edit_dates
from memories.corrections.edit_dates import ImportantDate

MOST_PEOPLE = 500  # to choose from in the form
MAX_VALUE = 60


def shown(dates: list[ImportantDate], today: date) -> list[dict[str, Any]]:
    """Dates as rows of a page, in the reader's language."""
    language = words.language_of()
    return [
        {
            "id": one.id,
            "contact": one.contact,
            "kind": label(one.kind, language),
            "birthday": one.kind == "birthday",
            "said": text(one.day, language),
            # A lunar day, or 29 February, is kept on another one.
            "elsewhere": one.next_on is not None
            and (one.day.calendar == LUNAR or one.day.day != one.next_on.day),
            "on": date_text(one.next_on, today, language) if one.next_on else "",
            "days": (one.next_on - today).days if one.next_on else None,
            "years": one.years,
            "sources": one.sources,
        }
        for one in dates
    ]


@access.page
def show(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    """All dates, the next first; with the form to state one, and the feed."""
    return _page(request, end_user)


def _page(
    request: HttpRequest, end_user: EndUser, status: int = 200, **more: object
) -> HttpResponse:
    dates = edit_dates.dates_of(end_user)
    people = Contact.objects.of(end_user).standing().order_by("sort_key", "id")
    context = {
        "end_user": end_user,
        "dates": shown(dates, end_user.today),
        "people": people.values("pk", "name", "relationship")[:MOST_PEOPLE],
        "kinds": [label(kind, words.language_of()) for kind in YEARLY],
        **more,
    }
    return render(request, "users/dates.html", context, status=status)


@access.action
def save(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    """States a date; a value that is not exactly one day is refused."""
    sent = {name: request.POST.get(name, "").strip() for name in ("contact", "kind", "value")}
    person = access.chosen_contact(end_user, sent["contact"])
    day = read(sent["value"]) if len(sent["value"]) <= MAX_VALUE else None
    try:
        kind = edit_dates.kind_of(sent["kind"][:40])
    except edit_dates.InvalidDate as error:
        return _page(request, end_user, 422, sent=sent, wrong_kind=words.reason(error.reason))
    if day is None:
        return _page(request, end_user, 422, sent=sent, wrong_day=True)
    try:
        change = edit_dates.set_date(
            end_user, person.pk if person else None, kind, day, actor=access.actor(request)
        )
    except edit_dates.InvalidDate as error:
        return _page(request, end_user, 422, sent=sent, wrong_kind=words.reason(error.reason))
    except UnknownContact as error:
        feedback.refused(request, error.reason)
    else:
        feedback.done(request, _("Saved."), change)
    return redirect("dashboard:dates", end_user.pk)


form = access.form(show, save)


@access.action
def remove(request: HttpRequest, end_user: EndUser, date: UUID) -> HttpResponse:
    """Says that a date is none."""
    one = edit_dates.one(end_user, date)
    if one is not None:
        change = edit_dates.remove_date(end_user, one, actor=access.actor(request))
        feedback.done(request, _("Removed."), change)
    return feedback.back(request, "dashboard:dates", end_user.pk)


@access.admin_action
@sensitive_variables("secret")
def issue(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    """Makes the feed's address, or a new one; it is shown on this answer only."""
    if "revoke" in request.POST:
        end_user.revoke_calendar()
        feedback.done(request, _("The address no longer works."))
        return redirect("dashboard:dates", end_user.pk)
    secret = end_user.issue_calendar()
    return _page(request, end_user, feed=address(request, secret))


urls = [
    path("u/<int:user>/dates/", form, name="dates"),
    path("u/<int:user>/dates/<uuid:date>/remove/", remove, name="remove-date"),
    path("u/<int:user>/dates/calendar/", issue, name="calendar-address"),
]
