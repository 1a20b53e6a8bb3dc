"""The audit trail and its undo: every correction is one row that knows the way back.

A model that takes part names its tracked fields in ``TRACKED``; what is derived from them
(keys, cards, embeddings, memory_ids) is rebuilt by the verb that undoes, not stored here.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from django.apps import apps
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models, transaction
from django.utils import timezone

from accounts.models import Change, EndUser

# What of each model a correction may change, and an undo gives back.
TRACKED: dict[str, tuple[str, ...]] = {
    "contacts.contact": (
        "name", "name_key", "namesake", "aliases", "relationship", "gender", "attributes",
        "personality", "personality_sources", "timeline", "first_mentioned_at",
        "last_mentioned_at", "mention_count", "merged_into_id", "end_user_id",
    ),
    "memories.memory": (
        "kind", "content", "content_hash", "type", "subtype", "status", "importance",
        "confidence", "speaker", "quote", "source_message_ids", "facts", "metadata",
        "consolidated_into_id", "happens_at", "expires_at", "valid_from", "valid_to",
        "said_at", "learnt_day", "end_user_id",
    ),
    "memories.link": (
        "contact_id", "memory_id", "made_by", "confidence", "rejected", "consolidated_at",
        "end_user_id",
    ),
    "memories.edge": ("source_id", "target_id", "kind", "reason", "end_user_id"),
}  # fmt: skip

Row = tuple[str, str]


class Recorder:
    """Collects what a verb touches; ``watch`` a row before it is changed or deleted, and
    after it was created (as ``created=True``)."""

    def __init__(self) -> None:
        self.before: dict[Row, dict[str, Any] | None] = {}

    def watch(self, objects: Iterable[models.Model], *, created: bool = False) -> None:
        for item in objects:
            row = (item._meta.label_lower, str(item.pk))
            self.before.setdefault(row, None if created else snapshot(item))


def snapshot(item: models.Model) -> dict[str, Any]:
    """The tracked fields of a model instance as plain JSON values."""
    values = {name: getattr(item, name) for name in TRACKED[item._meta.label_lower]}
    return json.loads(json.dumps(values, cls=DjangoJSONEncoder))


@contextmanager
def recording(
    end_user: EndUser, verb: str, actor: str, why: str = "", subjects: Iterable[UUID] = ()
) -> Iterator[tuple[Recorder, Change]]:
    """One transaction that ends with one Change row; nothing is written if it raises.

    Yields the recorder to tell what is touched, and the change, whose id may be handed out.
    """
    change = Change(end_user=end_user, verb=verb, actor=actor, why=why)
    change.subjects = [str(subject) for subject in subjects]
    recorder = Recorder()
    with transaction.atomic():
        yield recorder, change
        change.rows = [
            row
            for (label, pk), before in recorder.before.items()
            if (row := _difference(label, pk, before))
        ]
        change.save(force_insert=True)


def _difference(label: str, pk: str, before: dict[str, Any] | None) -> dict[str, Any] | None:
    current = apps.get_model(label)._default_manager.filter(pk=pk).first()
    after = snapshot(current) if current else None
    if before == after:
        return None
    if before is not None and after is not None:
        keys = [key for key in before if before[key] != after[key]]
        before, after = ({key: side[key] for key in keys} for side in (before, after))
    return {"model": label, "id": pk, "before": before, "after": after}


class CannotUndo(Exception):
    """The change was undone already, or something it made is gone."""


def restore(change: Change, actor: str) -> list[models.Model]:
    """Puts back every row of ``change`` and marks it undone; call inside a transaction that
    holds the end user's lock. Returns the rows as they are now (deleted ones left out).

    A field that was changed again since keeps its newer value. Raises CannotUndo.
    """
    if change.undone_at:
        raise CannotUndo("This change was undone already.")
    restored = [item for row in _undo_order(change.rows) if (item := _restore_row(row))]
    change.undone_at, change.undone_by = timezone.now(), actor
    change.save(update_fields=["undone_at", "undone_by"])
    return restored


def _undo_order(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows that free a unique value come before those that take it back: first what the
    change created, then what it altered, then what it deleted."""
    created = [row for row in rows if row["before"] is None]
    altered = [row for row in rows if row["before"] is not None and row["after"] is not None]
    deleted = [row for row in rows if row["after"] is None]
    return created[::-1] + altered + deleted


def _restore_row(row: dict[str, Any]) -> models.Model | None:
    model = apps.get_model(row["model"])
    before, after = row["before"], row["after"]
    item = model._default_manager.filter(pk=row["id"]).first()
    if before is None:
        if item is not None:
            item.delete()
        return None
    if after is None:
        item = item or model(pk=row["id"])
        _assign(item, before)
        item.save(force_insert=item._state.adding)
        return item
    if item is None:
        return None
    current = snapshot(item)
    untouched = {key: value for key, value in before.items() if current[key] == after[key]}
    _assign(item, untouched)
    item.save()
    return item


def _assign(item: models.Model, values: dict[str, Any]) -> None:
    for name, value in values.items():
        field = item._meta.get_field(name.removesuffix("_id"))
        setattr(item, name, None if value is None else field.to_python(value))  # type: ignore[union-attr]
