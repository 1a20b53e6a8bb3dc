"""Taking the names of erased people out of everything else that is stored of an end user."""

from typing import Any

from django.apps import apps
from django.db.models import Q

from accounts.changes import CHUNK
from accounts.models import Change, EndUser
from contacts.models import Suggestion
from memories.corrections.forgotten_names import Names, take_out
from memories.models import Edge, Entity, EntityLink, Erasure, Memory, Message

# Columns of recorded rows that hold words; the others hold ids, hashes and states, which a name
# may be spelt like.
TOLD = frozenset(
    "name name_key aliases relationship attributes personality timeline card kind evidence content"
    " tokens speaker quote facts metadata reason judged_reason"
    " references references_denied note".split()
)


def scrub_names(end_user: EndUser, names: Names) -> None:
    """Puts a mark for each name in what is told of others, in the audit trail, in reasons and
    in wishes to forget; entities that are called so go."""
    if not names.keys:
        return
    take_out(end_user, names)
    _scrub_memories(end_user, names)
    _scrub_metadata(end_user, names)
    _scrub_entities(end_user, names)
    for change in Change.objects.of(end_user).iterator(CHUNK):
        rows = [_cleaned_row(row, names) for row in change.rows]
        why = names.without(change.why)
        if (rows, why) != (change.rows, change.why):
            Change.objects.filter(pk=change.pk).update(rows=rows, why=why)
    for asked in Suggestion.objects.of(end_user):
        evidence, said = names.cleaned(asked.evidence), names.without(asked.judged_reason)
        if (evidence, said) != (asked.evidence, asked.judged_reason):
            Suggestion.objects.filter(pk=asked.pk).update(evidence=evidence, judged_reason=said)
    for wish in Erasure.objects.of(end_user).exclude(words=[], names=[], missing=[]):
        kept = {
            field: [word for word in getattr(wish, field) if not names.spans(word)]
            for field in ("words", "names", "missing")
        }
        Erasure.objects.filter(pk=wish.pk).update(**kept)


def _cleaned_row(row: dict[str, Any], names: Names) -> dict[str, Any]:
    fields = apps.get_model(row["model"])._meta.concrete_fields
    told = {field.attname for field in fields if field.attname in TOLD and not field.choices}
    sides = {
        at: row[at]
        and {
            column: names.cleaned_in(column, value) if column in told else value
            for column, value in row[at].items()
        }
        for at in ("before", "after")
    }
    return {**row, **sides}


def _scrub_memories(end_user: EndUser, names: Names) -> None:
    """Facts, quotes and speakers of memories that stay; one that was told anew stays as it is."""
    said = Q(pk__in=())
    for name in names.all:
        said |= Q(facts__icontains=name) | Q(quote__icontains=name) | Q(speaker__icontains=name)
        said |= Q(metadata__icontains=name)
    for memory in Memory.objects.of(end_user).facts().filter(said).defer("tokens"):
        if names.spans(memory.content):
            continue
        memory.facts = [fact for fact in memory.facts if not names.spans(fact["value"])]
        memory.quote = "" if names.spans(memory.quote) else memory.quote
        memory.speaker = names.without(memory.speaker)
        memory.metadata = names.cleaned_in("metadata", memory.metadata)
        memory.save(update_fields=["facts", "quote", "speaker", "metadata"])


def _scrub_metadata(end_user: EndUser, names: Names) -> None:
    """What an app noted of messages that stay."""
    noted = Q(pk__in=())
    for name in names.all:
        noted |= Q(metadata__icontains=name)
    rows = Message.objects.of(end_user).exclude(metadata={}).filter(noted)
    for message in rows.only("metadata"):
        message.metadata = names.cleaned_in("metadata", message.metadata)
        message.save(update_fields=["metadata"])


def _scrub_entities(end_user: EndUser, names: Names) -> None:
    called = [
        entity
        for entity in Entity.objects.of(end_user)
        if names.spans(f"{entity.name} {entity.key}")
    ]
    kinds = [f"{Edge.SHARES_ENTITY}{entity.name}" for entity in called]
    Edge.objects.of(end_user).filter(kind__in=kinds).delete()
    ids = [entity.pk for entity in called]
    EntityLink.objects.of(end_user).filter(entity__in=ids).delete()
    Entity.objects.of(end_user).filter(pk__in=ids).delete()
    for edge in Edge.both_ways.of(end_user).exclude(reason=""):
        reason = names.without(edge.reason)
        if reason != edge.reason:
            Edge.both_ways.filter(pk=edge.pk).update(reason=reason)
