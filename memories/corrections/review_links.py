"""Links that a person should review: those that may well be wrong, and those between namesakes."""

from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from accounts.cells import atomic
from accounts.changes import recording
from accounts.models import Change, EndUser
from accounts.reasons import Reason
from contacts import store
from contacts.models import Contact
from memories import queue
from memories.corrections import derived, edit_memories
from memories.corrections.edit_memories import InvalidCorrection, locked
from memories.models import Link, Memory
from memories.models.links import DOUBTFUL


def doubtful() -> QuerySet[Link]:
    """Returns unconfirmed links of low confidence to current facts, the first of each memory."""
    guesses = Link.objects.filter(
        Q(confidence__lte=DOUBTFUL), ~Q(made_by=Link.MadeBy.OPERATOR), rejected=False
    )
    earlier = guesses.filter(
        end_user=OuterRef("end_user"), memory=OuterRef("memory"), pk__lt=OuterRef("pk")
    )
    return guesses.filter(
        ~Exists(earlier), memory__status=Memory.Status.ACTIVE, memory__kind=Memory.Kind.FACT
    )


def between_namesakes() -> QuerySet[Link]:
    """Returns unconfirmed links to contacts who share their name with another contact."""
    twins = (
        Contact.objects.standing()
        .filter(end_user=OuterRef("contact__end_user"), name_key=OuterRef("contact__name_key"))
        .exclude(pk=OuterRef("contact"))
    )
    # Redundant (of contacts who share a name one has a namesake number), but lets the database
    # begin at these few contacts instead of at all links.
    shared = Contact.objects.standing().filter(namesake__gt=0).values("name_key")
    return Link.objects.standing().filter(
        ~Q(made_by=Link.MadeBy.OPERATOR),
        Exists(twins),
        contact__name_key__in=shared,
        contact__merged_into=None,
        memory__status=Memory.Status.ACTIVE,
        memory__kind=Memory.Kind.FACT,
    )


@atomic()
def confirm(end_user: EndUser, link_id: int, *, actor: str) -> Change:
    """Confirms that a memory is about the contact of its link. Raises InvalidCorrection."""
    user = locked(end_user)
    links = Link.objects.of(user).standing().select_related("contact__end_user")
    link = links.filter(pk=link_id).first()
    if link is None:
        raise InvalidCorrection(Reason("link_gone"))
    subjects: list[UUID] = [link.memory_id, link.contact_id]
    with recording(user, "confirm", actor, subjects=subjects) as (recorder, change):
        recorder.watch([link])
        was_likely = link.is_likely
        link.made_by, link.confidence = Link.MadeBy.OPERATOR, 1.0
        link.save(update_fields=["made_by", "confidence"])
        if not was_likely:
            derived.reopen(user, link.contact, [link.memory_id], recorder)
            store.save(link.contact, [])
    return change


@atomic()
def state(
    end_user: EndUser, memory_id: UUID, contact_id: UUID, *, actor: str, why: str = ""
) -> Change | None:
    """Links a memory to a contact, even if the link was rejected, and has the profile read it.
    Returns None if a person had linked them already. Raises InvalidCorrection."""
    user = locked(end_user)
    contact = store.survivor(user, contact_id)
    memory = Memory.objects.of(user).facts().filter(pk=memory_id).first()
    if contact is None or memory is None:
        raise InvalidCorrection(Reason("no_such_contact_or_memory"))
    if memory.merged_into_id:  # the memory it was merged into has its links
        raise InvalidCorrection(Reason("merged_memory"))
    link = Link.objects.of(user).filter(memory=memory_id, contact=contact).first()
    was_linked = link is not None and not link.rejected
    if link is not None and was_linked and link.made_by == Link.MadeBy.OPERATOR:
        return None
    was_likely = link is not None and was_linked and link.is_likely
    with recording(user, "link", actor, why, [memory_id, contact.id]) as (recorder, change):
        edit_memories.link(user, memory_id, contact, recorder)
        if not was_likely:
            derived.reopen(user, contact, [memory_id], recorder)
            store.save(contact, [])
    queue.enqueue("embed", user.pk)
    return change
