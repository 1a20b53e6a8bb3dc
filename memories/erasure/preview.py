"""What an erasure takes, counted and listed. It reads only: nothing is written or locked."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from uuid import UUID

from django.contrib.postgres.aggregates import BoolAnd
from django.db.models import Func, Q

from accounts.models import EndUser
from memories.erasure import erase, same_statement
from memories.models import Memory, MemoryQuerySet, Message


@dataclass(frozen=True)
class Preview:
    """How many contacts an erasure takes, as ``erase.Forgotten`` counts them, and the memories
    that are ``gone``."""

    end_user: EndUser
    contacts: int
    gone: Q

    @property
    def rows(self) -> MemoryQuerySet:
        """The memories."""
        return Memory.objects.of(self.end_user).filter(self.gone).defer("tokens")

    @cached_property
    def memories(self) -> int:
        return self.rows.count()

    @cached_property
    def messages(self) -> int:
        """How many messages it empties at least: those that only these memories rest on."""
        resting = Memory.objects.of(self.end_user).order_by()
        said = resting.values(said=Func("source_message_ids", function="unnest"))
        alone = said.alias(alone=BoolAnd(self.gone)).filter(alone=True)
        return Message.objects.of(self.end_user).exclude(content="").filter(pk__in=alone).count()


def of_contact(end_user: EndUser, contact_id: UUID) -> Preview:
    """What ``erase.forget_contact`` takes. Raises NothingToForget."""
    people, linked, naming = erase.about(end_user, contact_id)
    stated = same_statement.below(end_user, naming) | same_statement.added_below(end_user, linked)
    united = same_statement.above(end_user, stated) | same_statement.above(end_user, linked)
    gone = Q(pk__in=linked) | Q(pk__in=stated | united)
    merged = sum(person.merged_into_id is not None for person in people)
    return Preview(end_user, len(people) - merged, Q(gone, kind=Memory.Kind.FACT))


def of_memories(end_user: EndUser, memory_ids: Collection[UUID]) -> Preview:
    """What ``erase.forget_these`` takes of these memories."""
    stated = same_statement.below(end_user, set(memory_ids))
    gone = Q(pk__in=stated | same_statement.above(end_user, stated), kind=Memory.Kind.FACT)
    return Preview(end_user, 0, gone)
