"""The audit trail and its undo: every correction is one row that knows the way back.

A model that takes part names its tracked fields in ``TRACKED``; what is derived from them
(keys, cards, embeddings, memory_ids) is rebuilt by the verb that undoes, not stored here.
"""

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any
from uuid import UUID

from django.apps import apps
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models, transaction
from django.utils import timezone

from accounts.models import Change, EndUser
from accounts.reasons import CodedError

# What of each model a correction may change, and an undo gives back.
TRACKED: dict[str, tuple[str, ...]] = {
    "contacts.contact": (
        "name", "name_key", "namesake", "aliases", "relationship", "gender", "attributes",
        "personality", "personality_sources", "timeline", "first_mentioned_at",
        "last_mentioned_at", "mention_count", "merged_into_id", "end_user_id",
    ),
    "contacts.relation": ("subject_id", "kind", "object_id", "sources", "end_user_id"),
    "contacts.suggestion": (
        "first_id", "second_id", "verdict", "confidence", "evidence", "state", "decided_by",
        "decided_at", "end_user_id",
    ),
    "memories.memory": (
        "kind", "content", "content_hash", "type", "subtype", "status", "importance",
        "confidence", "speaker", "quote", "source_message_ids", "facts", "metadata",
        "consolidated_into_id", "happens_at", "expires_at", "valid_from", "valid_to",
        "said_at", "learnt_day", "merged_into_id", "outdated_at", "outdated_confidence",
        "end_user_id",
    ),
    "memories.link": (
        "contact_id", "memory_id", "made_by", "confidence", "rejected", "consolidated_at",
        "end_user_id",
    ),
    "memories.edge": ("source_id", "target_id", "kind", "reason", "confidence", "end_user_id"),
}  # fmt: skip

# Fields that many hands add to: an undo takes out only what its own change did. Any other
# field that was changed again since keeps its newer value.
UNITED: dict[str, tuple[str, ...]] = {
    "contacts.contact": ("aliases", "attributes", "personality_sources", "timeline"),
    "contacts.relation": ("sources",),
    "memories.memory": ("source_message_ids",),
}
# Lists whose items name a contact: an undo gives back each name that its own change gave away.
NAMING: dict[str, dict[str, str]] = {"memories.memory": {"facts": "person"}}
# What machines may have found again meanwhile: the row that is there stands for the one deleted.
FOUND_AGAIN = ("memories.edge",)
# What may have been told again meanwhile, by what names it: the row that is there rests on what
# both rest on, or on nothing but a person's word where one of them does.
TOLD_AGAIN: dict[str, tuple[str, ...]] = {"contacts.relation": ("subject_id", "kind", "object_id")}
COUNTED: dict[str, tuple[str, ...]] = {"contacts.contact": ("mention_count",)}
# Fields that come back with another one, whatever was computed anew since.
FOLLOWING: dict[str, dict[str, str]] = {"memories.memory": {"importance": "consolidated_into_id"}}
# Fields recorded with one another: a pair stands in the order of its ids, and a copy under other
# ids may have it the other way round.
PAIRED: dict[str, tuple[str, ...]] = {"contacts.suggestion": ("first_id", "second_id")}
CHUNK = 500

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

Row = tuple[str, str]
Rows = list[dict[str, Any]]


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
    return json.loads(json.dumps(values, cls=_Exact))


class _Exact(DjangoJSONEncoder):
    """Times to the microsecond: what is put back equals what was."""

    def default(self, o: Any) -> Any:
        return o.isoformat() if isinstance(o, datetime) else super().default(o)


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
        change.rows = list(_differences(recorder))
        change.save(force_insert=True)


@contextmanager
def recording_anew(change: Change) -> Iterator[Recorder]:
    """As ``recording``, for a change that was put back and is made again: its row stays."""
    recorder = Recorder()
    with transaction.atomic():
        yield recorder
        change.rows = list(_differences(recorder))
        change.save(update_fields=["rows"])


def _differences(recorder: Recorder) -> Iterator[dict[str, Any]]:
    watched: dict[str, list[str]] = defaultdict(list)
    for label, pk in recorder.before:
        watched[label].append(pk)
    now = {
        (label, str(pk)): snapshot(item)
        for label, pks in watched.items()
        for pk, item in held_rows(label, pks).items()
    }
    for row, before in recorder.before.items():
        after = now.get(row)
        if before == after:
            continue
        if before is not None and after is not None:
            keys = [key for key in before if before[key] != after[key]]
            pair = PAIRED.get(row[0], ())
            keys += [key for key in pair if key not in keys and not set(pair).isdisjoint(keys)]
            before, after = ({key: side[key] for key in keys} for side in (before, after))
        yield {"model": row[0], "id": row[1], "before": before, "after": after}


def held_rows(label: str, pks: Collection[str]) -> dict[Any, models.Model]:
    """The rows that are there, by primary key, with their tracked columns only."""
    rows = apps.get_model(label)._default_manager.only("pk", *TRACKED[label])
    return rows.in_bulk(list(pks))


class CannotUndo(CodedError):
    """The change was undone already, or something it made is gone."""


def mark_undone(change: Change, actor: str) -> None:
    change.undone_at, change.undone_by = timezone.now(), actor
    change.save(update_fields=["undone_at", "undone_by"])


def scrub(end_user: EndUser, ids: Collection[UUID]) -> None:
    """Takes out of the audit trail the rows with these ids, what points at them, every value
    that rests on them, the reasons given for such changes, and what profiles told as text
    (which undoing writes anew). Only for true deletion: an undo does not bring them back."""
    gone = {str(pk) for pk in ids}
    for change in Change.objects.of(end_user).iterator(CHUNK):
        hit = not gone.isdisjoint(_UUID.findall(json.dumps(change.rows)))
        rows = [_untold(row) for row in change.rows]
        if hit:
            rows = [left for row in rows if (left := _scrubbed(row, gone))]
            change.why = ""
        if hit or rows != change.rows:
            change.rows = rows
            change.save(update_fields=["rows", "why"])


def _untold(row: dict[str, Any]) -> dict[str, Any]:
    """``row`` without the text of a profile, if it is of one that was made or deleted."""
    sides = {
        at: {**row[at], "content": ""} if (row[at] or {}).get("kind") == "profile" else row[at]
        for at in ("before", "after")
    }
    return {**row, **sides}


def _scrubbed(row: dict[str, Any], gone: Collection[str]) -> dict[str, Any] | None:
    sides = [side for side in (row["before"], row["after"]) if side is not None]
    held = {row["id"], *(side[name] for side in sides for name in side if name.endswith("_id"))}
    if not held.isdisjoint(gone):
        return None
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
