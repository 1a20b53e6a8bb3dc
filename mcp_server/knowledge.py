"""What the tools do for one end user: the same verbs as the API's, undone like these."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts.cells import atomic
from accounts.models import EndUser
from accounts.reasons import CodedError, Reason
from contacts import edit, merge, store
from contacts.models import Contact
from memories.context import build
from memories.context.request import ContextRequest
from memories.corrections import edit_dates, edit_memories, merge_contacts
from memories.erasure import preview
from memories.models import Link, Memory
from memories.pipeline.forget_requests import forget_asked
from memories.providers.factory import embedder
from memories.search import recall
from memories.search.recall import SearchRequest
from memories.types import ForgetRequest, MemoryType, Subtype
from understanding.attributes import attribute_key
from understanding.text import normalise

MOST = 50  # memories in one answer
SPEAKER = "assistant"  # who says what a tool stores
# What models call the user whose memory it is, beside their names.
_USER = {"user", "the user", "me", "myself", "i", "self", "用户", "我", "自己", "本人"}


class Unclear(CodedError):
    """A tool was called with what names nothing, or several."""


def who_is(user: EndUser, text: str) -> dict[str, Any]:
    """The people whom a text means, each with the card that a system prompt would hold."""
    found = build.trace(user, ContextRequest(text, include=("cards",))).injection.contacts
    return {"people": [{**asdict(one), "id": str(one.id)} for one in found]}


def person(user: EndUser, person: str) -> dict[str, Any]:
    """All that is known of somebody: the card, attributes, and the newest memories."""
    contact = _contact(user, person)
    about = Memory.objects.of(user).active().facts().about(contact.pk)
    return {
        "id": str(contact.pk),
        "name": contact.name,
        "aliases": contact.aliases,
        "relationship": contact.relationship,
        "card": contact.card_today,
        "attributes": store.flat_attributes(contact),
        "timeline": [
            {"at": event.get("at", ""), "text": event["text"]} for event in contact.timeline
        ],
        "memories": [_memory(user, one) for one in about.order_by("-said_at", "id")[:MOST]],
    }


@atomic()
def remember(user: EndUser, content: str, person: str, *, actor: str) -> dict[str, Any]:
    """Stores a sentence, about somebody who is met by it where nobody of that name is known. One
    call of a user's at a time: a model may send several about somebody new at once."""
    EndUser.objects.lock(user.pk)
    people: list[Contact] = []
    own = {*_USER, user.external_id, *user.names}
    if person and normalise(person) not in map(normalise, own):
        known = _known(user, person)
        people = [known or edit.create_contact(user, person, actor=actor)[0]]
    subtype = Subtype.OTHER if people else Subtype.SELF
    memory, change = edit_memories.add(
        user,
        content,
        actor=actor,
        contacts=people,
        type=MemoryType.MISCELLANEOUS,
        subtype=subtype,
        speaker=SPEAKER,
    )
    return {**_memory(user, memory), "people": [str(one.pk) for one in people], **_undo(change)}


def find(user: EndUser, query: str, limit: int) -> list[Memory]:
    """The memories that have to do with a question, the best first."""
    hits = recall.search(user, SearchRequest(query, limit=min(limit, MOST)), embedder=embedder())
    return [hit.memory for hit in hits]


def memories(user: EndUser, found: Sequence[Memory]) -> list[dict[str, Any]]:
    """Memories as a tool shows them, with whom they are about."""
    links = Link.objects.of(user).standing().filter(memory__in=found)
    people: dict[UUID, list[str]] = {}
    for memory, name in links.values_list("memory", "contact__name"):
        people.setdefault(memory, []).append(name)
    return [{**_memory(user, one), "people": people.get(one.pk, [])} for one in found]


def one_memory(user: EndUser, memory: str) -> Memory:
    """The memory with this id. Raises Unclear."""
    pk = _uuid(memory)
    found = Memory.objects.of(user).filter(pk=pk).first() if pk else None
    if found is None:
        raise Unclear(Reason("no_such_memory"))
    return found


def correct_memory(user: EndUser, memory: str, content: str, *, actor: str) -> dict[str, Any]:
    """Puts a memory right, or, without a content, calls it no longer true."""
    held = one_memory(user, memory)
    if content:
        change = edit_memories.edit(user, held.pk, {"content": content}, actor=actor)
        return _undo(change)
    return _undo(edit_memories.outdate(user, [held], actor=actor))


def correct_attribute(
    user: EndUser, person: str, attribute: str, value: str, *, actor: str
) -> dict[str, Any]:
    """States one attribute of somebody; no value takes it away."""
    contact = _contact(user, person)
    values = {"attributes": {attribute_key(attribute): [value] if value else []}}
    _, change = edit.edit_contact(user, contact.pk, values, actor=actor)
    return _undo(change)


def same_person(user: EndUser, one: str, other: str, *, actor: str) -> dict[str, Any]:
    """Merges two contacts who are one person."""
    survivor, loser = _contact(user, one), _contact(user, other)
    change = merge_contacts.merge(user, loser.pk, survivor.pk, actor=actor)
    return {"id": str(survivor.pk), "name": survivor.name, **_undo(change)}


def different_people(user: EndUser, one: str, other: str, *, actor: str) -> dict[str, Any]:
    """Remembers that two contacts are two people."""
    first, second = _contact(user, one), _contact(user, other)
    return _undo(merge.not_the_same(user, first.pk, second.pk, actor=actor))


def upcoming_dates(user: EndUser, days: int) -> list[dict[str, Any]]:
    """Birthdays and other important dates within so many days, the next first."""
    found = edit_dates.dates_of(user, within=days)
    return [
        {
            "who": one.contact.name if one.contact else "the user",
            "kind": one.kind,
            "on": one.next_on.isoformat() if one.next_on else None,
            "years": one.years,
        }
        for one in found
    ]


def forget(user: EndUser, person: str, memory: str, *, confirmed: bool) -> dict[str, Any]:
    """What a wish to forget somebody, or one memory, means; once ``confirmed`` it is put away, and
    erased after the days of grace, in which it can be undone. Raises Unclear."""
    if bool(person) == bool(memory):
        raise Unclear(Reason("forget_one_thing"))
    if memory:
        held = one_memory(user, memory)
        meant, request = preview.of_memories(user, [held.pk]), ForgetRequest(memory_ids=(held.pk,))
    else:
        contact = _contact(user, person)
        meant, request = preview.of_contact(user, contact.pk), ForgetRequest(contact.pk)
    shown = [_memory(user, one) for one in meant.rows.order_by("-said_at", "id")[:MOST]]
    if not confirmed:
        return {"would_forget": shown, "count": meant.memories, "done": False}
    forget_asked(user, [request])
    return {"forgotten": shown, "count": meant.memories, "done": True}


def _contact(user: EndUser, person: str) -> Contact:
    """Who is meant by an id or a name. Raises Unclear where that is nobody, or several."""
    found = _known(user, person)
    if found is None:
        raise Unclear(Reason("nobody_called", name=person))
    return found


def _known(user: EndUser, person: str) -> Contact | None:
    pk = _uuid(person)
    if pk is not None:
        return store.survivor(user, pk)
    found = store.find(user, person)
    if not found:
        # By role, nickname or description, as in a message.
        meant = build.trace(user, ContextRequest(person, include=("cards",))).injection.contacts
        found = list(Contact.objects.of(user).filter(pk__in=[one.id for one in meant]))
    if len(found) > 1:
        several = "; ".join(f"{one.pk}: {one.name}, {one.relationship}" for one in found)
        raise Unclear(Reason("several_called", name=person, several=several))
    return found[0] if found else None


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _memory(user: EndUser, memory: Memory) -> dict[str, Any]:
    day = timezone.localtime(memory.said_at, user.zone).date()
    return {"id": str(memory.pk), "content": memory.content, "said_on": day.isoformat()}


def _undo(change: Any) -> dict[str, Any]:
    return {"change_id": str(change.pk) if change else None}
