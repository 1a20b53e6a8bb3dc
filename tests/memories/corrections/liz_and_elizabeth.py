"""Liz and Elizabeth, who are one person in two contacts, and their merge."""

from accounts.models import Change, EndUser
from contacts import store
from contacts.models import Contact
from memories.corrections import merge_contacts
from tests.factories import make_contact, make_memory
from tests.memories.snapshots import absorbed

ANN = "operator:ann"


def liz_and_elizabeth(end_user: EndUser) -> tuple[Contact, Contact]:
    """Liz, who was told about twice, and Elizabeth, with some of everything."""
    liz = make_contact(end_user, "Liz", aliases=["Lizzie"], gender="female", mention_count=3)
    elizabeth = make_contact(
        end_user, "Elizabeth", aliases=["Beth"], relationship="colleague", mention_count=4
    )
    for contact in (liz, elizabeth):
        store.save(contact, ["aliases"])
    absorbed(liz, make_memory(end_user, "Liz lives in Turin.", liz), "location", "Turin")
    absorbed(liz, make_memory(end_user, "Liz hikes.", liz), "interests", "hiking")
    absorbed(liz, make_memory(end_user, "Liz married.", liz), event="married")
    absorbed(
        elizabeth, make_memory(end_user, "Elizabeth is in Genoa.", elizabeth), "location", "Genoa"
    )
    absorbed(
        elizabeth, make_memory(end_user, "Elizabeth walks a lot.", elizabeth), "interests", "Hiking"
    )
    make_memory(end_user, "Liz and Elizabeth sing.", liz, elizabeth)
    make_memory(
        end_user,
        "Liz has a brother.",
        liz,
        facts=[{"key": "family", "value": "a brother", "person": str(liz.id)}],
    )
    return fresh(liz), fresh(elizabeth)


def fresh(contact: Contact) -> Contact:
    return Contact.objects.select_related("end_user").get(pk=contact.pk)


def values(contact: Contact, key: str) -> list[str]:
    return [entry["value"] for entry in fresh(contact).attributes.get(key, [])]


def merged(people: tuple[Contact, Contact], **options: str) -> Change:
    liz, elizabeth = people
    return merge_contacts.merge(liz.end_user, liz.id, elizabeth.id, **{"actor": ANN, **options})
