"""Whether an upstream answers: its list of models is asked for, as clients do first."""

import json
from typing import Any

import httpx2

from accounts.encryption import Undecryptable, decrypt
from gateway.models import Upstream

TIMEOUT = httpx2.Timeout(10)
MOST_READ = 2_000_000  # bytes of a list


class NotAnswered(Exception):
    """No list of models: ``code`` says why, ``status`` what the server answered, where it did."""

    def __init__(self, code: str, status: int | None = None) -> None:
        super().__init__(code)
        self.code = code
        self.status = status


def models_of(upstream: Upstream) -> list[str]:
    """The ids of the upstream's models, asked for with its own key where it has one. Raises
    NotAnswered: ``secret`` (the key is of another SECRET_KEY), ``timeout``, ``unreachable``,
    ``key``, ``address``, ``status`` or ``form``."""
    try:
        status, body = _get(f"{upstream.url}/models", _headers(upstream))
    except Undecryptable as error:
        raise NotAnswered("secret") from error
    except httpx2.TimeoutException as error:
        raise NotAnswered("timeout") from error
    except httpx2.HTTPError as error:
        raise NotAnswered("unreachable") from error
    if status != 200:
        code = "key" if status in (401, 403) else "address" if status in (404, 405) else "status"
        raise NotAnswered(code, status)
    return _ids(body)


def _headers(upstream: Upstream) -> dict[str, str]:
    own = {"Authorization": f"Bearer {decrypt(upstream.key)}"} if upstream.key else {}
    return {"Accept": "application/json", "Accept-Encoding": "identity", **own}


def _get(url: str, headers: dict[str, str]) -> tuple[int, bytes]:
    with (
        httpx2.Client(trust_env=False, timeout=TIMEOUT) as http,
        http.stream("GET", url, headers=headers) as answer,
    ):
        body = bytearray()
        for piece in answer.iter_raw():
            body += piece
            if len(body) > MOST_READ:
                break
        return answer.status_code, bytes(body)


def _ids(body: bytes) -> list[str]:
    try:
        answer: Any = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise NotAnswered("form", 200) from error
    listed = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(listed, list):
        raise NotAnswered("form", 200)
    ids = (model.get("id") for model in listed if isinstance(model, dict))
    return [one for one in ids if isinstance(one, str)]
