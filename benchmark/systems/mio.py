"""Mio over HTTP: ``MIO_BASE`` (default http://127.0.0.1:8000) and ``MIO_KEY``, a key of an app.
Whether two records are one person is asked of its code, which needs no server for that, but Mio's
environment (.venv/bin/python).
"""

import json
import os
import uuid
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

from benchmark.system import Message, Turn


class Mio:
    def __init__(self) -> None:
        self._base = os.environ.get("MIO_BASE", "http://127.0.0.1:8000")
        self._key = os.environ["MIO_KEY"]
        self._run = uuid.uuid4().hex[:8]

    def open(self, user: str) -> None:
        self._user = quote(f"{user}-{self._run}", safe="")

    def add(self, messages: Sequence[Message]) -> None:
        for start in range(0, len(messages), 100):
            self._post("messages/", {"messages": list(messages[start : start + 100])})

    def settle(self) -> None:
        while True:
            try:
                self._post("process/", {"wait": True})
                return
            except HTTPError as error:
                # A call waits for 300 seconds; the work continues.
                if error.code != HTTPStatus.GATEWAY_TIMEOUT:
                    raise

    def context(self, message: str, history: Sequence[Turn]) -> str:
        asked = {"message": message, "session_id": "probe", "history": list(history)}
        return str(self._post("context/", asked)["system_prompt"])

    def search(self, query: str, limit: int) -> list[str]:
        body = {"query": query, "limit": limit}
        return [one["content"] for one in self._post("search/", body)["results"]]

    def same(self, first: dict[str, Any], second: dict[str, Any]) -> bool:
        """Whether Mio would suggest to an operator that these are one person."""
        from understanding.same_person.pair_scoring import compare

        return compare(_record(first), _record(second)).verdict in ("certain", "likely")

    def close(self) -> None:
        pass

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        address = f"{self._base}/api/v1/users/{self._user}/{path}"
        request = Request(address, json.dumps(body).encode(), headers)
        with urlopen(request, timeout=600) as answer:
            return json.load(answer)


def _record(side: dict[str, Any]) -> Any:
    from understanding.same_person.records import record
    from understanding.types import Person

    relationship = side.get("relationship") or ""
    person = Person(uuid.uuid4(), side["name"], relationship=relationship)
    return record(person, {}, side["facts"])
