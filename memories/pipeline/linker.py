"""The one way in which machines link memories to contacts."""

from collections.abc import Iterable
from uuid import UUID

from accounts.models import EndUser
from contacts.models import Contact
from memories.models import Link, Memory


def link(
    end_user: EndUser,
    memory_contacts: Iterable[tuple[Memory | UUID, Contact | UUID, float]],
    made_by: str,
) -> int:
    """Links memories to contacts with a confidence in 0..1; returns how many links are new.

    A link that exists stays as it is, so one that an operator rejected is never made again. A
    memory that is gone by now, or was merged into another, is about nobody. Call it inside a
    transaction that holds the end user's lock.
    """
    links = [
        Link(
            end_user=end_user,
            memory_id=getattr(memory, "id", memory),
            contact_id=getattr(contact, "id", contact),
            confidence=confidence,
            made_by=made_by,
        )
        for memory, contact, confidence in memory_contacts
    ]
    ids = {link.memory_id for link in links}
    held = set(
        Link.objects.of(end_user).filter(memory__in=ids).values_list("memory_id", "contact_id")
    )
    memories = Memory.objects.of(end_user).filter(merged_into=None)
    there = set(memories.filter(pk__in=ids).values_list("pk", flat=True))
    fresh = {
        (link.memory_id, link.contact_id): link
        for link in links
        if link.memory_id in there and (link.memory_id, link.contact_id) not in held
    }
    Link.objects.bulk_create(fresh.values(), ignore_conflicts=True)
    return len(fresh)


def note_unlinked(end_user_id: int) -> None:
    """Notes of a user whether some memory of people is linked to nobody: who looks for such memories
    of all users then looks at few of them."""
    has = Memory.objects.unlinked([end_user_id]).exists()
    EndUser.objects.filter(pk=end_user_id, has_unlinked=not has).update(has_unlinked=has)
