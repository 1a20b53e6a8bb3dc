"""What merges and corrections may touch, to compare before and after, and what must hold
at any time."""

from typing import Any

from django.db import connection
from django.utils import timezone

from accounts.models import EndUser
from contacts import store
from contacts.models import Contact, ContactKey, Relation, Suggestion
from memories.corrections import derived
from memories.doctor import invariants
from memories.models import Edge, Link, Memory
from memories.types import AttributeValue, TimelineEvent

# What says only when a row was written, or is not there yet without the workers.
_LATER = {
    invariants.embeddings_are_current,
    invariants.schedules_are_installed,
    invariants.batches_have_no_gaps,
}


def knowledge(end_user: EndUser) -> dict[str, Any]:
    """All that is known of an end user's people, with everything derived from it. Which of several
    profiles that speak for a memory it points at is left open."""
    contacts = [*Contact.tracked, "pk", "card", "memory_ids"]
    memories = _rows(Memory, end_user, ["pk", *Memory.tracked, "tokens"])
    for memory in memories:
        memory["consolidated_into_id"] = memory["consolidated_into_id"] is not None
    return {
        "contacts": _rows(Contact, end_user, contacts),
        "keys": sorted(
            ContactKey.objects.of(end_user).values_list("contact", "key", "how", "text")
        ),
        "relations": _rows(Relation, end_user, ["pk", *Relation.tracked]),
        "suggestions": _rows(Suggestion, end_user, ["pk", *Suggestion.tracked]),
        "links": _rows(Link, end_user, ["pk", *Link.tracked]),
        "edges": _rows(Edge, end_user, ["pk", *Edge.tracked]),
        "memories": memories,
    }


def _rows(model: Any, end_user: EndUser, columns: list[str]) -> list[dict[str, Any]]:
    return list(model.objects.of(end_user).order_by("pk").values(*columns))


def assert_same(now: dict[str, Any], before: dict[str, Any], *kinds: str) -> None:
    """Both are equal; what differs is told row by row."""
    for kind in kinds or before:
        left = [row for row in now[kind] if row not in before[kind]]
        right = [row for row in before[kind] if row not in now[kind]]
        assert (left, right) == ([], []), (kind, _difference(left, right))


def _difference(left: list[Any], right: list[Any]) -> list[Any]:
    if len(left) != len(right) or not all(isinstance(row, dict) for row in left):
        return [left, right]
    return [
        {key: (one[key], other[key]) for key in one if one[key] != other[key]}
        for one, other in zip(left, right, strict=True)
    ]


def absorbed(contact: Contact, memory: Memory, key: str = "", value: str = "", event: str = ""):
    """The contact's profile has taken the memory in, as a consolidation leaves it."""
    contact.refresh_from_db()
    held = derived.profile_of(contact)
    patch = derived.profiles.apply(
        held,
        derived.profiles.ProfilePatch(
            attributes={key: (AttributeValue(value, (memory.id,)),)} if key else {},
            timeline=(TimelineEvent(event, "2025", (memory.id,)),) if event else (),
        ),
    )
    derived.set_profile(contact, patch)
    Link.objects.filter(contact=contact, memory=memory).update(consolidated_at=timezone.now())
    store.save(contact, derived.PROFILE_FIELDS)
    derived.write_profile_memory(contact)
    derived.point_at_profiles(contact.end_user, [memory.id])
    store.save(contact, [])


def assert_sound(end_user: EndUser) -> None:
    """Every invariant that the doctor knows of, but those that wait for workers, and those that
    the database looks at only when a transaction ends."""
    connection.check_constraints()
    problems = [
        f"{check.__name__}: {finding.problem} ({finding.subject})"
        for check in invariants.CHECKS
        if check not in _LATER
        for finding in check()
        if finding.end_user == end_user.pk
    ]
    assert not problems, problems
