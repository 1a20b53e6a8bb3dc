"""Drafts become rows: what is new is inserted, what it replaces becomes outdated."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from accounts import reasons
from accounts.models import EndUser
from memories.corrections import edit_memories, supersede, validity
from memories.models import Batch, Edge, Memory
from memories.models.memory import fact_row
from memories.types import Draft, Resolution, Resolutions, StoredFact, Verdict

# How certain it is that an older memory no longer holds, by what was decided: the part of the
# new memory's own confidence that carries over to it. Chosen for Mio: two sentences that were
# told apart in time mostly are an update, but one in ten or so speak of different matters.
CERTAINTY = {Verdict.SUPERSEDES: validity.MACHINE}
# Verdicts that keep both, and the edge that joins them.
_JOINED = {
    Verdict.COMPLEMENTS: Edge.Kind.COMPLEMENTS,
    Verdict.CONFLICTS: Edge.Kind.CONFLICTS,
}


@dataclass(slots=True)
class Stored:
    """``ids`` maps each draft's key to the memory that now says it: its own row, or the
    older one that it repeats. Never by position: a batch mixes inserts and repeats."""

    ids: dict[str, UUID] = field(default_factory=dict)
    added: list[UUID] = field(default_factory=list)
    outdated: list[UUID] = field(default_factory=list)


def store(
    end_user: EndUser,
    drafts: Sequence[Draft],
    resolutions: Resolutions,
    space: str,
    batch: Batch | None = None,
) -> Stored:
    """Writes the drafts as the resolutions say. The caller holds the end user's lock.

    The unique constraint on active content decides what is a repetition: a row that another
    writer has stored meanwhile is taken as it is.
    """
    stored = Stored()
    repeated = {
        draft.key: resolution.targets[0]
        for draft in drafts
        for resolution in resolutions.get(draft.key, ())
        if resolution.verdict is Verdict.DUPLICATE and resolution.targets
    }
    new = {draft.key: draft for draft in drafts if draft.key not in repeated}
    _insert(end_user, new, stored, space, batch)
    beside = {draft.id: draft.key for draft in drafts}
    for key, target in repeated.items():
        while (other := beside.get(target)) in repeated:  # told before, and a repetition itself
            target = repeated[other]
        stored.ids[key] = stored.ids[other] if other else target
    again = [d for d in drafts if d.key in repeated or stored.ids[d.key] not in stored.added]
    _note_repeats(end_user, again, stored)
    for key in new:
        for resolution in resolutions.get(key, ()) if stored.ids[key] in stored.added else ():
            _relate(end_user, stored, key, resolution, drafts)
    return stored


def _insert(
    end_user: EndUser,
    new: Mapping[str, Draft],
    stored: Stored,
    space: str,
    batch: Batch | None,
) -> None:
    rows = []
    for key, draft in new.items():
        row = Memory(
            id=draft.id,
            end_user=end_user,
            batch=batch,
            content=draft.content,
            content_hash=key,
            type=draft.extracted.type,
            subtype=draft.extracted.subtype,
            confidence=min(max(draft.extracted.confidence, 0.0), 1.0),
            speaker=draft.extracted.speaker[:100],
            quote=draft.extracted.quote,
            brackets=draft.extracted.brackets,
            source_message_ids=list(draft.extracted.turn_ids),
            facts=[fact_row(fact) for fact in draft.facts],
            embedding_model=space,
            embedding=draft.embedding,
            tokens=draft.tokens,
            learnt_day=end_user.activity_days,
            expires_at=draft.extracted.expires_at,
            valid_from=draft.extracted.valid_from,
            valid_to=draft.extracted.valid_to,
        )
        row.say(draft.said_at)
        row.happen(draft.extracted.happens_at, draft.extracted.happens_until)
        rows.append(row)
    Memory.objects.bulk_create(rows, ignore_conflicts=True)
    ids = dict(
        Memory.objects.of(end_user)
        .active()
        .filter(content_hash__in=new)
        .values_list("content_hash", "id")
    )
    stored.ids.update(ids)
    stored.added = [row.id for row in rows if ids.get(row.content_hash) == row.id]


def _note_repeats(end_user: EndUser, drafts: Sequence[Draft], stored: Stored) -> None:
    """A memory that was said again keeps the new source beside the old."""
    if not drafts:
        return
    rows = Memory.objects.of(end_user).only("source_message_ids", "confidence", "mention_count")
    held = rows.in_bulk({stored.ids[draft.key] for draft in drafts})
    for draft in drafts:
        memory = held.get(stored.ids[draft.key])
        if memory is None:
            continue
        more = [i for i in draft.extracted.turn_ids if i not in memory.source_message_ids]
        memory.source_message_ids = [*memory.source_message_ids, *more]
        memory.confidence = max(memory.confidence, draft.extracted.confidence)
        memory.mention_count += bool(more)
        memory.updated_at = timezone.now()
    fields = ["source_message_ids", "confidence", "mention_count", "updated_at"]
    Memory.objects.bulk_update(held.values(), fields)


def _relate(
    end_user: EndUser,
    stored: Stored,
    key: str,
    resolution: Resolution,
    drafts: Sequence[Draft],
) -> None:
    source = stored.ids[key]
    draft = next(draft for draft in drafts if draft.key == key)
    beside = {other.id: stored.ids[other.key] for other in drafts}
    wanted = [beside.get(pk, pk) for pk in resolution.targets]
    active = Memory.objects.of(end_user).active().filter(pk__in=wanted)
    targets = list(active.exclude(pk=source).defer("tokens"))
    if resolution.verdict is Verdict.SUPERSEDES:
        rests = _rests(end_user, {*wanted} - {target.pk for target in targets})
        ended: dict[UUID, Sequence[StoredFact]] = {**resolution.ended}
        for rest, whole in rests:
            facts = rest.as_stored().facts
            ended[rest.pk] = [fact for fact in resolution.ended.get(whole, ()) if fact in facts]
        targets += [rest for rest, _whole in rests if rest.pk != source]
        supersede.supersede(
            end_user,
            targets,
            Memory.objects.of(end_user).get(pk=source),
            actor="extractor",
            why=reasons.stored(resolution.reason),
            certainty=draft.extracted.confidence * CERTAINTY[resolution.verdict],
            ended=ended,
            remains=resolution.remains,
        )
        stored.outdated += [target.id for target in targets if target.status != "active"]
    elif resolution.verdict in _JOINED:
        Edge.objects.bulk_create(
            [
                Edge(
                    end_user=end_user,
                    source_id=source,
                    target=target,
                    kind=_JOINED[resolution.verdict],
                    reason=reasons.stored(resolution.reason),
                )
                for target in targets
            ],
            ignore_conflicts=True,
        )


def _rests(end_user: EndUser, wholes: Collection[UUID]) -> list[tuple[Memory, UUID]]:
    """What an earlier resolution left of memories, each with the memory that it is a part of."""
    if not wholes:
        return []
    parts = Edge.objects.of(end_user).filter(kind=Edge.Kind.PART_OF, target_id__in=wholes)
    of = dict(parts.values_list("source_id", "target_id"))
    rests = Memory.objects.of(end_user).active().filter(pk__in=of).defer("tokens")
    return [(rest, of[rest.pk]) for rest in rests]


def retract(
    end_user: EndUser,
    turn_ids: Sequence[int],
    at: datetime | None = None,
    memory_ids: Sequence[UUID] = (),
) -> None:
    """Outdates the memories that the user took back ``at`` some time (default: now): these, and
    those that rest only on these turns."""
    if not turn_ids and not memory_ids:
        return
    told_then = Q(
        source_message_ids__overlap=list(turn_ids),
        source_message_ids__contained_by=list(turn_ids),
    )
    memories = (
        Memory.objects.of(end_user)
        .active()
        .facts()
        .filter(told_then | Q(pk__in=memory_ids))
        .defer("tokens")
    )
    edit_memories.outdate(
        end_user,
        list(memories),
        actor="extractor",
        why=reasons.Reason("taken_back").stored,
        valid_to=at,
        certainty=validity.CERTAINTY["user"],
        until=datetime.min.replace(tzinfo=UTC),  # it never was
    )
