"""Writes that may fail without failing the answer."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import Error

from accounts.cells import Moving, atomic

log = logging.getLogger(__name__)


@contextmanager
def best_effort(what: str, pk: int) -> Iterator[None]:
    """Runs the block in a transaction. If the database refuses it, logs that with the id."""
    try:
        with atomic():
            yield
    except (Error, Moving) as error:
        log.warning("%s %d: not written: %s", what, pk, type(error.__cause__ or error).__name__)
