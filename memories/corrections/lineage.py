"""The lineage of memories that were split, trimmed or merged: which memory speaks for which."""

from collections.abc import Collection, Mapping
from uuid import UUID

from accounts.changes import Recorder
from accounts.models import EndUser
from memories.models import Edge, Memory

MERGE, SPLIT, TRIM = "merge memories", "split memory", "trim"
MACHINE = "refiner"


def follow(end_user: EndUser, sources: Collection[UUID]) -> dict[UUID, UUID]:
    """For each of these memories that was merged: the memory that speaks for it now."""
    into: dict[UUID, UUID] = {}
    level = set(sources)
    while level:
        rows = Memory.objects.of(end_user).filter(pk__in=level).exclude(merged_into=None)
        found = {pk: end for pk, end in rows.values_list("pk", "merged_into") if end}
        into |= found
        level = {*found.values()} - into.keys()

    def end(pk: UUID) -> UUID:
        return end(into[pk]) if pk in into else pk

    return {pk: end(pk) for pk in into}


def relate(
    end_user: EndUser, wanted: Mapping[tuple[UUID, str, UUID], Edge], recorder: Recorder
) -> None:
    """Makes edges by (source, kind, target), each with the confidence and reason of its edge,
    where there is none yet."""
    sources, targets = {key[0] for key in wanted}, {key[2] for key in wanted}
    among = Edge.objects.of(end_user).filter(source__in=sources, target__in=targets)
    new = wanted.keys() - set(among.values_list("source", "kind", "target"))
    Edge.objects.bulk_create(
        [
            Edge(
                end_user=end_user, source_id=source, kind=kind, target_id=target,
                confidence=edge.confidence, reason=edge.reason,
            )
            for (source, kind, target), edge in wanted.items()
            if (source, kind, target) in new
        ]
    )  # fmt: skip
    made = [edge for edge in among.all() if (edge.source_id, edge.kind, edge.target_id) in new]
    recorder.watch(made, created=True)
