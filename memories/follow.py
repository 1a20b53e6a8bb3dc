"""What follows a change of a contact, in the background."""

from uuid import UUID

from django.db import transaction

from accounts.models import EndUser
from contacts.models import Contact
from memories import derived
from memories.pipeline import backfill
from memories.pipeline.embed import embed_missing
from memories.providers.configured import embedder


def contact_changed(contact_id: str) -> None:
    """Rewrites the contact's profile memory and links the memories that name it now."""
    contact = Contact.objects.standing().filter(pk=UUID(contact_id)).light().first()
    if contact is None:
        return
    with transaction.atomic():
        end_user = EndUser.objects.lock(contact.end_user_id)
        current = Contact.objects.standing().filter(pk=contact.pk).light().first()
        if end_user is None or current is None:
            return
        current.end_user = end_user
        derived.write_profile_memory(current)
    backfill.link_contact(contact.pk)
    embed_missing(end_user, embedder())
