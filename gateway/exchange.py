"""One request and its answer: whose it is, what is added, the way there and back, what is noted.

The database is asked in threads of the gateway's own, which give their connection back; then bytes
are passed on. So a stream holds neither a thread nor a connection.
"""

import asyncio
import contextvars
import json
import logging
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from django.conf import settings
from django.utils.crypto import salted_hmac
from starlette.requests import ClientDisconnect, Request
from starlette.responses import StreamingResponse
from starlette.types import Send

from accounts.bearer import bearer, key_of
from accounts.cells import release
from accounts.errors import ApiError, too_large
from accounts.models import ApiKey
from accounts.rate_limit import Quota
from gateway import chat_forms, injection, relay
from gateway.background_prompts import is_background
from gateway.chains import Chat
from gateway.chat_forms import Form
from gateway.chat_messages import Conversation
from gateway.identity import MAX_SESSION, session_of, user_of
from gateway.models import Upstream
from gateway.sse import Answer

log = logging.getLogger(__name__)
T = TypeVar("T")

HEADERS = ("X-Mio-Memory", "X-Mio-Session", "X-Mio-People")
MAX_BODY = 32_000_000  # images come within it
_FIRST = 3  # events, of which one has the id of the response

# Apart, so that keys wait for no memory, and memory for nothing that is stored. More readers
# would share one processor: in a rush each is late then, not only those who came last.
_KEYS = ThreadPoolExecutor(4, "gateway-keys")
_READS = ThreadPoolExecutor(2, "gateway-reads")
_WRITES = ThreadPoolExecutor(2, "gateway-writes")


@dataclass(frozen=True, slots=True)
class Caller:
    """A key of an app that has an upstream, and what is left of its limit."""

    key: ApiKey
    upstream: Upstream
    quota: Quota | None


@dataclass(frozen=True, slots=True)
class Memory:
    """What a chat got: ``state`` is told in X-Mio-Memory. ``chat`` is what is to be noted, None
    for nothing."""

    state: str
    chat: Chat | None = None
    prepared: injection.Prepared | None = None

    @property
    def kept_by_upstream(self) -> bool:
        """Whether what follows may name what the upstream keeps of this."""
        return self.chat is not None and bool(self.chat.talk.kept or self.chat.talk.follows)

    @property
    def headers(self) -> dict[str, str]:
        told = {"X-Mio-Memory": self.state}
        if self.prepared is not None:
            told["X-Mio-Session"] = self.prepared.place.session_id
            told["X-Mio-People"] = ",".join(map(str, self.prepared.people))
        # What a client calls its session may be no text of a header.
        return {name: value for name, value in told.items() if value and value.isascii()}


@dataclass(frozen=True, slots=True)
class Passed:
    """What goes to the upstream; the answer goes back with what is ``told`` in headers, and what
    came of it is ``heard``. The id of a response is ``named`` before it is passed on."""

    form: Form = chat_forms.CHAT
    body: bytes = b""
    told: Mapping[str, str] = field(default_factory=dict)
    named: Callable[[str], Awaitable[None]] | None = None
    heard: bytearray = field(default_factory=bytearray)


async def models(http: relay.Client, request: Request, name: str, send: Send) -> None:
    """Passes the upstream's list of models, or one of them."""
    caller = await _in_thread(_KEYS, partial(_caller, request.headers))
    await _pass(http, caller, request, name, Passed(), send)


async def chat(http: relay.Client, request: Request, form: Form, send: Send) -> None:
    """Passes a chat on with what is remembered for it, and notes what was said."""
    caller = await _in_thread(_KEYS, partial(_caller, request.headers))
    raw = await _body(request)
    body = _parsed(raw)
    talk = form.read(body)
    if is_background(request.headers, talk):
        memory = Memory("skipped-task")
    else:
        memory = await _remembered(caller, request.headers, body, talk)
    sent = _sent(raw, body, memory, form, caller.upstream.placement)
    noting = asyncio.create_task(_note_message(memory))
    placing: list[asyncio.Task[None]] = []

    async def named(response_id: str) -> None:
        """What follows this response may be asked as soon as its id is known."""
        placing.append(asyncio.create_task(_note_place(memory, noting, response_id)))
        await asyncio.wait(placing, timeout=settings.MIO_GATEWAY_BUDGET_MS / 1000)

    passed = Passed(form, sent, memory.headers, named if memory.kept_by_upstream else None)
    streamed = False
    try:
        streamed = await _pass(http, caller, request, form.path, passed, send)
    finally:
        await asyncio.gather(*placing)
        noted = await noting
    if memory.chat and noted:
        await _note_answer(memory.chat, noted, form.answer_of(bytes(passed.heard), streamed))


async def response(http: relay.Client, request: Request, name: str, send: Send) -> None:
    """Passes a response that the upstream keeps, or stops one, for the user whose it is; of one in
    the background, what was said is noted. Raises ApiError."""
    caller = await _in_thread(_KEYS, partial(_caller, request.headers))
    user = user_of(caller.key, caller.upstream, request.headers, {})
    kept = f"{chat_forms.RESPONSE}{name.split('/')[1]}"
    looked_for = partial(injection.find_kept, caller.key.app, user, kept)
    found = await _in_thread(_READS, looked_for)
    if found is None:
        raise ApiError(404, "not_found", "This user has no such response.")
    asked, noted = found
    passed = Passed(chat_forms.RESPONSES)
    streamed = await _pass(http, caller, request, name, passed, send)
    answer = passed.form.answer_of(bytes(passed.heard), streamed)
    if answer.in_background:
        await _note_answer(asked, noted, answer)


def _caller(headers: Mapping[str, str]) -> Caller:
    """Who calls. Raises ApiError."""
    secret = headers.get("x-mio-key", "") or bearer(headers.get("authorization", ""))
    key, quota = key_of(headers, secret)
    upstream = Upstream.objects.filter(app=key.app_id).first()
    if upstream is None:
        told = f"The app {key.app.name} has no upstream: an operator sets it on its gateway page."
        raise ApiError(503, "no_upstream", told)
    return Caller(key, upstream, quota)


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MAX_BODY:
            raise too_large(MAX_BODY)
    return bytes(body)


def _parsed(raw: bytes) -> dict[str, Any]:
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise ApiError(400, "parse_error", "The body is not JSON in UTF-8.") from error
    if not isinstance(body, dict):
        raise ApiError(400, "parse_error", "The body is not a JSON object.")
    return body


async def _remembered(
    caller: Caller, headers: Mapping[str, str], body: Mapping[str, Any], talk: Conversation
) -> Memory:
    """What is added to a chat, as far as that is known in time. Raises ApiError where nobody says
    whose chat it is."""
    user = user_of(caller.key, caller.upstream, headers, body)
    if not talk.turns and not talk.follows:
        return Memory("none")
    session = session_of(headers)
    if talk.follows.startswith(chat_forms.CONVERSATION):
        session = session or talk.follows.removeprefix(chat_forms.CONVERSATION)[:MAX_SESSION]
    asked = Chat(caller.key.app, user, session, talk, caller.upstream.placement)
    try:
        async with asyncio.timeout(settings.MIO_GATEWAY_BUDGET_MS / 1000):
            prepared = await _in_thread(_READS, partial(injection.prepare, asked))
    except TimeoutError:
        return Memory("late", asked)
    except Exception as error:  # noqa: BLE001 whatever fails here, the chat goes on
        log.warning("gateway of app %d: no memory: %s", caller.key.app_id, type(error).__name__)
        return Memory("error", asked)
    return Memory("injected" if prepared.blocks else "none", asked, prepared)


def _sent(raw: bytes, body: chat_forms.Body, memory: Memory, form: Form, placement: str) -> bytes:
    """The body for the upstream: the very bytes that came, where nothing is added. The user's id is
    never passed on as it is."""
    blocks = memory.prepared.blocks if memory.prepared else {}
    changed = dict(chat_forms.changed(form, body, blocks, placement))
    if user := body.get("user"):
        changed["user"] = salted_hmac("mio.gateway.user", str(user)).hexdigest()
    return json.dumps({**body, **changed}).encode() if changed else raw


async def _pass(
    http: relay.Client, caller: Caller, request: Request, path: str, passed: Passed, send: Send
) -> bool:
    """Sends a request on and its answer back; returns whether it was a stream."""
    asked = http.build_request(
        request.method,
        f"{caller.upstream.url}/{path}",
        params=request.url.query or None,
        content=passed.body or None,
        headers=relay.headers_for(caller.upstream, request.headers),
    )
    more = {**passed.told, **(caller.quota.headers if caller.quota else {})}
    async with relay.answer_of(http, asked, request.receive) as answer:
        response = await relay.response_of(
            answer, more, passed.heard, passed.form.error_event, request.receive
        )
        if isinstance(response, StreamingResponse):
            response.body_iterator = _naming(response.body_iterator, passed)
        else:
            await _name(passed, streamed=False)
        try:
            await response(request.scope, request.receive, send)
        except ClientDisconnect:
            log.debug("gateway: the client of app %d left", caller.key.app_id)
        return relay.is_stream(answer)


async def _naming(pieces: AsyncIterable[Any], passed: Passed) -> AsyncIterator[Any]:
    """The pieces of a stream; that with its id waits until it was named."""
    named = False
    async for piece in pieces:
        named = named or await _name(passed, streamed=True)
        yield piece


async def _name(passed: Passed, *, streamed: bool) -> bool:
    """Whether an answer has no id to be waited for any more."""
    if passed.named is None or passed.heard.count(b"\n\n") > _FIRST:
        return True
    if found := passed.form.answer_of(bytes(passed.heard), streamed).id:
        await passed.named(found)
    return bool(found)


async def _note_message(memory: Memory) -> injection.Noted | None:
    """Notes the user's message; None where there is nothing to note, or it failed."""
    if memory.chat is None:
        return None
    try:
        noting = partial(injection.note_message, memory.chat, memory.prepared)
        return await _in_thread(_WRITES, noting)
    except Exception as error:  # noqa: BLE001 whatever fails here, the chat goes on
        log.warning("gateway of app %d: not noted: %s", memory.chat.app.pk, type(error).__name__)
        return None


async def _note_place(
    memory: Memory, noting: asyncio.Task[injection.Noted | None], response_id: str
) -> None:
    """Notes what the upstream keeps by this id, once the message is noted."""
    noted = await noting
    if memory.chat is None or noted is None:
        return
    try:
        placing = partial(injection.note_place, memory.chat, noted, response_id)
        await _in_thread(_WRITES, placing)
    except Exception as error:  # noqa: BLE001 whatever fails here, the chat goes on
        log.warning("gateway of user %d: not noted: %s", noted.end_user_id, type(error).__name__)


async def _note_answer(chat: Chat, noted: injection.Noted, answer: Answer) -> None:
    if not answer.text:
        return
    try:
        await _in_thread(_WRITES, partial(injection.note_answer, chat, noted, answer))
    except Exception as error:  # noqa: BLE001 the answer was given
        log.warning("gateway of user %d: not noted: %s", noted.end_user_id, type(error).__name__)


async def _in_thread(pool: ThreadPoolExecutor, ask: Callable[[], T]) -> T:
    """What ``ask`` returns, called in a thread of ``pool``; its connection to the database goes
    back after it. Nobody who leaves meanwhile keeps a call that has begun from its end."""

    def asked() -> T:
        try:
            return ask()
        finally:
            release()

    run = contextvars.copy_context().run
    return await asyncio.get_running_loop().run_in_executor(pool, run, asked)
