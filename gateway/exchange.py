"""Answers one request: finds its user, adds memories, relays it, and stores what was written.

The database is used in threads of the gateway's own, which return their connections; after that,
only bytes are passed on. So a stream holds neither a thread nor a connection."""

import asyncio
import contextvars
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

import httpx2
from django.conf import settings
from django.utils.crypto import salted_hmac
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message, Send

from accounts.authentication import Quota, bearer, key_of
from accounts.cells import releasing
from accounts.errors import ApiError
from accounts.models import ApiKey
from gateway import bodies, chat_forms, injection, relay
from gateway.background_prompts import is_background
from gateway.chains import Chat
from gateway.chat_forms import Form
from gateway.chat_messages import Conversation
from gateway.identity import check_single, named_user, session_of, user_of
from gateway.models import Upstream

log = logging.getLogger(__name__)
T = TypeVar("T")

HEADERS = ("X-Mio-Memory", "X-Mio-Session", "X-Mio-People")
MAX_MESSAGES = 10_000  # of one request: the longest chats of agents have some thousand
LONGEST_WAIT = 10.0  # seconds for the cards of a chat, where the machine or the database is busy
# What a key of one user may request from the upstream besides chats. Files, batches and whatever
# else the upstream stores belong to all users of the app.
_FOR_ONE_USER = ("audio", "completions", "embeddings", "images", "moderations", "rerank")

# Separate, so that keys do not wait for memories, nor memories for writes. More readers would
# share one processor: under load every request would be late, not only the last ones.
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
    """What a chat gets: ``state`` is sent in X-Mio-Memory, ``chat`` is to be stored (None: nothing)."""

    state: str
    chat: Chat | None = None
    prepared: injection.Prepared | None = None

    @property
    def headers(self) -> dict[str, str]:
        headers = {"X-Mio-Memory": self.state}
        if self.prepared is not None:
            headers["X-Mio-Session"] = self.prepared.place.session_id
            headers["X-Mio-People"] = ",".join(map(str, self.prepared.people))
        # What a client calls its session may be no text of a header.
        return {name: value for name, value in headers.items() if value and value.isascii()}


@dataclass(frozen=True, slots=True)
class Passed:
    """What is sent to the upstream. The answer is returned with ``headers``; a copy of its
    bytes is in ``received``. ``asks_stream``: the body asks for a stream."""

    form: Form = chat_forms.CHAT
    body: bytes | AsyncIterator[bytes] = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    received: bytearray = field(default_factory=bytearray)
    asks_stream: bool = False

    async def answer(self) -> str:
        """Returns what the assistant wrote in the bytes ``received``."""
        return await bodies.in_thread_if_large(
            len(self.received), partial(self.form.answer_of, bytes(self.received))
        )

    async def decode(self, encoding: str) -> None:
        """Decompresses ``received``."""
        read = partial(relay.plain, bytes(self.received), encoding)
        self.received[:] = await bodies.in_thread_if_large(len(self.received), read)


async def models(http: relay.Client, request: Request, name: str, send: Send) -> None:
    """Passes on the upstream's list of models, or one of them."""
    caller = await _in_thread(_KEYS, partial(_caller, request.headers))
    await _relay_request(http, caller, request, name, Passed(), send)


async def chat(http: relay.Client, request: Request, form: Form, send: Send) -> None:
    """Passes a chat on with memories added, and stores what was written."""
    caller = await _in_thread(_KEYS, partial(_caller, request.headers))
    raw = await bodies.whole(request)
    body, talk = await bodies.in_thread_if_large(len(raw), partial(_read, form, raw))
    if is_background(request.headers, talk):
        memory = Memory("skipped-task")
    else:
        memory = await _memory_for(caller, request.headers, body, talk)
    encode = partial(_encode, raw, body, memory, form, caller.upstream.placement)
    sent = await bodies.in_thread_if_large(len(raw), encode)
    noting = asyncio.create_task(_note_message(memory))
    passed = Passed(form, sent, memory.headers, asks_stream=body.get("stream") is True)
    try:
        await _relay_request(http, caller, request, form.path, passed, send)
    finally:
        stored_ids = await noting
    if memory.chat and stored_ids and (text := await passed.answer()):
        note = partial(injection.note_answer, memory.chat, *stored_ids, text)
        await _note(f"user {stored_ids[0]}", note)


async def pass_on(http: relay.Client, request: Request, name: str, send: Send) -> None:
    """Passes on a request that is no chat as it comes, and the answer. Nothing of it is read,
    changed or remembered. Raises ApiError."""
    caller = await _in_thread(_KEYS, partial(_caller, request.headers))
    named_user(caller.key, caller.upstream, request.headers)
    if caller.key.external_id and name.partition("/")[0] not in _FOR_ONE_USER:
        message = f"A key of one user opens chats and {', '.join(_FOR_ONE_USER)} only: use one of the app."
        raise ApiError(403, "key_of_one_user", message)
    bodies.check_length(request, bodies.MAX_HANDED_ON)
    sent = asyncio.Event()

    async def body() -> AsyncIterator[bytes]:
        async for piece in bodies.pieces(request, bodies.MAX_HANDED_ON):
            yield piece
        sent.set()

    async def receive() -> Message:
        await sent.wait()  # until then the body takes what comes
        return await request.receive()

    has_body = {"content-length", "transfer-encoding"} & set(request.headers.keys())
    if not has_body:
        sent.set()
    passed = Passed(body=body() if has_body else b"")
    await _relay_request(http, caller, Request(request.scope, receive), name, passed, send)


def _caller(headers: Headers) -> Caller:
    """Returns who calls, by the key in a header. Raises ApiError."""
    check_single(headers)
    secret = headers.get("x-mio-key", "") or bearer(headers.get("authorization", ""))
    key, quota = key_of(headers, secret)
    upstream = Upstream.objects.filter(app=key.app_id).first()
    if upstream is None:
        message = (
            f"The app {key.app.name} has no upstream: an operator sets it on its gateway page."
        )
        raise ApiError(503, "no_upstream", message)
    return Caller(key, upstream, quota)


def _read(form: Form, raw: bytes) -> tuple[dict[str, Any], Conversation]:
    body = bodies.parsed(raw)
    messages = body.get(form.field)
    if isinstance(messages, list) and len(messages) > MAX_MESSAGES:
        message = (
            f"`{form.field}` has more than {MAX_MESSAGES:,} messages. Send the latest of them."
        )
        raise ApiError(413, "too_many_messages", message)
    return body, form.read(body)


async def _memory_for(
    caller: Caller, headers: Mapping[str, str], body: Mapping[str, Any], talk: Conversation
) -> Memory:
    """Returns what is added to a chat: the cards of people, and what a search finds in time. Raises
    ApiError if nobody says whose chat it is."""
    user = user_of(caller.key, caller.upstream, headers, body)
    if not talk.turns:
        return Memory("none")
    session = session_of(headers)
    this_chat = Chat(caller.key.app, user, session, talk, caller.upstream.placement)
    try:
        search_until = time.perf_counter() + settings.MIO_GATEWAY_BUDGET_MS / 1000
        async with asyncio.timeout(LONGEST_WAIT):
            prepare = partial(injection.prepare, this_chat, search_until)
            prepared = await _in_thread(_READS, prepare)
    except TimeoutError:
        return Memory("late", this_chat)
    except Exception as error:  # noqa: BLE001 whatever fails here, the chat goes on
        log.warning("gateway of app %d: no memory: %s", caller.key.app_id, type(error).__name__)
        return Memory("error", this_chat)
    return Memory("injected" if prepared.blocks else "none", this_chat, prepared)


def _encode(raw: bytes, body: chat_forms.Body, memory: Memory, form: Form, placement: str) -> bytes:
    """Returns the body for the upstream: the very bytes that came, if nothing is added; the user's
    id is replaced by a hash."""
    blocks = memory.prepared.blocks if memory.prepared else {}
    changed = dict(chat_forms.changed(form, body, blocks, placement))
    if user := body.get("user"):
        changed["user"] = salted_hmac("mio.gateway.user", str(user)).hexdigest()
    return bodies.encoded({**body, **changed}) if changed else raw


async def _relay_request(
    http: relay.Client, caller: Caller, request: Request, path: str, passed: Passed, send: Send
) -> None:
    """Sends a request to the upstream, and its answer to the client as it comes."""
    query = f"?{request.url.query}" if request.url.query else ""
    headers = relay.headers_for(caller.upstream, request.headers)
    if not isinstance(passed.body, bytes) and "content-length" in request.headers:
        headers["content-length"] = request.headers["content-length"]
    upstream_request = http.build_request(
        request.method,
        f"{caller.upstream.url}/{path}{query}",
        content=passed.body or None,
        headers=headers,
    )
    added = {**passed.headers, **(caller.quota.headers if caller.quota else {})}
    async with relay.answer_of(http, upstream_request, request.receive) as answer:
        streams = relay.is_stream(answer, passed.asks_stream)
        encoding = answer.headers.get("content-encoding", "identity")
        response = await relay.response_of(
            answer,
            added,
            passed.received,
            passed.form.error_event,
            request.receive,
            streams=streams,
        )
        try:
            await response(request.scope, request.receive, send)
        except ClientDisconnect:
            log.debug("gateway: the client of app %d left", caller.key.app_id)
        except httpx2.TransportError as error:
            # The server ends the connection, since the response is not complete.
            kind = type(error).__name__
            log.warning("gateway: an upstream of app %d broke off: %s", caller.key.app_id, kind)
        finally:
            await passed.decode(encoding)


async def _note_message(memory: Memory) -> tuple[int, str] | None:
    """Stores the user's message; returns None if there is nothing to store, or it failed."""
    if memory.chat is None:
        return None
    note = partial(injection.note_message, memory.chat, memory.prepared)
    return await _note(f"app {memory.chat.app.pk}", note)


async def _note(owner: str, note: Callable[[], T]) -> T | None:
    """Returns what ``note`` returns; None if it fails, which is logged: the chat goes on."""
    try:
        return await _in_thread(_WRITES, note)
    except Exception as error:  # noqa: BLE001 whatever fails here
        log.warning("gateway of %s: not noted: %s", owner, type(error).__name__)
        return None


async def _in_thread(pool: ThreadPoolExecutor, ask: Callable[[], T]) -> T:
    """Calls ``ask`` in a thread of ``pool``, which then returns its connection to the database. A
    call that has begun ends, even if the client leaves meanwhile."""
    run = contextvars.copy_context().run
    return await asyncio.get_running_loop().run_in_executor(pool, run, releasing(ask))
