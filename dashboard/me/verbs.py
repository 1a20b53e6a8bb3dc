"""The actions of the end user's own page, by name: verbs of the dashboard and the API. Each returns
its Change, which an undo reverts, or None. Ids in the form are looked up among the end user's own
rows (404 for others)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import get_object_or_404
from django.urls import path, reverse
from django.utils.translation import gettext as _

from accounts.cells import atomic
from accounts.models import Change, EndUser
from accounts.reasons import CodedError
from accounts.rollback import LaterChanges
from contacts import merge
from contacts.edit import edit_contact, remove_relation
from contacts.models import Contact, Relation
from dashboard import access, words
from dashboard.forms import MAX_VALUE, with_value
from dashboard.me import as_text, pages, visits
from dashboard.words import USER
from memories import own_card
from memories.api.own_page import Visit
from memories.corrections import edit_memories, merge_contacts, not_people, review_links
from memories.corrections.edit_own_card import edit_own_card
from memories.corrections.undo import undo_change
from memories.corrections.unwanted import TYPES, set_unwanted
from memories.erasure.erase import carry_out
from memories.models import Erasure, Memory
from memories.pipeline.forget_requests import forget_chosen
from understanding.attributes import ATTRIBUTES, is_single


@dataclass(frozen=True, slots=True)
class Sent:
    """A form that the end user sent, and its rows. Raises Http404 for rows of other users."""

    user: EndUser
    form: QueryDict

    def text(self, name: str, most: int = MAX_VALUE) -> str:
        return self.form.get(name, "").replace("\0", "").strip()[:most]

    def id(self, name: str) -> UUID:
        ids = access.valid_ids([self.form.get(name, "")])
        if not ids:
            raise Http404
        return ids[0]

    def person(self, name: str = "person") -> Contact:
        return access.surviving_contact(self.user, self.id(name))

    def memory(self) -> Memory:
        return get_object_or_404(pages.memories(self.user), pk=self.id("memory"))

    def one_of(self, name: str, *known: Any) -> str:
        value = self.form.get(name, "")
        if not any(value in values for values in known):
            raise Http404
        return value

    def with_value(self, key: str, values: Sequence[str]) -> list[str]:
        old, new = self.text("old"), "" if "remove" in self.form else self.text("new")
        return with_value(values, old, new, single=is_single(key), most=MAX_VALUE)


def _rename(sent: Sent) -> Change | None:
    """Sets a person's name, and what they are to the user."""
    person = sent.person()
    values = {"name": sent.text("name"), "relationship": sent.text("relationship", 200)}
    same = values == {key: getattr(person, key) for key in values}
    return None if same else edit_contact(sent.user, person.pk, values, actor=USER)[1]


def _edit_fact(sent: Sent) -> Change | None:
    """Adds a value of an attribute (``new``), replaces ``old`` by it, or removes ``old``."""
    person = sent.person()
    key = sent.one_of("key", ATTRIBUTES, person.attributes)
    before = [str(entry["value"]) for entry in person.attributes.get(key, ())]
    values = sent.with_value(key, before)
    if values == before:
        return None
    return edit_contact(sent.user, person.pk, {"attributes": {key: values}}, actor=USER)[1]


def _edit_card(sent: Sent) -> Change | None:
    """Adds, replaces or removes a value of the user's own card in the same way."""
    key = sent.form.get("key", "")
    before = [str(one["value"]) for one in own_card.current_attributes(sent.user).get(key, ())]
    return edit_own_card(sent.user, {key: sent.with_value(key, before)}, actor=USER)


def _remove_relation(sent: Sent) -> Change | None:
    """Removes a relation of a person. Raises Http404 if the person has no such relation."""
    theirs = Relation.objects.of(sent.user).among([sent.person().pk])
    chosen = [one.pk for one in theirs if str(one.pk) == sent.form.get("relation")]
    if not chosen:
        raise Http404
    return remove_relation(sent.user, chosen[0], actor=USER)


def _undo(sent: Sent) -> Change:
    """Undoes one of the user's changes or requests to forget; ``with_later``: also their later ones
    that touched the same rows. Raises LaterChanges if one of these is not the user's."""
    own = pages.own_changes(sent.user)
    change = get_object_or_404(own, pk=sent.id("change"))
    with atomic():
        later = undo_change(change, actor=USER, with_later="with_later" in sent.form)
        if own.filter(pk__in=[one.pk for one in later]).count() < len(later):
            raise LaterChanges(later)
    return change


VERBS: dict[str, Callable[[Sent], Change | None]] = {
    "name": _rename,
    "fact": _edit_fact,
    "personality": lambda sent: edit_contact(
        sent.user,
        sent.person().pk,
        {"personality": "" if "remove" in sent.form else sent.text("new")},
        actor=USER,
    )[1],
    "own": _edit_card,
    # Records which of several values is the right one.
    "right": lambda sent: merge_contacts.resolve_attribute(
        sent.user,
        sent.person().pk,
        sent.form.get("key", ""),
        sent.form.get("value", ""),
        actor=USER,
    ),
    # Merges ``other`` into ``person``, or records that they are two people.
    "same": lambda sent: merge_contacts.merge(
        sent.user, sent.person("other").pk, sent.person().pk, actor=USER
    ),
    "different": lambda sent: merge.not_the_same(
        sent.user, sent.person().pk, sent.person("other").pk, actor=USER
    ),
    "not_about": lambda sent: edit_memories.unlink(
        sent.user, sent.memory().pk, sent.person().pk, actor=USER
    ),
    # Moves a memory from ``person`` to ``other``, or links one that is about nobody.
    "move": lambda sent: edit_memories.move(
        sent.user, sent.memory().pk, sent.person().pk, sent.person("other").pk, actor=USER
    ),
    "about": lambda sent: review_links.state(
        sent.user, sent.memory().pk, sent.person("other").pk, actor=USER
    ),
    # Records that a memory is about the user and not about ``person``.
    "mine": lambda sent: edit_memories.move_to_user(
        sent.user, sent.memory().pk, sent.person().pk, actor=USER
    ),
    "unrelate": _remove_relation,
    # Records that a memory is no longer true.
    "over": lambda sent: edit_memories.outdate(
        sent.user, [sent.memory()], actor=USER, ending=edit_memories.Ending(certainty=1.0)
    ),
    # Hides a memory, or a person with all about them; erased after the grace period.
    "forget": lambda sent: forget_chosen(sent.user, actor=USER, memory_id=sent.memory().pk),
    "forget_person": lambda sent: forget_chosen(sent.user, actor=USER, contact_id=sent.person().pk),
    # Records that a contact is no person, or that a name may be a person's after all.
    "not_a_person": lambda sent: not_people.not_a_person(sent.user, sent.person().pk, actor=USER),
    "may_be_a_person": lambda sent: not_people.may_be_a_person(
        sent.user, sent.one_of("name", sent.user.not_people), actor=USER
    ),
    # Stops remembering a kind of memories (what is known stays), or starts again.
    "unwant": lambda sent: set_unwanted(
        sent.user, sent.one_of("kind", ATTRIBUTES, TYPES), actor=USER, unwanted=True
    ),
    "want": lambda sent: set_unwanted(
        sent.user, sent.one_of("kind", ATTRIBUTES, TYPES), actor=USER, unwanted=False
    ),
    "undo": _undo,
}
# Verbs whose forms are on the page of changes.
_ON_CHANGES = ("undo", "want", "may_be_a_person")
# Verbs after which the person has no page any more.
_REMOVES = ("forget_person", "not_a_person")


@visits.action
def erase(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Erases now what waits to be erased, and shows the names, which no address may contain."""
    user = visit.end_user
    erasure = get_object_or_404(Erasure.objects.of(user), pk=Sent(user, request.POST).id("erasure"))
    hidden = pages.with_subjects(user, pages.own_changes(user).filter(pk=erasure.change_id))
    names = [name for _change, what in hidden for name in what.get("names", ())]
    carry_out(erasure.pk, done_by=USER)
    return pages.changes.render(request, visit, erased=names or [""])


@visits.action
def act(request: HttpRequest, visit: Visit, verb: str) -> HttpResponse:
    """Runs a verb and redirects to the form's page with an undo; a refusal is shown there (409)."""
    if verb not in VERBS:
        raise Http404
    sent = Sent(visit.end_user, request.POST)
    try:
        change = VERBS[verb](sent)
    except CodedError as error:
        # The page that the form was on, with the reason.
        problem = _("Nothing was changed: %(why)s") % {"why": words.reason(error.reason)}
        refusal: dict[str, Any] = {"problem": problem, "status": 409}
        if isinstance(error, LaterChanges):
            refusal |= _later_context(visit.end_user, sent.id("change"), error.changes)
        if verb in _ON_CHANGES:
            return pages.changes.render(request, visit, **refusal)
        if "person" in sent.form:
            return pages.person.render(request, visit, sent.id("person"), **refusal)
        return pages.home.render(request, visit, **refusal)
    address = reverse("me-changes" if verb in _ON_CHANGES else "me", args=[visit.token])
    if "person" in sent.form and verb not in _REMOVES:
        address = reverse("me-person", args=[visit.token, sent.person().pk])
    query = f"?{urlencode({'done': change.pk})}" if change else ""
    return HttpResponseRedirect(address + query)


def _later_context(end_user: EndUser, pk: UUID, later: Sequence[Change]) -> dict[str, Any]:
    """Returns the changes to undo together if all are the user's own, else the problem."""
    ids = {pk, *(one.pk for one in later)}
    own = list(pages.own_changes(end_user).filter(pk__in=ids))
    if len(own) == len(ids):
        return {"problem": "", "together": own}
    return {"problem": _("Nothing was changed: somebody else has changed the same since.")}


urlpatterns = [
    path("<str:token>/", pages.home, name="me"),
    path("<str:token>/people/<uuid:contact>/", pages.person, name="me-person"),
    path("<str:token>/told/", pages.told, name="me-told"),
    path("<str:token>/changes/", pages.changes, name="me-changes"),
    path("<str:token>/export/", pages.export, name="me-export"),
    path("<str:token>/export/text/", as_text.export_text, name="me-export-text"),
    path("<str:token>/do/erase/", erase, name="me-erase"),
    path("<str:token>/do/<slug:verb>/", act, name="me-do"),
]
