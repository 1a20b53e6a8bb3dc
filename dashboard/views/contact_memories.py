"""What an operator does with the memories about a person, and forgetting."""

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
from contacts import store
from contacts.merge import InvalidMerge
from contacts.models import Contact
from dashboard import access, feedback, pager, state_tokens, words
from dashboard.forms import SplitForm
from dashboard.queries import contact as queries
from dashboard.state_tokens import SAW
from dashboard.views import receipts
from dashboard.views.contact_actions import to_tab
from dashboard.views.picking import picker
from memories import queue
from memories.corrections import edit_memories, merge_contacts
from memories.erasure import erase, preview
from memories.erasure.preview import Preview
from memories.models import Memory

MAX_CONTENT = 10_000


def _of_chosen(view: access.View) -> access.View:
    """A view about those memories of the form or address that are about the person."""

    @wraps(view)
    def with_chosen(request: HttpRequest, person: Contact) -> HttpResponseBase:
        sent = request.POST if request.method == "POST" else request.GET
        memories = queries.chosen(person, access.valid_ids(sent.getlist("memory")))
        if not memories:
            return _nothing_chosen(request, person)
        return view(request, person, memories)

    return with_chosen


def _nothing_chosen(request: HttpRequest, person: Contact) -> HttpResponse:
    feedback.refused(request, _("Choose memories first."))
    return to_tab(request, person, "memories")


def _each(
    request: HttpRequest,
    person: Contact,
    memories: Sequence[Memory],
    verb: Callable[[Memory], Change | None],
    said: str,
) -> HttpResponse:
    """Does it to every memory or, where one refuses, to none; one Undo takes all back."""
    try:
        with atomic():
            changes = [verb(memory) for memory in memories]
    except (edit_memories.InvalidCorrection, InvalidMerge) as error:
        feedback.refused(request, error.reason)
    else:
        feedback.done(request, said, *changes)
    return to_tab(request, person, "memories")


@access.action
@_of_chosen
def unlink(request: HttpRequest, person: Contact, memories: Sequence[Memory]) -> HttpResponse:
    """Says that memories are not about this person."""
    actor = access.actor(request)
    said = ngettext(
        "%(count)s memory unlinked from %(name)s.",
        "%(count)s memories unlinked from %(name)s.",
        len(memories),
    )
    return _each(
        request,
        person,
        memories,
        lambda memory: edit_memories.unlink(person.end_user, memory.pk, person.pk, actor=actor),
        said % {"count": len(memories), "name": feedback.apart(person.name)},
    )


@access.action
@_of_chosen
def outdate(request: HttpRequest, person: Contact, memories: Sequence[Memory]) -> HttpResponse:
    """Says that memories are no longer true."""
    memories = [memory for memory in memories if memory.status == Memory.Status.ACTIVE]
    if not memories:
        return _nothing_chosen(request, person)
    said = ngettext(
        "%(count)s memory is outdated now.", "%(count)s memories are outdated now.", len(memories)
    )
    change = edit_memories.outdate(person.end_user, memories, actor=access.actor(request))
    feedback.done(request, said % {"count": len(memories)}, change)
    return to_tab(request, person, "memories")


# What is chosen in a list comes by POST, with ``ask``: no address holds a list of ids.
ASK = "ask"


def _status(request: HttpRequest) -> int:
    """Of a page with a form: whether it is asked for, or shown again with what is missing."""
    return 200 if request.method == "GET" or ASK in request.POST else 422


def _move_page(request: HttpRequest, person: Contact, memories: Sequence[Memory]) -> HttpResponse:
    sent = request.POST if request.method == "POST" else request.GET
    status = _status(request)
    back_to = feedback.ours(request, sent.get("next", ""))
    context = {
        "end_user": person.end_user,
        "contact": person,
        "names": queries.names_of(person),
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


@access.page
@_of_chosen
def show_move(request: HttpRequest, person: Contact, memories: Sequence[Memory]) -> HttpResponse:
    return _move_page(request, person, memories)


@access.action
@_of_chosen
def move(request: HttpRequest, person: Contact, memories: Sequence[Memory]) -> HttpResponse:
    """Says that memories are about another person."""
    other = access.chosen_contact(person.end_user, request.POST.get("person", ""))
    if other is None:
        return _move_page(request, person, memories)
    actor = access.actor(request)
    said = ngettext(
        "%(count)s memory moved to %(name)s.",
        "%(count)s memories moved to %(name)s.",
        len(memories),
    )
    return _each(
        request,
        person,
        memories,
        lambda memory: edit_memories.move(
            person.end_user, memory.pk, person.pk, other.pk, actor=actor
        ),
        said % {"count": len(memories), "name": feedback.apart(other.name)},
    )


def _split_page(
    request: HttpRequest,
    person: Contact,
    memories: Sequence[Memory],
    form: forms.Form,
    status: int = 200,
) -> HttpResponse:
    context = {
        "end_user": person.end_user,
        "contact": person,
        "names": queries.names_of(person),
        "memories": memories,
        "form": form,
    }
    return render(request, "contacts/split.html", context, status=status)


@access.page
@_of_chosen
def show_split(request: HttpRequest, person: Contact, memories: Sequence[Memory]) -> HttpResponse:
    return _split_page(request, person, memories, SplitForm())


@access.action
@_of_chosen
def split(request: HttpRequest, person: Contact, memories: Sequence[Memory]) -> HttpResponse:
    """Says that memories are about somebody who was taken for this person."""
    if ASK in request.POST:
        return _split_page(request, person, memories, SplitForm())
    form = SplitForm(request.POST)
    if not form.is_valid():
        return _split_page(request, person, memories, form, 422)
    try:
        new, change = merge_contacts.split(
            person.end_user,
            person.pk,
            [memory.pk for memory in memories],
            actor=access.actor(request),
            **form.cleaned_data,
        )
    except (InvalidMerge, store.InvalidContact) as error:
        form.add_error(None, words.reason(error.reason))
        return _split_page(request, person, memories, form, 422)
    feedback.done(
        request,
        _("%(name)s is a separate person now.") % {"name": feedback.apart(new.name)},
        change,
    )
    return redirect("dashboard:contact", person.end_user_id, new.pk)


class ContentForm(forms.Form):
    """What a memory says."""

    content = forms.CharField(
        label=gettext_lazy("What it says"),
        max_length=MAX_CONTENT,
        widget=forms.Textarea({"rows": 4}),
    )
    why = SplitForm.base_fields["why"]


def _edit_page(
    request: HttpRequest, person: Contact, memory: Memory, form: forms.Form, status: int = 200
) -> HttpResponse:
    context = {"end_user": person.end_user, "contact": person, "memory": memory, "form": form}
    return render(request, "contacts/edit_memory.html", context, status=status)


@access.page
def show_edit_memory(request: HttpRequest, person: Contact, memory: Memory) -> HttpResponse:
    return _edit_page(request, person, memory, ContentForm(initial={"content": memory.content}))


@access.action
def edit_memory(request: HttpRequest, person: Contact, memory: Memory) -> HttpResponse:
    """Changes what a memory says."""
    form = ContentForm(request.POST)
    if not form.is_valid():
        return _edit_page(request, person, memory, form, 422)
    said = form.cleaned_data
    if said["content"] == memory.content:
        return to_tab(request, person, "memories")
    try:
        change = edit_memories.edit(
            person.end_user,
            memory.pk,
            {"content": said["content"]},
            actor=access.actor(request),
            why=said["why"],
        )
    except edit_memories.InvalidCorrection as error:
        form.add_error("content", words.reason(error.reason))
        return _edit_page(request, person, memory, form, 422)
    queue.enqueue("embed", person.end_user_id)
    feedback.done(request, _("Saved."), change)
    return to_tab(request, person, "memories")


def _forget_page(
    request: HttpRequest, person: Contact, plan: Preview, **context: Any
) -> HttpResponse:
    context |= {
        "end_user": person.end_user,
        "contact": person,
        "names": queries.names_of(person),
        "plan": plan,
        "page": pager.page_of(request, plan.rows, ["-said_at", "id"]),
    }
    return render(request, "contacts/forget.html", context)


@access.admin_page
def show_forget(request: HttpRequest, person: Contact) -> HttpResponse:
    """How much forgetting a person erases, and which memories, page by page."""
    return _forget_page(request, person, preview.of_contact(person.end_user, person.pk), whole=True)


@access.admin_action
def forget_person(request: HttpRequest, person: Contact) -> HttpResponse:
    """Erases a person with everything about them."""
    gone = erase.forget_contact(person.end_user, person.pk, receipts.by(request))
    feedback.erased(request, gone)
    then = "undecided" if gone.unsure else "contacts"
    return redirect(f"dashboard:{then}", person.end_user_id)


@access.admin_page
def show_forget_memories(request: HttpRequest, person: Contact) -> HttpResponse:
    """What is left of the page that asked, when it is reloaded."""
    return _nothing_chosen(request, person)


@access.admin_action
@_of_chosen
def forget_memories(
    request: HttpRequest, person: Contact, memories: Sequence[Memory]
) -> HttpResponse:
    """Erases memories with everything that was derived from them, after all that was shown."""
    ids = [memory.pk for memory in memories]
    if "sure" not in request.POST:
        plan = preview.of_memories(person.end_user, ids)
        return _forget_page(request, person, plan, chosen=memories)
    feedback.erased(
        request, erase.forget_these(person.end_user, ids, (), (), (), by=receipts.by(request))
    )
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
