"""Links memories to people they name but were never linked to, so that the text fallback
of retrieval is needed ever less."""

from uuid import UUID

from django.db import transaction

from accounts.models import EndUser
from contacts import identity
from contacts.matching import entries_of, find_mentions
from contacts.models import Contact
from memories import linking
from memories.models import Link
from memories.people import unlinked_naming

# A machine's later guess is less sure than what extraction said at the time.
CONFIDENCE = 0.7
MIN_MENTION = 0.8
CHUNK = 500


def link_contact(contact_id: UUID) -> int:
    """Links a contact to the memories that name it; returns how many links are new.

    A rejected link stays rejected, and a doubtful mention makes none.
    """
    contact = Contact.objects.filter(pk=contact_id).standing().light().first()
    if contact is None:
        return 0
    candidates = unlinked_naming(contact)
    entries = entries_of([contact.person])
    found = [
        memory["id"]
        for memory in candidates.values("id", "content").order_by("id")[:CHUNK]
        if any(
            m.confidence >= MIN_MENTION and m.how != "fuzzy"
            for m in find_mentions(memory["content"], entries)
        )
    ]
    if not found:
        return 0
    with transaction.atomic():
        end_user = EndUser.objects.lock(contact.end_user_id)
        current = Contact.objects.filter(pk=contact_id).standing().light().first()
        if end_user is None or current is None:
            return 0
        made = linking.link(
            end_user, [(memory, current, CONFIDENCE) for memory in found], Link.MadeBy.BACKFILL
        )
        if made:
            identity.save(current, [])
    return made
