"""One person: the card and what is known, memories, timeline, relations, changes."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext as _

from contacts.models import Contact, Relation
from dashboard import access, fragments, pager
from dashboard.queries import changes, dates, memories
from dashboard.queries import contact as queries
from dashboard.queries.contacts import told_apart
from dashboard.views.picking import picker
from dashboard.words import language_of
from memories.corrections import edit_dates
from memories.history.mention_rhythm import rhythms
from understanding.attributes import ATTRIBUTES, label
from understanding.text import estimate_tokens


@access.page
def contact(request: HttpRequest, person: Contact) -> HttpResponse:
    """One person; the address of a merged one leads to the survivor."""
    named = request.resolver_match.kwargs["contact"]  # type: ignore[union-attr]
    if person.pk != named:
        address = reverse("dashboard:contact", args=[person.end_user_id, person.pk])
        return redirect(f"{address}?merged={named}")
    tab = request.GET.get("tab", "")
    tab = tab if tab in TABS else "card"
    context = {
        **queries.head_of(person),
        "rhythm": rhythms(person.end_user, [person.pk]).get(person.pk),
        "tab": tab,
        "tabs": _tabs(),
        "namesakes": (namesakes := queries.namesakes(person)),
        "apart": told_apart([person.end_user_id], [person.name]) if namesakes else {},
        "merged": queries.tombstone(person, request.GET.get("merged", "")),
        **TABS[tab](request, person),
    }
    return render(request, f"contacts/{tab}.html", context)


def _tabs() -> list[tuple[str, str, str]]:
    names = [_("Card and facts"), _("Memories"), _("Timeline"), _("Relations"), _("Changes")]
    return [(tab, name, str(place)) for place, (tab, name) in enumerate(zip(TABS, names, strict=True), 1)]  # fmt: skip


def _card(request: HttpRequest, person: Contact) -> dict[str, Any]:
    user = person.end_user
    card = queries.card_of(person, request.GET.get("card", ""))
    return {
        "card": card,
        "tokens": estimate_tokens(card.text),
        "attributes": queries.attributes_of(person, language_of()),
        "dates": dates.rows_of(edit_dates.dates_of(user, contact=person.pk), user.today),
        "shared": queries.shared_aliases(person),
        "known_keys": [(key, label(key, language_of())) for key in ATTRIBUTES],
    }


def _memories(request: HttpRequest, person: Contact) -> dict[str, Any]:
    page = pager.page_of(request, queries.memories_about(person), queries.memory_order(person))
    return {"page": page, "replacements": memories.replacements(person.end_user, page.rows)}


def _timeline(_request: HttpRequest, _person: Contact) -> dict[str, Any]:
    return {}


def _relations(request: HttpRequest, person: Contact) -> dict[str, Any]:
    rows = Relation.objects.of(person.end_user_id).among([person.pk]).order_by("id")
    return {"relations": rows, **picker(request, person.end_user, person.pk)}


def _changes(request: HttpRequest, person: Contact) -> dict[str, Any]:
    page = pager.page_of(request, queries.changes_of(person), ["-created_at", "id"])
    return {"page": page, "about": changes.about(page.rows, language_of())}


TABS: dict[str, Callable[[HttpRequest, Contact], dict[str, Any]]] = {
    "card": _card,
    "memories": _memories,
    "timeline": _timeline,
    "relations": _relations,
    "changes": _changes,
}


@access.page
def sources(request: HttpRequest, person: Contact) -> HttpResponse:
    """The memories of ``?m=`` with the messages that they rest on: a fragment, or a page."""
    context = {
        **queries.head_of(person),
        "sources": queries.sources(person.end_user, access.valid_ids(request.GET.getlist("m"))),
    }
    template = "_sources.html" if fragments.wanted(request) else "sources.html"
    return render(request, f"contacts/{template}", context)


urls = [
    path("u/<int:user>/people/<uuid:contact>/", contact, name="contact"),
    path("u/<int:user>/people/<uuid:contact>/sources/", sources, name="contact_sources"),
]
