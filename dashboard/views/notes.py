"""What operators tell each other: notes on people, and who is on which row of a queue."""

import re

from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.utils.translation import gettext as _

from accounts.models import EndUser
from contacts.edit import edit_contact
from contacts.models import Contact
from dashboard import access, feedback
from dashboard.queries import claims

MAX_NOTE = 4000
_ROW = re.compile(
    r"(contacts\.suggestion|memories\.link|memories\.edge|contacts\.contact):[\w-]{1,36}"
)


@access.action
def note(request: HttpRequest, person: Contact) -> HttpResponse:
    """Keeps the operators' note on a person."""
    text = request.POST.get("note", "").replace("\r\n", "\n").strip()
    if len(text) > MAX_NOTE:
        feedback.refused(request, _("A note has at most %(n)d characters."), n=MAX_NOTE)
    elif text != person.note:
        _person, change = edit_contact(
            person.end_user, person.pk, {"note": text}, actor=access.actor(request)
        )
        feedback.done(request, _("Note saved."), change)
    return feedback.back(request, "dashboard:contact", person.end_user_id, person.pk)


@access.action(token=False)
def claim(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    """Claims a row of the queue for this operator, or leaves it."""
    what, operator = request.POST.get("what", ""), request.user.get_username()
    if not _ROW.fullmatch(what):
        feedback.refused(request, _("There is no such row in the queue."))
    elif request.POST.get("leave"):
        claims.leave(end_user, what, operator)
    elif (taken := claims.take(end_user, what, operator)).operator != operator:
        feedback.refused(request, _("%(name)s is on this already."), name=taken.operator)
    return feedback.back(request, "dashboard:review")


urls = [
    path("u/<int:user>/people/<uuid:contact>/note/", note, name="contact_note"),
    path("u/<int:user>/claim/", claim, name="claim"),
]
