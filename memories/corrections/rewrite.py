"""Corrections that reword memories: split, trim, merge, supersede. Each is one transaction under
the end user's lock with one Change row that can be undone; ``supersede`` has another one for each
memory that it splits.

No content is lost: a split memory stays beside its pieces, a trimmed one keeps its old wording in
the change, merged ones stay archived and point at the memory that replaces them. ``actor`` is
``operator:NAME``, ``app:NAME`` or a part of Mio. All raise ``InvalidCorrection`` before anything is
written.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
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
from accounts.reasons import Reason, stored
from contacts import relations, store
from contacts.models import Contact
from memories import profiles, queue
from memories.corrections import derived
from memories.corrections.edit_memories import (
    Ending,
    InvalidCorrection,
    check_content,
    locked,
    outdate,
    relate,
)
from memories.fact_conflicts import contradictions
from memories.models import CONSOLIDATED_IMPORTANCE, Edge, EntityLink, Link, Memory
from memories.models.memory import content_hash
from memories.search.tokens import has_time
from memories.types import Resolution, StoredFact
from understanding.dates.relative_dates import find_dates
from understanding.people.mentions import entries_of, find_mentions
from understanding.sentences import clauses_in
from understanding.text import HAN, folded, normalise

Status = Memory.Status
T = TypeVar("T")
Facts = Sequence[Mapping[str, Any]]
MERGE = "merge memories"  # the verb of the change

# Symmetric edges: one between two memories is enough, in either direction.
_MUTUAL = (Edge.Kind.CONFLICTS, Edge.SHARES_ENTITY)
# More is no longer one topic, and would hold the user's lock for long.
MOST_PIECES, MOST_MERGED = 20, 50
# The columns that a piece copies from the original.
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
    """Splits a memory into pieces, each about one topic, which are stored beside it. A piece rests
    on the same messages, is about those of the memory's people whom it names (about all if it names
    none), and has the facts whose value it contains, or all of ``facts`` if given. An active memory
    that has the content of a piece becomes that piece."""
    user = locked(end_user)
    (original,) = _active_facts(user, [memory_id])
    texts = {content_hash(text): text for piece in pieces if (text := " ".join(piece.split()))}
    if original.content_hash in texts:
        raise InvalidCorrection(Reason("piece_is_whole"))
    if not fewest <= len(texts) <= MOST_PIECES:
        raise InvalidCorrection(Reason("number_of_pieces", most=MOST_PIECES))
    check_content(*texts.values())
    active = Memory.objects.of(user).active().filter(content_hash__in=texts)
    existing = {memory.content_hash: memory for memory in active}
    with recording(user, "split memory", actor, why) as (recorder, change):
        links = list(
            Link.objects.of(user).filter(memory=original).select_related("contact").order_by("pk")
        )
        added = [_piece(original, key, text) for key, text in texts.items() if key not in existing]
        people = {piece.id: _people_named(piece.content, links) for piece in added}
        for piece in added:
            stated = _facts_in(piece, original.facts, people[piece.id]) if facts is None else facts
            piece.facts = [dict(fact) for fact in stated]
        Memory.objects.bulk_create(added)
        recorder.watch(added, created=True)
        new_links = [
            copied_link(link, piece.pk, consolidated_at=link.consolidated_at)
            for piece in added
            for link in links
            if link.rejected or link.contact_id in people[piece.id]
        ]
        Link.objects.bulk_create(new_links)
        recorder.watch(new_links, created=True)
        change.subjects = [str(original.id), *(str(piece.id) for piece in added)]
        edge = Edge(confidence=1.0, reason=why)
        ids = [piece.id for piece in (*added, *existing.values())]
        relate(user, {(pk, str(Edge.Kind.PART_OF), original.id): edge for pk in ids}, recorder)
        # If the original is outdated later, profiles read again what the pieces still state.
        for contact in _linked_contacts(user, [original.id]):
            piece_ids = [piece.id for piece in added if contact.id in people[piece.id]]
            _rebase(contact, {original.id: (original.id, *piece_ids)}, recorder)
        derived.point_at_profiles(user, [piece.id for piece in added], recorder=recorder)
    queue.enqueue("embed", user.pk)
    return change


def _piece(original: Memory, key: str, text: str) -> Memory:
    """Returns a piece (unsaved). It takes place when the original does if it states that time
    itself, or if the original's words state none."""
    piece = Memory(end_user=original.end_user, content=text, content_hash=key)
    for name in _INHERITED:
        setattr(piece, name, getattr(original, name))
    if not has_time(normalise(original.content)) or _states_time(text, original):
        piece.set_happens_at(original.happens_there, original.happens_until_there)
    piece.refined_at = timezone.now()
    derived.reindex(piece)
    return piece


def _people_named(text: str, links: Sequence[Link]) -> set[UUID]:
    """Returns the ids of the linked people whom the text names; of all of them if it names none."""
    contacts = [link.contact for link in links if not link.rejected]
    entries = entries_of([contact.person for contact in contacts])
    named = {mention.person.id for mention in find_mentions(text, entries)}
    return named or {contact.id for contact in contacts}


def _facts_in(piece: Memory, facts: Facts, people_ids: Collection[UUID]) -> Facts:
    """Returns the facts whose value the piece contains, of the user or of people it is about."""
    text = folded(piece.content)
    return [
        fact
        for fact in facts
        if folded(str(fact["value"])) in text
        and (not fact["person"] or UUID(fact["person"]) in people_ids)
    ]


def _states_time(text: str, original: Memory) -> bool:
    """Whether a text states a time, and the original's if both times are known."""
    at = original.happens_there
    hits = find_dates(text, original.said_there, bool(HAN.search(text)))
    days = [(hit.at, hit.until) for hit in hits if hit.at]
    if at is None or not days:
        return has_time(normalise(text))
    return any(since.date() == at.date() or since <= at < (until or since) for since, until in days)


def copied_link(link: Link, memory_id: UUID, **columns: Any) -> Link:
    """Returns a copy (unsaved) of a link for another memory, with these ``columns`` changed."""
    values = {"made_by": link.made_by, "confidence": link.confidence, "rejected": link.rejected}
    return Link(
        end_user_id=link.end_user_id,
        contact_id=link.contact_id,
        memory_id=memory_id,
        **(values | columns),
    )


@atomic()
def trim(end_user: EndUser, memory_id: UUID, content: str, *, actor: str, why: str = "") -> Change:
    """Shortens the content of a memory; the change keeps the old wording."""
    user = locked(end_user)
    (memory,) = _active_facts(user, [memory_id])
    content = " ".join(content.split())
    if not content or len(content) >= len(memory.content):
        raise InvalidCorrection(Reason("not_shorter"))
    check_content(content)
    with recording(user, "trim", actor, why, [memory_id]) as (recorder, change):
        recorder.watch([memory])
        memory.content, memory.content_hash = content, content_hash(content)
        derived.reindex(memory)
        try:
            with atomic():
                memory.save()
        except IntegrityError as error:
            raise InvalidCorrection(Reason("duplicate")) from error
        for contact in _linked_contacts(user, [memory_id]):
            store.save(contact, [])
    queue.enqueue("embed", user.pk)
    return change


@atomic()
def merge_memories(
    end_user: EndUser, ids: Collection[UUID], content: str, *, actor: str, why: str = ""
) -> tuple[Memory, Change]:
    """Merges several memories into one, which takes over everything they had: links, edges,
    entities, facts, messages, counts, and their place in profiles. It was said when the last of
    them was said, and is valid from the first of them."""
    user = locked(end_user)
    originals = _active_facts(user, list(dict.fromkeys(ids)))
    content = " ".join(content.split())
    check_content(content)
    if not 2 <= len(originals) <= MOST_MERGED or not content:
        raise InvalidCorrection(Reason("number_of_merged", most=MOST_MERGED))
    original_ids = [memory.id for memory in originals]
    duplicates = Memory.objects.of(user).active().filter(content_hash=content_hash(content))
    if duplicates.exclude(pk__in=original_ids).exists():
        raise InvalidCorrection(Reason("choose_duplicate"))
    with recording(user, MERGE, actor, why) as (recorder, change):
        recorder.watch(originals)
        united = _united_memory(user, originals, content)
        rows = Memory.objects.filter(pk__in=original_ids)
        rows.update(
            status=Status.ARCHIVED,
            consolidated_into=None,  # a profile represents the memory that has their links
            updated_at=timezone.now(),
        )
        united.save(force_insert=True)  # no active memory has their content now
        rows.update(merged_into=united)
        recorder.watch([united], created=True)
        change.subjects = [str(united.id), *map(str, original_ids)]
        people = _linked_contacts(user, original_ids)
        _hand_over_links(united, original_ids, recorder)
        _hand_over_edges(united, original_ids, recorder)
        entity_links = EntityLink.objects.of(user).filter(memory__in=original_ids)
        EntityLink.objects.bulk_create(
            EntityLink(end_user=user, memory=united, entity_id=pk)
            for pk in sorted(set(entity_links.values_list("entity", flat=True)))
        )
        related = relations.resting_on(user, original_ids)
        recorder.watch(related)
        for relation in related:
            sources = [united.id if pk in original_ids else pk for pk in relation.sources]
            relation.sources = list(dict.fromkeys(sources))
            relation.save(update_fields=["sources"])
        for contact in people:
            _rebase(contact, dict.fromkeys(original_ids, (united.id,)), recorder)
        derived.point_at_profiles(user, [united.id], recorder=recorder)
    queue.enqueue("embed", user.pk)
    united.refresh_from_db()
    return united, change


def _active_facts(end_user: EndUser, ids: Sequence[UUID]) -> list[Memory]:
    """Returns the active facts with these ids, in their order. Raises InvalidCorrection."""
    rows = Memory.objects.of(end_user).filter(pk__in=ids).in_bulk()
    if len(rows) < len(ids):
        raise InvalidCorrection(Reason("no_such_memory"))
    if any(memory.kind == Memory.Kind.PROFILE for memory in rows.values()):
        raise InvalidCorrection(Reason("profile_follows"))
    if any(memory.status != Status.ACTIVE for memory in rows.values()):
        raise InvalidCorrection(Reason("not_active"))
    return [rows[pk] for pk in ids]


def _united_memory(end_user: EndUser, originals: Iterable[Memory], content: str) -> Memory:
    """Returns the memory (unsaved) that unites the columns of the originals."""
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
        expires_at=_latest_or_open([m.expires_at for m in old_first]),
        valid_from=min((m.valid_from for m in old_first if m.valid_from), default=None),
        valid_to=_latest_or_open([m.valid_to for m in old_first]),
        refined_at=_latest_or_open([m.refined_at for m in old_first]),
    )
    memory.set_said_at(last.said_there)
    times = [(at, m.happens_until_there) for m in old_first if (at := m.happens_there)]
    memory.set_happens_at(*max(times, default=(None, None), key=itemgetter(0)))
    derived.reindex(memory)
    return memory


def _latest(values: Iterable[T | None]) -> T | None:
    return max((value for value in values if value is not None), default=None)  # type: ignore[type-var]


def _latest_or_open(values: Sequence[datetime | None]) -> datetime | None:
    """Returns the latest of these times; None if one of them is None (open)."""
    return None if None in values else _latest(values)


def _hand_over_links(united: Memory, originals: Collection[UUID], recorder: Recorder) -> None:
    """Replaces the links of the originals by one to each contact, rejected if all of them are."""
    links = list(Link.objects.of(united.end_user).filter(memory__in=originals).order_by("pk"))
    recorder.watch(links)
    by_contact: dict[UUID, list[Link]] = {}
    for link in links:
        by_contact.setdefault(link.contact_id, []).append(link)
    new_links = []
    for contact_links in by_contact.values():
        accepted = [link for link in contact_links if not link.rejected] or contact_links
        by_operator = any(link.made_by == Link.MadeBy.OPERATOR for link in accepted)
        new_links.append(
            copied_link(
                accepted[0],
                united.pk,
                made_by=Link.MadeBy.OPERATOR if by_operator else accepted[0].made_by,
                confidence=max(link.confidence for link in accepted),
                consolidated_at=_latest_or_open([link.consolidated_at for link in accepted]),
            )
        )
    Link.objects.filter(pk__in=[link.pk for link in links]).delete()
    Link.objects.bulk_create(new_links)
    recorder.watch(new_links, created=True)


def _hand_over_edges(united: Memory, originals: Collection[UUID], recorder: Recorder) -> None:
    """Moves the edges of the originals to the united memory, except those between them. ``part_of``
    stays with the originals: who erases one of them does not erase pieces of the others."""
    ends = Q(source__in=originals) | Q(target__in=originals)
    rows = Edge.objects.of(united.end_user).filter(ends).exclude(kind=Edge.Kind.PART_OF)
    edges = list(rows.order_by("pk"))
    recorder.watch(edges)
    Edge.objects.filter(pk__in=[edge.pk for edge in edges]).delete()
    edge_by_ends: dict[tuple[UUID, str, UUID], Edge] = {}
    for edge in edges:
        source, target = (
            united.id if pk in originals else pk for pk in (edge.source_id, edge.target_id)
        )
        mutual = edge.kind.startswith(_MUTUAL)
        if source != target and not (mutual and (target, edge.kind, source) in edge_by_ends):
            edge_by_ends.setdefault((source, edge.kind, target), edge)
    relate(united.end_user, edge_by_ends, recorder)


def _linked_contacts(end_user: EndUser, memory_ids: Collection[UUID]) -> list[Contact]:
    """Returns the contacts linked to these memories, and those merged into them."""
    linked = end_user.contacts.filter(links__memory__in=memory_ids).values("pk")
    contacts = list(end_user.contacts.filter(pk__in=linked).light().order_by("pk"))
    return [*contacts, *end_user.contacts.all_merged_into([contact.pk for contact in contacts])]


def _rebase(contact: Contact, sources: Mapping[UUID, Collection[UUID]], recorder: Recorder) -> None:
    """Makes a contact's profile rest on other memories, by old source, and saves it with its
    card."""
    profile = profiles.renamed(derived.profile_of(contact), sources)
    derived.save_profile(contact, profile, (), recorder)


@atomic()
def supersede(
    end_user: EndUser,
    memories: Sequence[Memory],
    by: Memory,
    resolution: Resolution,
    *,
    actor: str,
    certainty: float | None = None,
    keep: bool = False,
) -> Change | None:
    """Ends what ``by`` contradicts: the facts of ``memories`` that the resolution lists as ended,
    else those that its own facts exclude. A memory becomes outdated if none of its other facts is
    current, or if no fact of it ends; what remains true of it, in words, is first split off as a
    memory of its own. Returns the change that outdates them, None if there is nothing to do; with
    ``keep`` it is undone before earlier changes of ``by``."""
    new, why = by.as_stored(), stored(resolution.reason)
    in_part: dict[UUID, Sequence[StoredFact]] = {}
    for memory in memories:
        old = memory.as_stored()
        pairs = contradictions(new.facts, new.said_at, old.facts)
        past = resolution.ended.get(memory.pk) or [fact for _, fact in pairs]
        statements = {fact.statement for fact in past}
        if text := resolution.remains.get(memory.pk):
            facts = zip(memory.facts, old.facts, strict=True)
            rows = [row for row, fact in facts if fact.statement not in statements]
            split(end_user, memory.pk, [text], actor=actor, why=why, fewest=1, facts=rows)
        elif past and (
            any(fact.statement not in statements for fact in old.current)
            # A quote of more clauses than these facts.
            or (memory.brackets is not None and len(clauses_in(memory.quote)) > len(past))
        ):
            in_part[memory.pk] = past
    return outdate(
        end_user,
        memories,
        actor=actor,
        why=why,
        by=by.pk,
        ending=Ending(by.said_at, by.began_at, certainty),
        ended=in_part,
        keep=[by] if keep else [],
    )
