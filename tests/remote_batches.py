"""The files and batches of the fake model server: what was uploaded, and what became of it."""

import email
import itertools
import json
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

Reply = tuple[int, Any]
NOT_FOUND: Reply = (404, {"error": {"message": "No such thing.", "type": "invalid_request_error"}})


class Refused:
    """An answer of a line: the status and error code that its request was refused with."""

    def __init__(self, status: int, code: str = "", message: str = "") -> None:
        self.status = status
        self.error = {"code": code, "message": message, "param": None}


class RemoteBatches:
    """Uploaded files by id (name and text), and batches by id, as the protocol shows them."""

    def __init__(self) -> None:
        self.files: dict[str, tuple[str, str]] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self._ids = itertools.count(1)

    def answer(self, method: str, target: str, body: Any) -> Reply:
        """The reply to a request below /v1/files or /v1/batches."""
        at = urlsplit(target)
        kind, *rest = at.path.removeprefix("/v1/").split("/")
        query = {key: values[0] for key, values in parse_qs(at.query).items()}
        if kind == "files":
            return self._files(method, rest, body, query)
        return self._batches(method, rest, body, query)

    def _files(self, method: str, rest: list[str], body: Any, query: Mapping[str, str]) -> Reply:
        if not rest and method == "POST":
            made = f"file-{next(self._ids)}"
            self.files[made] = body
            return 200, self._file(made)
        if not rest:
            return 200, _page([self._file(known) for known in reversed(self.files)], query)
        if rest[0] not in self.files:
            return NOT_FOUND
        if method == "DELETE":
            del self.files[rest[0]]
            return 200, {"id": rest[0], "object": "file", "deleted": True}
        return 200, self.files[rest[0]][1]

    def _file(self, known: str) -> dict[str, Any]:
        name, text = self.files[known]
        return {
            "id": known,
            "object": "file",
            "bytes": len(text.encode()),
            "created_at": int(time.time()),
            "filename": name,
            "purpose": "batch",
            "status": "processed",
        }

    def _batches(self, method: str, rest: list[str], body: Any, query: Mapping[str, str]) -> Reply:
        if not rest and method == "POST":
            made = f"batch_{next(self._ids)}"
            now = int(time.time())
            self.batches[made] = {
                "id": made,
                "object": "batch",
                "status": "in_progress",
                "endpoint": body["endpoint"],
                "completion_window": body["completion_window"],
                "input_file_id": body["input_file_id"],
                "output_file_id": None,
                "error_file_id": None,
                "errors": None,
                "created_at": now,
                "expires_at": now + 24 * 3600,
                "metadata": body.get("metadata"),
            }
            return 200, self.batches[made]
        if not rest:
            return 200, _page(list(reversed(self.batches.values())), query)
        batch = self.batches.get(rest[0])
        if batch is None:
            return NOT_FOUND
        if rest[1:] == ["cancel"] and batch["status"] == "in_progress":
            batch["status"] = "cancelling"
        return 200, batch

    def lines(self, batch_id: str) -> list[dict[str, Any]]:
        """The requests in the file of a batch."""
        text = self.files[self.batches[batch_id]["input_file_id"]][1]
        return [json.loads(line) for line in text.splitlines()]

    def end(
        self,
        batch_id: str,
        answer: Callable[[dict[str, Any]], Any] = lambda _body: None,
        status: str = "completed",
    ) -> None:
        """Ends a batch. ``answer`` gives for the body of each request: the value that the
        completion holds as JSON, ``Refused``, a string that stands in the output as it is, or
        None for no answer."""
        output, errors = [], []
        for line in self.lines(batch_id):
            found = answer(line["body"])
            name = {"id": f"req-{line['custom_id']}", "custom_id": line["custom_id"]}
            if isinstance(found, str):
                output.append(found)
            elif isinstance(found, Refused):
                response = {"status_code": found.status, "body": {"error": found.error}}
                errors.append(json.dumps({**name, "response": response, "error": None}))
            elif found is not None:
                response = {"status_code": 200, "body": _completion(found)}
                output.append(json.dumps({**name, "response": response, "error": None}))
            elif status != "completed":
                error = {"code": f"batch_{status}", "message": "Too late."}
                errors.append(json.dumps({**name, "response": None, "error": error}))
        self.batches[batch_id] |= {
            "status": status,
            "output_file_id": self.put(output),
            "error_file_id": self.put(errors),
        }

    def put(self, lines: list[str]) -> str | None:
        """A file of the server's own, none for no lines."""
        if not lines:
            return None
        made = f"file-{next(self._ids)}"
        self.files[made] = ("output.jsonl", "\n".join(lines) + "\n")
        return made

    def refuse(self, batch_id: str, code: str, line: int | None = None) -> None:
        """Fails the validation of a batch."""
        error = {"code": code, "message": "It is not valid.", "line": line, "param": None}
        self.batches[batch_id] |= {
            "status": "failed",
            "errors": {"object": "list", "data": [error]},
        }


def uploaded(content_type: str, raw: bytes) -> tuple[str, str]:
    """The name and text of the file in a multipart form."""
    form = email.message_from_bytes(b"Content-Type: " + content_type.encode() + b"\r\n\r\n" + raw)
    for part in form.get_payload():
        if part.get_filename():
            return part.get_filename(), part.get_payload(decode=True).decode()
    raise AssertionError("The form holds no file.")


def _page(rows: list[dict[str, Any]], query: Mapping[str, str]) -> dict[str, Any]:
    ids = [row["id"] for row in rows]
    start = ids.index(query["after"]) + 1 if "after" in query else 0
    limit = int(query.get("limit", 20))
    return {
        "object": "list",
        "data": rows[start : start + limit],
        "has_more": start + limit < len(rows),
    }


def _completion(value: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": json.dumps(value, ensure_ascii=False)}
    return {
        "id": "fake-1",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 11, "completion_tokens": 7},
    }
