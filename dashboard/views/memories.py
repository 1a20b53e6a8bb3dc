"""Pages of memories: the list, search with reasons, and one memory with its corrections."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.models import EndUser
from dashboard import access, feedback, pager, words
from dashboard.forms import ContentForm
from dashboard.queries import memories as queries
from dashboard.queries.contacts import MOST, capped, tell_apart
from dashboard.views.contact import picker
from memories.corrections import edit_edges, edit_memories, review_links
from memories.history import versions
from memories.jobs import rescore
from memories.models import Memory
from memories.models.memory import ABOUT_USER
from memories.providers.factory import embedder
from memories.search import recall, relevance
from memories.search.query import Intent, understand
from memories.search.recall import SearchRequest
from memories.search.tokens import distinct_words
from memories.types import MemoryType, Subtype

MAX_QUERY = 2000
NOBODY = "nobody"  # value of ?about=: memories that lack a person
TYPES, INTENTS = frozenset(MemoryType), frozenset(Intent)


@access.page
def memories(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    """Lists the latest memories or, for a search text, what the search finds and why."""
    wanted = request.GET.get("q", "").strip()[:MAX_QUERY]
    kind = request.GET.get("type", "")
    status, intent = request.GET.get("status", "active"), request.GET.get("intent", "")
    of_nobody = request.GET.get("about") == NOBODY
    context: dict[str, Any] = {
        "end_user": end_user,
        "q": wanted,
        "status": status,
        "type": kind if kind in TYPES else "",
        "intent": intent,
        "about": NOBODY if of_nobody else "",
        "types": list(MemoryType),
        "intents": list(Intent),
    }
    if wanted:
        chosen_intent = intent if intent in INTENTS else None
        hits = recall.search(
            end_user,
            SearchRequest(
                wanted,
                intent=chosen_intent,
                limit=queries.FOUND,
                statuses=[status] if status in Memory.Status else list(Memory.Status),
                types=[kind] if kind in TYPES else [],
                of_nobody=of_nobody,
                floor=relevance.FLOOR,
            ),
            embedder=embedder(),
        )
        results = queries.results(end_user, hits)
        context["results"] = results
        context["names"] = [word for word in distinct_words(wanted) if len(word) > 1]
        context["near"], context["far"] = queries.by_relevance(end_user, wanted, results)
        context["understood"] = understand(wanted, chosen_intent, timezone.localtime())
        shown = [memory for _hit, memory in results]
    else:
        rows = queries.latest(end_user, status, context["type"], of_nobody=of_nobody)
        context["page"] = page = pager.page_of(request, rows, ["-said_at", "id"])
        context |= {"total": capped(rows), "most": MOST}
        shown = list(page.rows)
    context["replacements"] = queries.replacements(end_user, shown)
    tell_apart(queries.linked(shown))
    return render(request, "memories/list.html", context)


@access.page
def memory(request: HttpRequest, memory: Memory, **more: Any) -> HttpResponse:
    """The page of one memory with sources, versions and neighbours; ``more``: a problem (422)."""
    end_user = memory.end_user
    parts = rescore.parts(end_user, [memory.pk]).get(memory.pk)
    shown = queries.with_people(Memory.objects.of(end_user)).get(pk=memory.pk)
    tell_apart(queries.linked([shown]))
    messages = queries.sources(memory)
    is_quoted = any(memory.quote in (one.content or "") for one in messages)
    context = {
        "end_user": end_user,
        "memory": shown,
        "messages_": messages,
        "quoted": [memory.quote],
        "quote": "" if is_quoted else memory.quote,
        "now": timezone.now(),
        "versions": versions.versions(end_user, memory.pk),
        "near": queries.neighbours(memory),
        "parts": parts,
        "replacement": queries.replacements(end_user, [memory]).get(memory.pk),
        "kinds": edit_edges.STATED,
        "form": ContentForm(initial={"content": memory.content}),
        **more,
    }
    return render(request, "memories/one.html", context, status=422 if more else 200)


show_memory = memory.render


@access.action
def edit(request: HttpRequest, memory: Memory) -> HttpResponse:
    """Rewords a memory."""
    form, user = ContentForm(request.POST), memory.end_user
    if form.is_valid():
        content, why = form.cleaned_data["content"], form.cleaned_data["why"]
        with form.refusals("content"):
            if memory.kind == Memory.Kind.PROFILE:
                raise edit_memories.InvalidCorrection(
                    _("A profile is made from memories: correct those, or the person.")
                )
            if content != memory.content:
                values, actor = {"content": content}, access.actor(request)
                change = edit_memories.edit(user, memory.pk, values, actor=actor, why=why)
                feedback.done(request, _("Saved."), change)
            return feedback.back(request, "dashboard:memory", user.pk, memory.pk)
    return show_memory(request, memory, form=form)


@access.page
def show_about(
    request: HttpRequest, memory: Memory, status: int = 200, **more: Any
) -> HttpResponse:
    """The form that asks whom a memory is about."""
    context = {
        "end_user": memory.end_user, "memory": memory, **picker(request, memory.end_user), **more
    }  # fmt: skip
    return render(request, "memories/about.html", context, status=status)


@access.action
def about(request: HttpRequest, memory: Memory) -> HttpResponse:
    """Links a memory to a person or, without one, marks it as about the user."""
    end_user, actor = memory.end_user, access.actor(request)
    person = access.chosen_contact(end_user, request.POST.get("person", ""))
    if person is not None:
        change = review_links.state(end_user, memory.pk, person.pk, actor=actor)
    elif "self" in request.POST:
        values = {"subtype": Subtype.SELF, "metadata": {ABOUT_USER: True}}
        change = edit_memories.edit(end_user, memory.pk, values, actor=actor)
    else:
        return show_about.render(request, memory, 422, problem=_("Choose a person."))
    feedback.done(request, _("Saved."), change)
    return redirect("dashboard:memory", end_user.pk, memory.pk)


@access.action
def connect(request: HttpRequest, memory: Memory) -> HttpResponse:
    """Adds an edge from this memory to another."""
    kind, other = request.POST.get("kind", ""), request.POST.get("other", "").strip()
    try:
        target = access.get_memory(memory.end_user, UUID(other.rstrip("/").rpartition("/")[2]))
        _edge, change = edit_edges.connect(
            memory.end_user, memory.pk, target.pk, kind, actor=access.actor(request)
        )
    except ValueError:
        problem = _("Paste the address of a memory.")
    except edit_memories.InvalidCorrection as error:
        problem = words.reason(error.reason)
    else:
        feedback.done(request, _("Connected."), change)
        return redirect("dashboard:memory", memory.end_user_id, memory.pk)
    typed = {"kind": kind, "other": other}
    return show_memory(request, memory, unconnected=problem, typed=typed)


@access.action
def disconnect(request: HttpRequest, memory: Memory, edge: int) -> HttpResponse:
    """Removes an edge; no machine adds it again."""
    actor = access.actor(request)
    change = edit_edges.disconnect(memory.end_user, memory.pk, edge, actor=actor)
    feedback.done(request, _("Disconnected."), change)
    return redirect("dashboard:memory", memory.end_user_id, memory.pk)


# The addresses of forms that report errors on the page show the page as well.
_ONE = "u/<int:user>/memories/<uuid:memory>/"
urls = [
    path("u/<int:user>/memories/", memories, name="memories"),
    path(_ONE, memory, name="memory"),
    path(f"{_ONE}edit/", access.form(memory, edit), name="edit-memory"),
    path(f"{_ONE}about/", access.form(show_about, about), name="about-memory"),
    path(f"{_ONE}connect/", access.form(memory, connect), name="connect"),
    path(f"{_ONE}edges/<int:edge>/disconnect/", disconnect, name="disconnect"),
]
