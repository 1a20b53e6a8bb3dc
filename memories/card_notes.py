"""The newest memories of a person that no profile speaks for yet, as their card shows them."""

from django.db.models import OuterRef, Subquery

from contacts.models import Contact
from memories.models import Link, Memory

MOST = 6


def of(contact: Contact) -> list[str]:
    """What the newest unconsolidated memories of a contact say, the oldest of them first."""
    # A scalar subquery goes by the memory's key, where the planner of a young database, which
    # has no statistics yet, would join by reading all memories for each link.
    said = Memory.objects.filter(pk=OuterRef("memory"), status="active", kind="fact")
    notes = (
        Link.objects.filter(contact=contact, rejected=False, consolidated_at=None)
        .annotate(said=Subquery(said.values("content")))
        .exclude(said=None)
        .order_by("-id")
        .values_list("said", flat=True)[:MOST]
    )
    return list(notes)[::-1]
