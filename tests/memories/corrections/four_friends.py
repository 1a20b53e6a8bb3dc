"""Four people, which memories make them friends, and corrections of that."""

from typing import Any

from accounts.models import Change, EndUser
from contacts import relations, store
from contacts.models import Contact, Relation
from memories.corrections import merge_contacts
from memories.corrections.undo import undo_change
from memories.models import Memory
from tests.factories import make_contact, make_end_user, make_memory
from tests.memories.snapshots import assert_sound

ANN = "operator:ann"
Told = set[tuple[str, str, str, frozenset[str]]]


class Friends:
    """Ada, Bea, Cleo and Dora, and who is whose friend by which memory."""

    def __init__(self) -> None:
        self.end_user: EndUser = make_end_user(language="en")
        for name in ("Ada", "Bea", "Cleo", "Dora"):
            setattr(self, name.lower(), make_contact(self.end_user, name))

    ada: Contact
    bea: Contact
    cleo: Contact
    dora: Contact

    def tell(self, content: str, subject: Contact, other: Contact, **fields: Any) -> Memory:
        """A memory about both that makes ``subject`` a friend of ``other``."""
        memory = make_memory(self.end_user, content, subject, other, **fields)
        relations.relate(self.end_user, subject, "friend", other, [memory.id])
        for contact in (subject, other):
            store.save(Contact.objects.get(pk=contact.pk), [])
        return memory

    def merge(self, loser: Contact, survivor: Contact) -> Change:
        return merge_contacts.merge(self.end_user, loser.id, survivor.id, actor=ANN)

    def split(self, contact: Contact, name: str, *memories: Memory) -> Change:
        ids = [memory.id for memory in memories]
        return merge_contacts.split(self.end_user, contact.id, ids, name=name, actor=ANN)[1]

    def told(self) -> Told:
        """Who is whose what, and what says so."""
        said = dict(Memory.objects.of(self.end_user).values_list("pk", "content"))
        return {
            (row.subject.name, row.kind, row.object.name, frozenset(said[s] for s in row.sources))
            for row in Relation.objects.of(self.end_user).select_related("subject", "object")
        }


def friend(subject: str, other: str, *said: str) -> tuple[str, str, str, frozenset[str]]:
    return subject, "friend", other, frozenset(said)


def undo(change: Change) -> None:
    change.refresh_from_db()
    undo_change(change, actor=ANN)
    assert_sound(change.end_user)
