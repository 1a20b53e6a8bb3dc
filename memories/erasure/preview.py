"""What an erasure takes, counted and listed. It reads only: nothing is written or locked."""

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Func, Q

from accounts.models import EndUser
from contacts.models import Contact
from memories.corrections.forgotten_names import names_of
from memories.erasure import erase, redact_messages, same_statement
from memories.erasure.told_of import told_of
from memories.models import Entity, EntityLink, Memory, MemoryQuerySet, Message

# Of so many memories, and messages with a name, the messages are read to say which are emptied:
# for more that takes longer than a page may.
READ = 100


@dataclass(frozen=True, slots=True)
class Preview:
    """How many rows of each kind an erasure takes, as ``erase.Forgotten`` counts them. Where
    ``at_least``, it may empty more messages. ``rows`` are the memories."""

    contacts: int
    memories: int
    messages: int
    at_least: bool
    rows: MemoryQuerySet


def of_contact(end_user: EndUser, contact_id: UUID) -> Preview:
    """What ``erase.forget_contact`` takes. Raises NothingToForget."""
    people, linked, naming = erase.about(end_user, contact_id)
    stated = same_statement.below(end_user, naming) | same_statement.added_below(end_user, linked)
    united = same_statement.above(end_user, stated) | same_statement.above(end_user, linked)
    return _preview(end_user, Q(pk__in=linked.values("pk")) | Q(pk__in=stated), united, people)


def of_memories(end_user: EndUser, memory_ids: Collection[UUID]) -> Preview:
    """What ``erase.forget_these`` takes of these memories."""
    stated = same_statement.below(end_user, set(memory_ids))
    return _preview(end_user, Q(pk__in=stated), same_statement.above(end_user, stated), ())


def _preview(
    end_user: EndUser, stated: Q, united: Collection[UUID], people: Collection[Contact]
) -> Preview:
    """Of the memories ``stated`` with those that any was merged into."""
    gone = Q(stated | Q(pk__in=united), kind=Memory.Kind.FACT)
    rows = Memory.objects.of(end_user).filter(gone)
    count = rows.count()
    few = count <= READ and _naming(end_user, people) <= READ
    messages = (
        _emptied(end_user, rows.filter(stated), rows, people)
        if few
        else _resting_on_these_alone(end_user, gone)
    )
    return Preview(
        contacts=sum(person.merged_into_id is None for person in people),
        memories=count,
        messages=messages,
        at_least=not few,
        rows=rows.defer("tokens"),
    )


def _naming(end_user: EndUser, people: Collection[Contact]) -> int:
    """How many messages hold a name of these people, counted up to READ + 1."""
    said = Q(pk__in=())
    for name in names_of(people):
        said |= Q(content__icontains=name)
    return Message.objects.of(end_user).filter(said).values("pk")[: READ + 1].count()


def _emptied(
    end_user: EndUser, stated: MemoryQuerySet, rows: MemoryQuerySet, people: Collection[Contact]
) -> int:
    """How many messages are emptied."""
    gone = list(rows.values_list("pk", flat=True))
    quotes, told = redact_messages.told_by(stated)
    links = EntityLink.objects.of(end_user)
    theirs = Entity.objects.of(end_user).filter(links__memory__in=gone)
    shared = links.filter(entity__in=theirs.values("pk")).exclude(memory__in=gone)
    told |= set(theirs.exclude(pk__in=shared.values("entity")).values_list("name", flat=True))
    whole, words = (told_of(end_user, people).sure, names_of(people)) if people else ((), ())
    if not quotes and not whole:
        return 0
    found, left = redact_messages.left_of_each(end_user, quotes, whole, {*words, *told}, gone)
    return sum(row.content != "" == left[pk] for pk, row in found.items())


def _resting_on_these_alone(end_user: EndUser, gone: Q) -> int:
    """How many messages only these memories rest on."""
    memories = Memory.objects.of(end_user).order_by()
    going, staying = (
        rows.annotate(said=Func("source_message_ids", function="unnest")).values("said")
        for rows in (memories.filter(gone), memories.exclude(gone))
    )
    messages = Message.objects.of(end_user).exclude(content="")
    return messages.filter(pk__in=going).exclude(pk__in=staying).count()
