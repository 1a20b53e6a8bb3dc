"""Kinds of memories that the end user wants none of: keys of attributes, such as health, and types."""

from collections.abc import Iterable
from dataclasses import replace

from accounts.cells import atomic
from accounts.changes import recording
from accounts.models import Change, EndUser
from memories.corrections.edit_memories import locked
from memories.types import Extraction, MemoryType

# Of a memory without facts; the other types are of nearly everything.
TYPES = (MemoryType.PREFERENCE, MemoryType.PLAN, MemoryType.HEALTH, MemoryType.PROFESSIONAL)


def kinds(type_: str, keys: Iterable[str]) -> list[str]:
    """The kinds of a memory of this type that states attributes with these keys."""
    of_type = [str(type_)] if type_ in TYPES else []
    return list(dict.fromkeys([*keys, *of_type]))


def without(end_user: EndUser, extraction: Extraction) -> Extraction:
    """An extraction without the memories of kinds that the end user wants none of."""
    if not end_user.unwanted:
        return extraction
    none_of = {*end_user.unwanted}
    left = tuple(
        one
        for one in extraction.memories
        if none_of.isdisjoint(kinds(one.type, (fact.key for fact in one.facts)))
    )
    return replace(extraction, memories=left)


@atomic()
def set_unwanted(end_user: EndUser, kind: str, *, actor: str, unwanted: bool) -> Change | None:
    """Says whether memories of a kind are wanted from now on; what is known stays. None when it is
    so already. Raises InvalidCorrection."""
    held = locked(end_user)
    if (kind in held.unwanted) == unwanted:
        return None
    verb = "unwant" if unwanted else "want"
    with recording(held, verb, actor, kind) as (recorder, change):
        recorder.watch([held])
        held.unwanted = sorted({*held.unwanted} ^ {kind})
        held.save(update_fields=["unwanted"])
    return change
