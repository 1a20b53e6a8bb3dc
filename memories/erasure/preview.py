"""What an erasure takes, counted and listed. It reads only: nothing is written or locked."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from uuid import UUID

from django.contrib.postgres.aggregates import BoolAnd
from django.db.models import Func, Q

from accounts.models import EndUser
from contacts.models import Contact
from memories.corrections.forgotten_names import names_of
from memories.erasure import erase, redact_messages, same_statement
from memories.erasure.messages_about import messages_about
from memories.models import Entity, EntityLink, Memory, MemoryQuerySet, Message

# Of so many memories, and messages with a name, the messages are read to say which are emptied:
# for more that takes longer than a page may.
READ = 100


@dataclass(frozen=True)
class Preview:
    """How many contacts and memories an erasure takes, as ``erase.Forgotten`` counts them. The
    memories are ``gone``: those ``stated``, with those that any was merged into."""

    end_user: EndUser
    contacts: int
    memories: int
    gone: Q
    stated: Q
    people: Collection[Contact]

    @property
    def rows(self) -> MemoryQuerySet:
        """The memories."""
        return Memory.objects.of(self.end_user).filter(self.gone).defer("tokens")

    @cached_property
    def at_least(self) -> bool:
        """Whether it may empty more messages than ``messages``."""
        return self.memories > READ or _naming(self.end_user, self.people) > READ

    @cached_property
    def messages(self) -> int:
        """How many messages it empties."""
        if self.at_least:
            return _resting_on_these_alone(self.end_user, self.gone)
        return _emptied(self.end_user, self.rows.filter(self.stated), self.rows, self.people)


def of_contact(end_user: EndUser, contact_id: UUID) -> Preview:
    """What ``erase.forget_contact`` takes. Raises NothingToForget."""
    people, linked, naming = erase.about(end_user, contact_id)
    stated = same_statement.below(end_user, naming) | same_statement.added_below(end_user, linked)
    united = same_statement.above(end_user, stated) | same_statement.above(end_user, linked)
    return _preview(end_user, Q(pk__in=linked) | Q(pk__in=stated), united, people)


def of_memories(end_user: EndUser, memory_ids: Collection[UUID]) -> Preview:
    """What ``erase.forget_these`` takes of these memories."""
    stated = same_statement.below(end_user, set(memory_ids))
    return _preview(end_user, Q(pk__in=stated), same_statement.above(end_user, stated), ())


def _preview(
    end_user: EndUser, stated: Q, united: Collection[UUID], people: Collection[Contact]
) -> Preview:
    """Of the memories ``stated`` with those that any was merged into."""
    gone = Q(stated | Q(pk__in=united), kind=Memory.Kind.FACT)
    count = Memory.objects.of(end_user).filter(gone).count()
    merged = sum(person.merged_into_id is not None for person in people)
    return Preview(end_user, len(people) - merged, count, gone, stated, people)


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
    whole, words = (messages_about(end_user, people).sure, names_of(people)) if people else ((), ())
    if not quotes and not whole:
        return 0
    found, left = redact_messages.left_of_each(end_user, quotes, whole, {*words, *told}, gone)
    return sum(row.content != "" == left[pk] for pk, row in found.items())


def _resting_on_these_alone(end_user: EndUser, gone: Q) -> int:
    """How many messages only these memories rest on."""
    resting = Memory.objects.of(end_user).order_by()
    said = resting.values(said=Func("source_message_ids", function="unnest"))
    alone = said.alias(alone=BoolAnd(gone)).filter(alone=True)
    messages = Message.objects.of(end_user).exclude(content="")
    return messages.filter(pk__in=alone).count()
