"""Links, edges, facts and counts of memories that were merged, or split into pieces.

Callers hold the end user's lock and a change's recorder.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any, TypeVar
from uuid import UUID

from django.utils import timezone

from accounts.changes import Recorder
from accounts.models import EndUser
from contacts import relations, store
from contacts.models import Contact
from memories import profiles
from memories.corrections import derived
from memories.models import CONSOLIDATED_IMPORTANCE, Edge, EntityLink, Link, Memory
from memories.search import concepts
from understanding.dates.relative_dates import find_dates
from understanding.text import HAN, folded, normalise

T = TypeVar("T")

# Edges that hold both ways: one between two memories is enough, whichever way it runs.
_MUTUAL = (Edge.Kind.CONFLICTS, Edge.SHARES_ENTITY)


def united(end_user: EndUser, originals: Iterable[Memory], content: str, key: str) -> Memory:
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
        facts=united_facts([m.facts for m in old_first]),
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


def archive(originals: Iterable[Memory], into: Memory | None) -> None:
    """First without a pointer, so that their words are free for the memory to point at."""
    Memory.objects.filter(pk__in=[memory.pk for memory in originals]).update(
        status=Memory.Status.ARCHIVED,
        merged_into=into,
        consolidated_into=None,  # a profile speaks for the memory that has their links
        updated_at=timezone.now(),
    )


def hand_over_links(united: Memory, originals: Collection[UUID], recorder: Recorder) -> None:
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


def hand_over_edges(united: Memory, originals: Collection[UUID], recorder: Recorder) -> None:
    """The edges of the originals run to and from the united memory; those between them go.

    What they are pieces of, or are split into, stays theirs: who erases one of them erases
    that, and not what the others say.
    """
    edges = [e for e in _edges_of(united.end_user, originals) if e.kind != Edge.Kind.PART_OF]
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
    relate(united.end_user, wanted, recorder)


def _edges_of(end_user: EndUser, memory_ids: Collection[UUID]) -> Iterable[Edge]:
    """The stated edges from or to these memories."""
    edges = Edge.objects.of(end_user)
    return (edges.filter(source__in=memory_ids) | edges.filter(target__in=memory_ids)).order_by(
        "pk"
    )


def relate(
    end_user: EndUser, wanted: Mapping[tuple[UUID, str, UUID], Edge], recorder: Recorder
) -> None:
    """Makes edges by (source, kind, target), each with the confidence and reason of its edge,
    where there is none yet."""
    sources, targets = {key[0] for key in wanted}, {key[2] for key in wanted}
    held = Edge.objects.of(end_user).filter(source__in=sources, target__in=targets)
    known = set(held.values_list("source", "kind", "target"))
    Edge.objects.bulk_create(
        [
            Edge(
                end_user=end_user,
                source_id=source,
                kind=kind,
                target_id=target,
                confidence=edge.confidence,
                reason=edge.reason,
            )
            for (source, kind, target), edge in wanted.items()
            if (source, kind, target) not in known
        ]
    )
    made = Edge.objects.of(end_user).filter(source__in=sources, target__in=targets)
    recorder.watch(
        [e for e in made if (e.source_id, e.kind, e.target_id) in wanted.keys() - known],
        created=True,
    )


def hand_over_entities(united: Memory, originals: Collection[UUID]) -> None:
    """It speaks of the entities of all of them."""
    theirs = EntityLink.objects.of(united.end_user).filter(memory__in=originals)
    EntityLink.objects.bulk_create(
        [
            EntityLink(end_user=united.end_user, memory=united, entity_id=pk)
            for pk in sorted(set(theirs.values_list("entity", flat=True)))
        ]
    )


def rest_on(
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
        rename(contact, dict.fromkeys(originals, (united.id,)), recorder)


def people(end_user: EndUser, memory_ids: Collection[UUID]) -> list[Contact]:
    """Those whom these memories are about, and what was merged into them."""
    linked = end_user.contacts.filter(links__memory__in=memory_ids).values("pk")
    people = list(end_user.contacts.filter(pk__in=linked).light().order_by("pk"))
    return [*people, *end_user.contacts.all_merged_into([contact.pk for contact in people])]


def rename(contact: Contact, names: Mapping[UUID, Collection[UUID]], recorder: Recorder) -> None:
    """Lets a contact's profile rest on other memories, and renders its card."""
    recorder.watch([contact])
    derived.set_profile(contact, profiles.renamed(derived.profile_of(contact), names))
    store.save(contact, derived.PROFILE_FIELDS)
    derived.write_profile_memory(contact, recorder)


Facts = Sequence[Mapping[str, Any]]


def facts_of(
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


def give_times(whole: Memory, pieces: Sequence[Memory]) -> None:
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


def united_facts(facts: Iterable[Facts]) -> list[dict[str, Any]]:
    """All facts of several memories, the same one once."""
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for fact in (fact for several in facts for fact in several):
        key = (fact["person"], fact["key"], folded(str(fact["value"])))
        found.setdefault(key, dict(fact))
    return list(found.values())
