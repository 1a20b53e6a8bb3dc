"""The vectors of a query's questions, made in a thread beside what else a search reads: the local
engine is C and leaves the interpreter, and a server is only waited for."""

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
    """The vectors were not there when they were needed."""


class QueryVectors:
    """Embeds from its making on. ``waited`` is how many milliseconds were left to wait for;
    ``failed``: the embedder could not. After ``until`` (by ``time.perf_counter``) nobody waits."""

    def __init__(self, embedder: Embedder, query: str, until: float | None = None):
        self.waited = 0.0
        self.failed = False
        self.until = until
        self._vectors: list[Sequence[float]] | None = None
        # The thread's work belongs to the trace of now.
        run = contextvars.copy_context().run
        embed = partial(run, _embedded, embedder, parts(query))
        if embedder.in_process:
            self._found = _shared(os.getpid()).submit(embed)
        else:
            # A thread of its own: the queue of a shared one would fill behind a slow server.
            executor = ThreadPoolExecutor(1, "embedding")
            self._found = executor.submit(embed)
            executor.shutdown(wait=False)
        # The thread gets the interpreter now; who goes on computing would keep it for 5 ms.
        time.sleep(HAND_OVER)

    def wait(self) -> list[Sequence[float]]:
        """A vector for each of the query's parts; none when the embedder failed. Raises LateError
        after ``until``, even if they came meanwhile: what they are for takes time as well."""
        if self._vectors is None:
            started = time.perf_counter()
            left = None if self.until is None else max(0.0, self.until - started)
            try:
                if left == 0:
                    raise TimeoutError
                self._vectors = self._found.result(left)
            except TimeoutError:
                self._found.cancel()
                raise LateError from None
            except ProviderError as error:
                log.warning("Searching by words alone: %s", type(error).__name__)
                self.failed, self._vectors = True, []
            finally:
                self.waited += (time.perf_counter() - started) * 1000
        return self._vectors


@cache
def _shared(_process: int) -> ThreadPoolExecutor:
    """The threads of a process (none survive a fork), one for each core: who comes first is
    served first, where more at once would make all of them late."""
    return ThreadPoolExecutor(os.cpu_count(), "embedding")


def _embedded(embedder: Embedder, texts: Sequence[str]) -> list[Sequence[float]]:
    named = {"gen_ai.provider.name": embedder.name, "gen_ai.request.model": embedder.model}
    with tracing.span(f"embed {embedder.model}", named):
        return [embedder.embed_query(text) for text in texts]
