"""Corrections of chosen memories, and the pages of forgetting memories or a person."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, ngettext_lazy

from accounts.cells import atomic
from accounts.models import Change, EndUser
from contacts.models import Contact
from dashboard import access, feedback, pager, state_tokens
from dashboard.forms import SplitForm
from dashboard.queries import contact as queries
from dashboard.state_tokens import SAW
from dashboard.views.contact import picker, to_tab
from memories.corrections import edit_memories, merge_contacts
from memories.erasure import erase
from memories.erasure.erase import Preview
from memories.models import Memory

# A choice from a list is sent by POST with ``ask``, so that no address contains a list of ids.
ASK = "ask"


def _with_memories(view: access.View) -> access.View:
    """Decorates a view: it gets the memories sent; those of the person if the address names one."""

    @wraps(view)
    def with_memories(request: HttpRequest, **arguments: Any) -> HttpResponseBase:
        if "memories" not in arguments:
            sent = request.POST if request.method == "POST" else request.GET
            ids = access.valid_ids(sent.getlist("memory"))
            person = arguments.get("person")
            rows: Any = queries.memories_about(person) if person else arguments["end_user"].memories
            arguments["memories"] = list(rows.filter(pk__in=ids).order_by("-said_at", "id"))
        if arguments["memories"]:
            return view(request, **arguments)
        feedback.refused(request, _("Choose memories first."))
        if "person" in arguments:
            return to_tab(request, arguments["person"], "memories")
        return feedback.back(request, "dashboard:memories", arguments["end_user"].pk)

    return with_memories


def _apply_to_memories(
    request: HttpRequest,
    person: Contact,
    memories: Sequence[Memory],
    verb: Callable[[Memory], Change | None],
    message: Any,
    name: str,
) -> HttpResponse:
    """Calls the verb with every memory, or changes none if one refuses; one Undo reverts all. The
    message has placeholders for their number (``count``) and for a ``name``."""
    with atomic():
        changes = [verb(memory) for memory in memories]
    feedback.done(request, message, *changes, count=len(memories), name=name)
    return to_tab(request, person, "memories")


@access.action
@_with_memories
def unlink(request: HttpRequest, person: Contact, memories: Sequence[Memory]) -> HttpResponse:
    """Records that memories are not about this person."""
    user, actor = person.end_user, access.actor(request)

    def verb(memory: Memory) -> Change | None:
        return edit_memories.unlink(user, memory.pk, person.pk, actor=actor)

    message = ngettext_lazy(
        "%(count)s memory unlinked from %(name)s.",
        "%(count)s memories unlinked from %(name)s.",
        "count",
    )
    return _apply_to_memories(request, person, memories, verb, message, person.name)


@access.action
@_with_memories
def outdate(request: HttpRequest, end_user: EndUser, memories: Sequence[Memory]) -> HttpResponse:
    """Marks memories as no longer true."""
    active = [memory for memory in memories if memory.status == Memory.Status.ACTIVE]
    change = edit_memories.outdate(end_user, active, actor=access.actor(request))
    message = ngettext(
        "%(count)s memory is outdated now.", "%(count)s memories are outdated now.", len(active)
    )
    feedback.done(request, message, change, count=len(active))
    return feedback.back(request, "dashboard:memory", end_user.pk, memories[0].pk)


@access.page
@_with_memories
def show_move(request: HttpRequest, person: Contact, memories: Sequence[Memory]) -> HttpResponse:
    """The form that asks to whom memories are moved; 422 if no person was chosen."""
    sent = request.POST if request.method == "POST" else request.GET
    status = 200 if request.method == "GET" or ASK in request.POST else 422
    back_to = feedback.own_address(request, sent.get("next", ""))
    context = {
        **queries.head_of(person),
        "memories": memories,
        "next": back_to,
        "problem": _("Choose a person.") if status != 200 else "",
        **picker(request, person.end_user, person.pk),
        "kept": [
            ("next", back_to),
            (ASK, "1"),
            *(("memory", one.pk) for one in memories),
            *((SAW, state_tokens.token("memories.memory", one)) for one in memories),
        ],
    }
    return render(request, "contacts/move.html", context, status=status)


@access.action
@_with_memories
def move(request: HttpRequest, person: Contact, memories: Sequence[Memory]) -> HttpResponse:
    """Moves memories to another person."""
    user, actor = person.end_user, access.actor(request)
    other = access.chosen_contact(user, request.POST.get("person", ""))
    if other is None:
        return show_move.render(request, person=person, memories=memories)
    other_id = other.pk

    def verb(memory: Memory) -> Change | None:
        return edit_memories.move(user, memory.pk, person.pk, other_id, actor=actor)

    message = ngettext_lazy(
        "%(count)s memory moved to %(name)s.", "%(count)s memories moved to %(name)s.", "count"
    )
    return _apply_to_memories(request, person, memories, verb, message, other.name)


@access.page
@_with_memories
def show_split(
    request: HttpRequest, person: Contact, memories: Sequence[Memory], form: SplitForm | None = None
) -> HttpResponse:
    """The form that asks for the new person whom the memories are about."""
    context = {**queries.head_of(person), "memories": memories, "form": form or SplitForm()}
    return render(request, "contacts/split.html", context, status=422 if form else 200)


@access.action
@_with_memories
def split(request: HttpRequest, person: Contact, memories: Sequence[Memory]) -> HttpResponse:
    """Moves memories to a new person, who was taken for this one."""
    if ASK in request.POST:
        return show_split.render(request, person=person, memories=memories)
    form, ids = SplitForm(request.POST), [memory.pk for memory in memories]
    if form.is_valid():
        with form.refusals():
            new, change = merge_contacts.split(
                person.end_user, person.pk, ids, actor=access.actor(request), **form.cleaned_data
            )
            feedback.done(request, _("%(name)s is a separate person now."), change, name=new.name)
            return redirect("dashboard:contact", person.end_user_id, new.pk)
    return show_split.render(request, person=person, memories=memories, form=form)


def _forget_page(request: HttpRequest, plan: Preview, **context: Any) -> HttpResponse:
    """The page that shows what forgetting erases."""
    context |= {"plan": plan, "page": pager.page_of(request, plan.rows, ["-said_at", "id"])}
    return render(request, "contacts/forget.html", context)


@access.admin_page
def show_forget(request: HttpRequest, person: Contact) -> HttpResponse:
    """The page that shows how much forgetting a person erases, and which memories."""
    plan = erase.preview_contact(person.end_user, person.pk)
    return _forget_page(request, plan, **queries.head_of(person))


@access.admin_action
def forget_person(request: HttpRequest, person: Contact) -> HttpResponse:
    """Erases a person with everything about them."""
    erased = erase.forget_contact(person.end_user, person.pk, access.erased_by(request))
    feedback.erased(request, erased)
    then = "undecided" if erased.unsure else "contacts"
    return redirect(f"dashboard:{then}", person.end_user_id)


@access.admin_page
@_with_memories
def show_forget_memories(
    request: HttpRequest, end_user: EndUser, memories: Sequence[Memory]
) -> HttpResponse:
    """The page that shows how much forgetting memories erases, and which."""
    sent = request.POST if request.method == "POST" else request.GET
    plan = erase.preview_memories(end_user, [memory.pk for memory in memories])
    back_to = feedback.own_address(request, sent.get("next", ""))
    return _forget_page(request, plan, end_user=end_user, chosen=memories, next=back_to)


@access.admin_action
@_with_memories
def forget_memories(
    request: HttpRequest, end_user: EndUser, memories: Sequence[Memory]
) -> HttpResponse:
    """Erases memories with everything derived from them, once that was shown (``sure``)."""
    if "sure" not in request.POST:
        return show_forget_memories.render(request, end_user=end_user, memories=memories)
    ids = [memory.pk for memory in memories]
    erased = erase.forget_these(end_user, ids, (), (), (), by=access.erased_by(request))
    feedback.erased(request, erased)
    return feedback.back(request, "dashboard:memories", end_user.pk)


_PERSON, _CHOSEN = "u/<int:user>/people/<uuid:contact>", "u/<int:user>/memories"
_FORGET = access.form(show_forget_memories, forget_memories)
urls = [
    path(f"{_PERSON}/memories/unlink/", unlink, name="contact_unlink"),
    path(f"{_PERSON}/memories/move/", access.form(show_move, move), name="contact_move"),
    path(f"{_PERSON}/memories/split/", access.form(show_split, split), name="contact_split"),
    path(f"{_PERSON}/forget/", access.form(show_forget, forget_person), name="contact_forget"),
    path(f"{_CHOSEN}/outdate/", outdate, name="outdate-memories"),
    path(f"{_CHOSEN}/forget/", _FORGET, name="forget-memories"),
]
