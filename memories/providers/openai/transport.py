"""Calls to a server of the OpenAI protocol: one retry policy, named errors. Error messages contain
only status and error code, as a server's text may echo the chat or the key it was sent."""

import logging
import math
import os
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Protocol, TypeVar

import openai
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception,
    stop_after_attempt,
    stop_after_delay,
)
from tenacity.wait import wait_random_exponential

from accounts.reasons import Reason
from memories.providers.errors import (
    OutputError,
    PermanentError,
    ProviderError,
    RefusedError,
    TransientError,
)
from understanding.text import letters

TIMEOUT_S = 60.0  # of silence
# The limit of one reply, however steadily it arrives, and of the time in which tries begin.
DEADLINE_S = 180.0
# Twice the largest honest reply: vectors of 3,072 numbers for 256 texts.
MOST_BYTES = 32_000_000
MAX_ATTEMPTS = 4
# Full jitter: a random wait below 1, 2, 4 … seconds (M. Brooker, AWS Architecture Blog, 2015).
BACKOFF_S = 1.0
BACKOFF_CAP_S = 20.0
# A longer Retry-After is left to the queue's own retry.
RETRY_AFTER_CAP_S = 60.0
# A longer Retry-After is cut to this.
LONGEST_RETRY_AFTER_S = 3600.0
# Random part of a wait, which spreads clients that were given the same Retry-After.
RETRY_AFTER_JITTER = 0.1

TRANSIENT_STATUS = frozenset({408, 409, 425, 429})
# The key, the address or a proxy is refused, whatever is asked.
REFUSED_STATUS = frozenset({401, 402, 403, 404, 405, 407})
# Parameters a compatible server may not know, with the words by which it refuses them.
OPTIONAL_PARAMETERS = {
    "response_format": ("responseformat", "jsonschema", "jsonobject", "structured"),
    "temperature": ("temperature",),
    "dimensions": ("dimensions", "matryoshka"),
}
_PARAMETER_STATUS = frozenset({400, 415, 422})
T = TypeVar("T")
LONGEST_CODE = 40

# At DEBUG, versions 2 of the client log whole requests, the chat among them.
logging.getLogger("openai").setLevel(logging.INFO)


class UnsupportedParameterError(PermanentError):
    """The server refused the request because of ``parameters``, which can be left out."""

    def __init__(self, reason: Reason | str, parameters: frozenset[str]) -> None:
        super().__init__(reason)
        self.parameters = parameters


class _GivenUp(openai.OpenAIError):
    """Raised when the rest of a reply is not read; ``error`` says why."""

    def __init__(self, error: ProviderError) -> None:
        super().__init__(str(error))
        self.error = error


class RawReply(Protocol):
    """What ``with_raw_response`` methods of the client return."""

    @property
    def text(self) -> str: ...


class _BoundedClient(openai.DefaultHttpxClient):
    """An HTTP client that gives up on an endless reply, except a stream of pieces."""

    def __init__(self, timeout_s: float, deadline_s: float) -> None:
        super().__init__(timeout=timeout_s)
        self._deadline_s = deadline_s

    def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:
        """Overrides httpx's method: returns the reply, read to its end unless it's a ``stream``."""
        began = time.monotonic()
        response = super().send(request, stream=True, **options)
        is_page = response.headers.get("content-type", "").startswith("text/html")
        if stream and not response.is_error and not is_page:
            return response
        try:
            body = _read_body(response.iter_bytes(), began, self._deadline_s)
        finally:
            response.close()
        if is_page and not response.is_error and body.lstrip().startswith(b"<"):
            raise _GivenUp(RefusedError(Reason("web_page")))
        headers = {
            name: value
            for name, value in response.headers.items()
            if name not in ("content-encoding", "content-length", "transfer-encoding")
        }
        return type(response)(response.status_code, headers=headers, content=body, request=request)


def _read_body(chunks: Iterable[bytes], began: float, deadline_s: float) -> bytes:
    body = bytearray()
    for chunk in chunks:
        body += chunk
        if len(body) > MOST_BYTES:
            megabytes = MOST_BYTES // 1_000_000
            raise _GivenUp(OutputError(Reason("answer_too_large", megabytes=megabytes)))
        if time.monotonic() > began + deadline_s:
            raise _GivenUp(TransientError(Reason("server_timeout", seconds=f"{deadline_s:g}")))
    return bytes(body)


class ModelServer:
    """Calls to one server, each tried up to ``max_attempts`` times with backoff. Safe to share between
    threads, and across a fork: a child process never writes to a connection of its parent."""

    def __init__(
        self,
        api_key: str,
        base_url: str,
        timeout_s: float = TIMEOUT_S,
        max_attempts: int = MAX_ATTEMPTS,
        deadline_s: float = DEADLINE_S,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._api_key = api_key
        self._base_url = base_url
        self._timeout_s = timeout_s
        self._max_attempts = max_attempts
        self.deadline_s = deadline_s
        self._sleep = sleep
        self._owner: tuple[int, openai.OpenAI] | None = None

    def call(
        self, send: Callable[[openai.OpenAI], RawReply], attempts: int | None = None
    ) -> tuple[str, float]:
        """Returns the body of the reply, and the milliseconds of all attempts without the waits.
        Raises TransientError if no attempt got through, PermanentError if another would be refused
        again, RefusedError if any request would be, OutputError for a reply that is too large,
        UnsupportedParameterError if a parameter can be left out."""
        spent = 0.0

        def timed(client: openai.OpenAI) -> str:
            nonlocal spent
            started = time.perf_counter()
            try:
                return send(client).text
            finally:
                spent += time.perf_counter() - started

        return self.open(timed, attempts), spent * 1000

    def open(self, send: Callable[[openai.OpenAI], T], attempts: int | None = None) -> T:
        """Returns the result of ``send``, such as a stream; tries and raises as ``call`` does."""
        retrying = Retrying(
            stop=stop_after_attempt(attempts or self._max_attempts)
            | stop_after_delay(self.deadline_s),
            retry=retry_if_exception(_is_worth_waiting),
            wait=_wait,
            sleep=self._sleep,
            reraise=True,
        )
        return retrying(self.once, send)

    def once(self, send: Callable[[openai.OpenAI], T]) -> T:
        """Makes one attempt; translates the client's exceptions into named errors."""
        error: ProviderError
        try:
            return send(self._client())
        except openai.APIStatusError as exc:
            error = _status_error(exc)
        except openai.APITimeoutError:
            error = TransientError(Reason("server_timeout", seconds=f"{self._timeout_s:g}"))
        except openai.APIConnectionError:
            error = TransientError(Reason("connection_failed"))
        except openai.APIError:
            error = TransientError(Reason("answer_broken_off"))
        except _GivenUp as exc:
            error = exc.error
        except openai.OpenAIError as exc:
            error = PermanentError(Reason("client_refused", error=type(exc).__name__))
        # Raised outside the handlers: the client's exception may hold chat text, and would
        # be logged as the context of this one.
        raise error

    def _client(self) -> openai.OpenAI:
        owner = self._owner
        if owner is None or owner[0] != os.getpid():
            client = openai.OpenAI(
                api_key=self._api_key or "none",
                base_url=self._base_url or None,
                timeout=self._timeout_s,
                max_retries=0,
                http_client=_BoundedClient(self._timeout_s, self.deadline_s),
            )
            owner = self._owner = (os.getpid(), client)
        return owner[1]


def _status_error(exc: openai.APIStatusError) -> ProviderError:
    """Returns the named error of an HTTP status. Searches the server's message, never shows it."""
    status, code = exc.status_code, str(exc.code or exc.type or "")
    plain = code.isascii() and code.islower() and code.isidentifier() and len(code) <= LONGEST_CODE
    shown = f"{status} ({code})" if plain else str(status)
    reason = Reason("server_status", status=shown)
    if status in TRANSIENT_STATUS or status >= 500:
        return TransientError(reason, _retry_after(exc.response.headers.get("retry-after")))
    if status in REFUSED_STATUS or status < 400:
        return RefusedError(reason)
    if status in _PARAMETER_STATUS:
        body = exc.body if isinstance(exc.body, dict) else {"message": exc.message}
        message = letters(str(body.get("message") or body.get("detail") or body))
        refused = frozenset(
            name
            for name, words in OPTIONAL_PARAMETERS.items()
            if exc.param == name or any(word in message for word in words)
        )
        if refused:
            return UnsupportedParameterError(reason, refused)
    return PermanentError(reason)


def _retry_after(header: str | None) -> float | None:
    """Returns the seconds to wait, an hour at most, of a Retry-After header (RFC 9110, 10.2.3)."""
    try:
        seconds = float(header or "")
    except ValueError:
        try:
            at = parsedate_to_datetime(header or "")
            seconds = (at.replace(tzinfo=at.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError, OverflowError):
            return None
    return min(max(0.0, seconds), LONGEST_RETRY_AFTER_S) if math.isfinite(seconds) else None


def _is_worth_waiting(error: BaseException) -> bool:
    seconds = error.retry_after or 0 if isinstance(error, TransientError) else math.inf
    return seconds <= RETRY_AFTER_CAP_S


_backoff = wait_random_exponential(multiplier=BACKOFF_S, max=BACKOFF_CAP_S)
_spread = wait_random_exponential(multiplier=RETRY_AFTER_JITTER, max=RETRY_AFTER_JITTER * 8)


def _wait(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    seconds = error.retry_after if isinstance(error, TransientError) else None
    return _backoff(state) if seconds is None else seconds + _spread(state)
