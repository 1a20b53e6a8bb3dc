"""One person: the card and what is known, memories, timeline, relations, changes; and the choice of
a person in a form."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext as _

from accounts.models import EndUser
from contacts.models import Contact, Relation
from dashboard import access, pager
from dashboard.queries import changes, dates, memories
from dashboard.queries import contact as queries
from dashboard.queries import contacts as people
from dashboard.words import language_of
from memories.corrections import edit_dates
from memories.history.mention_rhythm import rhythms
from understanding.attributes import ATTRIBUTES, label
from understanding.text import estimate_tokens

MAX_TEXT = 200


def typed(request: HttpRequest, name: str = "q") -> str:
    """What was typed into a search field, harmless and short enough."""
    sent = request.POST if request.method == "POST" else request.GET
    return sent.get(name, "").replace("\0", "").strip()[:MAX_TEXT]


def picker(
    request: HttpRequest, end_user: EndUser, *without: UUID, same: Contact | None = None
) -> dict[str, Any]:
    """What ``contacts/_picker.html`` and ``_picked.html`` show: the people that ``?q=`` finds,
    but those of ``without`` and ``?without=``. Where one is looked for who is the ``same`` as
    somebody (``?same=``), the likeliest come first."""
    ids = [*without, *access.valid_ids(request.GET.getlist("without"))]
    q = typed(request)
    same = access.chosen_contact(end_user, request.GET.get("same", "")) or same
    resent = [(name, value) for name, values in request.GET.lists() for value in values
            if name not in ("q", "without", "same")]  # fmt: skip
    if same is not None:
        picked = people.likely(end_user, same, q)
    else:
        picked = [people.Likely(one, None) for one in people.to_pick(end_user, q, ids)]
    people.tell_apart(one.contact for one in picked)
    more = len(picked) > people.PICKED
    return {"q": q, "picked": picked[: people.PICKED], "more_to_pick": more, "without": ids,
            "same": same, "kept": resent}  # fmt: skip


@access.page
def pick(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    """People to choose from: the fragment for htmx, a page of links without."""
    template = "_picked.html" if access.wants_part(request) else "pick.html"
    context = {"end_user": end_user, **picker(request, end_user)}
    return render(request, f"contacts/{template}", context)


@access.page
def contact(request: HttpRequest, person: Contact) -> HttpResponse:
    """One person; the address of a merged one leads to the survivor."""
    named = request.resolver_match.kwargs["contact"]  # type: ignore[union-attr]
    if person.pk != named:
        address = reverse("dashboard:contact", args=[person.end_user_id, person.pk])
        return redirect(f"{address}?merged={named}")
    tab = request.GET.get("tab", "")
    tab = tab if tab in TABS else "card"
    namesakes = queries.namesakes(person)
    if namesakes:
        people.tell_apart([person, *namesakes])
    context = {
        **queries.head_of(person),
        "rhythm": rhythms(person.end_user, [person.pk]).get(person.pk),
        "tab": tab,
        "tabs": _tabs(),
        "namesakes": namesakes,
        "merged": Contact.objects.of(person.end_user_id)
        .exclude(merged_into=None)
        .light()
        .filter(pk__in=access.valid_ids([request.GET.get("merged", "")]))
        .first(),
        **TABS[tab](request, person),
    }
    return render(request, f"contacts/{tab}.html", context)


def _tabs() -> list[tuple[str, str, str]]:
    names = [_("Card and facts"), _("Memories"), _("Timeline"), _("Relations"), _("Changes")]
    return [(tab, name, str(place)) for place, (tab, name) in enumerate(zip(TABS, names, strict=True), 1)]  # fmt: skip


def _card(_request: HttpRequest, person: Contact) -> dict[str, Any]:
    user = person.end_user
    return {
        "tokens": estimate_tokens(person.card_today),
        "attributes": queries.attributes_of(person, language_of()),
        "dates": dates.rows_of(edit_dates.dates_of(user, contact=person.pk), user.today),
        "shared": queries.shared_aliases(person),
        "known_keys": [(key, label(key, language_of())) for key in ATTRIBUTES],
    }


def _memories(request: HttpRequest, person: Contact) -> dict[str, Any]:
    page = pager.page_of(request, queries.memories_about(person), queries.memory_order(person))
    return {"page": page, "replacements": memories.replacements(person.end_user, page.rows)}


def _relations(request: HttpRequest, person: Contact) -> dict[str, Any]:
    rows = Relation.objects.of(person.end_user_id).among([person.pk]).order_by("id")
    people.tell_apart(one for row in rows for one in (row.subject, row.object))
    return {"relations": rows, **picker(request, person.end_user, person.pk)}


def _changes(request: HttpRequest, person: Contact) -> dict[str, Any]:
    page = pager.page_of(request, queries.changes_of(person), ["-created_at", "id"])
    return {"page": page, "about": changes.about(page.rows, language_of())}


TABS: dict[str, Callable[[HttpRequest, Contact], dict[str, Any]]] = {
    "card": _card,
    "memories": _memories,
    "timeline": lambda _request, _person: {},
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
    template = "_sources.html" if access.wants_part(request) else "sources.html"
    return render(request, f"contacts/{template}", context)


urls = [
    path("u/<int:user>/people/pick/", pick, name="pick"),
    path("u/<int:user>/people/<uuid:contact>/", contact, name="contact"),
    path("u/<int:user>/people/<uuid:contact>/sources/", sources, name="contact_sources"),
]
