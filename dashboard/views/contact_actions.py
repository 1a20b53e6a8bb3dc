"""What an operator says about a person: who they are, their names, values and relations."""

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime, time
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.dateparse import parse_date
from django.utils.translation import gettext as _

from accounts.models import Change, EndUser
from contacts import store
from contacts.edit import (
    Dated,
    InvalidRelation,
    NameTaken,
    UnknownContact,
    add_relation,
    archive_contact,
    create_contact,
    deny_reference,
    edit_contact,
    remove_relation,
)
from contacts.merge import InvalidMerge
from contacts.models import Contact
from dashboard import access, feedback, words
from dashboard.forms import PersonForm
from dashboard.queries import contact as queries
from memories.corrections import merge_contacts
from understanding.attributes import ATTRIBUTES

MAX_VALUE = 500
_KEY = re.compile(r"[a-z][a-z0-9_]{0,49}")


def to_tab(request: HttpRequest, person: Contact, tab: str = "card") -> HttpResponse:
    """Back to where the form was, or to this tab of the person's page."""
    if request.POST.get("next"):
        return feedback.back(request, "dashboard:contact", person.end_user_id, person.pk)
    return redirect(f"{reverse('dashboard:contact', args=[person.end_user_id, person.pk])}?tab={tab}")  # fmt: skip


def _form_page(
    request: HttpRequest, end_user: EndUser, form: PersonForm, person: Contact | None, status: int = 200
) -> HttpResponse:  # fmt: skip
    context = {"end_user": end_user, "form": form, "contact": person}
    return render(request, "contacts/form.html", context, status=status)


@access.page
def show_new(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    form = PersonForm(initial={"name": request.GET.get("name", "")[:200]})
    return _form_page(request, end_user, form, None)


@access.action
@access.needs_no_token
def create(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    """Adds a person."""
    form = PersonForm(request.POST)
    if form.is_valid():
        values = dict(form.cleaned_data)
        name, why, namesake = (values.pop(field) for field in ("name", "why", "namesake"))
        try:
            person, change = create_contact(
                end_user, name, actor=access.actor(request), why=why, namesake=namesake, **values
            )
        except NameTaken as error:
            _name_taken(form, error)
        except store.InvalidContact as error:
            form.add_error(None, words.reason(error.reason))
        else:
            feedback.done(
                request, _("%(name)s was added.") % {"name": feedback.apart(person.name)}, change
            )
            return redirect("dashboard:contact", end_user.pk, person.pk)
    return _form_page(request, end_user, form, None, 422)


@access.page
def show_edit(request: HttpRequest, person: Contact) -> HttpResponse:
    return _form_page(request, person.end_user, PersonForm.of(person), person)


@access.action
def edit(request: HttpRequest, person: Contact) -> HttpResponse:
    """Changes who a person is; an old name stays as an alias."""
    form = PersonForm(request.POST)
    if form.is_valid():
        values = form.changed_values(person)
        if not values:
            return redirect("dashboard:contact", person.end_user_id, person.pk)
        try:
            _contact, change = edit_contact(
                person.end_user,
                person.pk,
                values,
                actor=access.actor(request),
                why=form.cleaned_data["why"],
                namesake=form.cleaned_data["namesake"],
            )
        except NameTaken as error:
            _name_taken(form, error)
        except store.InvalidContact as error:
            form.add_error(None, words.reason(error.reason))
        else:
            feedback.done(request, _("Saved."), change)
            return redirect("dashboard:contact", person.end_user_id, person.pk)
    return _form_page(request, person.end_user, form, person, 422)


@access.action
def archive(request: HttpRequest, person: Contact) -> HttpResponse:
    """Puts a person into the archive, or brings them back."""
    archived = bool(request.POST.get("archived"))
    said = _("%(name)s is in the archive.") if archived else _("%(name)s is back.")
    change = archive_contact(
        person.end_user, person.pk, actor=access.actor(request), archived=archived
    )
    feedback.done(request, said % {"name": feedback.apart(person.name)}, change)
    return to_tab(request, person)


def _name_taken(form: PersonForm, error: NameTaken) -> None:
    form.holder = error.holder  # type: ignore[attr-defined]
    form.add_error("name", _("Someone of this name is already known."))


@access.action
def aliases(request: HttpRequest, person: Contact) -> HttpResponse:
    """Adds or removes an alias, or makes one the name; the old name stays as an alias."""
    alias = " ".join(request.POST.get("alias", "").replace("\0", "").split())
    others = [held for held in person.aliases if held != alias]
    values: dict[str, Any] = {}
    said = ""
    match request.POST.get("do"):
        case "add":
            values = {"aliases": [*person.aliases, alias]}
            said = _("%(alias)s is an alias now.")
        case "remove":
            values = {"aliases": others}
            said = _("%(alias)s is no longer an alias.")
        case "primary":
            values = {"name": alias, "aliases": [*others, person.name]}
            said = _("%(alias)s is the name now.")
    try:
        store.clean_name(alias)
    except store.InvalidContact:
        typed = {"alias": request.POST.get("alias", "")}
        address = reverse("dashboard:contact", args=[person.end_user_id, person.pk])
        return redirect(f"{address}?{urlencode(typed)}#names-title")
    if request.POST.get("do") == "add" and alias in (person.name, *person.aliases):
        feedback.done(request, _("This is already known."))
    elif values:
        _edit(request, person, values, said % {"alias": feedback.apart(alias)})
        person.refresh_from_db(fields=["name", "aliases"])
        shared = queries.shared_aliases(person) if request.POST.get("do") == "add" else {}
        for other in shared.get(alias, ()):
            called = {"name": feedback.apart(other.name), "alias": feedback.apart(alias)}
            feedback.refused(request, _("%(name)s is called %(alias)s as well.") % called)
    return to_tab(request, person)


@access.action
def remove_reference(request: HttpRequest, person: Contact) -> HttpResponse:
    """Takes away a phrase by which the user may mean the person."""
    phrase = request.POST.get("phrase", "").replace("\0", "")
    change = deny_reference(
        person.end_user, person.pk, phrase, actor=access.actor(request), why=_why(request)
    )
    if change is not None:
        said = _("%(phrase)s no longer means %(name)s.")
        told = {"phrase": feedback.apart(phrase), "name": feedback.apart(person.name)}
        feedback.done(request, said % told, change)
    return to_tab(request, person)


def _edit(request: HttpRequest, person: Contact, values: dict[str, Any], said: str) -> None:
    try:
        _contact, change = edit_contact(
            person.end_user, person.pk, values, actor=access.actor(request), why=_why(request)
        )
    except NameTaken:
        feedback.refused(request, _("Someone of this name is already known."))
    except (UnknownContact, store.InvalidContact) as error:
        feedback.refused(request, error.reason)
    else:
        feedback.done(request, said, change)


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
        typed = {name: request.POST.get(name, "") for name in ("key", "new")}
        address = reverse("dashboard:contact", args=[person.end_user_id, person.pk])
        return redirect(f"{address}?{urlencode({'problem': 1, **typed})}#add")
    held = [str(entry["value"]) for entry in person.attributes.get(key, ())]
    if old and old not in map(_value, held):
        _changed_meanwhile(request, old, new)
        return to_tab(request, person)
    since = request.POST.get("since", "")
    dated = since != request.POST.get("was", "")
    stated: list[str | Dated] = [Dated(new, _since(person, since)) if dated else new] if new else []
    before = held if old else [*held, ""]  # in the place of which the stated one stands
    kept = _once(one for value in before for one in (stated if _value(value) == old else [value]))
    if kept == held:
        feedback.done(request, _("This is already known."))
    else:
        said = _("Saved.") if new else _("Removed.")
        _edit(request, person, {"attributes": {key: kept}}, said)
    return to_tab(request, person)


def _changed_meanwhile(request: HttpRequest, old: str, new: str) -> None:
    """Says that the page was too old for what it sent, and what of it was not saved."""
    told = _("“%(old)s” was changed or removed meanwhile.")
    if new:
        told = _("“%(old)s” was changed or removed meanwhile. “%(new)s” was not saved.")
    feedback.refused(request, told % {"old": feedback.apart(old), "new": feedback.apart(new)})


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
    found: dict[str, str | Dated] = {}
    for one in values:
        name = one if isinstance(one, str) else one.value
        if name not in found or not isinstance(one, str):
            found[name] = one
    return list(found.values())


def _since(person: Contact, text: str) -> str | None:
    """The beginning of a day, as typed, in the end user's zone; None for no day."""
    with suppress(ValueError):
        if found := parse_date(text):
            return datetime.combine(found, time.min, person.end_user.zone).isoformat()
    return None


def _value(text: str) -> str:
    return " ".join(text.replace("\0", "").split())[:MAX_VALUE]


@access.action
def resolve(request: HttpRequest, person: Contact) -> HttpResponse:
    """Says which of several values is right, or that ``all`` are."""
    key, value = request.POST.get("key", ""), request.POST.get("value", "")
    actor = access.actor(request)
    if "all" in request.POST:
        _verb(
            request,
            lambda: merge_contacts.keep_side_by_side(person.end_user, person.pk, key, actor=actor)[
                1
            ],
            _("Kept all values."),
        )
        return to_tab(request, person)
    _verb(
        request,
        lambda: merge_contacts.resolve_attribute(
            person.end_user, person.pk, key, value, actor=actor
        )[1],
        _("Kept “%(value)s”.") % {"value": feedback.apart(value)},
    )
    return to_tab(request, person)


@access.action
def relate(request: HttpRequest, person: Contact) -> HttpResponse:
    """Says what another person is to this one (``way`` of), or this one to the other (to)."""
    other = access.chosen_contact(person.end_user, request.POST.get("person", ""))
    kind = request.POST.get("kind", "").replace("\0", "")
    if other is None:
        typed = {"kind": kind, "way": request.POST.get("way", ""), "problem": 1}
        address = reverse("dashboard:contact", args=[person.end_user_id, person.pk])
        return redirect(f"{address}?tab=relations&{urlencode(typed)}#relate-title")
    subject, of = (person, other) if request.POST.get("way") == "to" else (other, person)
    actor = access.actor(request)
    _verb(
        request,
        lambda: add_relation(person.end_user, subject.pk, kind, of.pk, actor=actor),
        _("%(subject)s is %(kind)s of %(of)s.")
        % {
            "subject": feedback.apart(subject.name),
            "kind": feedback.apart(kind),
            "of": feedback.apart(of.name),
        },
    )
    return to_tab(request, person, "relations")


@access.action
def unrelate(request: HttpRequest, person: Contact, relation: int) -> HttpResponse:
    """Says that a relation does not hold."""
    actor = access.actor(request)
    _verb(
        request,
        lambda: remove_relation(person.end_user, relation, actor=actor),
        _("Relation removed."),
    )
    return to_tab(request, person, "relations")


def _verb(request: HttpRequest, verb: Callable[[], Change | None], said: str) -> None:
    """Does it and says so, or says why not."""
    try:
        change = verb()
    except (InvalidMerge, InvalidRelation) as error:
        feedback.refused(request, error.reason)
    else:
        feedback.done(request, said, change)


_PERSON = "u/<int:user>/people/<uuid:contact>"
urls = [
    path("u/<int:user>/people/new/", access.form(show_new, create), name="contact_new"),
    path(f"{_PERSON}/edit/", access.form(show_edit, edit), name="contact_edit"),
    path(f"{_PERSON}/archive/", archive, name="contact_archive"),
    path(f"{_PERSON}/aliases/", aliases, name="contact_aliases"),
    path(f"{_PERSON}/references/", remove_reference, name="contact_reference"),
    path(f"{_PERSON}/attributes/", attribute, name="contact_attribute"),
    path(f"{_PERSON}/resolve/", resolve, name="contact_resolve"),
    path(f"{_PERSON}/relations/", relate, name="contact_relate"),
    path(f"{_PERSON}/relations/<int:relation>/remove/", unrelate, name="contact_unrelate"),
]
