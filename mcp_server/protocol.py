"""The tools of the Model Context Protocol, by the official SDK. Whose memory they open is said by
the key (``caller``), never by an argument."""

import json
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from django.conf import settings
from django.urls import reverse
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import BeforeValidator, Field, ValidationError

from accounts import placement
from accounts.cells import Moving, release
from accounts.models import App, EndUser
from accounts.reasons import CodedError
from accounts.scope import app_scope, user_scope
from mcp_server import knowledge
from memories.models import Memory

T = TypeVar("T")

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


@dataclass(frozen=True, slots=True)
class Caller:
    """Whose memory is open: of an app's end user, who need not be known yet; ``base`` is the
    address by which the server was called, for links."""

    app: App
    external_id: str
    base: str = ""

    @property
    def actor(self) -> str:
        """The author of a change."""
        return f"app:{self.app.name}"[:100]


caller: ContextVar[Caller] = ContextVar("caller")


def _text(value: Any) -> Any:
    """A text as models and frameworks send it: null for none, a number, a list of one, an object
    with a name."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, dict):
        value = next(
            (value[key] for key in ("id", "name", "text", "content") if key in value), value
        )
    if value is None:
        return ""
    return str(value) if isinstance(value, int | float) else value


def _bounded(least: int, most: int, usual: int) -> BeforeValidator:
    """A number between these, whatever is asked for; ``usual`` for none."""

    def near(value: Any) -> Any:
        if value is None or value == "":
            return usual
        try:
            return max(least, min(most, int(float(value))))
        except (TypeError, ValueError, OverflowError):
            return value

    return BeforeValidator(near)


def _flag(value: Any) -> Any:
    return False if value is None or value == "" else value


_TEXT = BeforeValidator(_text)
Person = Annotated[
    str,
    Field(max_length=200, description="A person's id, name, nickname or role, such as my sister."),
    _TEXT,
]
Words = Annotated[str, Field(min_length=1, max_length=2000), _TEXT]
Limit = Annotated[int, Field(ge=1, le=50), _bounded(1, 50, 10)]
Days = Annotated[int, Field(ge=1, le=366), _bounded(1, 366, 30)]
Sentence = Annotated[str, Field(min_length=1, max_length=1000), _TEXT]


class Server(MCPServer):
    """Says what is wrong with arguments in words for a model, without addresses of pydantic's."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                raise ToolError(f"{name}: {_wrong(error.__cause__)}") from error.__cause__
            raise


def _wrong(error: ValidationError) -> str:
    return "; ".join(
        f"{'.'.join(map(str, one['loc']))}: {one['msg']}"
        for one in error.errors(include_url=False, include_input=False, include_context=False)
    )


server = Server(
    "Mio", title="Mio, people memory", instructions=INSTRUCTIONS, version=settings.MIO_VERSION
)


def _with_user(work: Callable[[EndUser], T]) -> T:
    """What ``work`` returns for the caller's end user, whom the first call makes known. Tools run
    in threads of their own: the connection goes back afterwards. Raises ToolError."""
    asks = caller.get()
    try:
        with placement.entered(asks.app, asks.external_id, writes=False):
            with app_scope(asks.app.pk):
                user = placement.first_seen(asks.app, asks.external_id)
            user.app = asks.app
            with user_scope(user):
                return work(user)
    except (CodedError, Moving) as error:
        raise ToolError(str(error)) from error
    finally:
        release()


@server.tool(annotations=READS)
def who_is(text: Words) -> dict[str, Any]:
    """Who is meant in a text (by name, nickname, role, description), with what is known of each."""
    return _with_user(lambda user: knowledge.who_is(user, text))


@server.tool(annotations=READS)
def get_person(person: Person) -> dict[str, Any]:
    """All that is known of one person: card, attributes, life events, newest memories."""
    return _with_user(lambda user: knowledge.person(user, person))


@server.tool(annotations=ADDS)
def remember(content: Sentence, person: Person = "") -> dict[str, Any]:
    """Stores one lasting fact, a sentence in the third person; about the user, or about a person
    (who is added when unknown)."""
    actor = caller.get().actor
    return _with_user(lambda user: knowledge.remember(user, content, person, actor=actor))


@server.tool(annotations=READS)
def recall(query: Words, limit: Limit = 10) -> dict[str, Any]:
    """Memories that have to do with a question, the best first."""
    return _with_user(
        lambda user: {"memories": knowledge.memories(user, knowledge.find(user, query, limit))}
    )


@server.tool(annotations=CHANGES)
def correct(
    memory: Annotated[str, Field(description="The id of a memory to put right."), _TEXT] = "",
    content: Annotated[
        str,
        Field(max_length=1000, description="Its right wording; empty: it is no longer true."),
        _TEXT,
    ] = "",
    person: Person = "",
    attribute: Annotated[
        str, Field(max_length=60, description="e.g. location, company"), _TEXT
    ] = "",
    value: Annotated[str, Field(max_length=200, description="Empty takes it away."), _TEXT] = "",
) -> dict[str, Any]:
    """Puts right a memory (by id), or an attribute of a person. Only when the user says so."""
    actor = caller.get().actor
    if memory and not (person or attribute):
        return _with_user(lambda u: knowledge.correct_memory(u, memory, content, actor=actor))
    if person and attribute and not memory:
        return _with_user(
            lambda u: knowledge.correct_attribute(u, person, attribute, value, actor=actor)
        )
    raise ToolError("Give a memory (and its content), or a person with an attribute.")


@server.tool(annotations=CHANGES)
def same_person(one: Person, other: Person) -> dict[str, Any]:
    """Merges two people who are one; the first one's name stays. Only when the user says so."""
    actor = caller.get().actor
    return _with_user(lambda user: knowledge.same_person(user, one, other, actor=actor))


@server.tool(annotations=ADDS)
def different_people(one: Person, other: Person) -> dict[str, Any]:
    """Notes that two people who may look alike are two."""
    actor = caller.get().actor
    return _with_user(lambda user: knowledge.different_people(user, one, other, actor=actor))


@server.tool(annotations=READS)
def upcoming_dates(days: Days = 30) -> dict[str, Any]:
    """Birthdays and other important dates of the next days."""
    return _with_user(lambda user: {"dates": knowledge.upcoming_dates(user, days)})


@server.tool(annotations=CHANGES)
def forget(
    person: Person = "",
    memory: Annotated[str, Field(description="The id of a memory."), _TEXT] = "",
    confirmed: Annotated[
        bool, Field(description="False shows what would be forgotten."), BeforeValidator(_flag)
    ] = False,
) -> dict[str, Any]:
    """Forgets a person or one memory: call it first without confirmed and show the user what is
    meant; then with it. It can be undone for some days, then it is erased."""
    return _with_user(lambda user: knowledge.forget(user, person, memory, confirmed=confirmed))


# As ChatGPT's connectors want them: one text item that holds JSON.
@server.tool(annotations=READS, structured_output=False)
def search(query: Words) -> str:
    """Searches the memories."""

    def found(user: EndUser) -> str:
        rows = knowledge.find(user, query, 10)
        results = [
            {"id": str(row.pk), "title": row.content[:80], "url": _address(row)} for row in rows
        ]
        return json.dumps({"results": results}, ensure_ascii=False)

    return _with_user(found)


@server.tool(annotations=READS, structured_output=False)
def fetch(id: Annotated[str, _TEXT]) -> str:  # noqa: A002 the name that ChatGPT calls it by
    """One memory in full."""

    def found(user: EndUser) -> str:
        row = knowledge.one_memory(user, id)
        [told] = knowledge.memories(user, [row])
        return json.dumps(
            {
                "id": told["id"],
                "title": row.content[:80],
                "text": row.content,
                "url": _address(row),
                "metadata": {"people": told["people"], "said_on": told["said_on"]},
            },
            ensure_ascii=False,
        )

    return _with_user(found)


def _address(memory: Memory) -> str:
    path = reverse("dashboard:memory", args=[memory.end_user_id, memory.pk])
    return f"{caller.get().base}{path}"
