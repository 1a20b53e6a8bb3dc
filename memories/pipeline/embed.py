"""Fills in vectors that a correction or a consolidation left open, outside any lock."""

import time

from django.db.models import Exists, OuterRef, Q

from accounts.cells import atomic, connection
from accounts.models import EndUser
from memories import model_calls, profiles
from memories.models import Memory, Vector
from memories.providers.embeddings import Embedder
from memories.search import vectors
from memories.search.vectors import Embedded

CHUNK = 128


def embed_missing(end_user: EndUser, embedder: Embedder, until: float = float("inf")) -> int:
    """Embeds the end user's memories that have no vector in the embedder's space; returns how
    many. Vectors that ``reembed`` has prepared are taken as they are. ``until`` is a
    ``time.monotonic()`` after which no further chunk is begun.

    A memory whose words change meanwhile stays open for the next call. Contacts take the vectors
    of their profiles; those that only have a name are left to ``embed_contacts``.
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
    _hand_to_contacts(end_user, space)
    return done


# A contact's own vector is that of its profile memory, which says the same.
_HAND = """
UPDATE contacts_contact c SET embedding = m.embedding, embedding_model = m.embedding_model
FROM memories_memory m
WHERE c.end_user_id = %(end_user)s AND c.merged_into_id IS NULL
    AND (c.embedding_model < %(space)s OR c.embedding_model > %(space)s)
    AND m.end_user_id = c.end_user_id AND m.content_hash = 'profile:' || c.id
    AND m.embedding_model = %(space)s AND m.status = 'active'
"""


def _hand_to_contacts(end_user: EndUser, space: str) -> None:
    # The model has changed: vectors of two can't be compared with each other.
    of_another = Q(embedding_model__gt="") & (
        Q(embedding_model__lt=space) | Q(embedding_model__gt=space)
    )
    with atomic(), connection.cursor() as cursor:
        EndUser.objects.lock(end_user.pk)
        end_user.contacts.filter(of_another).update(embedding=None, embedding_model="")
        cursor.execute(_HAND, {"end_user": end_user.pk, "space": space})


def embed_contacts(end_user: EndUser, embedder: Embedder) -> int:
    """Embeds what is known of the end user's contacts that have no vector in the embedder's
    space; returns how many. One of whom something else is known meanwhile stays open."""
    space, done = vectors.space(embedder), 0
    _hand_to_contacts(end_user, space)
    waiting = end_user.contacts.standing().exclude(embedding_model=space).light()
    while rows := list(waiting.order_by("id")[:CHUNK]):
        texts = {contact.pk: profiles.as_text(contact) for contact in rows}
        made = model_calls.embed(end_user, embedder, list(texts.values()))
        with atomic():
            held = EndUser.objects.lock(end_user.pk)
            now = held.contacts.in_bulk([*texts]) if held else {}
            filled = 0
            for (pk, text), vector in zip(texts.items(), made, strict=True):
                if pk in now and profiles.as_text(now[pk]) == text:
                    mine = end_user.contacts.filter(pk=pk)
                    filled += mine.update(embedding=list(vector), embedding_model=space)
        done += filled
        if not filled:
            break
    return done
