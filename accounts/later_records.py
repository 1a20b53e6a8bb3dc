"""What changes recorded after one that is undone: as if that one had never been.

A later change noted what it found. Undone itself, it would bring back what the undone one had
made of things: a fact under the name that a merge gave it, a value that no longer stands. So
each later record is rewritten as the rows themselves are put back. What a later change deleted
lives on in its record alone, and is put back there.

Callers hold the end user's lock.
"""

import json
from collections.abc import Collection, Iterator
from typing import Any
from uuid import UUID

from django.apps import apps
from django.db.models import BooleanField, QuerySet
from django.db.models.expressions import RawSQL

from accounts.changes import CHUNK, PAIRED, Row, Rows, held_rows
from accounts.models import Change
from accounts.putting_back import references, wanted_now

_SIDES = ("before", "after")


def forget(change: Change) -> None:
    """Takes ``change``, whose rows were put back, out of the records of those made since."""
    mine = {_key(row): row for row in change.rows}
    asleep = _not_back(change)
    named = {pk for row in asleep for pk in _referred(row)}
    for later in _since(change, {pk for _, pk in mine} | named):
        gone = _deleted(later)
        rows = [left for row in later.rows if (left := _without(row, mine.get(_key(row))))]
        known = {_key(row) for row in rows}
        rows += [r for r in asleep if _key(r) not in known and not gone.isdisjoint(_referred(r))]
        if rows != later.rows:
            later.rows = rows
            later.save(update_fields=["rows"])


def asleep(change: Change) -> Rows:
    """The rows of a change of which nothing is there, because a later change has deleted them
    or what they point at: should that be undone, they are this change's again."""
    gone = {pk for later in _since(change, _ids(change)) for pk in _deleted(later)}
    absent = {_key(row) for row in _not_back(change)}
    return [
        row
        for row in change.rows
        if (row["after"] is not None and row["id"] in gone)
        or (_key(row) in absent and not gone.isdisjoint(_referred(row)))
    ]


def rename(change: Change, gone: UUID, standing: UUID) -> None:
    """Lets what the changes made since did to ``gone``, whose rows are ``standing``'s now, be
    taken back from that."""
    telling = RawSQL("rows::text LIKE %s", [f"%{gone}%"], output_field=BooleanField())
    for later in _standing_since(change).filter(telling):
        own = {_key(row) for row in later.rows}
        told = json.loads(json.dumps(later.rows).replace(str(gone), str(standing)))
        later.rows = [
            row
            for row, was in zip(told, later.rows, strict=True)
            if _key(row) == _key(was) or _key(row) not in own
        ]
        later.save(update_fields=["rows"])


def _key(row: dict[str, Any]) -> Row:
    return row["model"], row["id"]


def _deleted(change: Change) -> set[str]:
    return {row["id"] for row in change.rows if row["after"] is None}


def _ids(change: Change) -> set[str]:
    """The rows of a change, and what those that it deleted point at."""
    return {row["id"] for row in change.rows}.union(
        *(_referred(row) for row in change.rows if row["after"] is None)
    )


def _referred(row: dict[str, Any]) -> set[str]:
    """What a deleted row points at."""
    return {str(pk) for _, pk in references(apps.get_model(row["model"]), row["before"])}


def _not_back(change: Change) -> Rows:
    """What the change deleted and its undo could not bring back."""
    deleted: dict[str, Rows] = {}
    for row in change.rows:
        if row["after"] is None and row["before"] is not None:
            deleted.setdefault(row["model"], []).append(row)
    missing = []
    for label, rows in deleted.items():
        there = {str(pk) for pk in held_rows(label, [row["id"] for row in rows])}
        missing += [row for row in rows if row["id"] not in there]
    return missing


_TOUCHING = """EXISTS (
    SELECT 1 FROM jsonb_array_elements(accounts_change.rows) AS touched
    WHERE touched->>'id' = ANY(%s))"""


def _since(change: Change, ids: Collection[str]) -> Iterator[Change]:
    """The changes made since, and not undone, that touched rows with these ids."""
    touching = RawSQL(_TOUCHING, [sorted(ids)], output_field=BooleanField())  # noqa: S611 a constant
    return _standing_since(change).filter(touching).order_by("created_at").iterator(CHUNK)


def _standing_since(change: Change) -> QuerySet[Change]:
    return Change.objects.of(change.end_user_id).filter(
        undone_at=None, created_at__gt=change.created_at
    )


def _without(row: dict[str, Any], undone: dict[str, Any] | None) -> dict[str, Any] | None:
    """A later change's row as it would be without what the ``undone`` one did to it; None
    when nothing is left of it."""
    if undone is None or undone["after"] is None:
        return row
    if undone["before"] is None:
        return None
    label = row["model"]
    sides = {at: row[at] and {**row[at], **wanted_now(label, undone, row[at])} for at in _SIDES}
    before, after = sides["before"], sides["after"]
    if before and after:
        kept = [name for name in before if before[name] != after[name]]
        if not kept:
            return None
        kept += [name for name in PAIRED.get(label, ()) if name in before and name not in kept]
        before, after = ({name: side[name] for name in kept} for side in (before, after))
    return {**row, "before": before, "after": after}
