"""Writes that nobody waits for: what an answer doesn't rest on never fails it."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import Error

from accounts.cells import Moving, atomic

log = logging.getLogger(__name__)


@contextmanager
def best_effort(what: str, pk: int) -> Iterator[None]:
    """Writes in one transaction; where the database takes none, logs that with the id and goes on."""
    try:
        with atomic():
            yield
    except (Error, Moving) as error:
        log.warning("%s %d: not written: %s", what, pk, type(error.__cause__ or error).__name__)
