"""The local model in tests: asked for the same texts once, as it answers the same each time."""

from functools import cache
from typing import Any

from memories.providers import embeddings

engine_itself = embeddings._engine_in_one_thread


class EngineOnce:
    """What the engine said of a text, or of texts together, when it was first asked."""

    def __init__(self) -> None:
        self.query = cache(lambda text: engine_itself().query(text))
        self._passages = cache(lambda texts: engine_itself().passage(list(texts)))

    def passage(self, texts: list[str]) -> Any:
        return self._passages(tuple(texts))


def embed_once() -> None:
    """The same texts cost the time of the model once in this process."""
    once: Any = EngineOnce()
    embeddings._engine_in_one_thread = lambda: once
