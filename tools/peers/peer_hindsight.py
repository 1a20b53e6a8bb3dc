"""Hindsight in the benchmark: its API server as shipped, asked over HTTP as its users do."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote

from benchmark.system import Message, Turn, serve
from tools.peers.common import DATABASE, EMBEDDER, MODEL, MODEL_KEY, MODEL_URL, kind, line

STARTS_WITHIN = 180  # seconds


class Hindsight:
    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        api, embedder = "HINDSIGHT_API", "HINDSIGHT_API_EMBEDDINGS"
        settings = {
            f"{api}_DATABASE_URL": DATABASE,
            f"{api}_LLM_PROVIDER": "openai" if MODEL_URL else "none",
            f"{api}_LLM_BASE_URL": MODEL_URL,
            f"{api}_LLM_API_KEY": MODEL_KEY,
            f"{api}_LLM_MODEL": MODEL,
            f"{api}_HOST": "127.0.0.1",
            f"{api}_PORT": str(port),
            f"{embedder}_PROVIDER": "openai",
            f"{embedder}_OPENAI_API_KEY": "none",
            f"{embedder}_OPENAI_MODEL": "e5",
            f"{embedder}_OPENAI_BASE_URL": f"{EMBEDDER}/v1",
            f"{embedder}_OPENAI_DIMENSIONS": "384",
            f"{api}_RERANKER_PROVIDER": "rrf",
            f"{api}_MCP_ENABLED": "false",
            f"{api}_LOG_LEVEL": "warning",
        }
        program = Path(sys.executable).with_name("hindsight-api")
        self._server = subprocess.Popen([program], env=os.environ | settings, stdout=sys.stderr)
        self._connection = HTTPConnection("127.0.0.1", port, timeout=600)
        deadline = time.monotonic() + STARTS_WITHIN
        while not self._is_up():
            if self._server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("hindsight-api did not start: see what it printed")
            time.sleep(0.5)

    def open(self, user: str) -> None:
        self._bank = f"/v1/default/banks/{quote(user, safe='')}"
        self._ask("PUT", self._bank, {})

    def add(self, messages: Sequence[Message]) -> None:
        kind("passage")
        for start in range(0, len(messages), 100):
            items = [
                {
                    "content": line(one["role"], one["content"]),
                    "document_id": one["id"],
                    "timestamp": one["created_at"],
                }
                for one in messages[start : start + 100]
            ]
            self._ask("POST", f"{self._bank}/memories", {"items": items, "async": False})

    def settle(self) -> None:
        pass

    def context(self, message: str, history: Sequence[Turn]) -> str:
        kind("query")
        asked = "\n".join([*(turn["content"] for turn in history[-2:]), message])
        request = {
            "query": asked,
            "budget": "mid",
            "max_tokens": 1500,
            "include": {"entities": None},
        }
        found = self._ask("POST", f"{self._bank}/memories/recall", request)
        return "\n".join(
            f"[{str(one.get('mentioned_at'))[:10]}] {one['text']}" for one in found["results"]
        )

    def search(self, query: str, limit: int) -> list[str]:
        kind("query")
        request = {"query": query, "budget": "mid", "max_tokens": 8000,
                   "include": {"entities": None}}  # fmt: skip
        rows = self._ask("POST", f"{self._bank}/memories/recall", request)["results"]
        return [one["text"] for one in rows[:limit]]

    def close(self) -> None:
        self._server.terminate()
        self._server.wait(20)

    def _is_up(self) -> bool:
        try:
            self._ask("GET", "/health", None)
        except (OSError, RuntimeError):
            self._connection.close()
            return False
        return True

    def _ask(self, method: str, path: str, body: Any) -> Any:
        sent = None if body is None else json.dumps(body)
        self._connection.request(method, path, sent, {"Content-Type": "application/json"})
        answer = self._connection.getresponse()
        text = answer.read()
        if answer.status >= 400:
            raise RuntimeError(f"{method} {path}: {answer.status} {text[:300]!r}")
        return json.loads(text or b"null")


if __name__ == "__main__":
    serve(Hindsight())
