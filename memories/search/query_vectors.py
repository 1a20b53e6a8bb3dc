"""The vectors of a query's questions, made in a thread beside what else a search reads: the local
engine is C and leaves the interpreter, and a server is only waited for."""

import logging
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from memories.providers.embeddings import Embedder
from memories.providers.errors import ProviderError
from memories.search.query import parts
from memories.search.vectors import space

log = logging.getLogger(__name__)


class QueryVectors:
    """Embeds from its making on. ``waited`` is how many milliseconds were left to wait for;
    ``failed``: the embedder could not."""

    def __init__(self, embedder: Embedder, query: str) -> None:
        self.space = space(embedder)
        self.waited = 0.0
        self.failed = False
        # A thread of its own: a shared one would not survive a fork, and its queue would fill
        # behind a slow server.
        executor = ThreadPoolExecutor(1, "embedding")
        self._found = executor.submit(lambda: [embedder.embed_query(part) for part in parts(query)])
        executor.shutdown(wait=False)

    def wait(self) -> list[Sequence[float]]:
        """A vector for each of the query's parts; none when the embedder failed."""
        started = time.perf_counter()
        try:
            return list(self._found.result())
        except ProviderError as error:
            if not self.failed:
                log.warning("Searching by words alone: %s", type(error).__name__)
            self.failed = True
            return []
        finally:
            self.waited += (time.perf_counter() - started) * 1000
