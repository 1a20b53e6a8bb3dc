"""The lineage of memories that were split, trimmed or merged: which memory speaks for which."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from uuid import UUID

from accounts.models import EndUser
from memories.models import Memory
from memories.types import Profile

MERGE, SPLIT, TRIM = "merge memories", "split memory", "trim"
MACHINE = "refiner"


def renamed(profile: Profile, names: Mapping[UUID, Collection[UUID]]) -> Profile:
    """``profile`` resting on ``names[source]`` wherever it rested on a source among these."""

    def now(sources: Iterable[UUID]) -> tuple[UUID, ...]:
        return tuple(dict.fromkeys(pk for source in sources for pk in names.get(source, (source,))))

    return Profile(
        attributes={
            key: tuple(replace(value, sources=now(value.sources)) for value in values)
            for key, values in profile.attributes.items()
        },
        personality=profile.personality,
        personality_sources=now(profile.personality_sources),
        timeline=tuple(replace(event, sources=now(event.sources)) for event in profile.timeline),
    )


def follow(end_user: EndUser, sources: Collection[UUID]) -> dict[UUID, tuple[UUID]]:
    """For each of these memories that was merged: the memory that speaks for it now."""
    into: dict[UUID, UUID] = {}
    level = set(sources)
    while level:
        rows = Memory.objects.of(end_user).filter(pk__in=level).exclude(merged_into=None)
        found = {pk: end for pk, end in rows.values_list("pk", "merged_into") if end}
        into |= found
        level = {*found.values()} - into.keys()
    last = {}
    for pk in into:
        end = pk
        while end in into:
            end = into[end]
        last[pk] = (end,)
    return last
