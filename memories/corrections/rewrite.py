"""The verbs that say the same in other memories: split, trim, merge, supersede. Each is one
transaction under the end user's lock with one Change row that can be undone.

Nothing is said less after any of them: a split memory stays beside its pieces, a trimmed one
keeps its old wording in the change, merged ones stay in the archive and point at the memory
that speaks for them. ``actor`` is ``operator:NAME``, ``app:NAME`` or the machine's part. All
raise ``InvalidCorrection`` before anything is written.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from operator import itemgetter
from types import MappingProxyType
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
from memories.corrections import derived
from memories.corrections.edit_memories import (
    InvalidCorrection,
    check_content,
    locked,
    outdate,
    relate,
)
from memories.fact_conflicts import contradicted
from memories.models import CONSOLIDATED_IMPORTANCE, Edge, EntityLink, Link, Memory
from memories.models.memory import content_hash
from memories.search.tokens import has_time
from memories.types import StoredFact
from understanding.dates.relative_dates import find_dates
from understanding.people.mentions import entries_of, find_mentions
from understanding.sentences import clauses_in
from understanding.text import HAN, folded, normalise

Status = Memory.Status
T = TypeVar("T")
Facts = Sequence[Mapping[str, Any]]
MERGE = "merge memories"  # the verb of the change

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

    A piece rests on the same messages, is about those of the memory's people whom it names (about
    all when it names none), and takes the facts whose value it holds, or all of ``facts`` where
    these are given. An active memory that says one already becomes that piece.
    """
    held = locked(end_user)
    (whole,) = _facts(held, [memory_id])
    texts = {content_hash(text): text for piece in pieces if (text := " ".join(piece.split()))}
    if whole.content_hash in texts:
        raise InvalidCorrection(Reason("piece_is_whole"))
    if not fewest <= len(texts) <= MOST_PIECES:
        raise InvalidCorrection(Reason("number_of_pieces", most=MOST_PIECES))
    check_content(*texts.values())
    standing = Memory.objects.of(held).active().filter(content_hash__in=texts)
    known = {memory.content_hash: memory for memory in standing}
    with recording(held, "split memory", actor, why) as (recorder, change):
        links = list(
            Link.objects.of(held).filter(memory=whole).select_related("contact").order_by("pk")
        )
        fresh = [_piece(whole, key, text) for key, text in texts.items() if key not in known]
        about = {piece.id: _named(piece.content, links) for piece in fresh}
        for piece in fresh:
            own = _stated_in(piece, whole.facts, about[piece.id]) if facts is None else facts
            piece.facts = [dict(fact) for fact in own]
        Memory.objects.bulk_create(fresh)
        recorder.watch(fresh, created=True)
        made = [
            _link(link, piece, consolidated_at=link.consolidated_at)
            for piece in fresh
            for link in links
            if link.rejected or link.contact_id in about[piece.id]
        ]
        Link.objects.bulk_create(made)
        recorder.watch(made, created=True)
        change.subjects = [str(whole.id), *(str(piece.id) for piece in fresh)]
        edge = Edge(confidence=1.0, reason=why)
        ids = [piece.id for piece in (*fresh, *known.values())]
        relate(held, {(pk, str(Edge.Kind.PART_OF), whole.id): edge for pk in ids}, recorder)
        # When the whole no longer holds, what the pieces still say is read again.
        for contact in _people(held, [whole.id]):
            theirs = [piece.id for piece in fresh if contact.id in about[piece.id]]
            _rename(contact, {whole.id: (whole.id, *theirs)}, recorder)
        derived.point_at_profiles(held, [piece.id for piece in fresh], recorder=recorder)
    queue.enqueue("embed", held.pk)
    return change


def _piece(whole: Memory, key: str, text: str) -> Memory:
    """A piece (unsaved). It takes place when the whole does where it tells that time itself, or the
    whole's own words tell none."""
    piece = Memory(end_user=whole.end_user, content=text, content_hash=key)
    for name in _INHERITED:
        setattr(piece, name, getattr(whole, name))
    if not has_time(normalise(whole.content)) or _tells_time(text, whole):
        piece.happen(whole.happens_there, whole.happens_until_there)
    piece.refined_at = timezone.now()
    derived.reindex(piece)
    return piece


def _named(text: str, links: Sequence[Link]) -> set[UUID]:
    """The people of these links whom the text names; all whom they stand for if it names none."""
    standing = [link.contact for link in links if not link.rejected]
    entries = entries_of([contact.person for contact in standing])
    named = {mention.person.id for mention in find_mentions(text, entries)}
    return named or {contact.id for contact in standing}


def _stated_in(piece: Memory, facts: Facts, about: Collection[UUID]) -> Facts:
    """The facts whose value the piece holds, of nobody or of whom it is about."""
    text = folded(piece.content)
    return [
        fact
        for fact in facts
        if folded(str(fact["value"])) in text
        and (not fact["person"] or UUID(fact["person"]) in about)
    ]


def _tells_time(text: str, whole: Memory) -> bool:
    """Whether a text says when the whole takes place, and not of another time."""
    at = whole.happens_there
    hits = find_dates(text, whole.said_there, bool(HAN.search(text)))
    days = [(hit.at, hit.until) for hit in hits if hit.at]
    if at is None or not days:
        return has_time(normalise(text))
    return any(since.date() == at.date() or since <= at < (until or since) for since, until in days)


def _link(like: Link, memory: Memory, **columns: Any) -> Link:
    """A link of a memory (unsaved) to the contact of another link, made and rejected as that one."""
    values = {"made_by": like.made_by, "confidence": like.confidence, "rejected": like.rejected}
    return Link(
        end_user_id=like.end_user_id,
        contact_id=like.contact_id,
        memory_id=memory.pk,
        **(values | columns),
    )


@atomic()
def trim(end_user: EndUser, memory_id: UUID, content: str, *, actor: str, why: str = "") -> Change:
    """Says what a memory says in fewer words; the change keeps the old wording."""
    held = locked(end_user)
    (memory,) = _facts(held, [memory_id])
    content = " ".join(content.split())
    if not content or len(content) >= len(memory.content):
        raise InvalidCorrection(Reason("not_shorter"))
    check_content(content)
    with recording(held, "trim", actor, why, [memory_id]) as (recorder, change):
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
    if not 2 <= len(originals) <= MOST_MERGED or not content:
        raise InvalidCorrection(Reason("number_of_merged", most=MOST_MERGED))
    original_ids = [memory.id for memory in originals]
    taken = Memory.objects.of(held).active().filter(content_hash=content_hash(content))
    if taken.exclude(pk__in=original_ids).exists():
        raise InvalidCorrection(Reason("choose_duplicate"))
    with recording(held, MERGE, actor, why) as (recorder, change):
        recorder.watch(originals)
        united = _united(held, originals, content)
        rows = Memory.objects.filter(pk__in=original_ids)
        rows.update(
            status=Status.ARCHIVED,
            consolidated_into=None,  # a profile speaks for the memory that has their links
            updated_at=timezone.now(),
        )
        united.save(force_insert=True)  # their words are free now
        rows.update(merged_into=united)
        recorder.watch([united], created=True)
        change.subjects = [str(united.id), *map(str, original_ids)]
        people = _people(held, original_ids)
        _hand_over_links(united, original_ids, recorder)
        _hand_over_edges(united, original_ids, recorder)
        spoken_of = EntityLink.objects.of(held).filter(memory__in=original_ids)
        EntityLink.objects.bulk_create(
            EntityLink(end_user=held, memory=united, entity_id=pk)
            for pk in sorted(set(spoken_of.values_list("entity", flat=True)))
        )
        stated = relations.resting_on(held, original_ids)
        recorder.watch(stated)
        for relation in stated:
            sources = [united.id if pk in original_ids else pk for pk in relation.sources]
            relation.sources = list(dict.fromkeys(sources))
            relation.save(update_fields=["sources"])
        for contact in people:
            _rename(contact, dict.fromkeys(original_ids, (united.id,)), recorder)
        derived.point_at_profiles(held, [united.id], recorder=recorder)
    queue.enqueue("embed", held.pk)
    united.refresh_from_db()
    return united, change


def _facts(end_user: EndUser, ids: Sequence[UUID]) -> list[Memory]:
    """The active memories with these ids, in their order. Raises InvalidCorrection."""
    rows = Memory.objects.of(end_user).filter(pk__in=ids).in_bulk()
    if len(rows) < len(ids):
        raise InvalidCorrection(Reason("no_such_memory"))
    if any(memory.kind == Memory.Kind.PROFILE for memory in rows.values()):
        raise InvalidCorrection(Reason("profile_follows"))
    if any(memory.status != Status.ACTIVE for memory in rows.values()):
        raise InvalidCorrection(Reason("not_active"))
    return [rows[pk] for pk in ids]


def _united(end_user: EndUser, originals: Iterable[Memory], content: str) -> Memory:
    """The memory (unsaved) that has all that these have."""
    old_first = sorted(originals, key=lambda memory: (memory.said_at, memory.id))
    last = old_first[-1]
    consolidated = all(memory.consolidated_into_id for memory in old_first)
    facts: dict[tuple[Any, ...], dict[str, Any]] = {}
    for fact in (fact for memory in old_first for fact in memory.facts):
        facts.setdefault((fact["person"], fact["key"], folded(str(fact["value"]))), dict(fact))
    memory = Memory(
        end_user=end_user,
        content=content,
        content_hash=content_hash(content),
        type=last.type,
        subtype=last.subtype,
        confidence=max(m.confidence for m in old_first),
        speaker=last.speaker,
        quote=next((m.quote for m in old_first[::-1] if m.quote), ""),
        source_message_ids=sorted({pk for m in old_first for pk in m.source_message_ids}),
        facts=list(facts.values()),
        metadata={name: value for m in old_first for name, value in m.metadata.items()},
        importance=CONSOLIDATED_IMPORTANCE
        if consolidated
        else max(m.importance for m in old_first),
        consolidated_into_id=last.consolidated_into_id if consolidated else None,
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
    times = [(at, m.happens_until_there) for m in old_first if (at := m.happens_there)]
    memory.happen(*max(times, default=(None, None), key=itemgetter(0)))
    derived.reindex(memory)
    return memory


def _latest(values: Iterable[T | None]) -> T | None:
    return max((value for value in values if value is not None), default=None)  # type: ignore[type-var]


def _open_end(values: Sequence[datetime | None]) -> datetime | None:
    """The latest of these; none where one of them has no end."""
    return None if None in values else _latest(values)


def _hand_over_links(united: Memory, originals: Collection[UUID], recorder: Recorder) -> None:
    """One link to each person whom an original is about; it stands if one of theirs does."""
    links = list(Link.objects.of(united.end_user).filter(memory__in=originals).order_by("pk"))
    recorder.watch(links)
    by_contact: dict[UUID, list[Link]] = {}
    for link in links:
        by_contact.setdefault(link.contact_id, []).append(link)
    made = []
    for theirs in by_contact.values():
        standing = [link for link in theirs if not link.rejected] or theirs
        stated = any(link.made_by == Link.MadeBy.OPERATOR for link in standing)
        made.append(
            _link(
                standing[0],
                united,
                made_by=Link.MadeBy.OPERATOR if stated else standing[0].made_by,
                confidence=max(link.confidence for link in standing),
                consolidated_at=_open_end([link.consolidated_at for link in standing]),
            )
        )
    Link.objects.filter(pk__in=[link.pk for link in links]).delete()
    Link.objects.bulk_create(made)
    recorder.watch(made, created=True)


def _hand_over_edges(united: Memory, originals: Collection[UUID], recorder: Recorder) -> None:
    """Gives the united memory the edges of the originals, but those between them. What they are
    pieces of, or are split into, stays theirs: who erases one of them erases that alone."""
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
        if source != target and not (mutual and (target, edge.kind, source) in wanted):
            wanted.setdefault((source, edge.kind, target), edge)
    relate(united.end_user, wanted, recorder)


def _people(end_user: EndUser, memory_ids: Collection[UUID]) -> list[Contact]:
    """Those whom these memories are about, and what was merged into them."""
    linked = end_user.contacts.filter(links__memory__in=memory_ids).values("pk")
    people = list(end_user.contacts.filter(pk__in=linked).light().order_by("pk"))
    return [*people, *end_user.contacts.all_merged_into([contact.pk for contact in people])]


def _rename(contact: Contact, names: Mapping[UUID, Collection[UUID]], recorder: Recorder) -> None:
    """Lets a contact's profile rest on other memories, and renders its card."""
    profile = profiles.renamed(derived.profile_of(contact), names)
    derived.save_profile(contact, profile, (), recorder)


def supersede(
    end_user: EndUser,
    memories: Sequence[Memory],
    by: Memory,
    *,
    actor: str,
    why: str = "",
    certainty: float | None = None,
    ended: Mapping[UUID, Sequence[StoredFact]] = MappingProxyType({}),
    remains: Mapping[UUID, str] = MappingProxyType({}),
    keep: bool = False,
) -> Change | None:
    """Ends what ``by`` contradicts: the facts of ``memories`` that ``ended`` names, else those
    that its own facts exclude. A memory of which no other fact stands becomes outdated, as does
    one whose facts tell nothing of the matter; what ``remains`` true of it, in words, is a memory
    of its own then. One change, None when there is nothing to do; with ``keep`` it is undone
    before what was done to ``by`` earlier."""
    new = by.as_stored()
    in_part: dict[UUID, Sequence[StoredFact]] = {}
    for memory in memories:
        old = memory.as_stored()
        over = contradicted(new.facts, new.said_at, old.facts)
        gone = ended.get(memory.pk) or [fact for _, fact in over]
        if rest := remains.get(memory.pk):
            facts = zip(memory.facts, old.facts, strict=True)
            left = [row for row, fact in facts if fact not in gone]
            split(end_user, memory.pk, [rest], actor=actor, why=why, fewest=1, facts=left)
        elif gone and (not {*old.current} <= {*gone} or _quotes_more(memory, gone)):
            in_part[memory.pk] = gone
    return outdate(
        end_user,
        memories,
        actor=actor,
        why=why,
        valid_to=by.said_at,
        by=by.pk,
        certainty=certainty,
        ended=in_part,
        until=by.began_at,
        keep=[by] if keep else [],
    )


def _quotes_more(memory: Memory, facts: Sequence[StoredFact]) -> bool:
    """Whether a memory is a quote of more clauses than these facts account for."""
    return memory.brackets is not None and len(clauses_in(memory.quote)) > len(facts)
