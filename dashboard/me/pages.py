"""The pages that the end user sees: people and own card, a person, what was changed and
forgotten."""

from collections.abc import Collection, Iterable, Sequence
from datetime import timedelta
from typing import Any, Literal
from uuid import UUID

from django.conf import settings
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from accounts.models import Change, EndUser
from contacts.models import Contact, ContactQuerySet, Relation, Suggestion
from dashboard import access, pager, words
from dashboard.forms import typed
from dashboard.me import visits
from dashboard.queries import changes as audit
from dashboard.queries import contact as queries
from dashboard.queries import review, users
from dashboard.queries.contacts import tell_apart
from dashboard.views.users import as_file
from dashboard.words import USER, language_of
from memories import portability
from memories.api.own_page import Visit
from memories.corrections.unwanted import TYPES, kinds
from memories.models import Erasure, Memory, MemoryQuerySet, Message
from understanding.attributes import ATTRIBUTES, ON_OWN_CARD, YEARLY, label

FEW = 10  # memories about nobody on the first page
MOST_SOURCES = 200  # memories whose source messages one page shows
MOST_PEOPLE = 500  # to choose one from
MOST_NEAR = 50  # to choose one from for each memory
MOST_CHANGES = 50

# Memories from the user, the app, an operator, an import or Mio. The words of others who wrote in
# the user's chats belong to them.
_OWN = Q(speaker__in=("", USER, "assistant", "consolidator")) | Q(
    speaker__regex="^(app|operator|import):"
)


def people(end_user: EndUser, q: str = "") -> ContactQuerySet:
    """Returns the user's people who are not merged into others; with ``q``, those that it finds."""
    rows = Contact.objects.of(end_user).standing()
    return (rows.found_by(end_user, q) if q else rows).light()


def nearest(end_user: EndUser) -> ContactQuerySet:
    """Returns the people mentioned last, to choose whom a memory is about."""
    return people(end_user).order_by("-last_mentioned_at", "id")[:MOST_NEAR]


def memories(end_user: EndUser) -> MemoryQuerySet:
    """Returns current and outdated memories, without others' words and those hidden on request."""
    rows = Memory.objects.of(end_user).facts().exclude(status=Memory.Status.ARCHIVED)
    return rows.filter(_OWN).defer("tokens", "metadata")


def of_nobody(end_user: EndUser) -> MemoryQuerySet:
    """Returns the memories that are linked to no person, mostly about the user."""
    return memories(end_user).exclude(links__rejected=False)


def kind_name(kind: str) -> str:
    """Returns the name of a kind of memories in the reader's language."""
    return label(kind, language_of()) if kind in ATTRIBUTES else words.in_words(words.TYPES, kind)


def with_kinds(rows: Iterable[Memory]) -> list[tuple[Memory, list[tuple[str, str]]]]:
    """Returns each memory with the kinds that the user may exclude, and what these are called."""
    return [
        (one, [(kind, kind_name(kind)) for kind in kinds(one.type, (f["key"] for f in one.facts))
               if kind in ATTRIBUTES or kind in TYPES])
        for one in rows
    ]  # fmt: skip


def words_of(
    end_user: EndUser, memory_ids: Collection[UUID]
) -> dict[str, list[Message] | Literal[True]]:
    """Returns by memory id the user's own messages that the memory comes from, or True if the user
    wrote it on this page. Two statements."""
    ids = list(dict.fromkeys(memory_ids))[:MOST_SOURCES]
    rows = memories(end_user).filter(pk__in=ids)
    sources_by_memory = {
        pk: (source_ids, by)
        for pk, source_ids, by in rows.values_list("pk", "source_message_ids", "speaker")
    }
    own_messages = Message.objects.of(end_user).by_user().not_erased()
    message_ids = {pk for source_ids, _by in sources_by_memory.values() for pk in source_ids}
    messages = own_messages.in_bulk(message_ids)
    return {
        str(pk): (by == USER and not source_ids)
        or [messages[one] for one in source_ids if one in messages]
        for pk, (source_ids, by) in sources_by_memory.items()
    }


def sources(values: Iterable[Any]) -> list[UUID]:
    """Returns the ids in several lists of source memories."""
    return [UUID(str(pk)) for value in values for pk in value]


def reasons_of(pair: Suggestion) -> list[str]:
    """Returns why two may be one person, without the evidence that quotes others."""
    presentable = [
        row for row in pair.evidence
        if "code" in row and not {"words", "fact"} & row["params"].keys()
    ]  # fmt: skip
    shown = review.evidence(Suggestion(evidence=presentable), ())
    return [text for text, weight in shown if weight > 0]


def own_changes(end_user: EndUser) -> Any:
    """Returns the user's changes on this page, or by asking in a chat to forget, latest first."""
    asked_to_forget = Erasure.objects.of(end_user).filter(change__isnull=False).values("change")
    rows = Change.objects.of(end_user).filter(Q(actor=USER) | Q(pk__in=asked_to_forget))
    return rows.defer("rows")


def with_subjects(
    end_user: EndUser, changes: Sequence[Change]
) -> list[tuple[Change, dict[str, Any]]]:
    """Returns each change with what it is about, as operators see it; for one that hid something,
    which nobody else sees, the people's ``names``, and the memories with their ``count``."""
    subjects_by_change = audit.about(changes, language_of())
    hidden = [one.pk for one in changes if one.verb in audit.HIDING_VERBS and not one.undone_at]
    subjects = {pk for one in changes if one.pk in hidden for pk in one.subjects}
    rows = Memory.objects.of(end_user).filter(_OWN, pk__in=subjects).defer("tokens", "metadata")
    memories_by_id = {str(one.pk): one for one in rows}
    for change in Change.objects.of(end_user).filter(pk__in=hidden):
        people_rows = [row["before"] for row in change.rows if row["model"] == Contact._meta.label_lower
                       and row["after"] is None and not row["before"]["merged_into_id"]]  # fmt: skip
        memories = [memories_by_id[pk] for pk in change.subjects if pk in memories_by_id]
        subjects_by_change[change.pk] = {
            "names": [row["name"] for row in people_rows],
            "count": len(memories),
            "memories": () if people_rows else memories[: audit.MOST_NAMED],
        }
    return [(one, {**subjects_by_change.get(one.pk, {}), "kind": _kind_of(one)}) for one in changes]


_KINDS = ("unwant", "want")  # verbs of changes whose reason is a kind of memories
_OF_NAMES = ("not_a_person", "may_be_a_person")  # those whose reason is a name


def _kind_of(change: Change) -> str:
    """Returns the kind of memories that a change excluded or allowed, or the name that it marked as
    no person's, or as possibly one's again; else ""."""
    if change.verb in _KINDS:
        return kind_name(change.why)
    return change.why if change.verb in _OF_NAMES and not change.undone_at else ""


@visits.page
def home(request: HttpRequest, visit: Visit, **more: Any) -> HttpResponse:
    """The start page: the people, the user's own card, and the latest memories about nobody."""
    user = visit.end_user
    q = typed(request)
    latest = list(of_nobody(user).order_by("-said_at", "id")[: FEW + 1])
    card = users.own_keys(user)
    stated = sources(value["sources"] for _key, _label, values in card for value in values)
    shown = pager.page_of(request, people(user, q), ["-last_mentioned_at", "id"])
    tell_apart(shown.rows)
    context = {
        "here": "home",
        "q": q,
        "people": shown,
        "told": with_kinds(latest[:FEW]),
        "near": nearest(user),
        "more": len(latest) > FEW,
        "card": card,
        "yearly": YEARLY,
        "known": ATTRIBUTES,
        "keys": [(key, label(key, language_of())) for key in ON_OWN_CARD],
        "words": words_of(user, [*stated, *(one.pk for one in latest)]),
        **_last_action(request, user),
        **more,
    }
    return visits.show(request, "home", visit, **context)


@visits.page
def told(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Lists all memories that are about nobody."""
    shown = pager.page_of(request, of_nobody(visit.end_user), ["-said_at", "id"])
    context = {
        "told": with_kinds(shown.rows),
        "near": nearest(visit.end_user),
        "next": shown.next,
        "words": words_of(visit.end_user, [one.pk for one in shown.rows]),
    }
    return visits.show(request, "told", visit, **context)


@visits.page
def person(request: HttpRequest, visit: Visit, contact: UUID, **more: Any) -> HttpResponse:
    """The page of one person; the address of a merged one shows the survivor."""
    user = visit.end_user
    one = access.surviving_contact(user, contact)
    attributes = queries.attributes_of(one, language_of())
    about_person = memories(user).filter(pk__in=queries.memories_about(one).values("pk"))
    shown = pager.page_of(request, about_person, ["-said_at", "id"])
    stated = sources(value.sources for each in attributes for value in each.values)
    stated += sources([one.personality_sources])
    related = list(Relation.objects.of(user).among([one.pk]).order_by("id")[:MOST_CHANGES])
    stated += sources(relation.sources for relation in related)
    context = {
        "contact": one,
        "attributes": attributes,
        "told": with_kinds(shown.rows),
        "near": [other for other in nearest(user) if other.pk != one.pk],
        "next": shown.next,
        "relations": related,
        "yearly": YEARLY,
        "known": ATTRIBUTES,
        "until": timezone.now() + timedelta(days=settings.MIO_FORGET_GRACE_DAYS),
        "alike": [(reasons_of(pair), other) for pair, other in queries.alike(one)],
        "others": people(user).exclude(pk=one.pk).order_by("sort_key")[:MOST_PEOPLE],
        "keys": [(key, label(key, language_of())) for key in ATTRIBUTES],
        "words": words_of(user, [*stated, *(row.pk for row in shown.rows)]),
        **_last_action(request, user),
        **more,
    }
    return visits.show(request, "person", visit, **context)


@visits.page
def changes(
    request: HttpRequest, visit: Visit, together: Sequence[Change] = (), **more: Any
) -> HttpResponse:
    """The page of what the user changed and what waits to be erased. ``together``: changes that can
    only be undone together, the newest first."""
    user = visit.end_user
    pending = Erasure.objects.of(user).filter(state=Erasure.State.PENDING)
    waiting = list(pending.defer("words", "names"))
    hides = own_changes(user).filter(pk__in=[one.change_id for one in waiting])
    hidden: dict[Any, Any] = {one.pk: what for one, what in with_subjects(user, hides)}
    latest = own_changes(user).exclude(pk__in=hidden).filter(actor=USER)[:MOST_CHANGES]
    context = {
        "here": "changes",
        "changes": with_subjects(user, latest),
        "waiting": [(one, hidden.get(one.change_id)) for one in waiting],
        "together": with_subjects(user, together),
        "unwanted": [(kind, kind_name(kind)) for kind in user.unwanted],
        "not_people": user.not_people,
        **_last_action(request, user),
        **more,
    }
    return visits.show(request, "changes", visit, **context)


def _last_action(request: HttpRequest, end_user: EndUser) -> dict[str, Any]:
    """Returns the change that the last action made or undid, to report it and offer its undo."""
    ids = access.valid_ids([request.GET.get("done", "")])
    rows = with_subjects(end_user, own_changes(end_user).filter(pk__in=ids))
    done, what = rows[0] if rows else (None, {})
    return {"done": done, "done_to": what}


@visits.page
def export(_request: HttpRequest, visit: Visit) -> HttpResponse:
    """Returns what is stored of the user, without others' words, as a file for ``import_user``."""
    document = portability.export_user(visit.end_user)
    for message in document["messages"]:
        if message["speaker"] is not None:
            message |= {"content": "", "speaker": None, "metadata": {}}
    for contact in document["contacts"]:
        contact["note"] = ""
    document |= {"changes": [], "gateway_turns": []}
    return as_file(document, "my-memory")
