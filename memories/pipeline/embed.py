"""Fills in embeddings that a correction or a consolidation left open, outside any lock."""

from accounts.models import EndUser
from contacts.models import Contact
from memories import ledger
from memories.models import Memory
from memories.providers.embeddings import Embedder

CHUNK = 128


def embed_missing(end_user: EndUser, embedder: Embedder) -> int:
    """Embeds the end user's memories that have no vector; returns how many.

    A memory whose words change meanwhile stays open for the next call.
    """
    done = 0
    while rows := list(
        Memory.objects.of(end_user)
        .filter(embedding=None)
        .order_by("id")
        .values("id", "kind", "content")[:CHUNK]
    ):
        vectors = ledger.embed(end_user, embedder, [row["content"] for row in rows])
        filled = 0
        for row, vector in zip(rows, vectors, strict=True):
            filled += Memory.objects.filter(pk=row["id"], content=row["content"]).update(
                embedding=vector, embedding_model=embedder.model
            )
            if row["kind"] == Memory.Kind.PROFILE:
                Contact.objects.filter(
                    links__memory=row["id"], links__made_by="consolidator"
                ).update(embedding=vector)
        done += filled
        if not filled:
            break
    return done
