"""The two faces of the client, how they send, and how they fail."""

import asyncio
import json
import os
import random
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterator
from datetime import date
from typing import Any, ParamSpec, Self, TypeAlias, TypeVar
from urllib.parse import parse_qs, urlsplit

import httpx

from mio_client.methods import Async, Methods, Operation, Sync
from mio_client.types import Page

P = ParamSpec("P")
T = TypeVar("T")
Outcome: TypeAlias = httpx.Response | httpx.TransportError
# No answer, too many requests, or a server that can't answer now.
PASSING = {None, 429, 502, 503, 504}
# What is answered as it is.
FILES = ("text/vcard", "text/csv")
# Seconds: the first pause doubles each time; a server that asks for a longer one is not waited for.
FIRST_PAUSE = 0.25
LONGEST_PAUSE = 30.0


class MioError(Exception):
    """A request that failed. ``code`` and ``message`` are the API's (docs/api.md), ``fields`` says
    what is wrong with each field, ``details`` is the whole error, ``retry_after`` is in seconds.
    ``status`` is None where no answer came (``unreachable``)."""

    def __init__(
        self, status: int | None, details: dict[str, Any], retry_after: float | None = None
    ) -> None:
        super().__init__(f"{details['code']}: {details['message']}")
        self.status = status
        self.code: str = details["code"]
        self.message: str = details["message"]
        self.fields: dict[str, list[str]] = details.get("fields") or {}
        self.details = details
        self.retry_after = retry_after


def _settings(url: str | None, key: str | None) -> dict[str, Any]:
    key = key or os.environ.get("MIO_KEY")
    if not key:
        raise ValueError("Give a key (bin/mio create_app NAME prints one) or set MIO_KEY.")
    return {
        "base_url": url or os.environ.get("MIO_URL") or "http://127.0.0.1:8000",
        "headers": {"Authorization": f"Bearer {key}", "Accept": "application/json"},
    }


def _built(operation: Operation[Any, Any], path: str, fields: dict[str, Any]) -> dict[str, Any]:
    """A request in httpx's words."""
    request = {"method": operation.method, "url": path, "timeout": operation.timeout}
    if operation.method in ("GET", "DELETE"):
        sent = {name: _in_query(value) for name, value in fields.items() if value is not None}
        return {**request, "params": sent}
    content = json.dumps(fields, ensure_ascii=False, default=_plain).encode()
    return {**request, "content": content, "headers": {"Content-Type": "application/json"}}


def _in_query(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, dict) else _plain(value)


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value


def _attempts(repeatable: bool, retries: int) -> Generator[float, Outcome, Any]:
    """Yields the seconds to wait before each attempt and is sent what came of it; returns the
    answer. Raises MioError when another attempt could do harm or would not help."""
    pause = 0.0
    for left in range(retries, -1, -1):
        outcome = yield pause
        if isinstance(outcome, httpx.Response) and outcome.is_success:
            return _answer(outcome)
        error = _error(outcome)
        backoff = FIRST_PAUSE * 2 ** (retries - left) * random.uniform(1, 1.5)  # noqa: S311
        pause = backoff if error.retry_after is None else error.retry_after
        if not (repeatable and left and error.status in PASSING and pause <= LONGEST_PAUSE):
            raise error
    raise AssertionError("unreachable")


def _answer(response: httpx.Response) -> Any:
    if response.headers.get("Content-Type", "").startswith(FILES):
        return response.text
    try:
        return response.json()
    except ValueError as error:
        message = f"{response.url} did not answer with JSON: is this the address of a Mio?"
        raise MioError(response.status_code, {"code": "not_mio", "message": message}) from error


def _error(outcome: Outcome) -> MioError:
    if isinstance(outcome, httpx.TransportError):
        message = f"No answer from Mio: {type(outcome).__name__} {outcome}".rstrip()
        return MioError(None, {"code": "unreachable", "message": message})
    try:
        body = outcome.json()
    except ValueError:
        body = None
    details = body.get("error") if isinstance(body, dict) else None
    if not isinstance(details, dict) or not {"code", "message"} <= details.keys():
        message = f"{outcome.status_code} {outcome.reason_phrase}, in a form that is not Mio's."
        details = {"code": "not_mio", "message": message}
    after = outcome.headers.get("Retry-After", "")
    return MioError(outcome.status_code, details, float(after) if after.isdigit() else None)


def _next(page: Page[Any]) -> dict[str, Any]:
    """The fields that ask for the page after this one; none after the last."""
    query = parse_qs(urlsplit(page["next"] or "").query)
    return {"cursor": query["cursor"][0]} if "cursor" in query else {}


class Mio(Methods, Sync):
    """The API, blocking. ``url`` and ``key`` default to MIO_URL and MIO_KEY. Threads may share
    it. Methods raise MioError."""

    def __init__(self, url: str | None = None, key: str | None = None, retries: int = 2) -> None:
        self.retries = retries
        self._http = httpx.Client(**_settings(url, key))

    def send(self, operation: Operation[Any, Any], path: str, fields: dict[str, Any]) -> Any:
        """The answer to one operation."""
        attempts = _attempts(operation.repeatable(fields), self.retries)
        pause = next(attempts)
        while True:
            time.sleep(pause)
            try:
                outcome: Outcome = self._http.request(**_built(operation, path, fields))
            except httpx.TransportError as error:
                outcome = error
            try:
                pause = attempts.send(outcome)
            except StopIteration as done:
                return done.value

    def each(self, method: Callable[P, Page[T]], *parts: P.args, **query: P.kwargs) -> Iterator[T]:
        """All that a list holds, page by page: ``mio.each(mio.list_contacts, "ann")``."""
        page = method(*parts, **query)
        yield from page["results"]
        while more := _next(page):
            page = method(*parts, **{**query, **more})
            yield from page["results"]

    def close(self) -> None:
        """Closes its connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncMio(Methods, Async):
    """The same for asyncio: each method is awaited, ``each`` is an async iterator. It belongs to
    one event loop."""

    def __init__(self, url: str | None = None, key: str | None = None, retries: int = 2) -> None:
        self.retries = retries
        self._http = httpx.AsyncClient(**_settings(url, key))

    async def send(self, operation: Operation[Any, Any], path: str, fields: dict[str, Any]) -> Any:
        """The answer to one operation."""
        attempts = _attempts(operation.repeatable(fields), self.retries)
        pause = next(attempts)
        while True:
            await asyncio.sleep(pause)
            try:
                outcome: Outcome = await self._http.request(**_built(operation, path, fields))
            except httpx.TransportError as error:
                outcome = error
            try:
                pause = attempts.send(outcome)
            except StopIteration as done:
                return done.value

    async def each(
        self, method: Callable[P, Coroutine[Any, Any, Page[T]]], *parts: P.args, **query: P.kwargs
    ) -> AsyncIterator[T]:
        """All that a list holds, page by page."""
        page = await method(*parts, **query)
        for one in page["results"]:
            yield one
        while more := _next(page):
            page = await method(*parts, **{**query, **more})
            for one in page["results"]:
                yield one

    async def close(self) -> None:
        """Closes its connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
