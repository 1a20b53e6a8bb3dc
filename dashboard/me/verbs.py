"""What the end user may do on their own page, by name: the verbs of the dashboard and the API.

Each takes the end user and the form, and returns the change that its undo takes back. Ids that the
form sends are looked up among the end user's own rows; others are a 404.
"""

from collections.abc import Callable
from urllib.parse import urlencode
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import get_object_or_404
from django.urls import path, reverse
from django.utils.translation import gettext as _

from accounts.models import Change, EndUser
from accounts.reasons import CodedError
from contacts import merge
from contacts.edit import edit_contact, remove_relation
from contacts.models import Contact, Relation
from dashboard import access, words
from dashboard.me import pages, visits
from dashboard.me.visits import USER
from memories import own_card, queue
from memories.api.own_page import Visit
from memories.corrections import edit_memories, merge_contacts
from memories.corrections.edit_own_card import edit_own_card
from memories.corrections.undo import undo_change
from memories.corrections.unwanted import TYPES, set_unwanted
from memories.erasure.erase import carry_out
from memories.models import Erasure, Memory
from memories.pipeline.forget_requests import forget_chosen
from understanding.attributes import ATTRIBUTES, is_single

MAX_VALUE = 500
Verb = Callable[[EndUser, QueryDict], Change | None]


def _text(sent: QueryDict, name: str, most: int = MAX_VALUE) -> str:
    return sent.get(name, "").replace("\0", "").strip()[:most]


def _id(sent: QueryDict, name: str) -> UUID:
    ids = access.valid_ids([sent.get(name, "")])
    if not ids:
        raise Http404
    return ids[0]


def _person(end_user: EndUser, sent: QueryDict, name: str = "person") -> Contact:
    return access.standing(end_user, _id(sent, name))


def _memory(end_user: EndUser, sent: QueryDict) -> Memory:
    return get_object_or_404(pages.memories(end_user), pk=_id(sent, "memory"))


def name(end_user: EndUser, sent: QueryDict) -> Change | None:
    """Says what a person is called, and what they are to the user."""
    person = _person(end_user, sent)
    values = {"name": _text(sent, "name"), "relationship": _text(sent, "relationship", 200)}
    if values == {key: getattr(person, key) for key in values}:
        return None
    return edit_contact(end_user, person.pk, values, actor=USER)[1]


def fact(end_user: EndUser, sent: QueryDict) -> Change | None:
    """Adds a value (``new``), replaces one (``old`` by ``new``) or removes it (``old``)."""
    person, key = _person(end_user, sent), sent.get("key", "")
    if key not in ATTRIBUTES and key not in person.attributes:
        raise Http404
    before = [str(entry["value"]) for entry in person.attributes.get(key, ())]
    values = _replaced(before, sent, single=is_single(key))
    if values == before:
        return None
    return edit_contact(end_user, person.pk, {"attributes": {key: values}}, actor=USER)[1]


def personality(end_user: EndUser, sent: QueryDict) -> Change | None:
    """Says what a person is like; nothing: that is not known."""
    person, new = _person(end_user, sent), "" if "remove" in sent else _text(sent, "new")
    return edit_contact(end_user, person.pk, {"personality": new}, actor=USER)[1]


def own(end_user: EndUser, sent: QueryDict) -> Change | None:
    """The same as ``fact`` of the user's own card."""
    key = sent.get("key", "")
    before = [str(one["value"]) for one in own_card.of(end_user).get(key, ())]
    values = _replaced(before, sent, single=is_single(key))
    return edit_own_card(end_user, {key: values}, actor=USER)


def _replaced(values: list[str], sent: QueryDict, *, single: bool) -> list[str]:
    """The values with what the form says; an old one that is gone meanwhile stays gone."""
    old, new = _text(sent, "old"), "" if "remove" in sent else _text(sent, "new")
    if single and new:
        return [new]
    if old:
        after = [new if one.strip()[:MAX_VALUE] == old else one for one in values]
    else:
        after = [*values, new]
    return list(dict.fromkeys(filter(None, after)))


def right(end_user: EndUser, sent: QueryDict) -> Change | None:
    """Says which of several values is the right one."""
    pk, key, value = _person(end_user, sent).pk, sent.get("key", ""), sent.get("value", "")
    return merge_contacts.resolve_attribute(end_user, pk, key, value, actor=USER)


def same(end_user: EndUser, sent: QueryDict) -> Change | None:
    """Says that two people are one: ``person`` takes in all of ``other``."""
    person, other = _person(end_user, sent), _person(end_user, sent, "other")
    return merge_contacts.merge(end_user, other.pk, person.pk, actor=USER)


def different(end_user: EndUser, sent: QueryDict) -> Change | None:
    """Says that two people are two."""
    person, other = _person(end_user, sent), _person(end_user, sent, "other")
    return merge.not_the_same(end_user, person.pk, other.pk, actor=USER)


def not_about(end_user: EndUser, sent: QueryDict) -> Change | None:
    """Says that a memory is not about a person."""
    person, memory = _person(end_user, sent), _memory(end_user, sent)
    return edit_memories.unlink(end_user, memory.pk, person.pk, actor=USER)


def unrelate(end_user: EndUser, sent: QueryDict) -> Change | None:
    """Says that two people don't stand to each other so."""
    theirs = Relation.objects.of(end_user).among([_person(end_user, sent).pk])
    chosen = [one.pk for one in theirs if str(one.pk) == sent.get("relation")]
    if not chosen:
        raise Http404
    return remove_relation(end_user, chosen[0], actor=USER)


def over(end_user: EndUser, sent: QueryDict) -> Change | None:
    """Says that a memory is no longer true."""
    memory = _memory(end_user, sent)
    return edit_memories.outdate(end_user, [memory], actor=USER, certainty=1.0)


def forget(end_user: EndUser, sent: QueryDict) -> Change | None:
    """Forgets a memory: hidden now, erased after the grace period."""
    memory = _memory(end_user, sent)
    return forget_chosen(end_user, actor=USER, memory_id=memory.pk)


def forget_person(end_user: EndUser, sent: QueryDict) -> Change | None:
    """Forgets a person with all that is about them, in the same way."""
    person = _person(end_user, sent)
    return forget_chosen(end_user, actor=USER, contact_id=person.pk)


def unwant(end_user: EndUser, sent: QueryDict) -> Change | None:
    """Has nothing of a kind remembered from now on; what is known stays."""
    return set_unwanted(end_user, _kind(sent), actor=USER, unwanted=True)


def want(end_user: EndUser, sent: QueryDict) -> Change | None:
    """Has it remembered again."""
    return set_unwanted(end_user, _kind(sent), actor=USER, unwanted=False)


def _kind(sent: QueryDict) -> str:
    kind = sent.get("kind", "")
    if kind not in ATTRIBUTES and kind not in TYPES:
        raise Http404
    return kind


def erase(end_user: EndUser, sent: QueryDict) -> Change | None:
    """Erases for good, now, what waits to be erased."""
    erasure = get_object_or_404(Erasure.objects.of(end_user), pk=_id(sent, "erasure"))
    carry_out(erasure.pk, done_by=USER)
    return None


def undo(end_user: EndUser, sent: QueryDict) -> Change | None:
    """Takes back one of the user's own changes, or what they asked in a chat to forget."""
    pk = _id(sent, "change")
    asked = Erasure.objects.of(end_user).filter(change=pk).exists()
    rows = Change.objects.of(end_user)
    change = get_object_or_404(rows if asked else rows.filter(actor=USER), pk=pk)
    undo_change(change, actor=USER)
    return None


VERBS: dict[str, Verb] = {
    each.__name__: each
    for each in (
        name, fact, personality, own, right, same, different, not_about, unrelate, over, forget, forget_person,
        unwant, want, erase, undo,
    )
}  # fmt: skip
# What is done on the page that lists it.
_ON_CHANGES = (erase.__name__, undo.__name__, want.__name__)


@visits.action
def act(request: HttpRequest, visit: Visit, verb: str) -> HttpResponse:
    """Does what the form says, and shows the page that it was on, with its undo."""
    if verb not in VERBS:
        raise Http404
    user, sent = visit.end_user, request.POST
    try:
        change = VERBS[verb](user, sent)
    except CodedError as error:
        return _refused(request, visit, verb, words.reason(error.reason))
    queue.enqueue("embed", user.pk)
    token = visit.token
    address = reverse("me-changes" if verb in _ON_CHANGES else "me", args=[token])
    if "person" in sent and verb != forget_person.__name__:
        address = reverse("me-person", args=[token, _person(user, sent).pk])
    return HttpResponseRedirect(
        f"{address}?{urlencode({'done': change.pk})}" if change else address
    )


def _refused(request: HttpRequest, visit: Visit, verb: str, problem: str) -> HttpResponse:
    """The page that the form was on, with what stands in the way."""
    refusal = {"problem": _("Nothing was changed: %(why)s") % {"why": problem}, "status": 409}
    if verb in _ON_CHANGES:
        return pages.changes.render(request, visit, **refusal)
    if "person" in request.POST:
        return pages.person.render(request, visit, _id(request.POST, "person"), **refusal)
    return pages.home.render(request, visit, **refusal)


urlpatterns = [
    path("<str:token>/", pages.home, name="me"),
    path("<str:token>/people/<uuid:contact>/", pages.person, name="me-person"),
    path("<str:token>/told/", pages.told, name="me-told"),
    path("<str:token>/changes/", pages.changes, name="me-changes"),
    path("<str:token>/export/", pages.export, name="me-export"),
    path("<str:token>/do/<slug:verb>/", act, name="me-do"),
]
