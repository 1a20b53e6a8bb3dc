"""The server of the Model Context Protocol, by the official SDK. Its tools call the same verbs as
the API, for one end user, and are undone like these. The key says whose memory they open
(``caller``), never an argument."""

import inspect
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial, wraps
from typing import Annotated, Any, TypeVar
from uuid import UUID

from django.conf import settings
from django.urls import reverse
from django.utils import timezone
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import BeforeValidator, Field, ValidationError

from accounts import placement
from accounts.cells import Moving, atomic, releasing
from accounts.models import EndUser
from accounts.reasons import CodedError, Reason
from accounts.scope import app_scope, user_scope
from contacts import edit, merge, store
from contacts.models import Contact
from mcp_server.caller import caller
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

Work = TypeVar("Work", bound=Callable[..., Any])

INSTRUCTIONS = (
    "Mio remembers the people in the user's life. Call who_is when somebody is mentioned by name, "
    "nickname, role or description; remember when the user tells something lasting; correct, "
    "same_person, different_people and forget only when the user says so."
)
READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
ADDS = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
CHANGES = ToolAnnotations(
    read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False
)


def _text(value: Any) -> Any:
    """Reads a text as models send it: null for none, a number, a list of one, an object with a name."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, dict):
        keys = ("id", "name", "text", "content")
        value = next((value[key] for key in keys if key in value), value)
    if value is None:
        return ""
    return str(value) if isinstance(value, int | float) else value


def _bounded(least: int, most: int, default: int) -> BeforeValidator:
    """Moves a number between these bounds; no value becomes ``default``."""

    def bounded(value: Any) -> Any:
        if value is None or value == "":
            return default
        try:
            return max(least, min(most, int(float(value))))
        except (TypeError, ValueError, OverflowError):
            return value

    return BeforeValidator(bounded)


TEXT = BeforeValidator(_text)
Person = Annotated[
    str,
    Field(max_length=200, description="A person's id, name, nickname or role, such as my sister."),
    TEXT,
]
Words = Annotated[str, Field(min_length=1, max_length=2000), TEXT]
Limit = Annotated[int, Field(ge=1, le=50), _bounded(1, 50, 10)]
Days = Annotated[int, Field(ge=1, le=366), _bounded(1, 366, 30)]
Sentence = Annotated[str, Field(min_length=1, max_length=1000), TEXT]
Confirmed = Annotated[
    bool,
    Field(description="False shows what would be forgotten."),
    BeforeValidator(lambda value: value not in (None, "") and value),
]


class Server(MCPServer):
    """Explains invalid arguments in words for a model, without addresses of pydantic's."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if not isinstance(error.__cause__, ValidationError):
                raise
            problems = error.__cause__.errors(
                include_url=False, include_input=False, include_context=False
            )
            texts = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in problems)
            raise ToolError(f"{name}: {'; '.join(texts)}") from error.__cause__


server = Server(
    "Mio", title="Mio, people memory", instructions=INSTRUCTIONS, version=settings.MIO_VERSION
)


def tool(annotations: ToolAnnotations, *, structured: bool | None = None) -> Callable[[Work], Work]:
    """Registers a function of an end user and arguments as a tool that takes the arguments."""

    def register(work: Work) -> Work:
        signature = inspect.signature(work)
        _user, *arguments = signature.parameters.values()

        @wraps(work)
        def called(**values: Any) -> Any:
            return _with_user(partial(work, **values))

        called.__signature__ = signature.replace(parameters=arguments)  # type: ignore[attr-defined]
        server.tool(annotations=annotations, structured_output=structured)(called)
        return work

    return register


@releasing
def _with_user(work: Callable[[EndUser], Any]) -> Any:
    """Calls ``work`` with the caller's end user, which the first call creates. Raises ToolError."""
    current = caller.get()
    try:
        with placement.entered(current.app, current.external_id, writes=False):
            with app_scope(current.app.pk):
                user = placement.first_seen(current.app, current.external_id)
            user.app = current.app
            with user_scope(user):
                return work(user)
    except (CodedError, Moving) as error:
        raise ToolError(str(error)) from error


MAX_MEMORIES = 50  # in one answer
SPEAKER = "assistant"  # who says what a tool stores
# What models call the user whose memory it is, beside their names.
_USER = {"user", "the user", "me", "myself", "i", "self", "用户", "我", "自己", "本人"}


class Unclear(CodedError):
    """A tool was called with an argument that names nothing, or several things."""


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
            _fields(user, one) for one in memories.order_by("-said_at", "id")[:MAX_MEMORIES]
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
    own_names = {*_USER, user.external_id, *user.names}
    if person and normalise(person) not in map(normalise, own_names):
        contact = _find_contact(user, person)
        people = [contact or edit.create_contact(user, person, actor=actor)[0]]
    memory, change = edit_memories.add(
        user,
        content,
        actor=actor,
        contacts=people,
        type=MemoryType.MISCELLANEOUS,
        subtype=Subtype.OTHER if people else Subtype.SELF,
        speaker=SPEAKER,
    )
    return {**_fields(user, memory), "people": [str(one.pk) for one in people], **_id_of(change)}


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
            return _id_of(edit_memories.edit(user, row.pk, {"content": content}, actor=actor))
        return _id_of(edit_memories.outdate(user, [row], actor=actor))
    if person and attribute and not memory:
        contact = _contact(user, person)
        values = {"attributes": {attribute_key(attribute): [value] if value else []}}
        return _id_of(edit.edit_contact(user, contact.pk, values, actor=actor)[1])
    raise ToolError("Give a memory (and its content), or a person with an attribute.")


@tool(CHANGES)
def same_person(user: EndUser, one: Person, other: Person) -> dict[str, Any]:
    """Merges two people who are one; the first one's name stays. Only when the user says so."""
    survivor, loser = _contact(user, one), _contact(user, other)
    change = merge_contacts.merge(user, loser.pk, survivor.pk, actor=caller.get().actor)
    return {"id": str(survivor.pk), "name": survivor.name, **_id_of(change)}


@tool(ADDS)
def different_people(user: EndUser, one: Person, other: Person) -> dict[str, Any]:
    """Notes that two people who may look alike are two."""
    first, second = _contact(user, one), _contact(user, other)
    return _id_of(merge.not_the_same(user, first.pk, second.pk, actor=caller.get().actor))


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
    shown = [_fields(user, one) for one in rows]
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
    """Returns the memories that have to do with a question, the best first."""
    request = SearchRequest(query, limit=limit)
    return [hit.memory for hit in hybrid_search.search(user, request, embedder=embedder())]


def _with_people(user: EndUser, memories: Sequence[Memory]) -> list[dict[str, Any]]:
    """Returns memories as a tool shows them, with the names of the contacts that they are about."""
    links = Link.objects.of(user).standing().filter(memory__in=memories)
    names: dict[UUID, list[str]] = {}
    for memory, name in links.values_list("memory", "contact__name"):
        names.setdefault(memory, []).append(name)
    return [{**_fields(user, one), "people": names.get(one.pk, [])} for one in memories]


def _one_memory(user: EndUser, memory: str) -> Memory:
    """Returns the memory with this id. Raises Unclear."""
    pk = _uuid(memory)
    row = Memory.objects.of(user).filter(pk=pk).first() if pk else None
    if row is None:
        raise Unclear(Reason("no_such_memory"))
    return row


def _contact(user: EndUser, person: str) -> Contact:
    """Returns the contact of an id or a name. Raises Unclear for none, or several."""
    contact = _find_contact(user, person)
    if contact is None:
        raise Unclear(Reason("nobody_called", name=person))
    return contact


def _find_contact(user: EndUser, person: str) -> Contact | None:
    """Returns the contact of an id, name or description, or None. Raises Unclear for several."""
    pk = _uuid(person)
    if pk is not None:
        return store.survivor(user, pk)
    contacts = store.find(user, person)
    if not contacts:
        # By role, nickname or description, as in a message.
        traced = build.trace(user, ContextRequest(person, include=("cards",))).injection.contacts
        contacts = list(Contact.objects.of(user).filter(pk__in=[one.id for one in traced]))
    if len(contacts) > 1:
        several = "; ".join(f"{one.pk}: {one.name}, {one.relationship}" for one in contacts)
        raise Unclear(Reason("several_called", name=person, several=several))
    return contacts[0] if contacts else None


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


def _fields(user: EndUser, memory: Memory) -> dict[str, Any]:
    day = timezone.localtime(memory.said_at, user.zone).date()
    return {"id": str(memory.pk), "content": memory.content, "said_on": day.isoformat()}


def _id_of(change: Any) -> dict[str, Any]:
    return {"change_id": str(change.pk) if change else None}


def _address(memory: Memory) -> str:
    path = reverse("dashboard:memory", args=[memory.end_user_id, memory.pk])
    return f"{caller.get().base}{path}"
