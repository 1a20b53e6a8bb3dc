"""LangGraph's PostgresStore with a semantic index in the benchmark: what langmem's tools search."""

from collections.abc import Sequence

from langchain_openai import OpenAIEmbeddings
from langgraph.store.base import PutOp
from langgraph.store.postgres import PostgresStore

from benchmark.system import Message, Turn, serve
from tools.peers.common import DATABASE, EMBEDDER, RESULTS, kind, line


class LangGraph:
    def __init__(self) -> None:
        embeddings = OpenAIEmbeddings(
            model="e5", base_url=f"{EMBEDDER}/v1", api_key="none", check_embedding_ctx_length=False
        )
        index = {"dims": 384, "embed": embeddings, "fields": ["text"], "distance_type": "cosine"}
        self._opened = PostgresStore.from_conn_string(DATABASE, index=index)
        self._store = self._opened.__enter__()
        self._store.setup()

    def open(self, user: str) -> None:
        self._place = (user.replace(".", "_"), "memories")

    def add(self, messages: Sequence[Message]) -> None:
        kind("passage")
        for start in range(0, len(messages), 100):
            self._store.batch(
                [
                    PutOp(
                        self._place,
                        one["id"],
                        {"text": line(one["role"], one["content"], one["created_at"])},
                    )
                    for one in messages[start : start + 100]
                ]
            )

    def settle(self) -> None:
        pass

    def context(self, message: str, history: Sequence[Turn]) -> str:
        kind("query")
        asked = "\n".join([*(turn["content"] for turn in history[-2:]), message])
        found = self._store.search(self._place, query=asked, limit=RESULTS)
        return "\n".join(one.value["text"] for one in found)

    def search(self, query: str, limit: int) -> list[str]:
        kind("query")
        rows = self._store.search(self._place, query=query, limit=limit)
        return [one.value["text"] for one in rows]

    def close(self) -> None:
        self._opened.__exit__(None, None, None)


if __name__ == "__main__":
    serve(LangGraph())
