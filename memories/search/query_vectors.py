"""Embeds a query's questions in a thread while a search reads other data: the local engine is C and
leaves the interpreter, and a server is only waited for."""

import contextvars
import logging
import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial

from accounts import tracing
from memories.providers.embeddings import Embedder
from memories.providers.errors import ProviderError
from memories.search.query import parts

HAND_OVER = 0.00005  # seconds

log = logging.getLogger(__name__)


class LateError(Exception):
    """The vectors were not ready when they were needed."""


class QueryVectors:
    """Embeds a query from its creation on. ``waited`` is the milliseconds spent waiting;
    ``failed``: the embedder failed. After ``until`` (by ``time.perf_counter``) nobody waits."""

    def __init__(self, embedder: Embedder, query: str, until: float | None = None):
        self.waited = 0.0
        self.failed = False
        self.until = until
        self._vectors: list[Sequence[float]] | None = None
        # The thread's work belongs to the current trace.
        run = contextvars.copy_context().run
        embed = partial(run, _embed_all, embedder, parts(query))
        if embedder.in_process:
            self._future = _shared_executor(os.getpid()).submit(embed)
        else:
            # A thread of its own: the queue of a shared one would fill behind a slow server.
            executor = ThreadPoolExecutor(1, "embedding")
            self._future = executor.submit(embed)
            executor.shutdown(wait=False)
        # Gives the thread the interpreter now; otherwise this thread keeps it for 5 ms.
        time.sleep(HAND_OVER)

    def wait(self) -> list[Sequence[float]]:
        """Returns a vector for each of the query's parts; none if the embedder failed. Raises
        LateError after ``until``, even if they are ready: what they are for takes time as well."""
        if self._vectors is None:
            started = time.perf_counter()
            left = None if self.until is None else max(0.0, self.until - started)
            try:
                if left == 0:
                    raise TimeoutError
                self._vectors = self._future.result(left)
            except TimeoutError:
                self._future.cancel()
                raise LateError from None
            except ProviderError as error:
                log.warning("Searching by words alone: %s", type(error).__name__)
                self.failed, self._vectors = True, []
            finally:
                self.waited += (time.perf_counter() - started) * 1000
        return self._vectors


@cache
def _shared_executor(_process: int) -> ThreadPoolExecutor:
    """Returns the thread pool of a process (no thread survives a fork), with one thread per core:
    first come, first served, since more at once would make all of them late."""
    return ThreadPoolExecutor(os.cpu_count(), "embedding")


def _embed_all(embedder: Embedder, texts: Sequence[str]) -> list[Sequence[float]]:
    attributes = {"gen_ai.provider.name": embedder.name, "gen_ai.request.model": embedder.model}
    with tracing.span(f"embed {embedder.model}", attributes):
        return [embedder.embed_query(text) for text in texts]
