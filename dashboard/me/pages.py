"""The pages that the end user looks at: people and own card, a person, what was changed and
forgotten."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse

from accounts.models import EndUser
from dashboard import access, pager
from dashboard.me import known, visits
from dashboard.queries import contact as queries
from dashboard.queries import users
from dashboard.views.users import as_file
from dashboard.words import language_of
from memories import portability
from memories.api.own_page import Visit
from memories.models import Erasure
from understanding.attributes import ATTRIBUTES, ON_OWN_CARD, label

MOST_TYPED = 100
FEW = 10  # memories of nobody on the first page


@visits.page
def home(request: HttpRequest, visit: Visit, **more: Any) -> HttpResponse:
    """The people, the user's own card, and the latest memories that are about nobody."""
    user = visit.end_user
    q = request.GET.get("q", "").replace("\0", "").strip()[:MOST_TYPED]
    memories = list(known.of_nobody(user).order_by("-said_at", "id")[: FEW + 1])
    card = users.own_keys(user)
    stated = known.sources(value["sources"] for _key, _label, values in card for value in values)
    context = {
        "here": "home",
        "q": q,
        "people": pager.page_of(request, known.people(user, q), ["-last_mentioned_at", "id"]),
        "told": known.with_kinds(memories[:FEW]),
        "more": len(memories) > FEW,
        "card": card,
        "keys": [(key, label(key, language_of())) for key in ON_OWN_CARD],
        "words": known.words_of(user, [*stated, *(one.pk for one in memories)]),
        **_done(request, user),
        **more,
    }
    return visits.show(request, "home", visit, **context)


@visits.page
def told(request: HttpRequest, visit: Visit) -> HttpResponse:
    """All memories that are about nobody."""
    memories = pager.page_of(request, known.of_nobody(visit.end_user), ["-said_at", "id"])
    context = {
        "told": known.with_kinds(memories.rows),
        "next": memories.next,
        "words": known.words_of(visit.end_user, [one.pk for one in memories.rows]),
    }
    return visits.show(request, "told", visit, **context)


@visits.page
def person(request: HttpRequest, visit: Visit, contact: UUID, **more: Any) -> HttpResponse:
    """One person; the address of a merged one shows the survivor."""
    user = visit.end_user
    one = access.standing(user, contact)
    attributes = queries.attributes_of(one, language_of())
    memories = pager.page_of(request, known.about(one), ["-said_at", "id"])
    stated = known.sources(value.sources for each in attributes for value in each.values)
    stated += known.sources([one.personality_sources])
    related = known.relations(one)
    stated += known.sources(relation.sources for relation in related)
    context = {
        "contact": one,
        "attributes": attributes,
        "told": known.with_kinds(memories.rows),
        "next": memories.next,
        "relations": related,
        "alike": known.alike(one),
        "others": known.people(user).exclude(pk=one.pk).order_by("sort_key")[: known.MOST_PEOPLE],
        "keys": [(key, label(key, language_of())) for key in ATTRIBUTES],
        "words": known.words_of(user, [*stated, *(row.pk for row in memories.rows)]),
        **_done(request, user),
        **more,
    }
    return visits.show(request, "person", visit, **context)


@visits.page
def changes(request: HttpRequest, visit: Visit, **more: Any) -> HttpResponse:
    """What the user changed here, and what waits to be erased."""
    user = visit.end_user
    waiting = Erasure.objects.of(user).filter(state=Erasure.State.PENDING)
    context = {
        "here": "changes",
        "changes": known.own_changes(user)[: known.MOST_CHANGES],
        "waiting": waiting.defer("words", "names"),
        "unwanted": [(kind, known.called(kind)) for kind in user.unwanted],
        **_done(request, user),
        **more,
    }
    return visits.show(request, "changes", visit, **context)


def _done(request: HttpRequest, end_user: EndUser) -> dict[str, Any]:
    """The change that the action before this page made, to say so and offer its undo."""
    ids = access.valid_ids([request.GET.get("done", "")])
    return {"done": known.own_changes(end_user).filter(pk__in=ids).first()}


@visits.page
def export(_request: HttpRequest, visit: Visit) -> HttpResponse:
    """What is stored of the user, as a file that ``import_user`` reads: without what operators noted
    and who they are, and without what others wrote in the user's chats."""
    document = portability.export_user(visit.end_user)
    for message in document["messages"]:
        if message["speaker"] is not None:
            message |= {"content": "", "speaker": None, "metadata": {}}
    for contact in document["contacts"]:
        contact["note"] = ""
    document |= {"changes": [], "gateway_turns": []}
    return as_file(document, "my-memory")
