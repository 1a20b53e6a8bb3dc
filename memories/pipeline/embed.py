"""Fills in vectors that a correction or a consolidation left open, outside any lock."""

import time

from django.db.models import Exists, OuterRef

from accounts.models import EndUser
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
            .values_list("id", "content", "prepared")[:CHUNK]
        )
    ):
        ready = [pk for pk, _, is_prepared in rows if is_prepared]
        open_rows = [(pk, content) for pk, content, is_prepared in rows if not is_prepared]
        vectors.take_prepared(end_user.pk, space, ready)
        made = model_calls.embed(end_user, embedder, [content for _, content in open_rows])
        embedded = [
            Embedded(pk, content, vector)
            for (pk, content), vector in zip(open_rows, made, strict=True)
        ]
        filled = vectors.put(end_user.pk, space, embedded, current=True)
        done += filled
        if not filled and not ready:
            break
    return done
