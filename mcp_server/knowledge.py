"""The tools, for one end user: the same verbs as the API's, and undone like these."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any
from uuid import UUID

from django.urls import reverse
from django.utils import timezone
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from accounts.cells import atomic
from accounts.models import EndUser
from accounts.reasons import CodedError, Reason
from contacts import edit, merge, store
from contacts.models import Contact
from mcp_server.protocol import (
    ADDS,
    CHANGES,
    READS,
    TEXT,
    Confirmed,
    Days,
    Limit,
    Person,
    Sentence,
    Words,
    caller,
    server,
    tool,
)
from memories.context import build
from memories.context.request import ContextRequest
from memories.corrections import edit_dates, edit_memories, merge_contacts
from memories.erasure import erase
from memories.models import Link, Memory
from memories.pipeline.forget_requests import forget_asked
from memories.providers.factory import embedder
from memories.search import recall as hybrid_search
from memories.search.recall import SearchRequest
from memories.types import ForgetRequest, MemoryType, Subtype
from understanding.attributes import attribute_key
from understanding.text import normalise

__all__ = ["caller", "server"]

MAX_MEMORIES = 50  # in one answer
SPEAKER = "assistant"  # who says what a tool stores
# What models call the user whose memory it is, beside their names.
_USER = {"user", "the user", "me", "myself", "i", "self", "用户", "我", "自己", "本人"}


class Unclear(CodedError):
    """A tool was called with what names nothing, or several."""


@tool(READS)
def who_is(user: EndUser, text: Words) -> dict[str, Any]:
    """Who is meant in a text (by name, nickname, role, description), with what is known of each."""
    people = build.trace(user, ContextRequest(text, include=("cards",))).injection.contacts
    return {"people": [{**asdict(one), "id": str(one.id)} for one in people]}


@tool(READS)
def get_person(user: EndUser, person: Person) -> dict[str, Any]:
    """All that is known of one person: card, attributes, life events, newest memories."""
    contact = _contact(user, person)
    memories = Memory.objects.of(user).active().facts().about(contact.pk)
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
        "memories": [
            _memory(user, one) for one in memories.order_by("-said_at", "id")[:MAX_MEMORIES]
        ],
    }


@tool(ADDS)
@atomic()
def remember(user: EndUser, content: Sentence, person: Person = "") -> dict[str, Any]:
    """Stores one lasting fact, a sentence in the third person; about the user, or about a person
    (who is added when unknown)."""
    # One call of a user at a time: a model may send several about somebody new at once.
    EndUser.objects.lock(user.pk)
    actor, people = caller.get().actor, list[Contact]()
    own = {*_USER, user.external_id, *user.names}
    if person and normalise(person) not in map(normalise, own):
        known = _known(user, person)
        people = [known or edit.create_contact(user, person, actor=actor)[0]]
    memory, change = edit_memories.add(
        user,
        content,
        actor=actor,
        contacts=people,
        type=MemoryType.MISCELLANEOUS,
        subtype=Subtype.OTHER if people else Subtype.SELF,
        speaker=SPEAKER,
    )
    return {**_memory(user, memory), "people": [str(one.pk) for one in people], **_undo(change)}


@tool(READS)
def recall(user: EndUser, query: Words, limit: Limit = 10) -> dict[str, Any]:
    """Memories that have to do with a question, the best first."""
    return {"memories": _with_people(user, _search(user, query, limit))}


@tool(CHANGES)
def correct(
    user: EndUser,
    memory: Annotated[str, Field(description="The id of a memory to put right."), TEXT] = "",
    content: Annotated[
        str,
        Field(max_length=1000, description="Its right wording; empty: it is no longer true."),
        TEXT,
    ] = "",
    person: Person = "",
    attribute: Annotated[
        str, Field(max_length=60, description="e.g. location, company"), TEXT
    ] = "",
    value: Annotated[str, Field(max_length=200, description="Empty takes it away."), TEXT] = "",
) -> dict[str, Any]:
    """Puts right a memory (by id), or an attribute of a person. Only when the user says so."""
    actor = caller.get().actor
    if memory and not (person or attribute):
        row = _one_memory(user, memory)
        if content:
            return _undo(edit_memories.edit(user, row.pk, {"content": content}, actor=actor))
        return _undo(edit_memories.outdate(user, [row], actor=actor))
    if person and attribute and not memory:
        contact = _contact(user, person)
        values = {"attributes": {attribute_key(attribute): [value] if value else []}}
        return _undo(edit.edit_contact(user, contact.pk, values, actor=actor)[1])
    raise ToolError("Give a memory (and its content), or a person with an attribute.")


@tool(CHANGES)
def same_person(user: EndUser, one: Person, other: Person) -> dict[str, Any]:
    """Merges two people who are one; the first one's name stays. Only when the user says so."""
    survivor, loser = _contact(user, one), _contact(user, other)
    change = merge_contacts.merge(user, loser.pk, survivor.pk, actor=caller.get().actor)
    return {"id": str(survivor.pk), "name": survivor.name, **_undo(change)}


@tool(ADDS)
def different_people(user: EndUser, one: Person, other: Person) -> dict[str, Any]:
    """Notes that two people who may look alike are two."""
    first, second = _contact(user, one), _contact(user, other)
    return _undo(merge.not_the_same(user, first.pk, second.pk, actor=caller.get().actor))


@tool(READS)
def upcoming_dates(user: EndUser, days: Days = 30) -> dict[str, Any]:
    """Birthdays and other important dates of the next days."""
    dates = [
        {
            "who": one.contact.name if one.contact else "the user",
            "kind": one.kind,
            "on": one.next_on.isoformat() if one.next_on else None,
            "years": one.years,
        }
        for one in edit_dates.dates_of(user, within=days)
    ]
    return {"dates": dates}


@tool(CHANGES)
def forget(
    user: EndUser,
    person: Person = "",
    memory: Annotated[str, Field(description="The id of a memory."), TEXT] = "",
    confirmed: Confirmed = False,
) -> dict[str, Any]:
    """Forgets a person or one memory: call it first without confirmed and show the user what is
    meant; then with it. It can be undone for some days, then it is erased."""
    if bool(person) == bool(memory):
        raise Unclear(Reason("forget_one_thing"))
    if memory:
        row = _one_memory(user, memory)
        plan, request = erase.preview_memories(user, [row.pk]), ForgetRequest(memory_ids=(row.pk,))
    else:
        contact = _contact(user, person)
        plan, request = erase.preview_contact(user, contact.pk), ForgetRequest(contact.pk)
    rows = plan.rows.order_by("-said_at", "id")[:MAX_MEMORIES]
    shown = [_memory(user, one) for one in rows]
    if not confirmed:
        return {"would_forget": shown, "count": plan.memories, "done": False}
    forget_asked(user, [request])
    return {"forgotten": shown, "count": plan.memories, "done": True}


# As ChatGPT's connectors want them: one text item that holds JSON.
@tool(READS, structured=False)
def search(user: EndUser, query: Words) -> str:
    """Searches the memories."""
    results = [
        {"id": str(row.pk), "title": row.content[:80], "url": _address(row)}
        for row in _search(user, query, 10)
    ]
    return json.dumps({"results": results}, ensure_ascii=False)


@tool(READS, structured=False)
def fetch(user: EndUser, id: Annotated[str, TEXT]) -> str:  # noqa: A002 the name that ChatGPT calls it by
    """One memory in full."""
    row = _one_memory(user, id)
    [shown] = _with_people(user, [row])
    return json.dumps(
        {
            "id": shown["id"],
            "title": row.content[:80],
            "text": row.content,
            "url": _address(row),
            "metadata": {"people": shown["people"], "said_on": shown["said_on"]},
        },
        ensure_ascii=False,
    )


def _search(user: EndUser, query: str, limit: int) -> list[Memory]:
    """The memories that have to do with a question, the best first."""
    return [
        hit.memory
        for hit in hybrid_search.search(
            user, SearchRequest(query, limit=limit), embedder=embedder()
        )
    ]


def _with_people(user: EndUser, memories: Sequence[Memory]) -> list[dict[str, Any]]:
    """Memories as a tool shows them, with whom they are about."""
    links = Link.objects.of(user).standing().filter(memory__in=memories)
    people: dict[UUID, list[str]] = {}
    for memory, name in links.values_list("memory", "contact__name"):
        people.setdefault(memory, []).append(name)
    return [{**_memory(user, one), "people": people.get(one.pk, [])} for one in memories]


def _one_memory(user: EndUser, memory: str) -> Memory:
    """The memory with this id. Raises Unclear."""
    pk = _uuid(memory)
    row = Memory.objects.of(user).filter(pk=pk).first() if pk else None
    if row is None:
        raise Unclear(Reason("no_such_memory"))
    return row


def _contact(user: EndUser, person: str) -> Contact:
    """Who is meant by an id or a name. Raises Unclear where that is nobody, or several."""
    contact = _known(user, person)
    if contact is None:
        raise Unclear(Reason("nobody_called", name=person))
    return contact


def _known(user: EndUser, person: str) -> Contact | None:
    pk = _uuid(person)
    if pk is not None:
        return store.survivor(user, pk)
    contacts = store.find(user, person)
    if not contacts:
        # By role, nickname or description, as in a message.
        meant = build.trace(user, ContextRequest(person, include=("cards",))).injection.contacts
        contacts = list(Contact.objects.of(user).filter(pk__in=[one.id for one in meant]))
    if len(contacts) > 1:
        several = "; ".join(f"{one.pk}: {one.name}, {one.relationship}" for one in contacts)
        raise Unclear(Reason("several_called", name=person, several=several))
    return contacts[0] if contacts else None


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


def _address(memory: Memory) -> str:
    path = reverse("dashboard:memory", args=[memory.end_user_id, memory.pk])
    return f"{caller.get().base}{path}"
