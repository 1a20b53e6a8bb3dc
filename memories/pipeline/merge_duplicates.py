"""Memories that overlap become one that says all that they say (MIRA's consolidation).

Hub-based: the memories that changed since the last run are compared with those of the same
people and type, the one with most near neighbours is the hub of a cluster, one provider call
proposes what of a cluster to join and another reviews it. What a model can't be trusted with
is decided before and after it: nothing is joined across different numbers, dates, values of
one attribute or speakers, and no proposal that loses or adds one of these is carried out.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

from django.utils import timezone

from accounts.cells import atomic
from accounts.models import EndUser
from accounts.reasons import Reason
from memories import model_calls
from memories.budget import Budget
from memories.corrections import lineage, rewrite
from memories.corrections.edit_memories import InvalidCorrection
from memories.faithfulness import adds, loses
from memories.models import Memory
from memories.pipeline import near_duplicates
from memories.providers.factory import embedder, memory_model, reviewing_provider
from memories.search import vectors
from memories.search.vectors import Embedded
from memories.types import Overlap, StoredMemory

# Memories compared at once.
CHUNK = 250
# Memories shown in one call that proposes, and proposals in one that reviews.
SHOWN, REVIEWED = 24, 10


def users_due() -> list[int]:
    """The end users with memories that were not compared since they were written; none without
    a model."""
    if memory_model() is None:
        return []
    return sorted(_uncompared().order_by().values_list("end_user", flat=True).distinct())


def merge_overlapping(end_user_id: int, budget: Budget) -> dict[str, int]:
    """Merges what overlaps among an end user's memories, within the budget; returns how many
    were compared, clusters found, proposals accepted and refused, memories merged and made,
    and provider calls.

    A memory is compared once, so that a second run does nothing. Re-raises ProviderError;
    what was done before it stays done.
    """
    done: Counter[str] = Counter(
        dict.fromkeys(("compared", "clusters", "refused", "merged", "into", "calls"), 0)
    )
    end_user = EndUser.objects.filter(pk=end_user_id).first()
    started = timezone.now()
    seen: set[UUID] = set()
    while end_user and memory_model() and budget.left:
        fresh = list(_uncompared().of(end_user).exclude(pk__in=seen).order_by("pk")[:CHUNK])
        if not fresh:
            break
        ids = {memory.pk for memory in fresh}
        made = {memory.pk for memory in fresh if memory.created_at >= started}
        pairs = near_duplicates.near_pairs(end_user, embedder(), ids)
        # With what was compared in this run all are that were there when it began.
        new = {pair for pair in pairs if seen.isdisjoint(pair) or not made.isdisjoint(pair)}
        _work_off(end_user, ids, new, budget, done)
        seen |= ids
    return dict(done)


def _uncompared() -> Any:
    """Memories that changed since they were compared and have a vector of today's space."""
    return Memory.objects.active().filter(
        kind=Memory.Kind.FACT, compared_at=None, embedding_model=vectors.space(embedder())
    )


def _work_off(
    end_user: EndUser,
    fresh: set[UUID],
    pairs: Collection[frozenset[UUID]],
    budget: Budget,
    done: Counter[str],
) -> None:
    """Merges what overlaps of these pairs, as far as the budget goes, and notes which of the
    fresh memories have been compared."""
    memories, graph = near_duplicates.fitting(end_user, pairs)
    clusters = near_duplicates.clusters(end_user, graph)
    proposals: list[tuple[Overlap, list[Memory]]] = []
    while clusters and budget.left:
        shown = [clusters.pop(0)]
        while clusters and sum(map(len, shown)) + len(clusters[0]) <= SHOWN:
            shown.append(clusters.pop(0))
        proposals += _proposed(end_user, [[memories[pk] for pk in one] for one in shown])
        budget.spend(calls=1)
        done.update(clusters=len(shown), calls=1)
    for start in range(0, len(proposals), REVIEWED):
        _carry_out(end_user, proposals[start : start + REVIEWED], done)
        budget.spend(calls=1)
        done["calls"] += 1
    compared = fresh - {pk for left in clusters for pk in left}
    rows = Memory.objects.of(end_user).filter(pk__in=compared)
    with atomic():
        EndUser.objects.lock(end_user.pk)
        changed = rows.update(compared_at=timezone.now())
    budget.spend(rows=changed)
    done["compared"] += changed


def _proposed(
    end_user: EndUser, clusters: Sequence[Sequence[Memory]]
) -> list[tuple[Overlap, list[Memory]]]:
    """What the provider, shown these clusters in one call, would join, with the members: each
    memory once, and only what is of one cluster."""
    if (provider := memory_model()) is None:
        return []
    shown = [memory.as_stored() for cluster in clusters for memory in cluster]
    overlaps = model_calls.ask(
        end_user, provider, "propose", lambda: provider.propose(shown, end_user.reads)
    )
    groups = [{memory.pk: memory for memory in cluster} for cluster in clusters]
    taken: set[UUID] = set()
    found = []
    for overlap in overlaps:
        members = set(overlap.members)
        group = next((one for one in groups if members <= one.keys() - taken), None)
        if group is not None and len(members) > 1:
            taken |= members
            found.append((overlap, [group[pk] for pk in overlap.members]))
    return found


def _carry_out(
    end_user: EndUser, proposals: Sequence[tuple[Overlap, list[Memory]]], done: Counter[str]
) -> None:
    """Merges what the reviewer accepts of these proposals and what is seen to be faithful."""
    if (provider := reviewing_provider()) is None:
        return
    shown: list[tuple[Overlap, list[StoredMemory]]] = [
        (overlap, [memory.as_stored() for memory in members]) for overlap, members in proposals
    ]
    reviews = model_calls.ask(
        end_user, provider, "review", lambda: provider.review(shown, end_user.reads)
    )
    made = []
    for (overlap, members), review in zip(proposals, reviews, strict=True):
        contents = [memory.content for memory in members]
        if not review.accepted or not _faithful(overlap.content, contents):
            done["refused"] += 1
            continue
        try:
            memory, _ = rewrite.merge_memories(
                end_user,
                overlap.members,
                overlap.content,
                actor=lineage.MACHINE,
                why=Reason("overlapping", reason=overlap.reason).stored,
            )
        except InvalidCorrection:  # one of them has changed meanwhile
            done["refused"] += 1
            continue
        made.append(memory)
        done.update(merged=len(members), into=1)
    _embed(end_user, made)


def _faithful(content: str, members: Sequence[str]) -> bool:
    return not adds(content, members) and not any(loses(content, text) for text in members)


def _embed(end_user: EndUser, made: Sequence[Memory]) -> None:
    """Merged memories get their vectors at once, so that this run compares them as well."""
    found = model_calls.embed(end_user, embedder(), [memory.content for memory in made])
    vectors.put(
        end_user.pk,
        vectors.space(embedder()),
        [Embedded(m.pk, m.content, vector) for m, vector in zip(made, found, strict=True)],
        current=True,
    )
