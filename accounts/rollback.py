"""Undoes changes, newest first: finds the later changes that prevent it, and restores rows.

A later change that is not undone *touched the same rows* as an earlier one if

- both have a row in common,
- one of them created or deleted a row, or gave it a successor, and the other names that row,
- the later one changed a row that is a source of a value which the earlier one took away, or
- the later one gave a row the unique values which the earlier one took from another.

This is transitive. Other changes touch disjoint rows, so their order does not matter; once all later
ones are undone, only machines can have written to the rows (see ``Tracked``)."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.apps import apps
from django.db import models
from django.utils import timezone

from accounts.changes import CHUNK, UUIDS, Row, Rows, current_rows, snapshot
from accounts.models import Change, Tracked
from accounts.reasons import CodedError, Reason


class CannotUndo(CodedError):
    """The change was undone already, or something that was made since prevents it."""

    api_code = "cannot_undo"


class LaterChanges(CannotUndo):
    """Later ``changes`` touched the same rows: these have to be undone first, newest first."""

    def __init__(self, changes: Sequence[Change]) -> None:
        super().__init__(Reason("later_changes"))
        self.changes = changes


@dataclass(slots=True)
class _Footprint:
    """What a change depends on: ``rows`` with their ``ids``, all ids in them (``named_ids``), the
    ids of rows that it created, deleted or replaced (``ends``), the ids of sources of old values,
    and the unique values that it took from rows or gave to them."""

    rows: set[Row] = field(default_factory=set)
    ids: set[str] = field(default_factory=set)
    named_ids: set[str] = field(default_factory=set)
    ends: set[str] = field(default_factory=set)
    source_ids: set[str] = field(default_factory=set)
    taken_values: set[Any] = field(default_factory=set)
    given_values: set[Any] = field(default_factory=set)

    def add(self, other: "_Footprint") -> None:
        for name in self.__slots__:
            getattr(self, name).update(getattr(other, name))

    def touched_by(self, later: "_Footprint") -> bool:
        return not (
            self.rows.isdisjoint(later.rows)
            and self.named_ids.isdisjoint(later.ends)
            and self.ends.isdisjoint(later.named_ids)
            and self.source_ids.isdisjoint(later.ids)
            and self.taken_values.isdisjoint(later.given_values)
        )


def later_changes(change: Change) -> list[Change]:
    """Returns the changes to undo before ``change``, newest first."""
    footprint = _footprint(change)
    touching = []
    candidates = Change.objects.of(change.end_user_id).filter(
        undone_at=None, created_at__gt=change.created_at
    )
    # In this order one pass is enough: what touches a change comes after it.
    for later in candidates.order_by("created_at", "pk").iterator(CHUNK):
        later_footprint = _footprint(later)
        if footprint.touched_by(later_footprint):
            footprint.add(later_footprint)
            touching.append(later)
    return touching[::-1]


def _footprint(change: Change) -> _Footprint:
    footprint = _Footprint(named_ids=set(UUIDS.findall(json.dumps(change.rows))))
    for row in change.rows:
        model, before, after = apps.get_model(row["model"]), row["before"], row["after"]
        footprint.rows.add((row["model"], row["id"]))
        footprint.ids.update(UUIDS.findall(row["id"]))
        footprint.source_ids.update(_sources(before))
        if (
            before is None
            or after is None
            or (before.get(model.successor) != after.get(model.successor))
        ):
            footprint.ends.add(row["id"])
        footprint.taken_values |= _unique(model, before)
        footprint.given_values |= _unique(model, after)
    return footprint


def _sources(value: Any) -> Iterator[str]:
    """Yields the ids that values list as their sources: the texts that are items of lists."""
    for item in value.values() if isinstance(value, dict) else value or ():
        if isinstance(item, list | dict):
            yield from _sources(item)
        elif isinstance(item, str) and isinstance(value, list):
            yield item


def _unique(model: type[Tracked], side: Mapping[str, Any] | None) -> set[Any]:
    """Returns the unique values on one side of a row, if they are there."""
    if side is None or not side.keys() >= {*model.unique_by}:
        return set()
    return {(model._meta.label_lower, *(side[name] for name in model.unique_by))}


def restore_rows(rows: Iterable[dict[str, Any]]) -> None:
    """Restores the ``rows`` of a change whose later changes are undone; call it inside a transaction
    that holds the end user's lock. Rows that free a unique value come before those that take it."""
    created: dict[str, Rows] = defaultdict(list)
    altered: dict[str, Rows] = defaultdict(list)
    deleted: dict[str, Rows] = defaultdict(list)
    for row in rows:
        kind = created if row["before"] is None else deleted if row["after"] is None else altered
        kind[row["model"]].append(row)
    # Read before anything is deleted: the database empties what pointed at a deleted row.
    now = {
        label: current_rows(label, [row["id"] for row in group]) for label, group in altered.items()
    }
    for label in reversed(created):
        pks = [row["id"] for row in created[label]]
        apps.get_model(label)._default_manager.filter(pk__in=pks).delete()
    for label, group in altered.items():
        _alter(apps.get_model(label), group, {str(pk): item for pk, item in now[label].items()})
    for label, group in deleted.items():
        _restore(apps.get_model(label), group)


def _alter(model: type[Tracked], rows: Rows, items_by_pk: Mapping[str, Tracked]) -> None:
    items_by_columns: dict[frozenset[str], list[Tracked]] = defaultdict(list)
    stamped = any(column.name == "updated_at" for column in model._meta.concrete_fields)
    for row in rows:
        item = items_by_pk.get(row["id"])
        if item is not None and (values := _restored_values(item, row)):
            _assign(item, values)
            if stamped:
                item.updated_at = timezone.now()  # type: ignore[attr-defined]
                values["updated_at"] = None
            items_by_columns[frozenset(values)].append(item)
    for names, items in items_by_columns.items():
        fields = sorted({model._meta.get_field(name).name for name in names})
        model._default_manager.bulk_update(items, fields, batch_size=CHUNK)


def _restored_values(item: Tracked, row: dict[str, Any]) -> dict[str, Any]:
    """Returns the columns of ``item`` that change when ``row`` is restored."""
    now, values = snapshot(item), {}
    for name, before in row["before"].items():
        after = row["after"][name]
        if now[name] == after or name not in (*item.counted, *item.grown, *item.learnt):
            values[name] = before
        elif name in item.counted:
            values[name] = max(0, now[name] - after + before)
        elif name in item.grown:
            values[name] = [*before, *(one for one in now[name] if one not in [*after, *before])]
    return {name: value for name, value in values.items() if value != now[name]}


def _restore(model: type[Tracked], rows: Rows) -> None:
    """Creates deleted rows again. An equal row made since then is replaced, and gives its sources."""
    items = []
    for row in rows:
        values = {**row["before"]}
        if model.found_again:
            unique = {name: values[name] for name in model.unique_by}
            for twin in model._default_manager.filter(**unique):
                for name in model.grown:
                    # Sources of both rows; none if a person stated either.
                    ours, theirs = values[name], snapshot(twin)[name]
                    values[name] = list(dict.fromkeys([*ours, *theirs])) if ours and theirs else []
                twin.delete()
        item = model()
        item.pk = model._meta.pk.to_python(row["id"])
        _assign(item, values)
        items.append(item)
    model._default_manager.bulk_create(items, batch_size=CHUNK)


def _assign(item: models.Model, values: dict[str, Any]) -> None:
    for name, value in values.items():
        column = item._meta.get_field(name.removesuffix("_id"))
        setattr(item, name, None if value is None else column.to_python(value))  # type: ignore[union-attr]
