"""Corrections of a person: who they are, their names, values and relations."""

import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime, time
from typing import Any
from urllib.parse import urlencode

from django.forms.models import model_to_dict
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.dateparse import parse_date
from django.utils.translation import gettext as _

from accounts.models import EndUser
from contacts import store
from contacts.edit import (
    Dated,
    NameTaken,
    add_relation,
    archive_contact,
    create_contact,
    deny_reference,
    edit_contact,
    remove_relation,
)
from contacts.models import Contact
from dashboard import access, feedback
from dashboard.forms import PersonForm
from dashboard.queries import contact as queries
from memories.corrections import merge_contacts
from understanding.attributes import ATTRIBUTES

MAX_VALUE = 500
MAX_NOTE = 4000
_KEY = re.compile(r"[a-z][a-z0-9_]{0,49}")


def to_tab(request: HttpRequest, person: Contact, tab: str = "card") -> HttpResponse:
    """Back to where the form was, or to this tab of the person's page."""
    if request.POST.get("next"):
        return feedback.back(request, "dashboard:contact", person.end_user_id, person.pk)
    return redirect(f"{reverse('dashboard:contact', args=[person.end_user_id, person.pk])}?tab={tab}")  # fmt: skip


def _form_page(
    request: HttpRequest, end_user: EndUser, form: PersonForm, person: Contact | None = None
) -> HttpResponse:
    context = {"end_user": end_user, "form": form, "contact": person}
    status = 422 if form.is_bound else 200
    return render(request, "contacts/form.html", context, status=status)


@access.page
def show_new(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    form = PersonForm(initial={"name": request.GET.get("name", "")[:200]})
    return _form_page(request, end_user, form)


@access.action(token=False)
def create(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    """Adds a person."""
    form, actor = PersonForm(request.POST), access.actor(request)
    if form.is_valid():
        with form.refusals():
            person, change = create_contact(end_user, actor=actor, **form.cleaned_data)
            feedback.done(request, _("%(name)s was added."), change, name=person.name)
            return redirect("dashboard:contact", end_user.pk, person.pk)
    return _form_page(request, end_user, form)


@access.page
def show_edit(request: HttpRequest, person: Contact) -> HttpResponse:
    return _form_page(
        request,
        person.end_user,
        PersonForm(initial=model_to_dict(person, PersonForm.shown)),
        person,
    )


@access.action
def edit(request: HttpRequest, person: Contact) -> HttpResponse:
    """Changes who a person is; an old name stays as an alias."""
    form, actor = PersonForm(request.POST), access.actor(request)
    if form.is_valid():
        options = {name: form.cleaned_data[name] for name in ("why", "namesake")}
        with form.refusals():
            if values := form.changed_values(person):
                change = edit_contact(person.end_user, person.pk, values, actor=actor, **options)[1]
                feedback.done(request, _("Saved."), change)
            return redirect("dashboard:contact", person.end_user_id, person.pk)
    return _form_page(request, person.end_user, form, person)


@access.action
def archive(request: HttpRequest, person: Contact) -> HttpResponse:
    """Puts a person into the archive, or brings them back."""
    archived, actor = bool(request.POST.get("archived")), access.actor(request)
    change = archive_contact(person.end_user, person.pk, actor=actor, archived=archived)
    message = _("%(name)s is in the archive.") if archived else _("%(name)s is back.")
    feedback.done(request, message, change, name=person.name)
    return to_tab(request, person)


@access.action
def aliases(request: HttpRequest, person: Contact) -> HttpResponse:
    """Adds or removes an alias, or makes one the name; the old name stays as an alias."""
    alias = " ".join(request.POST.get("alias", "").replace("\0", "").split())
    others = [other for other in person.aliases if other != alias]
    does: dict[str, tuple[dict[str, Any], str]] = {
        "add": ({"aliases": [*person.aliases, alias]}, _("%(alias)s is an alias now.")),
        "remove": ({"aliases": others}, _("%(alias)s is no longer an alias.")),
        "primary": ({"name": alias, "aliases": [*others, person.name]},
                    _("%(alias)s is the name now.")),
    }  # fmt: skip
    do = request.POST.get("do", "")
    try:
        store.clean_name(alias)
    except store.InvalidContact:
        return _typed_again(request, person, "#names-title", "alias")
    if do == "add" and alias in (person.name, *person.aliases):
        feedback.done(request, _("This is already known."))
    elif do in does:
        values, message = does[do]
        _edit(request, person, values, message, alias=alias)
        person.refresh_from_db(fields=["name", "aliases"])
        shared = queries.shared_aliases(person) if do == "add" else {}
        for other in shared.get(alias, ()):
            message = _("%(name)s is called %(alias)s as well.")
            feedback.refused(request, message, name=other.name, alias=alias)
    return to_tab(request, person)


def _typed_again(
    request: HttpRequest, person: Contact, to: str, *fields: str, **more: object
) -> HttpResponse:
    """The person's page at the form ``to``, with what was typed in its fields."""
    typed = more | {name: request.POST.get(name, "") for name in fields}
    address = reverse("dashboard:contact", args=[person.end_user_id, person.pk])
    return redirect(f"{address}?{urlencode(typed)}{to}")


@access.action
def remove_reference(request: HttpRequest, person: Contact) -> HttpResponse:
    """Takes away a phrase by which the user may mean the person."""
    phrase = request.POST.get("phrase", "").replace("\0", "")
    change = deny_reference(
        person.end_user, person.pk, phrase, actor=access.actor(request), why=_why(request)
    )
    if change is not None:
        message = _("%(phrase)s no longer means %(name)s.")
        feedback.done(request, message, change, phrase=phrase, name=person.name)
    return to_tab(request, person)


def _edit(
    request: HttpRequest, person: Contact, values: dict[str, Any], message: str, **holes: Any
) -> None:
    """Changes these values of a person, and says so."""
    try:
        _contact, change = edit_contact(
            person.end_user, person.pk, values, actor=access.actor(request), why=_why(request)
        )
    except NameTaken:
        feedback.refused(request, _("Someone of this name is already known."))
    else:
        feedback.done(request, message, change, **holes)


def _why(request: HttpRequest) -> str:
    return request.POST.get("why", "").replace("\0", "")[:500]


@access.action
def attribute(request: HttpRequest, person: Contact) -> HttpResponse:
    """Adds a value (``new``), replaces one (``old`` by ``new``) or removes it (``old``)."""
    key = _key(request.POST.get("key", ""))
    old, new = (_value(request.POST.get(name, "")) for name in ("old", "new"))
    if "remove" in request.POST:
        new = ""
    if not key or not (old or new):
        return _typed_again(request, person, "#add", "key", "new", problem=1)
    current = [str(entry["value"]) for entry in person.attributes.get(key, ())]
    if old and old not in map(_value, current):
        raise Http404  # the form's token tells of a value that was changed since
    since = request.POST.get("since", "")
    dated = since != request.POST.get("was", "")
    stated: list[str | Dated] = [Dated(new, _since(person, since)) if dated else new] if new else []
    before = current if old else [*current, ""]  # the stated one takes the place of ""
    after = _once(one for value in before for one in (stated if _value(value) == old else [value]))
    if after == current:
        feedback.done(request, _("This is already known."))
    else:
        message = _("Saved.") if new else _("Removed.")
        _edit(request, person, {"attributes": {key: after}}, message)
    return to_tab(request, person)


def _key(text: str) -> str:
    """``marital_status`` of its label in either language, ``blood_type`` of "Blood type"; ""
    for what can be no key."""
    text = text.strip().lower()
    for key, known in ATTRIBUTES.items():
        if text in (key, known.en.lower(), known.zh):
            return key
    key = re.sub(r"[\s_-]+", "_", text)
    return key if _KEY.fullmatch(key) else ""


def _once(values: Iterable[str | Dated]) -> list[str | Dated]:
    """The values without repetitions; a date outweighs none."""
    by_value: dict[str, str | Dated] = {}
    for one in values:
        name = one if isinstance(one, str) else one.value
        if name not in by_value or not isinstance(one, str):
            by_value[name] = one
    return list(by_value.values())


def _since(person: Contact, text: str) -> str | None:
    """The beginning of a day, as typed, in the end user's zone; None for no day."""
    with suppress(ValueError):
        if day := parse_date(text):
            return datetime.combine(day, time.min, person.end_user.zone).isoformat()
    return None


def _value(text: str) -> str:
    return " ".join(text.replace("\0", "").split())[:MAX_VALUE]


@access.action
def resolve(request: HttpRequest, person: Contact) -> HttpResponse:
    """Says which of several values is right, or that ``all`` are."""
    key = request.POST.get("key", "")
    value = None if "all" in request.POST else request.POST.get("value", "")
    change = merge_contacts.resolve_attribute(
        person.end_user, person.pk, key, value, actor=access.actor(request)
    )
    if value is None:
        feedback.done(request, _("Kept all values."), change)
    else:
        feedback.done(request, _("Kept “%(value)s”."), change, value=value)
    return to_tab(request, person)


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


@access.action
def relate(request: HttpRequest, person: Contact) -> HttpResponse:
    """Says what another person is to this one (``way`` of), or this one to the other (to)."""
    other = access.chosen_contact(person.end_user, request.POST.get("person", ""))
    kind = request.POST.get("kind", "").replace("\0", "")
    if other is None:
        more = {"tab": "relations", "problem": 1}
        return _typed_again(request, person, "#relate-title", "kind", "way", **more)
    subject, of = (person, other) if request.POST.get("way") == "to" else (other, person)
    actor = access.actor(request)
    change = add_relation(person.end_user, subject.pk, kind, of.pk, actor=actor)
    message = _("%(subject)s is %(kind)s of %(of)s.")
    feedback.done(request, message, change, subject=subject.name, kind=kind, of=of.name)
    return to_tab(request, person, "relations")


@access.action
def unrelate(request: HttpRequest, person: Contact, relation: int) -> HttpResponse:
    """Removes a relation."""
    change = remove_relation(person.end_user, relation, actor=access.actor(request))
    feedback.done(request, _("Relation removed."), change)
    return to_tab(request, person, "relations")


_PERSON = "u/<int:user>/people/<uuid:contact>"
urls = [
    path("u/<int:user>/people/new/", access.form(show_new, create), name="contact_new"),
    path(f"{_PERSON}/edit/", access.form(show_edit, edit), name="contact_edit"),
    path(f"{_PERSON}/archive/", archive, name="contact_archive"),
    path(f"{_PERSON}/aliases/", aliases, name="contact_aliases"),
    path(f"{_PERSON}/references/", remove_reference, name="contact_reference"),
    path(f"{_PERSON}/attributes/", attribute, name="contact_attribute"),
    path(f"{_PERSON}/note/", note, name="contact_note"),
    path(f"{_PERSON}/resolve/", resolve, name="contact_resolve"),
    path(f"{_PERSON}/relations/", relate, name="contact_relate"),
    path(f"{_PERSON}/relations/<int:relation>/remove/", unrelate, name="contact_unrelate"),
]
