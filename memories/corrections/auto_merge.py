"""Finds merge suggestions for an end user, and merges the pairs that need no confirmation."""

from collections.abc import Collection, Iterator
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from django.db.models import F, Window
from django.db.models.functions import RowNumber
from django.utils import timezone

from accounts.models import EndUser
from contacts import suggestions
from contacts.merge import InvalidMerge
from contacts.models import Contact
from memories import queue
from memories.corrections import merge_contacts

ACTOR = "suggestions"


def suggest_merges(end_user: EndUser, since: datetime | None = None) -> suggestions.Outcome:
    """Runs ``contacts.suggestions.suggest`` for one end user, and merges the pairs that a memory
    states to be one person. Returns its outcome with the number of merges."""
    started = timezone.now()
    outcome = suggestions.suggest(end_user, newest_facts, since)
    EndUser.objects.filter(pk=end_user.pk).update(suggested_at=started)
    merged = 0
    for pair, statement in outcome.explicit:
        survivor, loser = suggestions.survivor_first(end_user, pair)
        try:
            merge_contacts.merge(end_user, loser, survivor, actor=ACTOR, why=statement)
        except InvalidMerge:
            # Merged with another contact in this run, changed meanwhile, or separated by an undo.
            continue
        merged += 1
    return replace(outcome, merged=merged)


def follow(end_user: EndUser) -> None:
    """Queues one run of the suggestion job if any contact changed since it last ran."""
    changed = Contact.objects.of(end_user).standing()
    if end_user.suggested_at is not None:
        changed = changed.filter(updated_at__gt=end_user.suggested_at)
    if changed.exists():
        queue.enqueue("suggest", end_user.pk)


def newest_facts(
    end_user: EndUser, contact_ids: Collection[UUID], most: int
) -> Iterator[tuple[UUID, str, list[str]]]:
    """Yields the newest ``most`` active facts of each contact: its id, content, search tokens."""
    newest = (
        Contact.objects.of(end_user)
        .filter(
            pk__in=contact_ids,
            links__rejected=False,
            links__memory__status="active",
            links__memory__kind="fact",
        )
        .annotate(place=Window(RowNumber(), partition_by="id", order_by=F("links__id").desc()))
        .filter(place__lte=most)
        .order_by("id", "place")
        .values_list("id", "links__memory__content", "links__memory__tokens")
    )
    for pk, content, tokens in newest:
        # Only the memory's own words: no words around it, no tokens of attributes or roles.
        yield pk, content, [t for t in tokens if not t.startswith("<") and ":" not in t]
