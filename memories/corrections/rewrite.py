"""The verbs that say the same in other memories: split, trim, merge. Each is one transaction
under the end user's lock with one Change row that can be undone.

Nothing is said less after any of them: a split memory stays beside its pieces, a trimmed one
keeps its old wording in the change, merged ones stay in the archive and point at the memory
that speaks for them. ``actor`` is ``operator:NAME``, ``app:NAME`` or the machine's part. All
raise ``memories.corrections.edit_memories.InvalidCorrection`` before anything is written.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any, TypeVar
from uuid import UUID

from django.db import IntegrityError
from django.db.models import Q
from django.utils import timezone

from accounts.cells import atomic
from accounts.changes import Recorder, recording
from accounts.models import Change, EndUser
from accounts.reasons import Reason
from contacts import relations, store
from contacts.models import Contact
from memories import profiles, queue
from memories.corrections import derived, lineage, sources
from memories.corrections.edit_memories import InvalidCorrection, check_content, locked
from memories.models import CONSOLIDATED_IMPORTANCE, Edge, EntityLink, Link, Memory
from memories.models.memory import content_hash
from memories.search import concepts
from understanding.dates.relative_dates import find_dates
from understanding.people.mentions import entries_of, find_mentions
from understanding.text import HAN, folded, normalise

Status = Memory.Status
T = TypeVar("T")
Facts = Sequence[Mapping[str, Any]]

# Edges that hold both ways: one between two memories is enough, whichever way it runs.
_MUTUAL = (Edge.Kind.CONFLICTS, Edge.SHARES_ENTITY)
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
    facts: Facts | None = None,
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
        for piece, own in _facts_of(whole.facts, fresh, about):
            piece.facts = own if facts is None else [dict(fact) for fact in facts]
        _give_times(whole, fresh)
        Memory.objects.bulk_create(fresh)
        recorder.watch(fresh, created=True)
        _link_pieces(fresh, about, links, recorder)
        change.subjects = [str(whole.id), *(str(piece.id) for piece in fresh)]
        wanted = [
            (piece.id, str(Edge.Kind.PART_OF), whole.id) for piece in (*fresh, *said.values())
        ]
        lineage.relate(held, {edge: Edge(confidence=1.0, reason=why) for edge in wanted}, recorder)
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
    for contact in _people(end_user, [whole.id]):
        mine = [piece.id for piece in pieces if contact.id in about[piece.id]]
        _rename(contact, {whole.id: (whole.id, *mine)}, recorder)


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
        for contact in _people(held, [memory_id]):
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
        united = _united(held, originals, content, key)
        _archive(originals, None)
        united.save(force_insert=True)
        recorder.watch([united], created=True)
        _archive(originals, united)
        mine = [memory.id for memory in originals]
        change.subjects = [str(united.id), *map(str, mine)]
        people = _people(held, mine)
        _hand_over_links(united, mine, recorder)
        _hand_over_edges(united, mine, recorder)
        _hand_over_entities(united, mine)
        _rest_on(held, united, mine, people, recorder)
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


def _united(end_user: EndUser, originals: Iterable[Memory], content: str, key: str) -> Memory:
    """The memory (unsaved) that has all that these have."""
    old_first = sorted(originals, key=lambda memory: (memory.said_at, memory.id))
    last = old_first[-1]
    speaks = all(memory.consolidated_into_id for memory in old_first)
    memory = Memory(
        end_user=end_user,
        content=content,
        content_hash=key,
        type=last.type,
        subtype=last.subtype,
        confidence=max(m.confidence for m in old_first),
        speaker=last.speaker,
        quote=next((m.quote for m in old_first[::-1] if m.quote), ""),
        source_message_ids=sorted({pk for m in old_first for pk in m.source_message_ids}),
        facts=_united_facts([m.facts for m in old_first]),
        metadata={name: value for m in old_first for name, value in m.metadata.items()},
        importance=CONSOLIDATED_IMPORTANCE if speaks else max(m.importance for m in old_first),
        consolidated_into_id=last.consolidated_into_id if speaks else None,
        access_count=sum(m.access_count for m in old_first),
        mention_count=sum(m.mention_count for m in old_first),
        last_accessed_at=_latest(m.last_accessed_at for m in old_first),
        last_accessed_day=_latest(m.last_accessed_day for m in old_first),
        learnt_day=min(m.learnt_day for m in old_first),
        expires_at=_open_end([m.expires_at for m in old_first]),
        valid_from=min((m.valid_from for m in old_first if m.valid_from), default=None),
        valid_to=_open_end([m.valid_to for m in old_first]),
        refined_at=_open_end([m.refined_at for m in old_first]),
    )
    memory.say(last.said_there)
    memory.happen(
        *max(
            ((at, m.happens_until_there) for m in old_first if (at := m.happens_there)),
            default=(None, None),
            key=itemgetter(0),
        )
    )
    derived.reindex(memory)
    return memory


def _latest(values: Iterable[T | None]) -> T | None:
    return max((value for value in values if value is not None), default=None)  # type: ignore[type-var]


def _open_end(values: Sequence[datetime | None]) -> datetime | None:
    """The latest of these; none where one of them has no end."""
    return None if None in values else _latest(values)


def _archive(originals: Iterable[Memory], into: Memory | None) -> None:
    """First without a pointer, so that their words are free for the memory to point at."""
    Memory.objects.filter(pk__in=[memory.pk for memory in originals]).update(
        status=Memory.Status.ARCHIVED,
        merged_into=into,
        consolidated_into=None,  # a profile speaks for the memory that has their links
        updated_at=timezone.now(),
    )


def _hand_over_links(united: Memory, originals: Collection[UUID], recorder: Recorder) -> None:
    """One link to each person that any of the originals is about. It stands if one of theirs
    does: what that one says of them is still said."""
    links = list(Link.objects.of(united.end_user).filter(memory__in=originals).order_by("pk"))
    recorder.watch(links)
    theirs: dict[UUID, list[Link]] = {}
    for link in links:
        theirs.setdefault(link.contact_id, []).append(link)
    made = []
    for contact_id, held in theirs.items():
        standing = [link for link in held if not link.rejected] or held
        by = {link.made_by for link in standing}
        made.append(
            Link(
                end_user=united.end_user,
                contact_id=contact_id,
                memory=united,
                made_by=Link.MadeBy.OPERATOR if Link.MadeBy.OPERATOR in by else standing[0].made_by,
                confidence=max(link.confidence for link in standing),
                rejected=standing[0].rejected,
                consolidated_at=_open_end([link.consolidated_at for link in standing]),
            )
        )
    Link.objects.filter(pk__in=[link.pk for link in links]).delete()
    Link.objects.bulk_create(made)
    recorder.watch(made, created=True)


def _hand_over_edges(united: Memory, originals: Collection[UUID], recorder: Recorder) -> None:
    """The edges of the originals run to and from the united memory; those between them go.

    What they are pieces of, or are split into, stays theirs: who erases one of them erases
    that, and not what the others say.
    """
    ends = Q(source__in=originals) | Q(target__in=originals)
    rows = Edge.objects.of(united.end_user).filter(ends).exclude(kind=Edge.Kind.PART_OF)
    edges = list(rows.order_by("pk"))
    recorder.watch(edges)
    Edge.objects.filter(pk__in=[edge.pk for edge in edges]).delete()
    wanted: dict[tuple[UUID, str, UUID], Edge] = {}
    for edge in edges:
        source, target = (
            united.id if pk in originals else pk for pk in (edge.source_id, edge.target_id)
        )
        mutual = edge.kind.startswith(_MUTUAL)
        twin = (target, edge.kind, source)
        if source != target and not (mutual and twin in wanted):
            wanted.setdefault((source, edge.kind, target), edge)
    lineage.relate(united.end_user, wanted, recorder)


def _hand_over_entities(united: Memory, originals: Collection[UUID]) -> None:
    """It speaks of the entities of all of them."""
    theirs = EntityLink.objects.of(united.end_user).filter(memory__in=originals)
    EntityLink.objects.bulk_create(
        [
            EntityLink(end_user=united.end_user, memory=united, entity_id=pk)
            for pk in sorted(set(theirs.values_list("entity", flat=True)))
        ]
    )


def _rest_on(
    end_user: EndUser,
    united: Memory,
    originals: Sequence[UUID],
    people: Iterable[Contact],
    recorder: Recorder,
) -> None:
    """What rested on the originals rests on the united memory: profiles and relations."""
    stated = relations.resting_on(end_user, originals)
    recorder.watch(stated)
    for relation in stated:
        sources = [united.id if pk in originals else pk for pk in relation.sources]
        relation.sources = list(dict.fromkeys(sources))
        relation.save(update_fields=["sources"])
    for contact in people:
        _rename(contact, dict.fromkeys(originals, (united.id,)), recorder)


def _people(end_user: EndUser, memory_ids: Collection[UUID]) -> list[Contact]:
    """Those whom these memories are about, and what was merged into them."""
    linked = end_user.contacts.filter(links__memory__in=memory_ids).values("pk")
    people = list(end_user.contacts.filter(pk__in=linked).light().order_by("pk"))
    return [*people, *end_user.contacts.all_merged_into([contact.pk for contact in people])]


def _rename(contact: Contact, names: Mapping[UUID, Collection[UUID]], recorder: Recorder) -> None:
    """Lets a contact's profile rest on other memories, and renders its card."""
    profile = profiles.renamed(derived.profile_of(contact), names)
    derived.save_profile(contact, profile, (), recorder)


def _facts_of(
    facts: Facts, pieces: Sequence[Memory], about: Mapping[UUID, Collection[UUID]]
) -> Iterator[tuple[Memory, list[dict[str, Any]]]]:
    """Each piece with the facts whose value it holds; a fact about a person only where the
    piece is about them."""
    for piece in pieces:
        text = folded(piece.content)
        yield (
            piece,
            [
                dict(fact)
                for fact in facts
                if folded(str(fact["value"])) in text
                and (not fact["person"] or UUID(fact["person"]) in about[piece.id])
            ],
        )


def _give_times(whole: Memory, pieces: Sequence[Memory]) -> None:
    """When the whole takes place is when those pieces (unsaved) do that tell its time, or all where
    its own words tell none."""
    untold = not concepts.has_time(normalise(whole.content))
    for piece in pieces:
        if untold or _tells_time(piece.content, whole):
            piece.happen(whole.happens_there, whole.happens_until_there)


def _tells_time(text: str, whole: Memory) -> bool:
    """Whether a text says when the whole takes place: the date of an operation is not that of the
    diagnosis."""
    at = whole.happens_there
    days = [
        (hit.at, hit.until) for hit in find_dates(text, whole.said_there, bool(HAN.search(text)))
    ]
    if at is None or not any(since for since, _ in days):
        return concepts.has_time(normalise(text))
    return any(
        since and (since.date() == at.date() or since <= at < (until or since))
        for since, until in days
    )


def _united_facts(facts: Iterable[Facts]) -> list[dict[str, Any]]:
    """All facts of several memories, the same one once."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for fact in (fact for several in facts for fact in several):
        key = (fact["person"], fact["key"], folded(str(fact["value"])))
        found.setdefault(key, dict(fact))
    return list(found.values())
