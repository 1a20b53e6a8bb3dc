"""Stores drafts as memories, makes what they replace outdated, and embeds memories without a
vector."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from uuid import UUID

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from accounts import reasons
from accounts.models import EndUser
from memories import model_calls
from memories.corrections import edit_memories, rewrite
from memories.corrections.edit_memories import Ending
from memories.models import Batch, Edge, Memory, Message, Vector
from memories.models.memory import fact_row, resting_on
from memories.providers.embeddings import Embedder
from memories.search import vectors
from memories.types import Draft, Resolution, Resolutions, StoredFact, Verdict

# The most people stored for a message: more are a list of names, to which no pronoun refers.
MOST_PEOPLE = 6
EMBEDDED_AT_ONCE = 128
# Verdicts that keep both, and the edge that joins them.
_JOINED = {Verdict.COMPLEMENTS: Edge.Kind.COMPLEMENTS, Verdict.CONFLICTS: Edge.Kind.CONFLICTS}


@dataclass(slots=True)
class Stored:
    """``ids`` maps each draft's key to the memory that now states it: its own row, or the
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
    """Stores the drafts as the resolutions say, and for their messages the people they are about.
    The caller holds the end user's lock.

    The unique constraint on active content decides what is a repetition: a row that another
    writer has stored meanwhile is used as it is.
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
    key_of = {draft.id: draft.key for draft in drafts}
    for key, target in repeated.items():
        while (other_key := key_of.get(target)) in repeated:  # a draft that itself repeats another
            target = repeated[other_key]
        stored.ids[key] = stored.ids[other_key] if other_key else target
    repeats = [d for d in drafts if d.key in repeated or stored.ids[d.key] not in stored.added]
    _note_repeats(end_user, repeats, stored)
    stored_by_draft = {draft.id: stored.ids[draft.key] for draft in drafts}
    for key, draft in new.items():
        for resolution in resolutions.get(key, ()) if stored.ids[key] in stored.added else ():
            resolution = _of_stored(resolution, stored_by_draft)
            _apply_resolution(end_user, stored, draft, resolution)
    note_people(end_user, drafts)
    return stored


def _insert(
    end_user: EndUser, drafts: Mapping[str, Draft], stored: Stored, space: str, batch: Batch | None
) -> None:
    rows = []
    for key, draft in drafts.items():
        extracted = draft.extracted
        row = Memory(
            id=draft.id,
            end_user=end_user,
            batch=batch,
            content=draft.content,
            content_hash=key,
            type=extracted.type,
            subtype=extracted.subtype,
            confidence=min(max(extracted.confidence, 0.0), 1.0),
            speaker=extracted.speaker[:100],
            quote=extracted.quote,
            brackets=extracted.brackets,
            source_message_ids=list(extracted.turn_ids),
            facts=[fact_row(fact) for fact in draft.facts],
            embedding_model=space,
            embedding=draft.embedding,
            tokens=draft.tokens,
            learnt_day=end_user.activity_days,
            expires_at=extracted.expires_at,
            valid_from=extracted.valid_from,
            valid_to=extracted.valid_to,
        )
        row.set_said_at(draft.said_at)
        row.set_happens_at(extracted.happens_at, extracted.happens_until)
        rows.append(row)
    Memory.objects.bulk_create(rows, ignore_conflicts=True)
    active = Memory.objects.of(end_user).active().filter(content_hash__in=drafts)
    ids = dict(active.values_list("content_hash", "id"))
    stored.ids.update(ids)
    stored.added = [row.id for row in rows if ids.get(row.content_hash) == row.id]


def _note_repeats(end_user: EndUser, drafts: Sequence[Draft], stored: Stored) -> None:
    """Adds the new sources, and a higher confidence, to memories that were stated again."""
    if not drafts:
        return
    rows = Memory.objects.of(end_user).only("source_message_ids", "confidence", "mention_count")
    memories = rows.in_bulk({stored.ids[draft.key] for draft in drafts})
    for draft in drafts:
        memory = memories.get(stored.ids[draft.key])
        if memory is None:
            continue
        new_turns = [i for i in draft.extracted.turn_ids if i not in memory.source_message_ids]
        memory.source_message_ids = [*memory.source_message_ids, *new_turns]
        memory.confidence = max(memory.confidence, draft.extracted.confidence)
        memory.mention_count += bool(new_turns)
        memory.updated_at = timezone.now()
    fields = ["source_message_ids", "confidence", "mention_count", "updated_at"]
    Memory.objects.bulk_update(memories.values(), fields)


def _of_stored(resolution: Resolution, stored_by_draft: Mapping[UUID, UUID]) -> Resolution:
    """Returns the resolution with each draft that it means replaced by the memory that states it.
    Two drafts may repeat one memory."""
    ended: dict[UUID, tuple[StoredFact, ...]] = {}
    for pk, facts in resolution.ended.items():
        memory_id = stored_by_draft.get(pk, pk)
        ended[memory_id] = (*ended.get(memory_id, ()), *facts)
    return replace(
        resolution,
        targets=tuple(stored_by_draft.get(pk, pk) for pk in resolution.targets),
        ended=ended,
        remains={stored_by_draft.get(pk, pk): text for pk, text in resolution.remains.items()},
    )


def _apply_resolution(
    end_user: EndUser, stored: Stored, draft: Draft, resolution: Resolution
) -> None:
    source = stored.ids[draft.key]
    active = Memory.objects.of(end_user).active().filter(pk__in=resolution.targets)
    targets = list(active.exclude(pk=source).defer("tokens"))
    if resolution.verdict is Verdict.SUPERSEDES:
        # If an earlier resolution ended a target, what remained of it is superseded instead.
        wholes = {*resolution.targets} - {target.pk for target in targets}
        parts = Edge.objects.of(end_user).filter(kind=Edge.Kind.PART_OF, target_id__in=wholes)
        whole_of = dict(parts.values_list("source_id", "target_id"))
        ended = {**resolution.ended}
        for piece in Memory.objects.of(end_user).active().filter(pk__in=whole_of).defer("tokens"):
            statements = {fact.statement for fact in piece.as_stored().facts}
            whole_ended = resolution.ended.get(whole_of[piece.pk], ())
            ended[piece.pk] = tuple(fact for fact in whole_ended if fact.statement in statements)
            targets += [piece] if piece.pk != source else []
        rewrite.supersede(
            end_user,
            targets,
            Memory.objects.of(end_user).get(pk=source),
            replace(resolution, ended=ended),
            actor="extractor",
            certainty=draft.extracted.confidence * edit_memories.MACHINE_CERTAINTY,
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
    """Makes outdated the memories that the user took back ``at`` some time (default: now): the
    ``memory_ids``, and those that rest only on these turns."""
    if not turn_ids and not memory_ids:
        return
    current = Memory.objects.of(end_user).active().facts()
    memories = current.filter(resting_on(turn_ids) | Q(pk__in=memory_ids)).defer("tokens")
    edit_memories.outdate(
        end_user,
        list(memories),
        actor="extractor",
        why=reasons.Reason("taken_back").stored,
        # It was never true.
        ending=Ending(at, datetime.min.replace(tzinfo=UTC), edit_memories.CERTAINTY["user"]),
    )


def note_people(end_user: EndUser, drafts: Iterable[Draft]) -> None:
    """Stores with each message the people that the memories resting on it are about, for the
    pronouns of the next messages. Only the last message of a memory counts, which states it;
    earlier ones explain it. The caller holds the end user's lock."""
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
    returns how many. Vectors that ``reembed`` has prepared are used as they are; unless
    ``current``, vectors are only prepared. ``until`` is a ``time.monotonic()`` after which no
    further chunk is begun. Call it outside any lock.

    A memory whose content changes meanwhile is left to the next call.
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
        new_vectors = model_calls.embed(end_user, embedder, [content for _, content in texts])
        embedded = [(*text, vector) for text, vector in zip(texts, new_vectors, strict=True)]
        filled = vectors.put(end_user.pk, space, embedded, current=current)
        done += filled
        progress(filled)
        if not filled and not ready:
            break
    return done
