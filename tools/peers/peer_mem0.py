"""mem0 in the benchmark."""

import os
import tempfile
from collections.abc import Sequence

from benchmark.system import Message, Turn, serve
from tools.peers.common import (
    DATABASE,
    EMBEDDER,
    MODEL,
    MODEL_KEY,
    MODEL_URL,
    RESULTS,
    kind,
    line,
)  # fmt: skip

os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": tempfile.mkdtemp(), "OPENAI_API_KEY": "none"}

from mem0 import Memory


class Mem0:
    def __init__(self) -> None:
        embedder = {"model": "e5", "api_key": "none", "openai_base_url": f"{EMBEDDER}/v1",
                    "embedding_dims": 384}  # fmt: skip
        store = {"connection_string": DATABASE, "collection_name": "memories",
                 "embedding_model_dims": 384, "hnsw": True}  # fmt: skip
        model = {"model": MODEL or "none", "api_key": MODEL_KEY,
                 "openai_base_url": MODEL_URL or f"{EMBEDDER}/v1"}  # fmt: skip
        self._memory = Memory.from_config(
            {
                "vector_store": {"provider": "pgvector", "config": store},
                "embedder": {"provider": "openai", "config": embedder},
                "llm": {"provider": "openai", "config": model},
                "history_db_path": os.path.join(os.environ["MEM0_DIR"], "history.db"),
            }
        )

    def open(self, user: str) -> None:
        self._user = user

    def add(self, messages: Sequence[Message]) -> None:
        kind("passage")
        for start in range(0, len(messages), 20):
            part = [
                {
                    "role": one["role"],
                    "content": line(one["role"], one["content"], one["created_at"]),
                }
                for one in messages[start : start + 20]
            ]
            self._memory.add(part, user_id=self._user, infer=bool(MODEL_URL))

    def settle(self) -> None:
        pass

    def context(self, message: str, history: Sequence[Turn]) -> str:
        kind("query")
        asked = "\n".join([*(turn["content"] for turn in history[-2:]), message])
        found = self._memory.search(asked, top_k=RESULTS, filters={"user_id": self._user})
        return "\n".join(one["memory"] for one in found["results"])

    def search(self, query: str, limit: int) -> list[str]:
        kind("query")
        rows = self._memory.search(query, top_k=limit, filters={"user_id": self._user})
        return [one["memory"] for one in rows["results"]]

    def close(self) -> None:
        self._memory.close()


if __name__ == "__main__":
    serve(Mem0())
