"""Taking what was erased out of the audit trail, and names of erased people out of everything."""

import json
from collections.abc import Callable, Collection
from typing import Any

from django.apps import apps
from django.db.models import Q, QuerySet

from accounts.changes import CHUNK, UUIDS
from accounts.models import Change, EndUser
from contacts.models import Suggestion
from memories.corrections.forgotten_names import Names, take_out
from memories.models import Edge, Entity, EntityLink, Erasure, Memory, Message


def scrub(end_user: EndUser, ids: Collection[str]) -> None:
    """Takes out of the audit trail the rows with these ids, what points at them, every value that
    rests on them, the reasons of such changes, and the texts of profiles. An undo does not bring
    them back, nor what it would have brought back with them."""
    gone = set(ids)
    standing = Change.objects.of(end_user).filter(undone_at=None)
    while lost := {pk for one in standing.iterator(CHUNK) for pk in only_in(one, gone)} - gone:
        gone |= lost
    for change in Change.objects.of(end_user).iterator(CHUNK):
        hit = not gone.isdisjoint(UUIDS.findall(json.dumps(change.rows)))
        rows = [_with_sides(row, _without_profile_text) for row in change.rows]
        if hit:
            rows = [left for row in rows if (left := _scrubbed(row, gone))]
            change.why = ""
        if hit or rows != change.rows:
            change.rows = rows
            change.save(update_fields=["rows", "why"])


def only_in(change: Change, gone: Collection[str] = ()) -> set[str]:
    """The ids of what only this change could bring back, since it deleted it; with ``gone``, of
    rows that point at one of these."""
    return {
        row["id"]
        for row in change.rows
        if row["after"] is None
        and UUIDS.fullmatch(row["id"])
        and not (gone and _named(row).isdisjoint(gone))
    }


def _named(row: dict[str, Any]) -> set[str]:
    """The ids of a row and of those that it points at."""
    ends = (side[name] for side in _sides(row) for name in side if name.endswith("_id"))
    return {row["id"], *ends}


def _sides(row: dict[str, Any]) -> list[dict[str, Any]]:
    return [side for side in (row["before"], row["after"]) if side is not None]


def _with_sides(
    row: dict[str, Any], changed: Callable[[dict[str, Any]], dict[str, Any]]
) -> dict[str, Any]:
    """``row`` with each side as ``changed`` returns it."""
    return {**row, **{at: row[at] and changed(row[at]) for at in ("before", "after")}}


def _without_profile_text(side: dict[str, Any]) -> dict[str, Any]:
    return {**side, "content": ""} if side.get("kind") == "profile" else side


def _scrubbed(row: dict[str, Any], gone: set[str]) -> dict[str, Any] | None:
    if not _named(row).isdisjoint(gone):
        return None
    told = {pk for side in _sides(row) for pk in side.get("personality_sources", ())}
    # A text that changed while what it rests on did not names no sources in this row.
    sourced = any("personality_sources" in side for side in _sides(row))
    hidden = () if sourced and told.isdisjoint(gone) else ("personality", "personality_sources")
    return _with_sides(
        row,
        lambda side: {k: _grounded(v, gone) for k, v in side.items() if k not in hidden},
    )


def _grounded(value: Any, gone: set[str]) -> Any:
    """``value`` without what is gone, and what has sources that are."""
    if isinstance(value, list):
        return [
            _grounded(item, gone)
            for item in value
            if gone.isdisjoint(item.get("sources", ()) if isinstance(item, dict) else [str(item)])
        ]
    if isinstance(value, dict):
        left = {key: _grounded(item, gone) for key, item in value.items()}
        return {key: item for key, item in left.items() if item or not value[key]}
    return value


# Columns of recorded rows that hold words; the others hold ids, hashes and states, which a name
# may be spelt like.
TOLD = frozenset(
    "name name_key aliases relationship attributes personality timeline card kind evidence content"
    " tokens speaker quote facts metadata reason judged_reason"
    " references references_denied note".split()
)


def scrub_names(end_user: EndUser, names: Names) -> None:
    """Puts a mark for each name in what is told of others, in changes, reasons and wishes to
    forget; entities that are called so go."""
    if not names.keys:
        return
    take_out(end_user, names)
    _scrub_memories(end_user, names)
    _scrub_entities(end_user, names)
    noted = Message.objects.of(end_user).exclude(metadata={})
    _clean(noted.filter(_holding(names, "metadata")).only("metadata"), names, "metadata")
    _clean(Edge.both_ways.of(end_user).exclude(reason=""), names, "reason")
    _clean(Suggestion.objects.of(end_user), names, "evidence", "judged_reason")
    for change in Change.objects.of(end_user).iterator(CHUNK):
        rows = [_cleaned_row(row, names) for row in change.rows]
        why = names.without(change.why)
        if (rows, why) != (change.rows, change.why):
            Change.objects.filter(pk=change.pk).update(rows=rows, why=why)
    for wish in Erasure.objects.of(end_user).exclude(words=[], names=[], missing=[]):
        kept = {
            field: [word for word in getattr(wish, field) if not names.spans(word)]
            for field in ("words", "names", "missing")
        }
        Erasure.objects.filter(pk=wish.pk).update(**kept)


def _clean(rows: QuerySet, names: Names, *columns: str) -> None:
    """Puts a mark for each name in these columns."""
    for row in rows:
        cleaned = {name: names.cleaned_in(name, getattr(row, name)) for name in columns}
        if any(value != getattr(row, name) for name, value in cleaned.items()):
            rows.filter(pk=row.pk).update(**cleaned)


def _holding(names: Names, *columns: str) -> Q:
    """That one of these columns may hold one of the names."""
    either = Q(pk__in=())
    for column in columns:
        for name in names.all:
            either |= Q(**{f"{column}__icontains": name})
    return either


def _cleaned_row(row: dict[str, Any], names: Names) -> dict[str, Any]:
    columns = apps.get_model(row["model"])._meta.concrete_fields
    told = {one.attname for one in columns if one.attname in TOLD and not one.choices}
    return _with_sides(
        row,
        lambda side: {
            name: names.cleaned_in(name, value) if name in told else value
            for name, value in side.items()
        },
    )


def _scrub_memories(end_user: EndUser, names: Names) -> None:
    """Facts, quotes and speakers of memories that stay; one that was told anew stays as it is."""
    said = _holding(names, "facts", "quote", "speaker", "metadata")
    for memory in Memory.objects.of(end_user).facts().filter(said).defer("tokens"):
        if names.spans(memory.content):
            continue
        memory.facts = [fact for fact in memory.facts if not names.spans(fact["value"])]
        memory.quote = "" if names.spans(memory.quote) else memory.quote
        memory.speaker = names.without(memory.speaker)
        memory.metadata = names.cleaned_in("metadata", memory.metadata)
        memory.save(update_fields=["facts", "quote", "speaker", "metadata"])


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
