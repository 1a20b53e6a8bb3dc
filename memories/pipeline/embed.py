"""Fills in vectors that a correction or a consolidation left open, outside any lock."""

import time
from collections.abc import Sequence
from uuid import UUID

from django.db.models import Exists, Func, IntegerField, OuterRef

from accounts.models import EndUser
from contacts.models import Contact
from memories import model_calls
from memories.models import Memory, Vector
from memories.providers.embeddings import Embedder
from memories.search import vectors
from memories.search.vectors import Embedded

CHUNK = 128


def embed_missing(end_user: EndUser, embedder: Embedder, until: float = float("inf")) -> int:
    """Embeds the end user's memories that have no vector in the embedder's space; returns how
    many. Vectors that ``reembed`` has prepared are taken as they are. ``until`` is a
    ``time.monotonic()`` after which no further chunk is begun.

    A memory whose words change meanwhile stays open for the next call.
    """
    space = vectors.space(embedder)
    prepared = Vector.objects.of(end_user).filter(space=space, memory=OuterRef("pk"))
    done = 0
    while time.monotonic() < until and (
        rows := list(
            Memory.objects.of(end_user)
            .exclude(embedding_model=space)
            .annotate(prepared=Exists(prepared))
            .order_by("id")
            .values_list("id", "content", "prepared", "embedding_model")[:CHUNK]
        )
    ):
        if any(old not in ("", space) for *_, old in rows):
            _forget_other_sizes(end_user, embedder.dimensions)
        ready = [pk for pk, _, is_prepared, _ in rows if is_prepared]
        open_rows = [(pk, content) for pk, content, is_prepared, _ in rows if not is_prepared]
        Memory.objects.of(end_user).filter(pk__in=ready).update(embedding_model=space)
        made = model_calls.embed(end_user, embedder, [content for _, content in open_rows])
        embedded = [
            Embedded(pk, content, vector)
            for (pk, content), vector in zip(open_rows, made, strict=True)
        ]
        filled = vectors.put(end_user.pk, space, embedded, current=True)
        _hand_to_contacts(end_user, space, [pk for pk, *_ in rows])
        done += filled
        if not filled and not ready:
            break
    return done


def _forget_other_sizes(end_user: EndUser, dimensions: int) -> None:
    """The model has changed: vectors of two sizes can't be compared with each other."""
    of_size = Func("embedding", function="vector_dims", output_field=IntegerField())
    held = Contact.objects.of(end_user).exclude(embedding=None).alias(size=of_size)
    held.exclude(size=dimensions).update(embedding=None)


def _hand_to_contacts(end_user: EndUser, space: str, memory_ids: Sequence[UUID]) -> None:
    """A contact's own vector is that of its profile memory."""
    profiles = Vector.objects.of(end_user).filter(
        space=space, memory__in=memory_ids, memory__kind=Memory.Kind.PROFILE
    )
    for memory_id, embedding in profiles.values_list("memory_id", "embedding"):
        about = Contact.objects.of(end_user).filter(
            links__memory=memory_id, links__made_by="consolidator"
        )
        about.update(embedding=embedding)
