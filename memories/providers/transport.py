"""One way to call a server of the OpenAI protocol: one retry policy, named errors.

Error messages are built here from the status and the server's error code only: what a
server says may echo the chat text or the key it was sent.
"""

import logging
import math
import os
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Protocol

import openai
from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt
from tenacity.wait import wait_random_exponential

from memories.providers.errors import PermanentError, ProviderError, TransientError

TIMEOUT_S = 60.0
MAX_ATTEMPTS = 4
# Full jitter: a random wait below 1, 2, 4 … seconds. Source: M. Brooker, "Exponential
# Backoff And Jitter", AWS Architecture Blog, 2015.
BACKOFF_S = 1.0
BACKOFF_CAP_S = 20.0
# A server that asks for more than this is left to the queue's own retry.
RETRY_AFTER_CAP_S = 60.0
# Spread over which clients that were given the same Retry-After come back.
RETRY_AFTER_JITTER = 0.1

TRANSIENT_STATUS = frozenset({408, 409, 425, 429})
# Parameters a compatible server may not know, with the words by which it refuses them.
OPTIONAL_PARAMETERS = {
    "response_format": re.compile(r"response.?format|json.?schema|json.?object|structured", re.I),
    "temperature": re.compile(r"temperature", re.I),
    "dimensions": re.compile(r"dimensions|matryoshka", re.I),
}
_REFUSING_STATUS = frozenset({400, 415, 422})
_CODE = re.compile(r"[a-z][a-z0-9_.-]{0,39}")

# At DEBUG, versions 2 of the client log whole requests, the chat among them.
logging.getLogger("openai").setLevel(logging.INFO)


class UnsupportedParameterError(PermanentError):
    """The server refused the request because of ``parameters``, which can be left out."""

    def __init__(self, message: str, parameters: frozenset[str]) -> None:
        super().__init__(message)
        self.parameters = parameters


class RawReply(Protocol):
    """What ``with_raw_response`` methods of the client return."""

    @property
    def text(self) -> str: ...


class ModelServer:
    """Calls to one server, each tried up to ``max_attempts`` times with backoff.

    Safe to share between threads, and across a fork: a child process never writes to
    a connection of its parent.
    """

    def __init__(
        self,
        api_key: str,
        base_url: str,
        timeout_s: float = TIMEOUT_S,
        max_attempts: int = MAX_ATTEMPTS,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._api_key = api_key
        self._base_url = base_url
        self._timeout_s = timeout_s
        self._max_attempts = max_attempts
        self._sleep = sleep
        self._owner: tuple[int, openai.OpenAI] | None = None

    def call(self, send: Callable[[openai.OpenAI], RawReply]) -> tuple[str, float]:
        """The body of the reply, and the milliseconds all attempts took without the waits.

        Raises TransientError when no attempt got through, PermanentError when another
        would be refused again, UnsupportedParameterError when less may be asked for.
        """
        spent = 0.0

        def attempt() -> str:
            nonlocal spent
            started = time.perf_counter()
            try:
                return self._once(send)
            finally:
                spent += time.perf_counter() - started

        retrying = Retrying(
            stop=stop_after_attempt(self._max_attempts),
            retry=retry_if_exception(_worth_waiting_for),
            wait=_wait,
            sleep=self._sleep,
            reraise=True,
        )
        body = retrying(attempt)
        return body, spent * 1000

    def _once(self, send: Callable[[openai.OpenAI], RawReply]) -> str:
        error: ProviderError
        try:
            return send(self._client()).text
        except openai.APIStatusError as exc:
            error = _status_error(exc)
        except openai.APITimeoutError:
            error = TransientError(f"The model server did not answer in {self._timeout_s:g} s.")
        except openai.APIConnectionError:
            error = TransientError("The connection to the model server failed.")
        except openai.OpenAIError as exc:
            error = PermanentError(f"The model client refused the call: {type(exc).__name__}.")
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
            )
            owner = self._owner = (os.getpid(), client)
        return owner[1]


def _status_error(exc: openai.APIStatusError) -> ProviderError:
    status = exc.status_code
    code = exc.code or exc.type or ""
    known = f" ({code})" if _CODE.fullmatch(str(code)) else ""
    message = f"The model server answered {status}{known}."
    if status in TRANSIENT_STATUS or status >= 500:
        return TransientError(message, _retry_after(exc.response.headers.get("retry-after")))
    if status in _REFUSING_STATUS:
        refused = frozenset(
            name
            for name, words in OPTIONAL_PARAMETERS.items()
            if exc.param == name or words.search(_said(exc))
        )
        if refused:
            return UnsupportedParameterError(message, refused)
    return PermanentError(message)


def _said(exc: openai.APIStatusError) -> str:
    """The server's own message, to be searched and never shown."""
    if isinstance(exc.body, dict):
        return str(exc.body.get("message") or exc.body.get("detail") or exc.body)
    return exc.message


def _retry_after(header: str | None) -> float | None:
    """Seconds to wait, from a Retry-After header in either form of RFC 9110, 10.2.3."""
    if not header:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            at = parsedate_to_datetime(header)
        except ValueError:
            return None
        seconds = (at.replace(tzinfo=at.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _worth_waiting_for(error: BaseException) -> bool:
    if not isinstance(error, TransientError):
        return False
    return error.retry_after is None or error.retry_after <= RETRY_AFTER_CAP_S


_backoff = wait_random_exponential(multiplier=BACKOFF_S, max=BACKOFF_CAP_S)
_spread = wait_random_exponential(multiplier=RETRY_AFTER_JITTER, max=RETRY_AFTER_JITTER * 8)


def _wait(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    asked = error.retry_after if isinstance(error, TransientError) else None
    return _backoff(state) if asked is None else asked + _spread(state)
