"""Splits or shortens long memories that are read often, and merges memories that overlap into one
that states all that they state (MIRA's refinement and consolidation).

A model is shown groups: a long memory alone, or a hub with the memories near to it. Its proposal
is carried out only if it neither adds nor loses a number, date, name or negation; a merge is
reviewed by a second model as well. The original of a split stays beside its pieces.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import combinations
from typing import Any
from uuid import UUID

from django.db.models import Count
from django.db.models.functions import Length
from django.utils import timezone

from accounts.cells import atomic, fetch
from accounts.models import Change, EndUser
from accounts.reasons import Reason
from accounts.sql_files import sql_pieces
from memories import model_calls
from memories.budget import Budget
from memories.corrections import derived, rewrite
from memories.corrections.edit_memories import InvalidCorrection
from memories.faithfulness import adds, loses, numbers
from memories.models import Edge, Memory, MemoryQuerySet, Posting
from memories.providers.factory import embedder, memory_model, reviewing_provider
from memories.providers.thresholds import calibration_of
from memories.search.tokens import own, tokenise
from memories.types import Rewrite
from understanding.attributes import is_single
from understanding.text import estimate_tokens, folded

# MIRA: longer than a threshold, at least 7 days old, accessed at least 5 times. It
# names no length: 50 tokens are about 50 Chinese characters or 35 English words, twice an
# ordinary memory.
LONG = 50
OLD = timedelta(days=7)
READ = 5
# Long memories, and changed ones that are compared with others, processed in one round.
LONG_AT_ONCE, COMPARED_AT_ONCE = 10, 250
# At most: neighbours read of each memory, members of a group, memories shown in one call.
NEIGHBOURS, LARGEST, SHOWN = 24, 8, 24
# Of the words of the shorter of two, weighted by how rare they are for this user, the other must
# contain this share: "likes chess" and "likes opera" are near, and share little.
SHARED = 0.5
# Hearsay is not merged with what is certain (memories.types.ExtractedMemory).
HEARSAY = 0.6
# The share of new words that a wording may have, to form a sentence.
OWN_WORDS = 0.3

ACTOR = "refiner"
_APART = (Edge.Kind.PART_OF, Edge.Kind.CONFLICTS, Edge.Kind.INVALIDATED_BY, Edge.Kind.SUPERSEDES)
_SQL = sql_pieces(__file__)
_TIMES = ("happens_there", "valid_from", "valid_to", "expires_at")


def users_due() -> list[int]:
    """Returns the ids of end users with memories to refine; none without a model."""
    if memory_model() is None:
        return []
    due = (rows.order_by().values_list("end_user", flat=True) for rows in (_long(), _uncompared()))
    return sorted(set().union(*due))


def refine_user(end_user_id: int, budget: Budget) -> dict[str, int]:
    """Refines the memories of an end user that are due, within the budget; returns the counts of
    memories looked at, split, trimmed, merged and made by merging, of proposals discarded, and of
    model calls.

    A memory is looked at once, whatever the outcome. Re-raises ProviderError; what was done
    before it stays done.
    """
    done = Counter(looked_at=0, split=0, trimmed=0, merged=0, into=0, discarded=0, calls=0)
    end_user = EndUser.objects.filter(pk=end_user_id).first()
    while end_user and memory_model() and budget.left:
        long = list(_long().of(end_user).order_by("pk")[:LONG_AT_ONCE])
        fresh = {m.pk for m in _uncompared().of(end_user).order_by("pk")[:COMPARED_AT_ONCE]}
        if not long and not fresh:
            break
        groups = [[memory] for memory in long if estimate_tokens(memory.content) >= LONG]
        groups += near_groups(end_user, fresh)
        while groups and budget.left:
            shown = [groups.pop(0)]
            while groups and sum(map(len, shown)) + len(groups[0]) <= SHOWN:
                shown.append(groups.pop(0))
            calls_before = done["calls"]
            _refine(end_user, shown, done)
            budget.spend(calls=done["calls"] - calls_before)
        left = {memory.pk for group in groups for memory in group}
        now = timezone.now()
        with atomic():
            EndUser.objects.lock(end_user.pk)
            rows = Memory.objects.of(end_user)
            count = rows.filter(pk__in={memory.pk for memory in long} - left).update(refined_at=now)
            count += rows.filter(pk__in=fresh - left).update(compared_at=now)
        budget.spend(rows=count)
        done["looked_at"] += count
    return dict(done)


def _long() -> MemoryQuerySet:
    """Returns candidates by their number of characters, which is at least the number of tokens."""
    rows = Memory.objects.active().facts().annotate(characters=Length("content"))
    rows = rows.filter(refined_at=None, access_count__gte=READ, characters__gte=LONG)
    return rows.filter(created_at__lte=timezone.now() - OLD)


def _uncompared() -> MemoryQuerySet:
    """Returns memories changed since they were compared, with a vector of the current space."""
    return (
        Memory.objects.active().facts().filter(compared_at=None, embedding_model=embedder().space)
    )


def near_groups(end_user: EndUser, fresh: Collection[UUID]) -> list[list[Memory]]:
    """Returns groups of memories that may state the same: a hub, which has the most near
    neighbours, and those of them that are near to each other too. One of each near pair is in
    ``fresh``. A memory is in one group at most."""
    pairs = near_pairs(end_user, fresh)
    memories = Memory.objects.of(end_user).in_bulk({pk for pair in pairs for pk in pair})
    edges = Edge.objects.of(end_user).filter(source__in=memories, target__in=memories)
    distinct_pairs = edges.filter(kind__in=_APART).values_list("source", "target")
    # The weight of each word: its inverse frequency among the user's memories, as a logarithm.
    words = {word for m in memories.values() for word in own(m.tokens)}
    postings = Posting.objects.of(end_user).filter(token__in=words, status=Memory.Status.ACTIVE)
    counts = postings.order_by().values_list("token").annotate(Count("memory"))
    total = Memory.objects.of(end_user).active().count()
    weights = {word: math.log(1 + total / times) for word, times in counts}
    near: dict[UUID, dict[UUID, float]] = defaultdict(dict)
    for one, other in pairs - _undone_merges(end_user) - set(map(frozenset, distinct_pairs)):
        a, b = memories.get(one), memories.get(other)
        if a is None or b is None:  # erased meanwhile
            continue
        if (shared := _shared_weight(a, b, weights)) >= SHARED and not _differ(a, b):
            near[one][other] = near[other][one] = shared
    groups: list[list[Memory]] = []
    grouped: set[UUID] = set()
    for hub in sorted(near, key=lambda pk: (-len(near[pk]), pk)):
        members = [hub]
        others = near[hub].keys() - grouped if hub not in grouped else set()
        for pk in sorted(others, key=lambda pk: (-near[hub][pk], pk)):
            if len(members) < LARGEST and near[pk].keys() >= set(members):
                members.append(pk)
        if len(members) > 1:
            grouped.update(members)
            groups.append([memories[pk] for pk in members])
    return groups


def near_pairs(end_user: EndUser, fresh: Collection[UUID]) -> set[frozenset[UUID]]:
    """Returns pairs of memories near in meaning, one of each in ``fresh``. One statement."""
    params = {
        "space": embedder().space,
        "end_user": end_user.pk,
        "fresh": list(fresh),
        "far": 1 - calibration_of(embedder().model).near_duplicate,
        "most": NEIGHBOURS,
    }
    return {frozenset(pair) for pair in fetch(_SQL["pairs"], params)}


def _undone_merges(end_user: EndUser) -> set[frozenset[UUID]]:
    """Returns the pairs whose merge somebody undid, or what they were merged into since."""
    changes = Change.objects.of(end_user).filter(verb=rewrite.MERGE).exclude(undone_at=None)
    merged = [[UUID(pk) for pk in ids[1:]] for ids in changes.values_list("subjects", flat=True)]
    successors = derived.follow_merged(end_user, {pk for ids in merged for pk in ids})
    return {
        frozenset(pair)
        for ids in merged
        for pair in combinations({successors.get(pk, pk) for pk in ids}, 2)
    }


def _shared_weight(one: Memory, other: Memory, weights: Mapping[str, float]) -> float:
    """Returns the share, by weight, of the words of the shorter memory that the other has too."""
    words, others = set(own(one.tokens)), set(own(other.tokens))
    common, *totals = (
        sum(weights.get(word, 0.0) for word in some) for some in (words & others, words, others)
    )
    return common / min(totals) if min(totals) else 1.0


def _differ(one: Memory, other: Memory) -> bool:
    """Whether the two differ in a number, date, time or the value of a single attribute, or only
    one of them has ended or is hearsay."""
    pairs: list[tuple[Any, Any]] = [(numbers(one.content), numbers(other.content))]
    pairs += [(getattr(one, name), getattr(other, name)) for name in _TIMES]
    for a, b in pairs:
        if isinstance(a, datetime) and b:
            a, b = a.replace(tzinfo=None), b.replace(tzinfo=None)
        if a and b and a != b:
            return True

    def plain(fact: dict[str, str]) -> str:
        return folded(str(fact["value"])).replace(" ", "")

    values = {(f["person"], f["key"]): plain(f) for f in one.facts if is_single(f["key"])}
    for fact in other.facts:
        value, other_value = plain(fact), values.get((fact["person"], fact["key"]), "")
        if other_value not in value and value not in other_value:
            return True
    is_over = bool(one.valid_to) != bool(other.valid_to)
    return is_over or (one.confidence < HEARSAY) != (other.confidence < HEARSAY)


def _refine(end_user: EndUser, groups: Sequence[Sequence[Memory]], done: Counter[str]) -> None:
    """Asks the models about these groups and carries out faithful proposals; counts in ``done``."""
    provider, reviewer = memory_model(), reviewing_provider()
    if provider is None or reviewer is None:
        return
    shown = [[memory.as_stored() for memory in group] for group in groups]
    rewrites = model_calls.ask(
        end_user, provider, "refine", lambda: provider.refine(shown, end_user.writing_language)
    )
    done["calls"] += 1
    memories = {memory.pk: memory for group in groups for memory in group}
    faithful = [
        one for one in rewrites if _is_faithful(one.texts, [memories[pk] for pk in one.ids])
    ]
    done["discarded"] += len(rewrites) - len(faithful)
    if merges := [one for one in faithful if len(one.ids) > 1]:
        proposals = [(one, [memories[pk].as_stored() for pk in one.ids]) for one in merges]
        accepted = model_calls.ask(
            end_user,
            reviewer,
            "review",
            lambda: reviewer.review(proposals, end_user.writing_language),
        )
        done["calls"] += 1
        refused = [one for one, is_right in zip(merges, accepted, strict=True) if not is_right]
        done["discarded"] += len(refused)
        faithful = [one for one in faithful if one not in refused]
    for one in faithful:
        try:
            done.update(_carry_out(end_user, one))
        except InvalidCorrection:  # the memory has changed meanwhile
            done["discarded"] += 1


def _is_faithful(texts: Sequence[str], memories: Sequence[Memory]) -> bool:
    """Whether the texts add nothing, and a single one, which replaces memories, loses nothing."""
    sources = [memory.content for memory in memories]
    known_words = set(tokenise(" ".join(sources)))
    for text in texts:
        words = set(tokenise(text))
        if adds(text, sources) or len(words - known_words) > OWN_WORDS * len(words):
            return False
    if len(texts) > 1:  # the original stays beside its pieces
        return True
    values = [str(f["value"]) for m in memories for f in m.facts if str(f["value"]) in m.content]
    return all(value in texts[0] for value in values) and not any(
        loses(texts[0], source) for source in sources
    )


def _carry_out(end_user: EndUser, proposal: Rewrite) -> dict[str, int]:
    """Splits, trims or merges as proposed; returns the counts. Raises InvalidCorrection."""
    if len(proposal.ids) > 1:
        why = Reason("overlapping", reason=proposal.reason).stored
        rewrite.merge_memories(end_user, proposal.ids, proposal.texts[0], actor=ACTOR, why=why)
        return {"merged": len(proposal.ids), "into": 1}
    why = Reason("verbose", reason=proposal.reason).stored
    if len(proposal.texts) > 1:
        rewrite.split(end_user, proposal.ids[0], proposal.texts, actor=ACTOR, why=why)
        return {"split": 1}
    rewrite.trim(end_user, proposal.ids[0], proposal.texts[0], actor=ACTOR, why=why)
    return {"trimmed": 1}
