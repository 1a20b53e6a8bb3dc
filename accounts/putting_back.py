"""The way back of a change: its rows as they were, and what came later kept."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.apps import apps
from django.db import models
from django.utils import timezone

from accounts.changes import (
    CHUNK,
    COUNTED,
    FOLLOWING,
    FOUND_AGAIN,
    NAMING,
    TOLD_AGAIN,
    UNITED,
    Rows,
    held_rows,
    snapshot,
)
from accounts.inverse import given_back, taken_back
from accounts.models import Change


def put_back(change: Change) -> list[models.Model]:
    """Puts back every row of ``change``; call inside a transaction that holds the end user's
    lock. Returns the rows as they are now, deleted ones left out. What was changed again
    since keeps that; what points at a row that is gone is left out.

    Rows that free a unique value come before those that take it back: first what the change
    created, then what it altered, then what it deleted.
    """
    created: dict[str, Rows] = defaultdict(list)
    altered: dict[str, Rows] = defaultdict(list)
    deleted: dict[str, Rows] = defaultdict(list)
    for row in change.rows:
        kind = created if row["before"] is None else deleted if row["after"] is None else altered
        kind[row["model"]].append(row)
    # Read before anything is deleted: the database empties what pointed at a deleted row.
    now = {label: held_rows(label, [row["id"] for row in rows]) for label, rows in altered.items()}
    for label in reversed(created):
        pks = [row["id"] for row in created[label]]
        apps.get_model(label)._default_manager.filter(pk__in=pks).delete()
    back: list[models.Model] = []
    for label, rows in altered.items():
        back += _put_back_altered(label, rows, {str(pk): item for pk, item in now[label].items()})
    for label, rows in deleted.items():
        back += _put_back_deleted(label, rows)
    return back


def _put_back_altered(
    label: str, rows: Rows, held: Mapping[str, models.Model]
) -> list[models.Model]:
    model = apps.get_model(label)
    wanted = {
        row["id"]: wanted_now(label, row, snapshot(held[row["id"]]))
        for row in rows
        if row["id"] in held
    }
    dangling = _dangling(model, list(wanted.values()))
    alike: dict[frozenset[str], list[models.Model]] = defaultdict(list)
    for pk, values in wanted.items():
        for at in references(model, values):
            if at in dangling:
                del values[at[0]]
        _assign(held[pk], values)
        alike[frozenset(values)].append(held[pk])
    for names, items in alike.items():
        if names:
            _write(model, items, names)
    return [held[pk] for pk in wanted]


def _write(model: type[models.Model], items: Sequence[models.Model], names: Iterable[str]) -> None:
    fields = {model._meta.get_field(name).name for name in names}
    if any(field.name == "updated_at" for field in model._meta.concrete_fields):
        fields.add("updated_at")
        for item in items:
            item.updated_at = timezone.now()  # type: ignore[attr-defined]
    model._default_manager.bulk_update(items, sorted(fields), batch_size=CHUNK)


def wanted_now(label: str, row: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """The tracked fields, of those in ``now``, that change when ``row`` is put back."""
    values = {}
    following = FOLLOWING.get(label, {})
    for name, before in row["before"].items():
        if name not in now:
            continue
        after = row["after"][name]
        leader = following.get(name, name)
        led = leader in row["after"] and leader in now
        if now[name] == after or (led and now[leader] == row["after"][leader]):
            values[name] = before
        elif name in UNITED.get(label, ()):
            values[name] = taken_back(before, after, now[name])
        elif (naming := NAMING.get(label, {}).get(name)) is not None:
            values[name] = given_back(before, after, now[name], naming)
        elif name in COUNTED.get(label, ()):
            values[name] = max(0, now[name] - after + before)
    return values


def _put_back_deleted(label: str, rows: Rows) -> list[models.Model]:
    model = apps.get_model(label)
    there = {str(pk) for pk in held_rows(label, [row["id"] for row in rows])}
    # What points at another row of these is whole again when both are there.
    coming = {row["id"] for row in rows}
    dangling = {
        (name, pk)
        for name, pk in _dangling(model, [row["before"] for row in rows])
        if pk not in coming or model._meta.get_field(name).related_model is not model
    }
    items = []
    for row in rows:
        if row["id"] in there or any(at in dangling for at in references(model, row["before"])):
            continue
        if _told_again(model, label, row["before"]):
            continue
        item = model(pk=model._meta.pk.to_python(row["id"]))
        _assign(item, row["before"])
        items.append(item)
    model._default_manager.bulk_create(
        items, batch_size=CHUNK, ignore_conflicts=label in FOUND_AGAIN
    )
    return items


def _told_again(model: type[models.Model], label: str, was: dict[str, Any]) -> bool:
    """Whether a row that is there now says what a deleted one said; it rests on what that
    rested on as well, or on nothing where one of them was stated by a person."""
    names = TOLD_AGAIN.get(label)
    twin = names and model._default_manager.filter(**{name: was[name] for name in names}).first()
    if not twin:
        return False
    now = snapshot(twin)
    for name in UNITED[label]:
        both = [*was[name], *now[name]] if was[name] and now[name] else []
        setattr(twin, name, list(dict.fromkeys(both)))
    twin.save(update_fields=UNITED[label])
    return True


def references(model: type[models.Model], values: dict[str, Any]) -> list[tuple[str, Any]]:
    """The foreign keys among ``values``, with what they hold."""
    return [
        (name, value)
        for name, value in values.items()
        if value is not None and model._meta.get_field(name).is_relation
    ]


def _dangling(model: type[models.Model], rows: Sequence[dict[str, Any]]) -> set[tuple[str, Any]]:
    """The foreign keys of ``rows`` that point at nothing."""
    pointed: dict[str, set[Any]] = defaultdict(set)
    for values in rows:
        for name, value in references(model, values):
            pointed[name].add(value)
    found = set()
    for name, ids in pointed.items():
        target: Any = model._meta.get_field(name).related_model
        there = set(target._default_manager.filter(pk__in=ids).values_list("pk", flat=True))
        found |= {(name, pk) for pk in ids if target._meta.pk.to_python(pk) not in there}
    return found


def _assign(item: models.Model, values: dict[str, Any]) -> None:
    for name, value in values.items():
        field = item._meta.get_field(name.removesuffix("_id"))
        setattr(item, name, None if value is None else field.to_python(value))  # type: ignore[union-attr]
