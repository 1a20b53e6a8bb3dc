"""The secret calendar feed of an end user's important dates. Whoever has its address may read it,
so only a hash of the secret is stored; it is sent in the query, which our logs leave out."""

from collections.abc import Iterator
from datetime import UTC, date, timedelta
from typing import Any

import vobject
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import patch_cache_control
from django.utils.translation import gettext as _
from django.utils.translation import override
from django.views.decorators.http import require_safe
from rest_framework import serializers
from rest_framework.request import Request

from accounts import cells
from accounts.api import UserView, operation
from accounts.models import EndUser
from accounts.scope import all_users, user_scope
from memories.corrections.edit_dates import ImportantDate, dates_of
from understanding.attributes import label
from understanding.dates.important_dates import LUNAR, SOLAR, falls_on
from understanding.languages import locale
from understanding.text import one_line

WRITTEN_OUT = 5  # years: no recurrence rule expresses a lunar day, so its dates are listed
MAX_NAME = 80


class CalendarState(serializers.Serializer):
    active = serializers.BooleanField()


class CalendarAddress(serializers.Serializer):
    url = serializers.URLField()


class Calendar(UserView):
    @operation("calendar_retrieve", CalendarState)
    def get(self) -> Any:
        """Whether a user's important dates have a calendar feed"""
        return {"active": bool(self.end_user.calendar_digest)}

    @operation("calendar_create", {201: CalendarAddress})
    def post(self) -> Any:
        """Make the secret address of the calendar feed, or a new one

        Subscribe to it in any calendar. The address before it stops working."""
        url = address(self.request, self.end_user.issue_calendar())
        return {"url": url}

    @operation("calendar_destroy", CalendarState)
    def delete(self) -> Any:
        """Stop the calendar feed"""
        self.end_user.revoke_calendar()
        return {"active": False}


def address(request: HttpRequest | Request, secret: str) -> str:
    """Returns the full address of the feed with this secret."""
    return request.build_absolute_uri(f"{reverse('calendar-feed')}?key={secret}")


@require_safe
def feed(request: HttpRequest) -> HttpResponse:
    """Shows the feed as iCalendar (RFC 5545); 404 for an unknown secret."""
    end_user = _end_user_of(request.GET.get("key", ""))
    if end_user is None:
        raise Http404
    with user_scope(end_user), override(locale(end_user.language)):
        text = as_ical(end_user)
    reply = HttpResponse(text, content_type="text/calendar; charset=utf-8")
    reply["Content-Disposition"] = 'inline; filename="dates.ics"'
    patch_cache_control(reply, private=True, max_age=3600)
    return reply


def _end_user_of(secret: str) -> EndUser | None:
    for cell in cells.reachable():
        with cells.entered(cell), all_users():
            if end_user := EndUser.objects.of_calendar(secret):
                return end_user
    return None


def as_ical(end_user: EndUser) -> str:
    """Returns the important dates as iCalendar: solar days recur, lunar ones are listed."""
    calendar = vobject.iCalendar()
    for name, value in (
        ("prodid", "-//Mio//Important dates//EN"),
        ("method", "PUBLISH"),
        ("x-wr-calname", _("Important dates")),
    ):
        calendar.add(name).value = value
    created_at = f"{timezone.now().astimezone(UTC):%Y%m%dT%H%M%SZ}"
    for entry in dates_of(end_user):
        for uid, on, rule in _days(entry):
            event = calendar.add("vevent")
            event.add("uid").value = f"{uid}@mio"
            stamp = event.add("dtstamp")
            stamp.isNative, stamp.value = False, created_at
            event.add("dtstart").value = on
            event.add("dtend").value = on + timedelta(days=1)
            event.add("summary").value = _summary(entry, end_user)
            event.add("transp").value = "TRANSPARENT"
            if rule:
                event.add("rrule").value = rule
    text: str = calendar.serialize()
    return text


def _days(entry: ImportantDate) -> Iterator[tuple[str, date, str]]:
    """Yields the id, day and recurrence rule of each event of an important date."""
    day, first = entry.day, entry.next_on
    if first is None:
        return
    if day.calendar == SOLAR:
        # From the first one on, if its year is known: a calendar can count.
        first_ever = falls_on(day, day.year) if day.year is not None and entry.years else None
        is_leap_day = (day.month, day.day) == (2, 29)
        rule = "FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=-1" if is_leap_day else "FREQ=YEARLY"
        yield f"{entry.id}", first_ever or first, rule
        return
    days = (falls_on(day, first.year - 1 + ahead) for ahead in range(WRITTEN_OUT + 2))
    for on in [on for on in days if on is not None and on >= first][:WRITTEN_OUT]:
        yield f"{entry.id}-{on:%Y%m%d}", on, ""


def _summary(entry: ImportantDate, end_user: EndUser) -> str:
    kind = one_line(label(entry.kind, end_user.language), MAX_NAME)
    name = one_line(entry.contact.name, MAX_NAME) if entry.contact else ""
    text = _("%(name)s: %(date)s") % {"name": name, "date": kind} if name else kind
    notes = [str(entry.day.year)] if entry.day.year else []
    notes += [_("lunar")] if entry.day.calendar == LUNAR else []
    return f"{text} ({', '.join(notes)})" if notes else text
