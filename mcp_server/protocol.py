"""The server of the Model Context Protocol, by the official SDK, and what its tools share. The key
says whose memory they open (``caller``), an argument never does."""

import inspect
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial, wraps
from typing import Annotated, Any, TypeVar

from django.conf import settings
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import BeforeValidator, Field, ValidationError

from accounts import placement
from accounts.cells import Moving, releasing
from accounts.models import App, EndUser
from accounts.reasons import CodedError
from accounts.scope import app_scope, user_scope

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
        keys = ("id", "name", "text", "content")
        value = next((value[key] for key in keys if key in value), value)
    if value is None:
        return ""
    return str(value) if isinstance(value, int | float) else value


def _bounded(least: int, most: int, default: int) -> BeforeValidator:
    """Moves a number between these bounds; ``default`` stands for none."""

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
    """Says what is wrong with arguments in words for a model, without addresses of pydantic's."""

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
        def called(**given: Any) -> Any:
            return _with_user(partial(work, **given))

        called.__signature__ = signature.replace(parameters=arguments)  # type: ignore[attr-defined]
        server.tool(annotations=annotations, structured_output=structured)(called)
        return work

    return register


@releasing
def _with_user(work: Callable[[EndUser], Any]) -> Any:
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
