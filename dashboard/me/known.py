"""The people, memories and changes that the end user's own page shows, with their sources."""

from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID

from django.db.models import Q

from accounts.models import Change, EndUser
from contacts.models import Contact, ContactQuerySet, Relation, Suggestion
from dashboard import words
from dashboard.me.visits import USER
from dashboard.queries import contact as queries
from dashboard.words import language_of
from memories.corrections.unwanted import TYPES, kinds
from memories.models import Memory, MemoryQuerySet, Message
from understanding.attributes import ATTRIBUTES, label

MOST_SOURCES = 200  # memories whose words one page shows
MOST_PEOPLE = 500  # to choose one from
MOST_CHANGES = 50

# Memories that the user told or that nobody said: by the app, an operator, an import, Mio. Words of
# others who wrote in the user's chats are theirs.
_OWN = Q(speaker__in=("", USER, "assistant", "consolidator")) | Q(
    speaker__regex="^(app|operator|import):"
)


def people(end_user: EndUser, q: str = "") -> ContactQuerySet:
    """The people who are known and not merged into another, found by ``q`` where it is given."""
    rows = Contact.objects.of(end_user).standing()
    return (rows.found_by(end_user, q) if q else rows).light()


def memories(end_user: EndUser) -> MemoryQuerySet:
    """What is and was known, without what the user had forgotten."""
    rows = Memory.objects.of(end_user).facts().exclude(status=Memory.Status.ARCHIVED)
    return rows.filter(_OWN).defer("tokens", "metadata")


def of_nobody(end_user: EndUser) -> MemoryQuerySet:
    """Memories that are linked to no person: mostly of the user."""
    return memories(end_user).exclude(links__rejected=False)


def about(person: Contact) -> MemoryQuerySet:
    return memories(person.end_user).filter(pk__in=queries.memories_about(person).values("pk"))


def called(kind: str) -> str:
    """A kind of memories in the reader's language."""
    return label(kind, language_of()) if kind in ATTRIBUTES else words.in_words(words.TYPES, kind)


def with_kinds(rows: Iterable[Memory]) -> list[tuple[Memory, list[tuple[str, str]]]]:
    """Each memory with its kinds that may be unwanted, and what these are called."""
    return [
        (one, [(kind, called(kind)) for kind in kinds(one.type, (f["key"] for f in one.facts))
               if kind in ATTRIBUTES or kind in TYPES])
        for one in rows
    ]  # fmt: skip


def words_of(end_user: EndUser, memory_ids: Collection[UUID]) -> dict[str, list[Message]]:
    """The user's own messages that each of these memories rests on, by its id. Two statements."""
    ids = list(dict.fromkeys(memory_ids))[:MOST_SOURCES]
    source_ids = dict(memories(end_user).filter(pk__in=ids).values_list("pk", "source_message_ids"))
    own_messages = Message.objects.of(end_user).by_user().kept()
    messages = own_messages.in_bulk({pk for sources in source_ids.values() for pk in sources})
    return {
        str(pk): [messages[m] for m in sources if m in messages]
        for pk, sources in source_ids.items()
    }


def sources(values: Iterable[Any]) -> list[UUID]:
    """The ids of the memories that these values rest on."""
    return [UUID(str(pk)) for value in values for pk in value]


def relations(person: Contact) -> list[Relation]:
    """What this person and others are to each other."""
    rows = Relation.objects.of(person.end_user_id).among([person.pk])
    return list(rows.order_by("id")[:MOST_CHANGES])


def alike(person: Contact) -> list[tuple[Suggestion, Contact]]:
    """Who may be the same person, the likeliest first."""
    pairs = Suggestion.objects.of(person.end_user_id).with_people().listed()
    waiting = pairs.filter(state__in=[Suggestion.State.OPEN, Suggestion.State.LATER])
    of_person = waiting.filter(Q(first=person.pk) | Q(second=person.pk)).order_by("-confidence")
    return [(one, one.second if one.first_id == person.pk else one.first) for one in of_person]


def own_changes(end_user: EndUser) -> Any:
    """What the user changed on this page, the latest first."""
    return Change.objects.of(end_user).filter(actor=USER).defer("rows")
