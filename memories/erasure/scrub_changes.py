"""Taking what was erased out of the audit trail."""

import json
from collections.abc import Collection
from typing import Any

from accounts.changes import CHUNK, UUIDS
from accounts.models import Change, EndUser


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
