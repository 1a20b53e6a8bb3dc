"""Removes erased rows from the audit trail, and the names of erased people from everything."""

import json
from collections.abc import Callable, Collection
from typing import Any

from django.apps import apps
from django.db.models import QuerySet

from accounts.changes import CHUNK, UUIDS
from accounts.models import Change, EndUser
from contacts.models import Suggestion
from memories.corrections.forgotten_names import Names, take_out
from memories.models import Edge, Entity, EntityLink, Erasure, Memory, Message


def scrub(end_user: EndUser, ids: Collection[str]) -> None:
    """Removes from the audit trail the rows with these ids, rows that point at them, every value
    that rests on them, the reasons of such changes, and the texts of profiles. An undo then
    restores none of this, nor rows that it would have restored with it."""
    erased = set(ids)
    standing = Change.objects.of(end_user).filter(undone_at=None)
    more = erased
    while more:
        more = {pk for one in standing.iterator(CHUNK) for pk in restorable_only_by(one, erased)}
        more -= erased
        erased |= more
    for change in Change.objects.of(end_user).iterator(CHUNK):
        hit = not erased.isdisjoint(UUIDS.findall(json.dumps(change.rows)))
        rows = [_map_sides(row, _without_profile_text) for row in change.rows]
        if hit:
            rows = [scrubbed for row in rows if (scrubbed := _scrubbed_row(row, erased))]
            change.why = ""
        if hit or rows != change.rows:
            change.rows = rows
            change.save(update_fields=["rows", "why"])


def restorable_only_by(change: Change, gone: Collection[str] = ()) -> set[str]:
    """Returns the ids of rows that only this change could restore, since it deleted them; with
    ``gone``, only of rows that point at one of these."""
    return {
        row["id"]
        for row in change.rows
        if row["after"] is None
        and UUIDS.fullmatch(row["id"])
        and not (gone and _referenced_ids(row).isdisjoint(gone))
    }


def _referenced_ids(row: dict[str, Any]) -> set[str]:
    """Returns the ids of a recorded row and of those that it points at."""
    ends = (side[name] for side in _sides(row) for name in side if name.endswith("_id"))
    return {row["id"], *ends}


def _sides(row: dict[str, Any]) -> list[dict[str, Any]]:
    return [side for side in (row["before"], row["after"]) if side is not None]


def _map_sides(
    row: dict[str, Any], change: Callable[[dict[str, Any]], dict[str, Any]]
) -> dict[str, Any]:
    """Returns ``row`` with ``change`` applied to its values before and after."""
    return {**row, **{at: row[at] and change(row[at]) for at in ("before", "after")}}


def _without_profile_text(side: dict[str, Any]) -> dict[str, Any]:
    return {**side, "content": ""} if side.get("kind") == "profile" else side


def _scrubbed_row(row: dict[str, Any], erased: set[str]) -> dict[str, Any] | None:
    """Returns a row without what rests on erased rows; None if it refers to one."""
    if not _referenced_ids(row).isdisjoint(erased):
        return None
    cited = {pk for side in _sides(row) for pk in side.get("personality_sources", ())}
    # If the text changed and its sources did not, the row does not contain the sources.
    sourced = any("personality_sources" in side for side in _sides(row))
    hidden = () if sourced and cited.isdisjoint(erased) else ("personality", "personality_sources")
    return _map_sides(
        row,
        lambda side: {k: _without_erased(v, erased) for k, v in side.items() if k not in hidden},
    )


def _without_erased(value: Any, erased: set[str]) -> Any:
    """Returns JSON without erased ids, and without items that have an erased source."""
    if isinstance(value, list):
        return [
            _without_erased(item, erased)
            for item in value
            if erased.isdisjoint(item.get("sources", ()) if isinstance(item, dict) else [str(item)])
        ]
    if isinstance(value, dict):
        cleaned = {key: _without_erased(item, erased) for key, item in value.items()}
        return {key: item for key, item in cleaned.items() if item or not value[key]}
    return value


# Columns of recorded rows that contain words; the others contain ids, hashes and states, which may
# be spelt like a name.
TOLD = frozenset(
    "name name_key aliases relationship attributes personality timeline card kind evidence content"
    " tokens speaker quote facts metadata reason judged_reason"
    " references references_denied note".split()
)


def scrub_names(end_user: EndUser, names: Names) -> None:
    """Replaces each name by a mark in what is known about others, in changes, reasons and requests
    to forget; deletes entities with such a name."""
    if not names.keys:
        return
    take_out(end_user, names)
    _scrub_memories(end_user, names)
    _scrub_entities(end_user, names)
    noted = Message.objects.of(end_user).exclude(metadata={})
    _mark_names(noted.filter(names.may_be_in("metadata")).only("metadata"), names, "metadata")
    _mark_names(Edge.both_ways.of(end_user).exclude(reason=""), names, "reason")
    _mark_names(Suggestion.objects.of(end_user), names, "evidence", "judged_reason")
    for change in Change.objects.of(end_user).iterator(CHUNK):
        rows = [_cleaned_row(row, names) for row in change.rows]
        why = names.without(change.why)
        if (rows, why) != (change.rows, change.why):
            Change.objects.filter(pk=change.pk).update(rows=rows, why=why)
    for wish in Erasure.objects.of(end_user).exclude(words=[], names=[], missing=[]):
        remaining = {
            field: [word for word in getattr(wish, field) if not names.spans(word)]
            for field in ("words", "names", "missing")
        }
        Erasure.objects.filter(pk=wish.pk).update(**remaining)


def _mark_names(rows: QuerySet, names: Names, *columns: str) -> None:
    """Replaces each name by a mark in these columns."""
    for row in rows:
        cleaned = {name: names.cleaned_in(name, getattr(row, name)) for name in columns}
        if any(value != getattr(row, name) for name, value in cleaned.items()):
            rows.filter(pk=row.pk).update(**cleaned)


def _cleaned_row(row: dict[str, Any], names: Names) -> dict[str, Any]:
    columns = apps.get_model(row["model"])._meta.concrete_fields
    text_columns = {one.attname for one in columns if one.attname in TOLD and not one.choices}
    return _map_sides(
        row,
        lambda side: {
            name: names.cleaned_in(name, value) if name in text_columns else value
            for name, value in side.items()
        },
    )


def _scrub_memories(end_user: EndUser, names: Names) -> None:
    """Removes names from memories whose content has none: facts, quotes, speakers, metadata."""
    condition = names.may_be_in("facts", "quote", "speaker", "metadata")
    for memory in Memory.objects.of(end_user).facts().filter(condition).defer("tokens"):
        if names.spans(memory.content):
            continue
        memory.facts = [fact for fact in memory.facts if not names.spans(fact["value"])]
        memory.quote = "" if names.spans(memory.quote) else memory.quote
        memory.speaker = names.without(memory.speaker)
        memory.metadata = names.cleaned_in("metadata", memory.metadata)
        memory.save(update_fields=["facts", "quote", "speaker", "metadata"])


def _scrub_entities(end_user: EndUser, names: Names) -> None:
    named = [
        entity
        for entity in Entity.objects.of(end_user)
        if names.spans(f"{entity.name} {entity.key}")
    ]
    kinds = [f"{Edge.SHARES_ENTITY}{entity.name}" for entity in named]
    Edge.objects.of(end_user).filter(kind__in=kinds).delete()
    ids = [entity.pk for entity in named]
    EntityLink.objects.of(end_user).filter(entity__in=ids).delete()
    Entity.objects.of(end_user).filter(pk__in=ids).delete()
