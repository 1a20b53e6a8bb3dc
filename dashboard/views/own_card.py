"""The end user's own card: values stated, replaced and taken away."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path
from django.utils.translation import gettext as _

from accounts.models import EndUser
from dashboard import access, feedback
from memories import own_card
from memories.corrections.edit_own_card import edit_own_card
from understanding.attributes import is_single


@access.action
def save(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    """Adds a value (``new``), replaces one (``old`` by ``new``) or removes it (``old``)."""
    sent = {name: request.POST.get(name, "").replace("\0", "") for name in ("key", "old", "new")}
    key, new = sent["key"], "" if "remove" in request.POST else sent["new"].strip()
    values = [one["value"] for one in own_card.of(end_user).get(key, ())]
    values = [] if new and is_single(key) else [one for one in values if one != sent["old"]]
    stated = {key: [*values, new] if new else values}
    change = edit_own_card(end_user, stated, actor=access.actor(request))
    message = _("Saved.") if new else _("Removed.")
    feedback.done(request, message if change else _("This is already known."), change)
    return redirect("dashboard:user", end_user.pk)


urls = [path("u/<int:user>/card/", save, name="own-card")]
