"""Corrections of the memories about a person, and forgetting."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from accounts.cells import atomic
from accounts.models import Change
from contacts.models import Contact
from dashboard import access, feedback, pager, state_tokens
from dashboard.forms import SplitForm, VerbForm
from dashboard.queries import contact as queries
from dashboard.state_tokens import SAW
from dashboard.views.contact import picker
from dashboard.views.contact_actions import to_tab
from memories.corrections import edit_memories, merge_contacts
from memories.erasure import erase
from memories.erasure.erase import Preview
from memories.models import Memory

MAX_CONTENT = 10_000


def _of_chosen(view: access.View) -> access.View:
    """A view about those memories of the form or address that are about the person."""

    @wraps(view)
    def with_chosen(
        request: HttpRequest,
        person: Contact,
        memories: Sequence[Memory] | None = None,
        **more: Any,
    ) -> HttpResponseBase:
        sent = request.POST if request.method == "POST" else request.GET
        if memories is None:
            memories = queries.chosen(person, access.valid_ids(sent.getlist("memory")))
        if not memories:
            return _nothing_chosen(request, person)
        return view(request, person, memories, **more)

    return with_chosen


def _nothing_chosen(request: HttpRequest, person: Contact) -> HttpResponse:
    feedback.refused(request, _("Choose memories first."))
    return to_tab(request, person, "memories")


def _each(
    request: HttpRequest,
    person: Contact,
    memories: Sequence[Memory],
    verb: Callable[[Memory], Change | None],
    message: str,
    **holes: str,
) -> HttpResponse:
    """Calls the verb with every memory or, where one refuses, changes none; one Undo takes all back.
    ``said`` has holes for how many they are (``count``), and for other words."""
    with atomic():
        changes = [verb(memory) for memory in memories]
    feedback.done(request, message, *changes, count=len(memories), **holes)
    return to_tab(request, person, "memories")


@access.action
@_of_chosen
def unlink(request: HttpRequest, person: Contact, memories: Sequence[Memory]) -> HttpResponse:
    """Says that memories are not about this person."""
    user, actor = person.end_user, access.actor(request)

    def verb(memory: Memory) -> Change | None:
        return edit_memories.unlink(user, memory.pk, person.pk, actor=actor)

    message = ngettext(
        "%(count)s memory unlinked from %(name)s.",
        "%(count)s memories unlinked from %(name)s.",
        len(memories),
    )
    return _each(request, person, memories, verb, message, name=person.name)


@access.action
@_of_chosen
def outdate(request: HttpRequest, person: Contact, memories: Sequence[Memory]) -> HttpResponse:
    """Says that memories are no longer true."""
    memories = [memory for memory in memories if memory.status == Memory.Status.ACTIVE]
    if not memories:
        return _nothing_chosen(request, person)
    message = ngettext(
        "%(count)s memory is outdated now.", "%(count)s memories are outdated now.", len(memories)
    )
    change = edit_memories.outdate(person.end_user, memories, actor=access.actor(request))
    feedback.done(request, message, change, count=len(memories))
    return to_tab(request, person, "memories")


# What is chosen in a list comes by POST, with ``ask``: no address holds a list of ids.
ASK = "ask"


@access.page
@_of_chosen
def show_move(request: HttpRequest, person: Contact, memories: Sequence[Memory]) -> HttpResponse:
    """The form that asks to whom memories are moved, or asks again with what is missing."""
    sent = request.POST if request.method == "POST" else request.GET
    status = 200 if request.method == "GET" or ASK in request.POST else 422
    back_to = feedback.ours(request, sent.get("next", ""))
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
@_of_chosen
def move(request: HttpRequest, person: Contact, memories: Sequence[Memory]) -> HttpResponse:
    """Says that memories are about another person."""
    user, actor = person.end_user, access.actor(request)
    other = access.chosen_contact(user, request.POST.get("person", ""))
    if other is None:
        return show_move.render(request, person, memories)
    other_id = other.pk

    def verb(memory: Memory) -> Change | None:
        return edit_memories.move(user, memory.pk, person.pk, other_id, actor=actor)

    message = ngettext(
        "%(count)s memory moved to %(name)s.",
        "%(count)s memories moved to %(name)s.",
        len(memories),
    )
    return _each(request, person, memories, verb, message, name=other.name)


@access.page
@_of_chosen
def show_split(
    request: HttpRequest,
    person: Contact,
    memories: Sequence[Memory],
    form: SplitForm | None = None,
) -> HttpResponse:
    """The form that asks who memories are about instead."""
    context = {
        **queries.head_of(person),
        "memories": memories,
        "form": form or SplitForm(),
    }
    return render(request, "contacts/split.html", context, status=422 if form else 200)


@access.action
@_of_chosen
def split(request: HttpRequest, person: Contact, memories: Sequence[Memory]) -> HttpResponse:
    """Says that memories are about somebody who was taken for this person."""
    if ASK in request.POST:
        return show_split.render(request, person, memories)
    form, ids = SplitForm(request.POST), [memory.pk for memory in memories]
    if form.is_valid():
        with form.refusals():
            new, change = merge_contacts.split(
                person.end_user, person.pk, ids, actor=access.actor(request), **form.cleaned_data
            )
            feedback.done(request, _("%(name)s is a separate person now."), change, name=new.name)
            return redirect("dashboard:contact", person.end_user_id, new.pk)
    return show_split.render(request, person, memories, form=form)


class ContentForm(VerbForm):
    """What a memory says."""

    content = forms.CharField(
        label=gettext_lazy("What it says"),
        max_length=MAX_CONTENT,
        widget=forms.Textarea({"rows": 4}),
    )
    why = SplitForm.base_fields["why"]


@access.page
def show_edit_memory(
    request: HttpRequest, person: Contact, memory: Memory, form: ContentForm | None = None
) -> HttpResponse:
    """The form with what a memory says."""
    context = {
        "end_user": person.end_user,
        "contact": person,
        "memory": memory,
        "form": form or ContentForm(initial={"content": memory.content}),
    }
    return render(request, "contacts/edit_memory.html", context, status=422 if form else 200)


@access.action
def edit_memory(request: HttpRequest, person: Contact, memory: Memory) -> HttpResponse:
    """Changes what a memory says."""
    form, actor = ContentForm(request.POST), access.actor(request)
    if form.is_valid():
        content, why = form.cleaned_data["content"], form.cleaned_data["why"]
        with form.refusals("content"):
            if content != memory.content:
                change = edit_memories.edit(
                    person.end_user, memory.pk, {"content": content}, actor=actor, why=why
                )
                feedback.done(request, _("Saved."), change)
            return to_tab(request, person, "memories")
    return show_edit_memory.render(request, person, memory, form)


def _forget_page(
    request: HttpRequest, person: Contact, plan: Preview, **context: Any
) -> HttpResponse:
    """The page that says what forgetting erases."""
    context |= {
        **queries.head_of(person),
        "plan": plan,
        "page": pager.page_of(request, plan.rows, ["-said_at", "id"]),
    }
    return render(request, "contacts/forget.html", context)


@access.admin_page
def show_forget(request: HttpRequest, person: Contact) -> HttpResponse:
    """How much forgetting a person erases, and which memories, page by page."""
    return _forget_page(
        request, person, erase.preview_contact(person.end_user, person.pk), whole=True
    )


@access.admin_action
def forget_person(request: HttpRequest, person: Contact) -> HttpResponse:
    """Erases a person with everything about them."""
    erased = erase.forget_contact(person.end_user, person.pk, access.erased_by(request))
    feedback.erased(request, erased)
    then = "undecided" if erased.unsure else "contacts"
    return redirect(f"dashboard:{then}", person.end_user_id)


@access.admin_page
def show_forget_memories(request: HttpRequest, person: Contact) -> HttpResponse:
    """The page that asked, reloaded: what was chosen was in its form alone."""
    return _nothing_chosen(request, person)


@access.admin_action
@_of_chosen
def forget_memories(
    request: HttpRequest, person: Contact, memories: Sequence[Memory]
) -> HttpResponse:
    """Erases memories with everything that was derived from them, after all that was shown."""
    ids = [memory.pk for memory in memories]
    if "sure" not in request.POST:
        plan = erase.preview_memories(person.end_user, ids)
        return _forget_page(request, person, plan, chosen=memories)
    erased = erase.forget_these(person.end_user, ids, (), (), (), by=access.erased_by(request))
    feedback.erased(request, erased)
    return to_tab(request, person, "memories")


_PERSON = "u/<int:user>/people/<uuid:contact>"
_MEMORIES = f"{_PERSON}/memories"
urls = [
    path(f"{_MEMORIES}/unlink/", unlink, name="contact_unlink"),
    path(f"{_MEMORIES}/outdate/", outdate, name="contact_outdate"),
    path(f"{_MEMORIES}/move/", access.form(show_move, move), name="contact_move"),
    path(f"{_MEMORIES}/split/", access.form(show_split, split), name="contact_split"),
    path(
        f"{_MEMORIES}/<uuid:memory>/edit/",
        access.form(show_edit_memory, edit_memory),
        name="contact_memory_edit",
    ),
    path(
        f"{_MEMORIES}/forget/",
        access.form(show_forget_memories, forget_memories),
        name="contact_forget_memories",
    ),
    path(f"{_PERSON}/forget/", access.form(show_forget, forget_person), name="contact_forget"),
]
