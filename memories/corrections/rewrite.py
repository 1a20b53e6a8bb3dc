"""The verbs that say the same in other memories: split, trim, merge. Each is one transaction
under the end user's lock with one Change row that can be undone.

Nothing is said less after any of them: a split memory stays beside its pieces, a trimmed one
keeps its old wording in the change, merged ones stay in the archive and point at the memory
that speaks for them. ``actor`` is ``operator:NAME``, ``app:NAME`` or the machine's part. All
raise ``memories.corrections.edit_memories.InvalidCorrection`` before anything is written.
"""

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from django.db import IntegrityError
from django.utils import timezone

from accounts.cells import atomic
from accounts.changes import Recorder, recording
from accounts.models import Change, EndUser
from accounts.reasons import Reason
from contacts import store
from memories import queue
from memories.corrections import derived, lineage, rewrite_links, sources
from memories.corrections.edit_memories import InvalidCorrection, check_content, locked
from memories.models import Edge, Link, Memory
from memories.models.memory import content_hash
from understanding.people.mentions import entries_of, find_mentions

Status = Memory.Status
# More is no longer one matter, and would hold the user's lock for long.
MOST_PIECES, MOST_MERGED = 20, 50
# What a piece has of the whole.
_INHERITED = (
    "type", "subtype", "confidence", "speaker", "quote", "source_message_ids", "batch_id", "learnt_day",
    "said_at", "said_offset", "valid_from", "valid_to", "expires_at", "importance",
    "consolidated_into_id",
)  # fmt: skip


@atomic()
def split(
    end_user: EndUser,
    memory_id: UUID,
    pieces: Sequence[str],
    *,
    actor: str,
    why: str = "",
    fewest: int = 2,
    facts: rewrite_links.Facts | None = None,
) -> Change:
    """Says what a memory says in several, each of one matter, beside it.

    A piece rests on the same messages, is about those of the memory's people whom it names
    (about all when it names none), and takes the facts whose value it holds, or all of ``facts`` where these are given. One that an
    active memory says already is not said twice: that memory becomes the piece.
    """
    held = locked(end_user)
    (whole,) = _facts(held, [memory_id])
    texts = _pieces(whole, pieces, fewest)
    check_content(*texts.values())
    said = {m.content_hash: m for m in Memory.objects.of(held).active().filter(
        content_hash__in=texts)}  # fmt: skip
    with recording(held, lineage.SPLIT, actor, why) as (recorder, change):
        links = list(
            Link.objects.of(held).filter(memory=whole).select_related("contact").order_by("pk")
        )
        fresh = [_piece(whole, key, text) for key, text in texts.items() if key not in said]
        about = {piece.id: _named(piece.content, links) for piece in fresh}
        for piece, own in rewrite_links.facts_of(whole.facts, fresh, about):
            piece.facts = own if facts is None else [dict(fact) for fact in facts]
        rewrite_links.give_times(whole, fresh)
        Memory.objects.bulk_create(fresh)
        recorder.watch(fresh, created=True)
        _link_pieces(fresh, about, links, recorder)
        change.subjects = [str(whole.id), *(str(piece.id) for piece in fresh)]
        wanted = [
            (piece.id, str(Edge.Kind.PART_OF), whole.id) for piece in (*fresh, *said.values())
        ]
        rewrite_links.relate(
            held, {edge: Edge(confidence=1.0, reason=why) for edge in wanted}, recorder
        )
        _rest_on_pieces(held, whole, fresh, about, recorder)
        sources.point_at_profiles(held, [piece.id for piece in fresh], recorder=recorder)
    queue.enqueue("embed", held.pk)
    return change


def _pieces(whole: Memory, pieces: Sequence[str], fewest: int) -> dict[str, str]:
    """The pieces by their content hash, each once. Raises InvalidCorrection."""
    texts: dict[str, str] = {}
    for piece in pieces:
        if text := " ".join(piece.split()):
            texts.setdefault(content_hash(text), text)
    if whole.content_hash in texts:
        raise InvalidCorrection(Reason("piece_is_whole"))
    if not fewest <= len(texts) <= MOST_PIECES:
        raise InvalidCorrection(Reason("number_of_pieces", most=MOST_PIECES))
    return texts


def _piece(whole: Memory, key: str, text: str) -> Memory:
    piece = Memory(end_user=whole.end_user, content=text, content_hash=key)
    for name in _INHERITED:
        setattr(piece, name, getattr(whole, name))
    piece.refined_at = timezone.now()
    derived.reindex(piece)
    return piece


def _named(text: str, links: Sequence[Link]) -> set[UUID]:
    """The people of these links whom the text names; all whom they stand for if it names none."""
    standing = [link.contact for link in links if not link.rejected]
    entries = entries_of([contact.person for contact in standing])
    named = {mention.person.id for mention in find_mentions(text, entries)}
    return named or {contact.id for contact in standing}


def _link_pieces(
    pieces: Sequence[Memory],
    about: Mapping[UUID, Collection[UUID]],
    links: Sequence[Link],
    recorder: Recorder,
) -> None:
    """The pieces' own links. One that was rejected for the whole is rejected for its pieces."""
    made = [
        Link(
            end_user_id=link.end_user_id,
            contact_id=link.contact_id,
            memory_id=piece.id,
            made_by=link.made_by,
            confidence=link.confidence,
            rejected=link.rejected,
            consolidated_at=link.consolidated_at,
        )
        for piece in pieces
        for link in links
        if link.rejected or link.contact_id in about[piece.id]
    ]
    Link.objects.bulk_create(made)
    recorder.watch(made, created=True)


def _rest_on_pieces(
    end_user: EndUser,
    whole: Memory,
    pieces: Sequence[Memory],
    about: Mapping[UUID, Collection[UUID]],
    recorder: Recorder,
) -> None:
    """What profiles learnt from the whole rests on its pieces as well: when the whole no
    longer holds, what the pieces still say is read again."""
    for contact in rewrite_links.people(end_user, [whole.id]):
        mine = [piece.id for piece in pieces if contact.id in about[piece.id]]
        rewrite_links.rename(contact, {whole.id: (whole.id, *mine)}, recorder)


@atomic()
def trim(end_user: EndUser, memory_id: UUID, content: str, *, actor: str, why: str = "") -> Change:
    """Says what a memory says in fewer words. It stays the same memory, with its facts, links
    and place in profiles; the change keeps the old wording, which the history shows.
    """
    held = locked(end_user)
    (memory,) = _facts(held, [memory_id])
    content = " ".join(content.split())
    if not content or len(content) >= len(memory.content):
        raise InvalidCorrection(Reason("not_shorter"))
    check_content(content)
    with recording(held, lineage.TRIM, actor, why, [memory_id]) as (recorder, change):
        recorder.watch([memory])
        memory.content, memory.content_hash = content, content_hash(content)
        derived.reindex(memory)
        try:
            with atomic():
                memory.save()
        except IntegrityError as error:
            raise InvalidCorrection(Reason("duplicate")) from error
        for contact in rewrite_links.people(held, [memory_id]):
            store.save(contact, [])
    queue.enqueue("embed", held.pk)
    return change


@atomic()
def merge_memories(
    end_user: EndUser, ids: Collection[UUID], content: str, *, actor: str, why: str = ""
) -> tuple[Memory, Change]:
    """Says what several memories say in one, which takes over all that they had: links,
    edges, entities, facts, messages, counts, and their place in profiles.

    It was said when the last of them was said, and holds from when the first of them held.
    """
    held = locked(end_user)
    originals = _facts(held, list(dict.fromkeys(ids)))
    content = " ".join(content.split())
    check_content(content)
    key = content_hash(content)
    taken = Memory.objects.of(held).active().filter(content_hash=key)
    if not 2 <= len(originals) <= MOST_MERGED or not content:
        raise InvalidCorrection(Reason("number_of_merged", most=MOST_MERGED))
    if taken.exclude(pk__in=[memory.id for memory in originals]).exists():
        raise InvalidCorrection(Reason("choose_duplicate"))
    with recording(held, lineage.MERGE, actor, why) as (recorder, change):
        recorder.watch(originals)
        united = rewrite_links.united(held, originals, content, key)
        rewrite_links.archive(originals, None)
        united.save(force_insert=True)
        recorder.watch([united], created=True)
        rewrite_links.archive(originals, united)
        mine = [memory.id for memory in originals]
        change.subjects = [str(united.id), *map(str, mine)]
        people = rewrite_links.people(held, mine)
        rewrite_links.hand_over_links(united, mine, recorder)
        rewrite_links.hand_over_edges(united, mine, recorder)
        rewrite_links.hand_over_entities(united, mine)
        rewrite_links.rest_on(held, united, mine, people, recorder)
        sources.point_at_profiles(held, [united.id], recorder=recorder)
    queue.enqueue("embed", held.pk)
    united.refresh_from_db()
    return united, change


def _facts(end_user: EndUser, ids: Sequence[UUID]) -> list[Memory]:
    """The active memories with these ids, in their order. Raises InvalidCorrection."""
    rows = Memory.objects.of(end_user).filter(pk__in=ids).in_bulk()
    found = [rows[pk] for pk in ids if pk in rows]
    if len(found) < len(ids):
        raise InvalidCorrection(Reason("no_such_memory"))
    if any(memory.kind == Memory.Kind.PROFILE for memory in found):
        raise InvalidCorrection(Reason("profile_follows"))
    if any(memory.status != Status.ACTIVE for memory in found):
        raise InvalidCorrection(Reason("not_active"))
    return found
