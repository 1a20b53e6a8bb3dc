"""Files and batches of a server of the OpenAI protocol: requests that may take a day, for
half the price."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, Final, Generic, Protocol, TypeVar

import openai
from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from accounts.reasons import Reason
from memories.providers.errors import OutputError, ProviderError, TransientError
from memories.providers.openai.transport import (
    ModelServer,
    NotFoundError,
    RawReply,
    in_brackets,
    status_error,
)

ENDPOINT: Final = "/v1/chat/completions"
ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
PAGE = 100
MAX_PAGES = 20
# Codes of requests that the server never got to.
_UNANSWERED = frozenset({"batch_expired", "batch_cancelled"})

B = TypeVar("B", bound=BaseModel)
R = TypeVar("R", "ServerBatch", "ServerFile")
Text = Annotated[str, BeforeValidator(lambda value: value or "")]


class BadLine(BaseModel):
    """Why a batch failed its validation, and at which line of the file (from 1) if at one."""

    code: Text = ""
    line: int | None = None


class _Errors(BaseModel):
    data: list[BadLine] | None = None


class ServerBatch(BaseModel):
    """A batch as the server tells of it."""

    id: str
    status: str
    created_at: int = 0
    input_file_id: Text = ""
    output_file_id: Text = ""
    error_file_id: Text = ""
    expires_at: int | None = None
    metadata: Annotated[dict[str, str], BeforeValidator(lambda value: value or {})] = {}
    errors: _Errors | None = None

    @property
    def ended(self) -> bool:
        return self.status in ENDED

    @property
    def bad_lines(self) -> list[BadLine]:
        return (self.errors.data or []) if self.errors else []

    @property
    def expiry(self) -> datetime | None:
        try:
            return datetime.fromtimestamp(self.expires_at, UTC) if self.expires_at else None
        except (ValueError, OverflowError, OSError):  # no year of this calendar
            return None


class ServerFile(BaseModel):
    """A file as the server tells of it."""

    id: str
    filename: Text = ""
    created_at: int = 0


class _Page(BaseModel, Generic[R]):
    data: list[R]
    has_more: bool = False


_Batches = _Page[ServerBatch]
_Files = _Page[ServerFile]


class _Response(BaseModel):
    status_code: int
    body: Any = None


class _Failure(BaseModel):
    code: Text = ""
    message: Text = ""
    type: Text = ""
    param: str | None = None


class _Line(BaseModel):
    custom_id: str
    response: _Response | None = None
    error: _Failure | None = None


class _ErrorBody(BaseModel):
    error: _Failure = Field(default_factory=_Failure)


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of one request: the body of its ``completion``, or an ``error``."""

    custom_id: str
    completion: str = ""
    error: ProviderError | None = None


def request_line(custom_id: str, body: Mapping[str, Any]) -> str:
    """One line of the file that a batch is made from."""
    line = {"custom_id": custom_id, "method": "POST", "url": ENDPOINT, "body": body}
    return json.dumps(line, ensure_ascii=False, separators=(",", ":"))


def answers_in(text: str) -> Iterator[Answer]:
    """The answers in an output or error file. A line that can't be read, or that tells only
    that the time was up, answers nothing."""
    for row in text.splitlines():
        try:
            line = _Line.model_validate_json(row)
        except ValidationError:
            continue
        if line.error is not None and line.error.code in _UNANSWERED:
            continue
        if line.response is None:
            code = in_brackets(line.error.code if line.error else "")
            error: ProviderError = TransientError(Reason("no_answer", code=code))
            yield Answer(line.custom_id, error=error)
        elif line.response.status_code >= 400:
            yield Answer(line.custom_id, error=_refusal(line.response))
        else:
            yield Answer(line.custom_id, json.dumps(line.response.body))


def _refusal(response: _Response) -> ProviderError:
    try:
        failure = _ErrorBody.model_validate(response.body).error
    except ValidationError:
        failure = _Failure()
    code = failure.code or failure.type
    return status_error(response.status_code, code, failure.param, failure.message)


class _Listing(Protocol):
    def __call__(self, client: openai.OpenAI, after: str | openai.Omit) -> RawReply: ...


class BatchServer:
    """The calls. What must not be done twice is tried once: whether it was done shows in
    the server's lists. All raise ProviderError; NotFoundError for what is not there."""

    def __init__(self, server: ModelServer) -> None:
        self._server = server

    def upload(self, name: str, content: str) -> str:
        """The id of a new file of requests."""
        file = (name, content.encode(), "application/jsonl")
        return self._asked(
            ServerFile,
            lambda client: client.files.with_raw_response.create(file=file, purpose="batch"),
            attempts=1,
        ).id

    def create(self, file_id: str, metadata: dict[str, str]) -> ServerBatch:
        """A new batch of the requests in a file."""
        return self._asked(
            ServerBatch,
            lambda client: client.batches.with_raw_response.create(
                input_file_id=file_id,
                endpoint=ENDPOINT,
                completion_window="24h",
                metadata=metadata,
            ),
            attempts=1,
        )

    def retrieve(self, batch_id: str) -> ServerBatch:
        return self._asked(
            ServerBatch, lambda client: client.batches.with_raw_response.retrieve(batch_id)
        )

    def cancel(self, batch_id: str) -> None:
        self._server.call(lambda client: client.batches.with_raw_response.cancel(batch_id))

    def content(self, file_id: str) -> str:
        """The text of a file; empty when there is none of that id."""
        if not file_id:
            return ""
        try:
            return self._server.call(
                lambda client: client.files.with_raw_response.content(file_id)
            )[0]
        except NotFoundError:
            return ""

    def delete_file(self, file_id: str) -> None:
        """Deletes a file; one that is gone already is no error."""
        try:
            self._server.call(lambda client: client.files.with_raw_response.delete(file_id))
        except NotFoundError:
            return

    def batches(self, since: datetime) -> Iterator[ServerBatch]:
        """The batches made since then, the latest first."""
        return self._pages(
            _Batches,
            lambda client, after: client.batches.with_raw_response.list(limit=PAGE, after=after),
            since,
        )

    def files(self, since: datetime) -> Iterator[ServerFile]:
        """The files of requests uploaded since then, the latest first."""
        return self._pages(
            _Files,
            lambda client, after: client.files.with_raw_response.list(
                purpose="batch", limit=PAGE, order="desc", after=after
            ),
            since,
        )

    def _pages(
        self,
        form: type[_Page[R]],
        send: _Listing,
        since: datetime,
    ) -> Iterator[R]:
        after: str | openai.Omit = openai.omit
        for _ in range(MAX_PAGES):
            page = self._asked(form, partial(send, after=after))
            recent = [row for row in page.data if row.created_at >= since.timestamp()]
            yield from recent
            if not page.has_more or len(recent) < len(page.data):
                return
            after = page.data[-1].id

    def _asked(
        self,
        form: type[B],
        send: Callable[[openai.OpenAI], RawReply],
        attempts: int | None = None,
    ) -> B:
        body, _ = self._server.call(send, attempts)
        try:
            return form.model_validate_json(body)
        except ValidationError:
            pass
        raise OutputError(Reason("not_batch_protocol"))
