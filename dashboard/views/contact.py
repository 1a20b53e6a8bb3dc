"""Pages of one person, and the corrections of what is known; the picker of a person in forms."""

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, time
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

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
from contacts.models import Contact, Relation
from dashboard import access, feedback, pager
from dashboard.forms import MAX_VALUE, PersonForm, typed, with_value
from dashboard.queries import changes, memories
from dashboard.queries import contact as queries
from dashboard.queries import contacts as people
from dashboard.views.dates import rows_of
from dashboard.words import language_of
from memories.corrections import edit_dates, merge_contacts, not_people
from memories.history.mention_rhythm import rhythms
from understanding.attributes import ATTRIBUTES, attribute_key, label
from understanding.text import estimate_tokens


def picker(
    request: HttpRequest, end_user: EndUser, *without: UUID, same: Contact | None = None
) -> dict[str, Any]:
    """Returns what ``contacts/_picker.html`` and ``_picked.html`` show: people found by ``?q=``,
    except ``without`` and ``?without=``; those most like ``same`` (or ``?same=``) first."""
    ids = [*without, *access.valid_ids(request.GET.getlist("without"))]
    q = typed(request)
    same = access.chosen_contact(end_user, request.GET.get("same", "")) or same
    resent = [(name, value) for name, values in request.GET.lists() for value in values
            if name not in ("q", "without", "same")]  # fmt: skip
    picked = people.to_pick(end_user, q, ids, same)
    people.tell_apart(picked)
    more = len(picked) > people.PICKED
    return {"q": q, "picked": picked[: people.PICKED], "more_to_pick": more, "without": ids,
            "same": same, "kept": resent}  # fmt: skip


@access.page
def pick(request: HttpRequest, end_user: EndUser) -> HttpResponse:
    """Shows people to choose from: the fragment for htmx, a page of links without."""
    template = "_picked.html" if access.wants_part(request) else "pick.html"
    context = {"end_user": end_user, **picker(request, end_user)}
    return render(request, f"contacts/{template}", context)


@access.page
def contact(request: HttpRequest, person: Contact) -> HttpResponse:
    """The page of one person; the address of a merged one redirects to the survivor."""
    requested_id = request.resolver_match.kwargs["contact"]  # type: ignore[union-attr]
    if person.pk != requested_id:
        address = reverse("dashboard:contact", args=[person.end_user_id, person.pk])
        return redirect(f"{address}?merged={requested_id}")
    tab = request.GET.get("tab", "")
    tab = tab if tab in TABS else "card"
    namesakes = queries.namesakes(person)
    if namesakes:
        people.tell_apart([person, *namesakes])
    names = [_("Facts"), _("Memories"), _("Timeline"), _("Relationships"), _("Changes")]
    context = {
        **queries.head_of(person),
        "rhythm": rhythms(person.end_user, [person.pk]).get(person.pk),
        "tab": tab,
        "tabs": list(zip(TABS, names, "12345", strict=True)),
        "namesakes": namesakes,
        "merged": Contact.objects.of(person.end_user_id)
        .exclude(merged_into=None)
        .light()
        .filter(pk__in=access.valid_ids([request.GET.get("merged", "")]))
        .first(),
        **TABS[tab](request, person),
    }
    return render(request, f"contacts/{tab}.html", context)


def _card_tab(_request: HttpRequest, person: Contact) -> dict[str, Any]:
    user = person.end_user
    return {
        "tokens": estimate_tokens(person.card_today),
        "attributes": queries.attributes_of(person, language_of()),
        "alike": queries.alike(person),
        "dates": rows_of(edit_dates.dates_of(user, contact=person.pk), user.today),
        "shared": queries.shared_aliases(person),
        "known_keys": [(key, label(key, language_of())) for key in ATTRIBUTES],
    }


def _memories_tab(request: HttpRequest, person: Contact) -> dict[str, Any]:
    page = pager.page_of(request, queries.memories_about(person), queries.memory_order(person))
    return {"page": page, "replacements": memories.replacements(person.end_user, page.rows)}


def _relations_tab(request: HttpRequest, person: Contact) -> dict[str, Any]:
    rows = Relation.objects.of(person.end_user_id).among([person.pk]).order_by("id")
    people.tell_apart(one for row in rows for one in (row.subject, row.object))
    return {"relations": rows, **picker(request, person.end_user, person.pk)}


def _changes_tab(request: HttpRequest, person: Contact) -> dict[str, Any]:
    page = pager.page_of(request, queries.changes_of(person), changes.ORDER)
    return {"page": page, "about": changes.about(page.rows, language_of())}


TABS: dict[str, Callable[[HttpRequest, Contact], dict[str, Any]]] = {
    "card": _card_tab,
    "memories": _memories_tab,
    "timeline": lambda _request, _person: {},
    "relations": _relations_tab,
    "changes": _changes_tab,
}


@access.page
def sources(request: HttpRequest, person: Contact) -> HttpResponse:
    """Shows the memories of ``?m=`` with their source messages: a fragment, or a page."""
    ids = access.valid_ids(request.GET.getlist("m"))
    context = {
        **queries.head_of(person),
        "sources": queries.sources(person.end_user, ids),
        "facts": [(label(key, language_of()), one["value"]) for key, values in person.attributes.items()
                  for one in values if {str(pk) for pk in ids} & {*one["sources"]}],
    }  # fmt: skip
    template = "_sources.html" if access.wants_part(request) else "sources.html"
    return render(request, f"contacts/{template}", context)


MAX_NOTE = 4000
_KEY = re.compile(r"[a-z][a-z0-9_]{0,49}")


def to_tab(request: HttpRequest, person: Contact, tab: str = "card") -> HttpResponse:
    """Redirects to where the form was, or to this tab of the person's page."""
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
    form = PersonForm(initial=model_to_dict(person, PersonForm.shown))
    return _form_page(request, person.end_user, form, person)


@access.action
def edit(request: HttpRequest, person: Contact) -> HttpResponse:
    """Edits a person's name and basic facts; an old name stays as an alias."""
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
    """Archives a person, or restores them."""
    archived, actor = bool(request.POST.get("archived")), access.actor(request)
    change = archive_contact(person.end_user, person.pk, actor=actor, archived=archived)
    message = _("%(name)s is in the archive.") if archived else _("%(name)s is back.")
    feedback.done(request, message, change, name=person.name)
    return to_tab(request, person)


@access.action
def not_a_person(request: HttpRequest, person: Contact) -> HttpResponse:
    """Marks a contact as no person; its memories stay."""
    actor = access.actor(request)
    change = not_people.not_a_person(person.end_user, person.pk, actor=actor)
    message = _("%(name)s is not taken for a person any more. Memories stay.")
    feedback.done(request, message, change, name=person.name)
    return redirect("dashboard:contacts", person.end_user_id)


@access.action
def aliases(request: HttpRequest, person: Contact) -> HttpResponse:
    """Adds or removes an alias, or makes one the name; the old name stays as an alias."""
    alias = " ".join(request.POST.get("alias", "").replace("\0", "").split())
    others, do = [one for one in person.aliases if one != alias], request.POST.get("do", "")
    does: dict[str, tuple[dict[str, Any], str]] = {
        "add": ({"aliases": [*person.aliases, alias]}, _("%(alias)s is an alias now.")),
        "remove": ({"aliases": others}, _("%(alias)s is no longer an alias.")),
        "primary": ({"name": alias, "aliases": [*others, person.name]},
                    _("%(alias)s is the name now.")),
    }  # fmt: skip
    try:
        store.clean_name(alias)
    except store.InvalidContact:
        return _retry_form(request, person, "#names-title", "alias")
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


def _retry_form(
    request: HttpRequest, person: Contact, to: str, *fields: str, **more: object
) -> HttpResponse:
    """Redirects to the form ``to`` on the person's page, with what was typed in its fields."""
    typed = more | {name: request.POST.get(name, "") for name in fields}
    address = reverse("dashboard:contact", args=[person.end_user_id, person.pk])
    return redirect(f"{address}?{urlencode(typed)}{to}")


@access.action
def remove_reference(request: HttpRequest, person: Contact) -> HttpResponse:
    """Removes a phrase by which the user may refer to the person."""
    phrase = request.POST.get("phrase", "").replace("\0", "")
    change = deny_reference(
        person.end_user, person.pk, phrase, actor=access.actor(request), why=_reason(request)
    )
    if change is not None:
        message = _("%(phrase)s no longer means %(name)s.")
        feedback.done(request, message, change, phrase=phrase, name=person.name)
    return to_tab(request, person)


def _edit(
    request: HttpRequest, person: Contact, values: dict[str, Any], message: str, **holes: Any
) -> None:
    """Edits these values of a person and shows the message, or that the name is taken."""
    try:
        _contact, change = edit_contact(
            person.end_user, person.pk, values, actor=access.actor(request), why=_reason(request)
        )
    except NameTaken:
        feedback.refused(request, _("Someone of this name is already known."))
    else:
        feedback.done(request, message, change, **holes)


def _reason(request: HttpRequest) -> str:
    return request.POST.get("why", "").replace("\0", "")[:500]


@access.action
def attribute(request: HttpRequest, person: Contact) -> HttpResponse:
    """Adds a value of an attribute (``new``), replaces ``old`` by it, or removes ``old``."""
    key = _attribute_key(person, request.POST.get("key", ""))
    old, new = (_clean_value(request.POST.get(name, "")) for name in ("old", "new"))
    if "remove" in request.POST:
        new = ""
    if not key or not (old or new):
        return _retry_form(request, person, "#add", "key", "new", problem=1)
    before = [str(entry["value"]) for entry in person.attributes.get(key, ())]
    if old and old not in map(_clean_value, before):
        raise Http404  # the form's token already reports a value that was changed since
    after = with_value(before, old, new, single=False, most=MAX_VALUE)
    stated: list[str | Dated] = [*after]
    if new and (since := request.POST.get("since", "")) != request.POST.get("was", ""):
        stated = [Dated(one, _start_of_day(person, since)) if one == new else one for one in after]
    if stated == before:
        feedback.done(request, _("This is already known."))
    else:
        message = _("Saved.") if new else _("Removed.")
        _edit(request, person, {"attributes": {key: stated}}, message)
    return to_tab(request, person)


def _attribute_key(person: Contact, text: str) -> str:
    """Returns a key that the person has, the key of a label in either language, or ``blood_type``
    for "Blood type"; "" if it is no key."""
    if text in person.attributes:  # a model's may be in another script
        return text
    if (key := attribute_key(text)) in ATTRIBUTES:
        return key
    key = re.sub(r"[\s_-]+", "_", text.strip().lower())
    return key if _KEY.fullmatch(key) else ""


def _start_of_day(person: Contact, text: str) -> str | None:
    """Returns the ISO time at which a typed day begins in the end user's zone; None for no day."""
    with suppress(ValueError):
        if day := parse_date(text):
            return datetime.combine(day, time.min, person.end_user.zone).isoformat()
    return None


def _clean_value(text: str) -> str:
    return " ".join(text.replace("\0", "").split())[:MAX_VALUE]


@access.action
def resolve(request: HttpRequest, person: Contact) -> HttpResponse:
    """Records which of several values of an attribute is right, or that ``all`` are."""
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
    """Stores the operators' note on a person."""
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
    """Adds a relation: what another person is to this one or, with ``way`` "to", the reverse."""
    other = access.chosen_contact(person.end_user, request.POST.get("person", ""))
    kind = request.POST.get("kind", "").replace("\0", "")
    if other is None:
        more = {"tab": "relations", "problem": 1}
        return _retry_form(request, person, "#relate-title", "kind", "way", **more)
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
    path("u/<int:user>/people/pick/", pick, name="pick"),
    path(f"{_PERSON}/", contact, name="contact"),
    path(f"{_PERSON}/sources/", sources, name="contact_sources"),
    path("u/<int:user>/people/new/", access.form(show_new, create), name="contact_new"),
    path(f"{_PERSON}/edit/", access.form(show_edit, edit), name="contact_edit"),
    path(f"{_PERSON}/archive/", archive, name="contact_archive"),
    path(f"{_PERSON}/not-a-person/", not_a_person, name="contact_not_a_person"),
    path(f"{_PERSON}/aliases/", aliases, name="contact_aliases"),
    path(f"{_PERSON}/references/", remove_reference, name="contact_reference"),
    path(f"{_PERSON}/attributes/", attribute, name="contact_attribute"),
    path(f"{_PERSON}/note/", note, name="contact_note"),
    path(f"{_PERSON}/resolve/", resolve, name="contact_resolve"),
    path(f"{_PERSON}/relations/", relate, name="contact_relate"),
    path(f"{_PERSON}/relations/<int:relation>/remove/", unrelate, name="contact_unrelate"),
]
