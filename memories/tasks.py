"""What the queue runs: each takes ids, does one pipeline call, and may run twice."""

from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from accounts.models import EndUser
from contacts import identity
from contacts.models import Contact
from memories import derived, suggesting
from memories.models import Batch, Consolidation
from memories.pipeline import backfill, buffer, run
from memories.pipeline.embed import embed_missing
from memories.providers.configured import embedder
from memories.queue import enqueue

# Twice the interval of the job, so that a late run misses nothing; comparing again is harmless.
SUGGEST_BACK = timedelta(hours=2)


def extract(end_user_id: int) -> None:
    """Extracts what is due for an end user, then consolidates when that is due."""
    while run.extract_next(end_user_id):
        pass
    end_user = EndUser.objects.filter(pk=end_user_id).first()
    if end_user is not None and run.consolidation_due(end_user):
        enqueue("consolidate", end_user_id)


def consolidate(end_user_id: int) -> None:
    run.consolidate_user(end_user_id)


def process(end_user_id: int) -> None:
    run.process(end_user_id)


def embed(end_user_id: int) -> None:
    """Embeds what a correction left without a vector."""
    end_user = EndUser.objects.filter(pk=end_user_id).first()
    if end_user is not None:
        embed_missing(end_user, embedder())


def render_cards(end_user_id: int) -> None:
    """Renders all cards anew, when the end user has changed their language."""
    for contact in Contact.objects.of(end_user_id).standing().values_list("pk", flat=True):
        contact_changed(str(contact))


def contact_changed(contact_id: str) -> None:
    """Renders a contact's card and profile memory, and links the memories that name it now."""
    contact = Contact.objects.standing().filter(pk=UUID(contact_id)).light().first()
    if contact is None:
        return
    with transaction.atomic():
        end_user = EndUser.objects.lock(contact.end_user_id)
        current = Contact.objects.standing().filter(pk=contact.pk).light().first()
        if end_user is None or current is None:
            return
        current.end_user = end_user
        identity.save(current, [])
        derived.write_profile_memory(current)
    backfill.link_contact(contact.pk)
    embed_missing(end_user, embedder())


def link_backfill(contact_id: str) -> None:
    backfill.link_contact(UUID(contact_id))


def suggest(end_user_id: int) -> None:
    """Proposes merges for what changed lately among an end user's contacts."""
    end_user = EndUser.objects.filter(pk=end_user_id).first()
    if end_user is not None:
        suggesting.suggest_merges(end_user, since=timezone.now() - SUGGEST_BACK)


def suggest_merges() -> None:
    """Queues ``suggest`` for every end user whose contacts changed lately."""
    changed = Contact.objects.standing().filter(updated_at__gte=timezone.now() - SUGGEST_BACK)
    for end_user_id in sorted(set(changed.values_list("end_user", flat=True))):
        enqueue("suggest", end_user_id)


def sweep() -> None:
    """Finds work that no message will trigger: idle users, failed tries that are due, and
    what a dead worker left behind."""
    now = timezone.now()
    idle = EndUser.objects.unextracted().filter(last_message_at__lte=now - buffer.IDLE)
    left = Batch.objects.claimable(now)
    users = {*idle.values_list("pk", flat=True), *left.values_list("end_user", flat=True)}
    for end_user_id in sorted(users):
        enqueue("extract", end_user_id)
    waiting = Consolidation.objects.claimable(now).values_list("end_user", flat=True)
    for end_user_id in sorted(set(waiting)):
        enqueue("consolidate", end_user_id)
