"""What an operator does with the memories about a person, and forgetting."""

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from accounts.models import Change, EndUser
from contacts import store
from contacts.merge import InvalidMerge
from contacts.models import Contact
from dashboard import access, feedback, words
from dashboard.forms import SplitForm
from dashboard.queries import contact as queries
from dashboard.views.contact import standing
from dashboard.views.contact_actions import to_tab
from dashboard.views.picking import picker
from memories import queue
from memories.corrections import edit_memories, merge_contacts
from memories.erasure import erase
from memories.models import Memory

MAX_CONTENT = 10_000


def _chosen(request: HttpRequest, person: Contact) -> list[Memory]:
    """The memories of the form or address that are about the person."""
    sent = request.POST if request.method == "POST" else request.GET
    return queries.chosen(person, access.valid_ids(sent.getlist("memory")))


def _nothing_chosen(request: HttpRequest, person: Contact) -> HttpResponse:
    feedback.refused(request, _("Choose memories first."))
    return to_tab(request, person, "memories")


def _each(
    request: HttpRequest,
    memories: Sequence[Memory],
    verb: Callable[[Memory], Change | None],
    said: str,
) -> bool:
    """Does it to every memory or, where one refuses, to none; one Undo takes all back."""
    try:
        with transaction.atomic():
            changes = [verb(memory) for memory in memories]
    except (edit_memories.InvalidCorrection, InvalidMerge) as error:
        feedback.refused(request, error.reason)
        return False
    feedback.done(request, said, *changes)
    return True


@access.action
def unlink(request: HttpRequest, user: int, contact: UUID) -> HttpResponse:
    """Says that memories are not about this person."""
    end_user, person = standing(request, user, contact)
    memories = _chosen(request, person)
    if not memories:
        return _nothing_chosen(request, person)
    actor = access.actor(request)
    said = ngettext(
        "%(count)s memory is not about %(name)s any more.",
        "%(count)s memories are not about %(name)s any more.",
        len(memories),
    )
    _each(
        request,
        memories,
        lambda memory: edit_memories.unlink(end_user, memory.pk, person.pk, actor=actor),
        said % {"count": len(memories), "name": feedback.apart(person.name)},
    )
    return to_tab(request, person, "memories")


@access.action
def outdate(request: HttpRequest, user: int, contact: UUID) -> HttpResponse:
    """Says that memories are no longer true."""
    end_user, person = standing(request, user, contact)
    memories = [m for m in _chosen(request, person) if m.status == Memory.Status.ACTIVE]
    if not memories:
        return _nothing_chosen(request, person)
    said = ngettext(
        "%(count)s memory is outdated now.", "%(count)s memories are outdated now.", len(memories)
    )
    change = edit_memories.outdate(end_user, memories, actor=access.actor(request))
    feedback.done(request, said % {"count": len(memories)}, change)
    return to_tab(request, person, "memories")


@access.page
def show_move(request: HttpRequest, user: int, contact: UUID) -> HttpResponse:
    end_user, person = standing(request, user, contact)
    memories = _chosen(request, person)
    if not memories:
        return _nothing_chosen(request, person)
    context = {
        "end_user": end_user,
        "contact": person,
        "names": queries.names_of(person),
        "memories": memories,
        "next": feedback.ours(request, request.GET.get("next", "")),
        **picker(request, end_user, person.pk),
    }
    return render(request, "contacts/move.html", context)


@access.action
def move(request: HttpRequest, user: int, contact: UUID) -> HttpResponse:
    """Says that memories are about another person."""
    end_user, person = standing(request, user, contact)
    memories = _chosen(request, person)
    target = access.valid_ids([request.POST.get("person", "")])
    if not memories:
        return _nothing_chosen(request, person)
    if not target:
        feedback.refused(request, _("Choose a person."))
        asked = [("memory", memory.pk) for memory in memories]
        then = urlencode([*asked, ("next", request.POST.get("next", ""))])
        address = reverse("dashboard:contact_move", args=[end_user.pk, person.pk])
        return redirect(f"{address}?{then}")
    other = access.get_contact(end_user, target[0])
    actor = access.actor(request)
    said = ngettext(
        "%(count)s memory moved to %(name)s.",
        "%(count)s memories moved to %(name)s.",
        len(memories),
    )
    _each(
        request,
        memories,
        lambda memory: edit_memories.move(end_user, memory.pk, person.pk, other.pk, actor=actor),
        said % {"count": len(memories), "name": feedback.apart(other.name)},
    )
    return to_tab(request, person, "memories")


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
def show_split(request: HttpRequest, user: int, contact: UUID) -> HttpResponse:
    _end_user, person = standing(request, user, contact)
    memories = _chosen(request, person)
    if not memories:
        return _nothing_chosen(request, person)
    return _split_page(request, person, memories, SplitForm())


@access.action
def split(request: HttpRequest, user: int, contact: UUID) -> HttpResponse:
    """Says that memories are about somebody who was taken for this person."""
    end_user, person = standing(request, user, contact)
    memories = _chosen(request, person)
    if not memories:
        return _nothing_chosen(request, person)
    form = SplitForm(request.POST)
    if not form.is_valid():
        return _split_page(request, person, memories, form, 422)
    try:
        new, change = merge_contacts.split(
            end_user,
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
        _("%(name)s is a person of their own.") % {"name": feedback.apart(new.name)},
        change,
    )
    return redirect("dashboard:contact", end_user.pk, new.pk)


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
def show_edit_memory(request: HttpRequest, user: int, contact: UUID, memory: UUID) -> HttpResponse:
    end_user, person = standing(request, user, contact)
    row = access.get_memory(end_user, memory)
    return _edit_page(request, person, row, ContentForm(initial={"content": row.content}))


@access.action
def edit_memory(request: HttpRequest, user: int, contact: UUID, memory: UUID) -> HttpResponse:
    """Changes what a memory says."""
    end_user, person = standing(request, user, contact)
    row = access.get_memory(end_user, memory)
    form = ContentForm(request.POST)
    if not form.is_valid():
        return _edit_page(request, person, row, form, 422)
    said = form.cleaned_data
    if said["content"] == row.content:
        return to_tab(request, person, "memories")
    try:
        change = edit_memories.edit(
            end_user,
            row.pk,
            {"content": said["content"]},
            actor=access.actor(request),
            why=said["why"],
        )
    except edit_memories.InvalidCorrection as error:
        form.add_error("content", words.reason(error.reason))
        return _edit_page(request, person, row, form, 422)
    queue.enqueue("embed", end_user.pk)
    feedback.done(request, _("Saved."), change)
    return to_tab(request, person, "memories")


def _forget_page(
    request: HttpRequest, end_user: EndUser, person: Contact, **context: Any
) -> HttpResponse:
    context |= {"end_user": end_user, "contact": person, "names": queries.names_of(person)}
    return render(request, "contacts/forget.html", context)


@access.admin_page
def show_forget(request: HttpRequest, user: int, contact: UUID) -> HttpResponse:
    """Everything that forgetting a person would erase."""
    end_user, person = standing(request, user, contact)
    plan = erase.rehearse_contact(end_user, person.pk)
    return _forget_page(request, end_user, person, plan=plan, whole=True)


@access.admin_action
def forget_person(request: HttpRequest, user: int, contact: UUID) -> HttpResponse:
    """Erases a person with everything about them."""
    end_user, person = standing(request, user, contact)
    erase.forget_contact(end_user, person.pk)
    feedback.done(request, _("The person and everything about them is erased."))
    return redirect("dashboard:contacts", end_user.pk)


@access.admin_page
def show_forget_memories(request: HttpRequest, user: int, contact: UUID) -> HttpResponse:
    """Everything that forgetting memories would erase."""
    end_user, person = standing(request, user, contact)
    memories = _chosen(request, person)
    if not memories:
        return _nothing_chosen(request, person)
    plan = erase.rehearse_memories(end_user, [memory.pk for memory in memories])
    return _forget_page(request, end_user, person, plan=plan, chosen=memories)


@access.admin_action
def forget_memories(request: HttpRequest, user: int, contact: UUID) -> HttpResponse:
    """Erases memories with everything that was derived from them."""
    end_user, person = standing(request, user, contact)
    memories = _chosen(request, person)
    if not memories:
        return _nothing_chosen(request, person)
    gone = erase.forget_these(end_user, [memory.pk for memory in memories], (), (), ())
    said = ngettext("%(count)s memory is erased.", "%(count)s memories are erased.", gone.memories)
    feedback.done(request, said % {"count": gone.memories})
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
