"""Records corrections: each is one row, with what it changed in rows of ``Tracked`` models. What is
derived from tracked fields is not recorded; the verb that undoes rebuilds it."""

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.apps import apps
from django.core.serializers.json import DjangoJSONEncoder

from accounts.cells import atomic
from accounts.models import Change, EndUser, Tracked

CHUNK = 500

UUIDS = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

Row = tuple[str, str]
Rows = list[dict[str, Any]]


class Recorder:
    """Collects the rows that a verb touches: ``watch`` a row before it is changed or deleted, or
    after it was created; ``keep`` a row that the change depends on without changing it, so that a
    later change of that row counts as touching this change."""

    def __init__(self) -> None:
        self.before: dict[Row, dict[str, Any] | None] = {}
        self.kept: set[Row] = set()

    def watch(self, objects: Iterable[Tracked], *, created: bool = False) -> None:
        for item in objects:
            row = (item._meta.label_lower, str(item.pk))
            self.before.setdefault(row, None if created else snapshot(item))

    def keep(self, objects: Iterable[Tracked]) -> None:
        objects = list(objects)
        self.watch(objects)
        self.kept |= {(item._meta.label_lower, str(item.pk)) for item in objects}


class _Unrecorded(Recorder):
    def watch(self, objects: Iterable[Tracked], *, created: bool = False) -> None:
        """Records nothing, and reads nothing of ``objects``."""

    keep = watch


# For writes that are nobody's correction, such as what machines learn.
UNRECORDED: Recorder = _Unrecorded()


def snapshot(item: Tracked) -> dict[str, Any]:
    """Returns the tracked fields of a model instance as plain JSON values."""
    values = {name: getattr(item, name) for name in item.tracked}
    return json.loads(json.dumps(values, cls=_Exact))


class _Exact(DjangoJSONEncoder):
    """Encodes times to the microsecond, in UTC as the database has them."""

    def default(self, o: Any) -> Any:
        return o.astimezone(UTC).isoformat() if isinstance(o, datetime) else super().default(o)


@contextmanager
def recording(
    end_user: EndUser, verb: str, actor: str, why: str = "", subjects: Iterable[UUID] = ()
) -> Iterator[tuple[Recorder, Change]]:
    """Runs the block in a transaction, and stores one Change at its end. Yields the recorder of
    touched rows and the change, whose id may be handed out."""
    change = Change(end_user=end_user, verb=verb, actor=actor, why=why)
    change.subjects = [str(subject) for subject in subjects]
    recorder = Recorder()
    with atomic():
        yield recorder, change
        change.rows = list(_differences(recorder))
        change.save(force_insert=True)


def _differences(recorder: Recorder) -> Iterator[dict[str, Any]]:
    """Yields each watched row that changed or is kept, with its differing fields before and after."""
    watched: dict[str, list[str]] = defaultdict(list)
    for label, pk in recorder.before:
        watched[label].append(pk)
    current = {
        (label, str(pk)): snapshot(item)
        for label, pks in watched.items()
        for pk, item in current_rows(label, pks).items()
    }
    for row, before in recorder.before.items():
        after = current.get(row)
        if before == after and row not in recorder.kept:
            continue
        if before is not None and after is not None:
            keys = [key for key in before if before[key] != after[key]]
            model = apps.get_model(row[0])
            for group in (model.unique_by, *model.together):
                if not set(group).isdisjoint(keys):
                    keys += [key for key in group if key not in keys]
            before, after = ({key: values[key] for key in keys} for values in (before, after))
        yield {"model": row[0], "id": row[1], "before": before, "after": after}


def current_rows(label: str, pks: Collection[str]) -> dict[Any, Tracked]:
    """Returns the rows of a model that still exist, by primary key, with their tracked columns only."""
    model = apps.get_model(label)
    return model._default_manager.only("pk", *model.tracked).in_bulk(list(pks))
