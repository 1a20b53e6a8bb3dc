"""A document's rows as the database that reads them holds them: under ids that are free, and
without what is derived."""

import json
from collections.abc import Iterable, Mapping
from typing import Any
from uuid import uuid4

from django.db import models

from accounts.cells import connection
from accounts.changes import UUIDS
from accounts.models import EndUser
from memories.models import Batch, Memory
from memories.models.memory import content_hash
from memories.portability.document import SECTIONS, Rows

# Rows whose ids are counted by the database: they get new ones.
_COUNTED = (
    "messages", "batches", "relations", "suggestions", "links", "edges", "entities",
    "entity_links", "gateway_turns",
)  # fmt: skip
_SECTION_OF = {model._meta.label_lower: name for name, model in SECTIONS.items()}


def with_free_ids(sections: dict[str, Rows]) -> dict[str, Rows]:
    """The sections with new UUIDs for those that are taken here, wherever they occur."""
    renamed: dict[str, str] = {}
    for name in ("contacts", "memories", "changes", "erasures"):
        ids = [row["id"] for row in sections[name]]
        taken = SECTIONS[name]._default_manager.filter(pk__in=ids).values_list("pk", flat=True)
        renamed |= {str(pk): str(uuid4()) for pk in taken}
    if not renamed:
        return sections
    # What a change has deleted may come back by an undo here and there.
    renamed = {pk: str(uuid4()) for pk in _deleted(sections["changes"])} | renamed
    text = json.dumps({name: rows for name, rows in sections.items() if name != "messages"})
    text = UUIDS.sub(lambda found: renamed.get(found[0], found[0]), text)
    return {"messages": sections["messages"], **json.loads(text)}


def _deleted(changes: Rows) -> set[str]:
    """The ids of contacts and memories that changes have deleted."""
    return {
        str(row["id"])
        for change in changes
        for row in change["rows"]
        if row["after"] is None and UUIDS.fullmatch(str(row["id"]))
    }


def here(
    name: str, sections: dict[str, Rows], end_user: EndUser, numbers: dict[str, dict[int, int]]
) -> Rows:
    """The rows of a section as this database holds them."""
    rows = sections[name]
    if name in _COUNTED:
        numbers[name] = _number(SECTIONS[name], rows, sections["changes"])
    if name == "contacts":
        return [row | {"memory_ids": [], "card": "", "coming": [], "sort_key": ""} for row in rows]
    if name == "suggestions":
        return [_smaller_id_first(row) for row in rows]
    if name == "batches":
        return [_claimable(row) for row in rows]
    if name == "memories":
        return [_memory(row, numbers) for row in rows]
    if name == "entity_links":
        return [row | {"entity_id": numbers["entities"][row["entity_id"]]} for row in rows]
    if name == "changes":
        return [_change(row, end_user, numbers) for row in rows]
    if name == "erasures":
        return [_erasure(row, numbers) for row in rows]
    return rows


def _number(model: type[models.Model], rows: Rows, changes: Rows) -> dict[int, int]:
    """Gives each row a fresh number; returns new ones by old. What changes have deleted gets
    one as well: undone, it stands in the same place among the others."""
    label = model._meta.label_lower
    touched = (row for change in changes for row in change["rows"] if row["model"] == label)
    old = sorted({row["id"] for row in rows}.union(int(row["id"]) for row in touched))
    fresh = dict(zip(old, _numbers(model, len(old)), strict=True))
    for row in rows:
        row["id"] = fresh[row["id"]]
    return fresh


def _numbers(model: type[models.Model], count: int) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)",
            [model._meta.db_table, count],
        )
        return [number for (number,) in cursor.fetchall()]


def _memory(row: dict[str, Any], numbers: Mapping[str, Mapping[int, int]]) -> dict[str, Any]:
    key = (
        row["content_hash"] if row["kind"] == Memory.Kind.PROFILE else content_hash(row["content"])
    )
    return row | {
        "content_hash": key,
        "batch_id": numbers["batches"].get(row["batch_id"]),
        "source_message_ids": _messages(row["source_message_ids"], numbers),
        "embedding_model": "",
        "tokens": [],
    }


def _claimable(row: dict[str, Any]) -> dict[str, Any]:
    """The row of a batch; one that was being worked on where it comes from can be claimed here.
    "submitted" is of releases that sent batches to a model server's batch API."""
    held = row["state"] in (Batch.State.RUNNING, "submitted")
    return row | {"state": Batch.State.PENDING} if held else row


def _erasure(row: dict[str, Any], numbers: Mapping[str, Mapping[int, int]]) -> dict[str, Any]:
    """An erasure; documents from before it was a report name no people."""
    lists = ("names", "name_hashes", "unsure_message_ids", "unsure_contact_ids")
    row = {key: [] for key in lists} | row
    ids = {key: _messages(row[key], numbers) for key in ("message_ids", "unsure_message_ids")}
    return row | ids


def _messages(ids: Iterable[int], numbers: Mapping[str, Mapping[int, int]]) -> list[int]:
    return [numbers["messages"][pk] for pk in ids if pk in numbers["messages"]]


def _change(
    row: dict[str, Any], end_user: EndUser, numbers: dict[str, dict[int, int]]
) -> dict[str, Any]:
    """A change whose rows name this database's user, messages, links and so on, so that to
    undo it touches nothing else."""
    for touched in row["rows"]:
        if touched["model"] == EndUser._meta.label_lower:
            touched["id"] = str(end_user.pk)
            continue
        section = _SECTION_OF[touched["model"]]
        if section in _COUNTED:
            touched["id"] = str(numbers[section][int(touched["id"])])
        for side in (touched["before"], touched["after"]):
            if side is None:
                continue
            if "end_user_id" in side:
                side["end_user_id"] = end_user.pk
            if "source_message_ids" in side:
                side["source_message_ids"] = _messages(side["source_message_ids"], numbers)
            if "first_id" in side and "second_id" in side:
                side |= _smaller_id_first(side)
    return row


def _smaller_id_first(pair: dict[str, Any]) -> dict[str, Any]:
    """A suggestion's pair in the order of its ids, which may be new."""
    first, second = sorted((pair["first_id"], pair["second_id"]))
    return pair | {"first_id": first, "second_id": second}
