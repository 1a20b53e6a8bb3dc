"""Embeddings of a server of the OpenAI protocol."""

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import openai
from pydantic import BaseModel, ValidationError

from accounts.reasons import Reason
from memories.providers.embeddings import batches, prepared
from memories.providers.errors import PermanentError, RefusedError
from memories.providers.openai.transport import ModelServer, RawReply, UnsupportedParameterError
from understanding.statements.secrets import masked

# Characters that are embedded. OpenAI takes 8,191 tokens for one input.
SERVER_CHARS = 4000
SERVER_BATCH_INPUTS = 256
# Below the 300,000 tokens that OpenAI takes for one request, even for rare characters.
SERVER_BATCH_CHARS = 100_000


class OpenAIEmbedder:
    """An embedder that asks a server. Vectors are matched to texts by the reply's ``index``."""

    name = "openai"
    in_process = False

    def __init__(self, server: ModelServer, model: str, dimensions: int) -> None:
        self.model = model
        self.dimensions = dimensions
        self.space = f"{model}/{dimensions}"
        self._server = server
        self._takes_dimensions = True

    def embed_passages(self, texts: Sequence[str]) -> list[list[float]]:
        # The protocol refuses an empty input.
        inputs = [prepared(masked(text), SERVER_CHARS) or " " for text in texts]
        vectors: list[list[float]] = []
        for batch in batches(inputs, SERVER_BATCH_CHARS, SERVER_BATCH_INPUTS):
            vectors += self._embed(batch)
        return vectors

    def embed_query(self, text: str) -> list[float]:
        return self.embed_passages([text])[0]

    def _embed(self, batch: list[str]) -> list[list[float]]:
        with_dimensions = self._takes_dimensions
        optional = {"dimensions": self.dimensions} if with_dimensions else {}
        try:
            body, _ = self._server.call(partial(self._send, batch=batch, optional=optional))
        except UnsupportedParameterError as exc:
            if not (with_dimensions and "dimensions" in exc.parameters):
                raise
            self._takes_dimensions = False
            return self._embed(batch)
        return self._read(body, len(batch))

    def _send(self, client: openai.OpenAI, batch: list[str], optional: dict[str, Any]) -> RawReply:
        return client.embeddings.with_raw_response.create(
            model=self.model, input=batch, encoding_format="float", **optional
        )

    def _read(self, body: str, count: int) -> list[list[float]]:
        try:
            reply = _Embeddings.model_validate_json(body)
        except ValidationError:
            reply = None
        if reply is None:
            raise PermanentError(Reason("no_embeddings"))
        by_index = {item.index: item.embedding for item in reply.data}
        if sorted(by_index) != list(range(count)) or len(reply.data) != count:
            raise PermanentError(Reason("wrong_vectors", vectors=len(reply.data), count=count))
        return [self._unit(by_index[index]) for index in range(count)]

    def _unit(self, vector: list[float]) -> list[float]:
        if len(vector) != self.dimensions:
            raise RefusedError(
                Reason("wrong_dimensions", model=self.model, size=len(vector), set=self.dimensions)
            )
        length = math.hypot(*vector)
        if not math.isfinite(length) or length == 0:
            raise PermanentError(Reason("no_direction", model=self.model))
        return [value / length for value in vector]


class _Embedding(BaseModel):
    index: int
    embedding: list[float]


class _Embeddings(BaseModel):
    data: list[_Embedding]
