"""Which memories may say the same: near in meaning, of the same people, with nothing that
speaks against it, in clusters around hubs (MIRA)."""

import math
from collections import defaultdict
from collections.abc import Collection, Mapping
from itertools import combinations
from uuid import UUID

from django.db.models import Count

from accounts.cells import connection
from accounts.models import Change, EndUser
from memories.corrections import lineage
from memories.faithfulness import numbers
from memories.models import Corpus, Edge, Memory, Posting
from memories.providers.embeddings import Embedder
from memories.providers.thresholds import calibration_of
from memories.search.tokens import own
from memories.search.vectors import space
from understanding.attributes import is_single
from understanding.text import folded

# Of the words of the shorter of two, weighed by how rare they are for this user, so much must
# stand in the other too: "likes chess" and "likes opera" are near, and share little.
SHARED = 0.5
# Neighbours read of each memory, members of a cluster.
NEIGHBOURS, LARGEST = 24, 8
# Hearsay is not joined with what is known (memories.types.ExtractedMemory).
HEARSAY = 0.6

_APART = (Edge.Kind.PART_OF, Edge.Kind.CONFLICTS, Edge.Kind.INVALIDATED_BY, Edge.Kind.SUPERSEDES)

# Only memories of one type and speaker about exactly the same people meet at all, so that the distances
# of one chunk are far fewer than chunk × memories. The user's vectors are read once.
_PAIRS = """
WITH mine AS MATERIALIZED (
    SELECT m.id, m.type, m.speaker, v.embedding, about.people
    FROM memories_memory m
    JOIN memories_vector v ON v.end_user_id = m.end_user_id AND v.memory_id = m.id
        AND v.space = %(space)s
    CROSS JOIN LATERAL (
        SELECT COALESCE(array_agg(l.contact_id ORDER BY l.contact_id), '{}') AS people
        FROM memories_link l WHERE l.memory_id = m.id AND NOT l.rejected) about
    WHERE m.end_user_id = %(end_user)s AND m.status = 'active' AND m.kind = 'fact')
SELECT id, other FROM (
    SELECT a.id, b.id AS other, rank() OVER (
        PARTITION BY a.id ORDER BY a.embedding <=> b.embedding, b.id) AS place
    FROM mine a JOIN mine b USING (type, people, speaker)
    WHERE a.id = ANY (%(fresh)s) AND a.id <> b.id AND a.embedding <=> b.embedding <= %(far)s
) near WHERE place <= %(most)s
"""


def near_pairs(
    end_user: EndUser, embedder: Embedder, fresh: Collection[UUID]
) -> set[frozenset[UUID]]:
    """Pairs of near memories, one of each among ``fresh``: one statement."""
    with connection.cursor() as cursor:
        cursor.execute(
            _PAIRS,
            {
                "space": space(embedder),
                "end_user": end_user.pk,
                "fresh": list(fresh),
                "far": 1 - calibration_of(embedder.model).near_duplicate,
                "most": NEIGHBOURS,
            },
        )
        return {frozenset(pair) for pair in cursor.fetchall()}


def fitting(
    end_user: EndUser, pairs: Collection[frozenset[UUID]]
) -> tuple[Mapping[UUID, Memory], dict[UUID, dict[UUID, float]]]:
    """The memories of these pairs, and for each those that may say the same, with the share of
    words that both have."""
    memories = Memory.objects.of(end_user).in_bulk({pk for pair in pairs for pk in pair})
    words = {pk: set(own(memory.tokens)) for pk, memory in memories.items()}
    weights = _weights(end_user, set().union(*words.values()))
    apart = _undone(end_user) | _told_apart(end_user, memories)
    graph: dict[UUID, dict[UUID, float]] = defaultdict(dict)
    for one, other in map(sorted, pairs):
        a, b = memories.get(one), memories.get(other)
        if a is None or b is None or frozenset((one, other)) in apart or not _compatible(a, b):
            continue
        shared = _shared(words[one], words[other], weights)
        if shared >= SHARED:
            graph[one][other] = graph[other][one] = shared
    return memories, graph


def _weights(end_user: EndUser, tokens: Collection[str]) -> dict[str, float]:
    """How much each word tells: the inverse of its frequency among the user's memories."""
    rows = (
        Posting.objects.of(end_user)
        .filter(token__in=tokens, status=Memory.Status.ACTIVE)
        .order_by()
        .values_list("token")
        .annotate(Count("memory"))
    )
    held = Corpus.objects.of(end_user).filter(status=Memory.Status.ACTIVE)
    everything = held.values_list("size", flat=True).first() or 1
    return {token: math.log(1 + everything / times) for token, times in rows}


def _shared(one: set[str], other: set[str], weights: Mapping[str, float]) -> float:
    def weight(words: set[str]) -> float:
        return sum(weights.get(word, 0.0) for word in words)

    least = min(weight(one), weight(other))
    return weight(one & other) / least if least else 1.0


def _undone(end_user: EndUser) -> set[frozenset[UUID]]:
    """Pairs that were merged once and taken apart by somebody, or what these were merged into
    since: never merged again."""
    changes = Change.objects.of(end_user).filter(verb=lineage.MERGE).exclude(undone_at=None)
    groups = [
        [UUID(pk) for pk in subjects[1:]] for subjects in changes.values_list("subjects", flat=True)
    ]
    now = lineage.follow(end_user, {pk for group in groups for pk in group})
    return {
        frozenset(pair)
        for group in groups
        for pair in combinations(sorted({now.get(pk, pk) for pk in group}), 2)
    }


def _told_apart(end_user: EndUser, memories: Collection[UUID]) -> set[frozenset[UUID]]:
    """Pairs of which an edge says that they are not the same, or a piece and its whole."""
    edges = Edge.objects.of(end_user).filter(
        source__in=memories, target__in=memories, kind__in=_APART
    )
    return {frozenset(pair) for pair in edges.values_list("source", "target")}


def _compatible(one: Memory, other: Memory) -> bool:
    """Whether nothing speaks against the two saying the same: numbers and dates, times, the
    values of single attributes, and how sure they are."""
    mine, theirs = numbers(one.content), numbers(other.content)
    if mine and theirs and mine != theirs:
        return False
    if (one.confidence < HEARSAY) != (other.confidence < HEARSAY):
        return False
    for moment in ("happens_there", "valid_from", "valid_to", "expires_at"):
        a, b = getattr(one, moment), getattr(other, moment)
        if a and b and a.replace(tzinfo=None) != b.replace(tzinfo=None):
            return False
    if bool(one.valid_to) != bool(other.valid_to):
        return False
    known = {(f["person"], f["key"]): _plain(f["value"]) for f in one.facts if is_single(f["key"])}
    for fact in other.facts:
        held = known.get((fact["person"], fact["key"]), _plain(fact["value"]))
        if held not in _plain(fact["value"]) and _plain(fact["value"]) not in held:
            return False
    return True


def _plain(value: object) -> str:
    return folded(str(value)).replace(" ", "")


def clusters(end_user: EndUser, graph: Mapping[UUID, Mapping[UUID, float]]) -> list[list[UUID]]:
    """Each hub with its near neighbours, which fit each other too; a memory is in one cluster
    at most. The hub is who has most neighbours, then most inbound edges (MIRA)."""
    inbound = dict(
        Edge.objects.of(end_user)
        .filter(target__in=graph)
        .order_by()
        .values_list("target")
        .annotate(Count("pk"))
    )
    order = sorted(graph, key=lambda pk: (-len(graph[pk]), -inbound.get(pk, 0), pk))
    taken: set[UUID] = set()
    found = []
    for hub in order:
        if hub in taken:
            continue
        members = [hub]
        near = graph[hub].keys() - taken
        for pk in sorted(near, key=lambda pk: (-graph[hub][pk], pk)):
            if len(members) < LARGEST and all(pk in graph[m] or m == hub for m in members):
                members.append(pk)
        if len(members) > 1:
            taken.update(members)
            found.append(members)
    return found
