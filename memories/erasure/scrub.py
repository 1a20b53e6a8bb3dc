"""Taking what was erased out of the audit trail, and the names of erased people out of everything
else that is stored of an end user."""

import json
from collections.abc import Collection
from typing import Any

from django.apps import apps
from django.db.models import Q

from accounts.changes import CHUNK, UUIDS
from accounts.models import Change, EndUser
from contacts.models import Suggestion
from memories.corrections.forgotten_names import Names, take_out
from memories.models import Edge, Entity, EntityLink, Erasure, Memory, Message


def scrub(end_user: EndUser, ids: Collection[str]) -> None:
    """Takes out of the audit trail the rows with these ids, what points at them, every value
    that rests on them, the reasons given for such changes, and what profiles told as text
    (which undoing writes anew). Only for true deletion: an undo does not bring them back, nor
    what it would have brought back with them, so that no other points at that."""
    gone = set(ids)
    standing = Change.objects.of(end_user).filter(undone_at=None)
    while lost := {pk for one in standing.iterator(CHUNK) for pk in only_in(one, gone)} - gone:
        gone |= lost
    for change in Change.objects.of(end_user).iterator(CHUNK):
        hit = not gone.isdisjoint(UUIDS.findall(json.dumps(change.rows)))
        rows = [_untold(row) for row in change.rows]
        if hit:
            rows = [left for row in rows if (left := _scrubbed(row, gone))]
            change.why = ""
        if hit or rows != change.rows:
            change.rows = rows
            change.save(update_fields=["rows", "why"])


def only_in(change: Change, gone: Collection[str] = ()) -> set[str]:
    """The ids of contacts and memories that only this change could bring back, since it deleted
    them; with ``gone``, of those whose rows point at one of these."""
    return {
        row["id"]
        for row in change.rows
        if row["after"] is None
        and UUIDS.fullmatch(row["id"])
        and not (gone and _named(row).isdisjoint(gone))
    }


def _named(row: dict[str, Any]) -> set[str]:
    """The ids of a row and of those that it points at."""
    sides = [side for side in (row["before"], row["after"]) if side is not None]
    return {row["id"], *(side[name] for side in sides for name in side if name.endswith("_id"))}


def _untold(row: dict[str, Any]) -> dict[str, Any]:
    """``row`` without the text of a profile, if it is of one that was made or deleted."""
    sides = {
        at: {**row[at], "content": ""} if (row[at] or {}).get("kind") == "profile" else row[at]
        for at in ("before", "after")
    }
    return {**row, **sides}


def _scrubbed(row: dict[str, Any], gone: Collection[str]) -> dict[str, Any] | None:
    if not _named(row).isdisjoint(gone):
        return None
    sides = [side for side in (row["before"], row["after"]) if side is not None]
    told = {pk for side in sides for pk in side.get("personality_sources", ())}
    # A text that changed while what it rests on did not names no sources in this row.
    sourced = any("personality_sources" in side for side in sides)
    hidden = () if sourced and told.isdisjoint(gone) else ("personality", "personality_sources")
    kept = {
        at: side and {k: _grounded(v, gone) for k, v in side.items() if k not in hidden}
        for at, side in (("before", row["before"]), ("after", row["after"]))
    }
    return {**row, **kept}


def _grounded(value: Any, gone: Collection[str]) -> Any:
    """``value`` without what rests on something that is gone."""
    if isinstance(value, list):
        return [_grounded(item, gone) for item in value if not _rests_on(item, gone)]
    if isinstance(value, dict):
        left = {key: _grounded(item, gone) for key, item in value.items()}
        return {key: item for key, item in left.items() if item or not value[key]}
    return value


def _rests_on(item: Any, gone: Collection[str]) -> bool:
    if isinstance(item, dict):
        return not {*item.get("sources", ())}.isdisjoint(gone)
    return isinstance(item, str) and item in gone


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
