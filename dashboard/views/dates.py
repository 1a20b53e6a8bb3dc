"""Pages of important dates of an end user and their people; the address of the calendar feed."""

from collections.abc import Sequence
from datetime import date
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from accounts.models import EndUser
from contacts.models import Contact
from dashboard import access, feedback, words
from dashboard.queries.contacts import tell_apart
from dashboard.words import language_of
from memories.api.calendar_feed import address
from memories.corrections import edit_dates
from memories.corrections.edit_dates import ImportantDate
from understanding.attributes import YEARLY, label
from understanding.dates.important_dates import LUNAR, date_text, read, text

MAX_KIND, MAX_VALUE = 40, 60
MOST_PEOPLE = 500  # to choose from in the form


@access.page
def show(
    request: HttpRequest, end_user: EndUser, status: int = 200, **more: object
) -> HttpResponse:
    """Lists all dates, the next first, with the form to state one, and the feed."""
    dates = rows_of(edit_dates.dates_of(end_user), end_user.today)
    tell_apart(one["contact"] for one in dates if one["contact"])
    people = Contact.objects.of(end_user).listed().order_by("sort_key", "id")
    context = {
        "end_user": end_user,
        "dates": dates,
        "people": people.only("name", "relationship")[:MOST_PEOPLE],
        "kinds": [label(kind, language_of()) for kind in YEARLY],
        **more,
    }
    return render(request, "users/dates.html", context, status=status)


@access.action
def save(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    """Stores a date; a value that is not exactly one day is refused."""
    sent = {name: request.POST.get(name, "").strip() for name in ("contact", "kind", "value")}
    person = access.chosen_contact(end_user, sent["contact"])
    day = read(sent["value"]) if len(sent["value"]) <= MAX_VALUE else None
    try:
        kind = edit_dates.kind_of(sent["kind"][:MAX_KIND])
        if day is None:
            return show.render(request, end_user, 422, sent=sent, wrong_day=True)
        change = edit_dates.set_date(
            end_user, person.pk if person else None, kind, day, actor=access.actor(request)
        )
    except edit_dates.InvalidDate as error:
        wrong = words.reason(error.reason)
        return show.render(request, end_user, 422, sent=sent, wrong_kind=wrong)
    feedback.done(request, _("Saved."), change)
    return redirect("dashboard:dates", end_user.pk)


@access.action
def remove(request: HttpRequest, end_user: EndUser, date: UUID) -> HttpResponse:
    """Removes a date."""
    one = edit_dates.date_of_id(end_user, date)
    if one is not None:
        whose = one.contact.pk if one.contact else None
        by = access.actor(request)
        change = edit_dates.set_date(end_user, whose, one.kind, None, actor=by)
        feedback.done(request, _("Removed."), change)
    return feedback.back(request, "dashboard:dates", end_user.pk)


@access.admin_action
@sensitive_variables("secret")
def issue(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    """Creates or replaces the address of the feed, which only this answer shows, or revokes it."""
    if "revoke" in request.POST:
        end_user.revoke_calendar()
        feedback.done(request, _("The address no longer works."))
        return redirect("dashboard:dates", end_user.pk)
    secret = end_user.issue_calendar()
    return show.render(request, end_user, feed=address(request, secret))


def rows_of(dates: Sequence[ImportantDate], today: date) -> list[dict[str, Any]]:
    """Returns these dates in the reader's language as seen today. ``key`` is the attribute,
    ``said`` the stored day; it comes next ``on`` a day of ``month``, in ``days`` days;
    ``elsewhere``: on another day than the stored one (a lunar day, or 29 February)."""
    language, rows = language_of(), []
    for one in dates:
        row: dict[str, Any] = {"id": one.id, "contact": one.contact, "key": one.kind}
        row |= {"kind": label(one.kind, language), "said": text(one.day, language)}
        row |= {"birthday": one.kind == "birthday", "years": one.years, "stated": not one.sources}
        if one.next_on:
            row |= {"month": one.next_on.replace(day=1), "days": (one.next_on - today).days}
            row["on"] = date_text(one.next_on, today, language)
            row["elsewhere"] = one.day.calendar == LUNAR or one.day.day != one.next_on.day
        rows.append(row)
    return rows


urls = [
    path("u/<int:user>/dates/", access.form(show, save), name="dates"),
    path("u/<int:user>/dates/<uuid:date>/remove/", remove, name="remove-date"),
    path("u/<int:user>/dates/calendar/", issue, name="calendar-address"),
]
