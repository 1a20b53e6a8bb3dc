"""Kinds of memories that an end user does not want: attribute keys, such as health, and types."""

from collections.abc import Iterable
from dataclasses import replace

from accounts.cells import atomic
from accounts.changes import recording
from accounts.models import Change, EndUser
from memories.corrections.edit_memories import locked
from memories.types import Extraction, MemoryType

# Types that can be unwanted; the others apply to nearly everything.
TYPES = (MemoryType.PREFERENCE, MemoryType.PLAN, MemoryType.HEALTH, MemoryType.PROFESSIONAL)


def kinds(type_: str, keys: Iterable[str]) -> list[str]:
    """Returns the kinds of a memory of this type that states attributes with these keys."""
    of_type = [str(type_)] if type_ in TYPES else []
    return list(dict.fromkeys([*keys, *of_type]))


def without(end_user: EndUser, extraction: Extraction) -> Extraction:
    """Returns an extraction without the memories of kinds that the end user does not want."""
    if not end_user.unwanted:
        return extraction
    unwanted = {*end_user.unwanted}
    wanted = tuple(
        memory
        for memory in extraction.memories
        if unwanted.isdisjoint(kinds(memory.type, (fact.key for fact in memory.facts)))
    )
    return replace(extraction, memories=wanted)


@atomic()
def set_unwanted(end_user: EndUser, kind: str, *, actor: str, unwanted: bool) -> Change | None:
    """Sets whether memories of a kind are unwanted from now on; stored ones stay. Returns None if
    nothing changes. Raises InvalidCorrection."""
    user = locked(end_user)
    if (kind in user.unwanted) == unwanted:
        return None
    verb = "unwant" if unwanted else "want"
    with recording(user, verb, actor, kind) as (recorder, change):
        recorder.watch([user])
        user.unwanted = sorted({*user.unwanted} ^ {kind})
        user.save(update_fields=["unwanted"])
    return change
