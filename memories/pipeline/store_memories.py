"""Drafts become rows: what is new is inserted, what it replaces becomes outdated, and what has no
vector gets one."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from accounts import reasons
from accounts.models import EndUser
from memories import model_calls
from memories.corrections import edit_memories, rewrite
from memories.models import Batch, Edge, Memory, Message, Vector
from memories.models.memory import fact_row, resting_on
from memories.providers.embeddings import Embedder
from memories.search import vectors
from memories.types import Draft, Resolution, Resolutions, StoredFact, Verdict

# People whom a message is about, at most: more are a list of names, in which no pronoun finds anybody.
MOST_PEOPLE = 6
EMBEDDED_AT_ONCE = 128
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
    """Writes the drafts as the resolutions say, and with their messages whom they are about. The
    caller holds the end user's lock.

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
    for key, draft in new.items():
        for resolution in resolutions.get(key, ()) if stored.ids[key] in stored.added else ():
            _relate(end_user, stored, draft, resolution, drafts)
    note_people(end_user, drafts)
    return stored


def _insert(
    end_user: EndUser, new: Mapping[str, Draft], stored: Stored, space: str, batch: Batch | None
) -> None:
    rows = []
    for key, draft in new.items():
        told = draft.extracted
        row = Memory(
            id=draft.id,
            end_user=end_user,
            batch=batch,
            content=draft.content,
            content_hash=key,
            type=told.type,
            subtype=told.subtype,
            confidence=min(max(told.confidence, 0.0), 1.0),
            speaker=told.speaker[:100],
            quote=told.quote,
            brackets=told.brackets,
            source_message_ids=list(told.turn_ids),
            facts=[fact_row(fact) for fact in draft.facts],
            embedding_model=space,
            embedding=draft.embedding,
            tokens=draft.tokens,
            learnt_day=end_user.activity_days,
            expires_at=told.expires_at,
            valid_from=told.valid_from,
            valid_to=told.valid_to,
        )
        row.say(draft.said_at)
        row.happen(told.happens_at, told.happens_until)
        rows.append(row)
    Memory.objects.bulk_create(rows, ignore_conflicts=True)
    active = Memory.objects.of(end_user).active().filter(content_hash__in=new)
    ids = dict(active.values_list("content_hash", "id"))
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
    draft: Draft,
    resolution: Resolution,
    drafts: Sequence[Draft],
) -> None:
    source = stored.ids[draft.key]
    beside = {other.id: stored.ids[other.key] for other in drafts}
    wanted = [beside.get(pk, pk) for pk in resolution.targets]
    active = Memory.objects.of(end_user).active().filter(pk__in=wanted)
    targets = list(active.exclude(pk=source).defer("tokens"))
    if resolution.verdict is Verdict.SUPERSEDES:
        # What an earlier resolution left of memories gives way in their place.
        wholes = {*wanted} - {target.pk for target in targets}
        parts = Edge.objects.of(end_user).filter(kind=Edge.Kind.PART_OF, target_id__in=wholes)
        whole_of = dict(parts.values_list("source_id", "target_id"))
        ended: dict[UUID, Sequence[StoredFact]] = {**resolution.ended}
        for rest in Memory.objects.of(end_user).active().filter(pk__in=whole_of).defer("tokens"):
            facts = rest.as_stored().facts
            whole_ended = resolution.ended.get(whole_of[rest.pk], ())
            ended[rest.pk] = [fact for fact in whole_ended if fact in facts]
            targets += [rest] if rest.pk != source else []
        rewrite.supersede(
            end_user,
            targets,
            Memory.objects.of(end_user).get(pk=source),
            actor="extractor",
            why=reasons.stored(resolution.reason),
            certainty=draft.extracted.confidence * edit_memories.MACHINE_CERTAINTY,
            ended=ended,
            remains=resolution.remains,
        )
        stored.outdated += [target.id for target in targets if target.status != "active"]
    elif resolution.verdict in _JOINED:
        kind, reason = _JOINED[resolution.verdict], reasons.stored(resolution.reason)
        edges = [
            Edge(end_user=end_user, source_id=source, target=target, kind=kind, reason=reason)
            for target in targets
        ]
        Edge.objects.bulk_create(edges, ignore_conflicts=True)


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
    current = Memory.objects.of(end_user).active().facts()
    memories = current.filter(resting_on(turn_ids) | Q(pk__in=memory_ids)).defer("tokens")
    edit_memories.outdate(
        end_user,
        list(memories),
        actor="extractor",
        why=reasons.Reason("taken_back").stored,
        valid_to=at,
        certainty=edit_memories.CERTAINTY["user"],
        until=datetime.min.replace(tzinfo=UTC),  # it never was
    )


def note_people(end_user: EndUser, drafts: Iterable[Draft]) -> None:
    """Writes with each message whom the memories that rest on it are about (the message that says
    it, not those that only explain it), for the pronouns of the next messages. The caller holds
    the end user's lock."""
    about: dict[int, dict[UUID, None]] = {}
    for draft in drafts:
        turns = draft.extracted.turn_ids
        if turns and draft.people:
            about.setdefault(max(turns), {}).update(dict.fromkeys(sorted(draft.people)))
    rows = list(Message.objects.of(end_user).filter(pk__in=about).only("understood"))
    for row in rows:
        row.understood = list(about[row.pk])[:MOST_PEOPLE]
    Message.objects.bulk_update(rows, ["understood"])


def embed_missing(
    end_user: EndUser,
    embedder: Embedder,
    until: float = float("inf"),
    *,
    current: bool = True,
    progress: Callable[[int], object] = lambda _n: None,
) -> int:
    """Embeds the end user's memories that have no vector in the embedder's space, chunk by chunk;
    returns how many. Vectors that ``reembed`` has prepared are taken as they are; unless ``current``,
    they are only prepared. ``until`` is a ``time.monotonic()`` after which no further chunk is begun.
    Call it outside any lock.

    A memory whose words change meanwhile stays open for the next call.
    """
    space = embedder.space
    prepared = Vector.objects.of(end_user).filter(space=space, memory=OuterRef("pk"))
    waiting = Memory.objects.of(end_user).annotate(prepared=Exists(prepared)).order_by("id")
    waiting = waiting.exclude(embedding_model=space) if current else waiting.filter(prepared=False)
    done = 0
    while time.monotonic() < until and (
        rows := list(waiting.values_list("id", "content", "prepared")[:EMBEDDED_AT_ONCE])
    ):
        ready = [pk for pk, _, is_prepared in rows if is_prepared]
        texts = [(pk, content) for pk, content, is_prepared in rows if not is_prepared]
        if ready:
            vectors.take_prepared(end_user.pk, space, ready)
        made = model_calls.embed(end_user, embedder, [content for _, content in texts])
        embedded = [(*text, vector) for text, vector in zip(texts, made, strict=True)]
        filled = vectors.put(end_user.pk, space, embedded, current=current)
        done += filled
        progress(filled)
        if not filled and not ready:
            break
    return done
