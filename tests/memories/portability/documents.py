"""Documents of one end user, made comparable whatever ids a database gave them."""

import json
import re
from collections.abc import Iterator
from typing import Any

COUNTED = (
    "messages", "batches", "relations", "suggestions", "links", "edges", "entities",
    "entity_links",
)  # fmt: skip
UUIDS = ("contacts", "memories", "changes", "erasures")


def comparable(document: dict[str, Any]) -> dict[str, Any]:
    """A document without what a database counts for itself, and with names for its ids."""
    plain = json.loads(json.dumps(document))
    plain.pop("exported_at")
    del plain["user"]["external_id"]
    numbers = {
        "source_message_ids": {row["id"]: f"no. {row['seq']}" for row in plain["messages"]},
        "message_ids": {row["id"]: f"no. {row['seq']}" for row in plain["messages"]},
        "entity_id": {row["id"]: row["key"] for row in plain["entities"]},
        "batch_id": {row["id"]: row["first_seq"] for row in plain["batches"]},
    }
    uuids = [row["id"] for part in UUIDS for row in plain[part]]
    for row in (row for section in COUNTED for row in plain[section]):
        del row["id"]
    rows = [row for section in plain.values() if isinstance(section, list) for row in section]
    for touched in (row for change in plain["changes"] for row in change["rows"]):
        if touched["id"].isdigit():
            del touched["id"]
        rows += [side for side in (touched["before"], touched["after"]) if side]
    for row in rows:
        row.pop("end_user_id", None)
        for name in numbers.keys() & row.keys():
            known, held = numbers[name], row[name]
            row[name] = [known[pk] for pk in held] if isinstance(held, list) else known.get(held)
    return anonymous(plain, uuids)


def anonymous(plain: dict[str, Any], uuids: list[str]) -> dict[str, Any]:
    """The document with ids named by what their rows say, every section in one order."""

    def told(section: str, row: dict[str, Any]) -> str:
        said = {
            "contacts": ("name", "namesake", "created_at"),
            "memories": ("kind", "content", "created_at"),
            "changes": ("verb", "created_at"),
            "erasures": ("requested_at",),
        }[section]
        return " ".join([section, *(str(row[name]) for name in said)])

    known = {row["id"]: told(section, row) for section in UUIDS for row in plain[section]}
    assert len(set(known.values())) == len(uuids)
    text = json.dumps(plain)
    for pk, name in known.items():
        text = text.replace(pk, json.dumps(name)[1:-1])
    named = json.loads(re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "gone", text))
    for row in json_objects(named):
        if "first_id" in row and "second_id" in row:
            row["first_id"], row["second_id"] = sorted((row["first_id"], row["second_id"]))
    for section, rows in named.items():
        if isinstance(rows, list):
            named[section] = sorted(rows, key=json.dumps)
    for change in named["changes"]:
        change["rows"] = sorted(change["rows"], key=json.dumps)
        change["subjects"] = sorted(change["subjects"])
    for row in named["erasures"]:
        row["memory_ids"].sort()
    return named


def json_objects(value: Any) -> Iterator[dict[str, Any]]:
    """All objects in a JSON value."""
    if isinstance(value, dict):
        yield value
    for item in value.values() if isinstance(value, dict) else value:
        if isinstance(item, dict | list):
            yield from json_objects(item)
