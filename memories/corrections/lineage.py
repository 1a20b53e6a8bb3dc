"""What the verbs of ``memories.corrections.rewrite`` left behind, as others have to know of it: which
memory speaks for one that was merged, and what rests on a change that is to be undone."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any
from uuid import UUID

from django.db.models import Q

from accounts.changes import CannotUndo
from accounts.models import Change, EndUser
from accounts.reasons import Reason
from memories.models import Link, Memory
from memories.types import Profile

MERGE, SPLIT, TRIM = "merge memories", "split memory", "trim"
# Reshapings by this actor follow from what is known: they may be taken back with it.
MACHINE = "refiner"

_MEMORY, _LINK = Memory._meta.label_lower, Link._meta.label_lower
# What somebody did to a merged memory that those it speaks for would forget.
_LOST = {
    _MEMORY: {"status", "content", "merged_into_id"},
    _LINK: {"rejected"},
}
Row = tuple[str, str]


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


def told_alike(change: Change) -> bool:
    """Whether profiles know just as much of what a change tells as before it: it only said
    the same in other words, and no profile has read or forgotten these since."""
    if change.verb == TRIM:
        return True
    made = {
        row["id"]: (row["after"]["contact_id"], row["after"]["consolidated_at"])
        for row in change.rows
        if row["model"] == _LINK and row["before"] is None
    }
    rows = Link.objects.of(change.end_user_id).filter(pk__in=made)
    held = {
        str(pk): (str(contact), at and at.isoformat())
        for pk, contact, at in rows.values_list("pk", "contact", "consolidated_at")
    }
    return change.verb == MERGE and held == made


def resting_on(change: Change, others: Iterable[Change] = ()) -> list[Change]:
    """The merges and splits of memories made after ``change`` with a memory that it, or one
    of ``others``, touched: they are taken back before it. The latest first.

    Raises CannotUndo where a person made one of them: it is theirs to undo.
    """
    touched = set().union(*(_touched(one) for one in (change, *others)))
    if not touched:
        return []
    later = Change.objects.of(change.end_user_id).filter(
        verb__in=(MERGE, SPLIT), undone_at=None, created_at__gt=change.created_at
    )
    found = []
    for reshaping in later.order_by("created_at"):
        if touched.isdisjoint(theirs := _touched(reshaping)):
            continue
        if reshaping.actor != MACHINE:
            raise CannotUndo(Reason("memories_reshaped"))
        touched |= theirs
        found.append(reshaping)
    for one in (change, *found):
        _assert_as_made(one, found)
    return found[::-1]


def _touched(change: Change) -> set[Row]:
    """The memories that a change touched, themselves or by a link, and these links."""
    found: set[Row] = set()
    links = []
    for row in change.rows:
        if row["model"] == _MEMORY or row["model"] == _LINK:
            found.add((row["model"], row["id"]))
        if row["model"] == _LINK:
            links.append(row["id"])
            sides = (row["before"] or {}, row["after"] or {})
            found |= {(_MEMORY, side["memory_id"]) for side in sides if "memory_id" in side}
    held = Link.objects.of(change.end_user_id).filter(pk__in=links)
    return found | {(_MEMORY, str(pk)) for pk in held.values_list("memory", flat=True)}


def _assert_as_made(change: Change, besides: Collection[Change]) -> None:
    """Raises CannotUndo where a merged memory was corrected since: the memories that it
    speaks for know nothing of that, and would say again what is no longer wanted."""
    made = [
        {"model": row["model"], "id": row["id"]}
        for row in change.rows
        if change.verb == MERGE and row["before"] is None and row["model"] in _LOST
    ]
    if not made:
        return
    named = Q()
    for row in made:
        named |= Q(rows__contains=[row])
    since = Change.objects.of(change.end_user_id).filter(
        named, undone_at=None, created_at__gt=change.created_at
    )
    for later in since.exclude(pk__in=[one.pk for one in besides]):
        if any(_corrects(row) for row in later.rows if _key(row) in made):
            raise CannotUndo(Reason("merge_corrected"))


def _key(row: dict[str, Any]) -> dict[str, Any]:
    return {"model": row["model"], "id": row["id"]}


def _corrects(row: dict[str, Any]) -> bool:
    return row["after"] is None or not _LOST[row["model"]].isdisjoint(row["after"])
