"""One end user's whole memory as a document, and back without loss.

What is derived (embeddings, search tokens, cards, lookup keys, ``memory_ids``) is left out
and made anew. Ids are kept where they are free in the database that reads the document.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime
from typing import Any
from uuid import UUID, uuid4

from django.core.exceptions import ValidationError
from django.db import DataError, IntegrityError, connection, models, transaction
from django.utils import timezone

from accounts.models import App, Change, EndUser
from contacts import identity
from contacts.models import Contact, Relation, Suggestion
from memories import surroundings
from memories.hashing import content_hash
from memories.models import (
    Batch,
    Edge,
    Entity,
    EntityLink,
    Erasure,
    Link,
    Memory,
    Message,
)
from memories.pipeline.embed import embed_missing
from memories.providers.configured import embedder

FORMAT, VERSION = "mio-user", 2
CHUNK = 2000

USER_COLUMNS = (
    "external_id", "names", "language", "message_seq", "extracted_seq", "consolidated_seq",
    "activity_days", "last_active_on", "last_message_at", "due_seq", "forgetting_until",
    "created_at",
)  # fmt: skip
# What is not carried over of each table: whose it is (the document's user) and what is derived.
_LEFT_OUT = {
    Message: (),
    Batch: ("remote_id", "leased_until"),  # a server's and a worker's that are not here
    Contact: ("embedding", "memory_ids", "card"),
    Relation: (),
    Suggestion: (),
    Memory: ("embedding_model", "tokens"),
    Link: (),
    Edge: ("inverse",),
    Entity: (),
    EntityLink: (),
    Change: (),
    Erasure: (),
}
# In the order in which rows refer to each other.
SECTIONS: dict[str, type[models.Model]] = {
    "messages": Message,
    "batches": Batch,
    "contacts": Contact,
    "relations": Relation,
    "suggestions": Suggestion,
    "memories": Memory,
    "links": Link,
    "edges": Edge,
    "entities": Entity,
    "entity_links": EntityLink,
    "changes": Change,
    "erasures": Erasure,
}
# What a user has that no document holds, and why nothing is lost by it.
NOT_CARRIED: dict[str, str] = {
    "contacts.contactkey": "derived from the contacts",
    "memories.consolidation": "work; what is due follows from the links",
    "memories.injected": "a log of prompts, read for the next batch only",
    "memories.modelcall": "a log of cost",
    "memories.posting": "derived from the memories",
    "memories.retrieval": "a count of how often the text fallback was needed",
    "memories.vector": "derived from the memories",
}
# Rows whose ids are counted by the database: they get new ones.
_COUNTED = (
    "messages", "batches", "relations", "suggestions", "links", "edges", "entities",
    "entity_links",
)  # fmt: skip
_SECTION_OF = {model._meta.label_lower: name for name, model in SECTIONS.items()}
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

# What reading a document that nobody exported may raise.
_DAMAGE = (
    DataError,
    IntegrityError,
    ValidationError,
    KeyError,
    TypeError,
    ValueError,
    AttributeError,
)

Rows = list[dict[str, Any]]
Progress = Callable[[str, int], None]


class CannotImport(ValueError):
    """The document can't be read in here; the message says why."""


def columns(model: type[models.Model]) -> list[str]:
    """The columns of a table that a document holds."""
    out = (*_LEFT_OUT[model], "end_user_id")
    return [field.attname for field in model._meta.concrete_fields if field.attname not in out]


def export_user(end_user: EndUser) -> dict[str, Any]:
    """Everything that is stored of an end user, as plain JSON values."""
    with transaction.atomic():
        # One moment for all tables: no writer may come between them.
        held = EndUser.objects.lock(end_user.pk) or end_user
        return {
            "format": FORMAT,
            "version": VERSION,
            "exported_at": _plain(timezone.now()),
            "user": {name: _plain(getattr(held, name)) for name in USER_COLUMNS},
            **{
                section: [
                    {name: _plain(value) for name, value in row.items()}
                    for row in model._default_manager.filter(end_user=held)
                    .order_by("pk")
                    .values(*columns(model))
                    .iterator(CHUNK)
                ]
                for section, model in SECTIONS.items()
            },
        }


def _plain(value: Any) -> Any:
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value


def import_user(
    app: App,
    document: Mapping[str, Any],
    *,
    external_id: str | None = None,
    progress: Progress = lambda _what, _count: None,
) -> EndUser:
    """Makes the document's end user for ``app``, under ``external_id`` where given.

    All or nothing; then embeds the memories. Raises CannotImport.
    """
    _check(document)
    try:
        with transaction.atomic():
            end_user = _make_user(app, document["user"], external_id)
            sections = {name: [dict(row) for row in document[name]] for name in SECTIONS}
            _insert_all(end_user, _with_free_ids(sections), progress)
            _derive_contacts(end_user, progress)
            _derive_tokens(end_user, progress)
            connection.check_constraints()
    except CannotImport:
        raise
    except _DAMAGE as error:
        raise CannotImport(f"The document is damaged ({type(error).__name__}).") from error
    progress("embedding", 0)
    embed_missing(end_user, embedder())
    return end_user


def _check(document: Mapping[str, Any]) -> None:
    if not isinstance(document, Mapping) or document.get("format") != FORMAT:
        raise CannotImport("This is not an export of a user.")
    if document.get("version") != VERSION:
        raise CannotImport(f"This export has version {document.get('version')}, not {VERSION}.")
    if not isinstance(document.get("user"), Mapping):
        raise CannotImport("The export has no user.")
    for section in SECTIONS:
        rows = document.get(section)
        if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
            raise CannotImport(f"The export has no list of {section}.")


def _make_user(app: App, row: Mapping[str, Any], external_id: str | None) -> EndUser:
    name = external_id or str(row["external_id"])
    if EndUser.objects.filter(app=app, external_id=name).exists():
        raise CannotImport(f"{app} has a user {name} already; forget that one first.")
    values = {key: row[key] for key in USER_COLUMNS} | {"external_id": name, "app_id": app.pk}
    _insert(EndUser, [values])
    return EndUser.objects.get(app=app, external_id=name)


def _with_free_ids(sections: dict[str, Rows]) -> dict[str, Rows]:
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
    text = _UUID.sub(lambda found: renamed.get(found[0], found[0]), text)
    return {"messages": sections["messages"], **json.loads(text)}


def _deleted(changes: Rows) -> set[str]:
    """The ids of contacts and memories that changes have deleted."""
    return {
        str(row["id"])
        for change in changes
        for row in change["rows"]
        if row["after"] is None and _UUID.fullmatch(str(row["id"]))
    }


def _insert_all(end_user: EndUser, sections: dict[str, Rows], progress: Progress) -> None:
    numbers: dict[str, dict[int, int]] = {}
    for name, model in SECTIONS.items():
        try:
            rows = _here(name, sections[name], end_user, numbers)
            for start in range(0, len(rows), CHUNK):
                chunk = [row | {"end_user_id": end_user.pk} for row in rows[start : start + CHUNK]]
                _insert(model, chunk)
                progress(name, len(chunk))
        except _DAMAGE as error:
            raise CannotImport(f"The {name} are damaged: {_what_is_wrong(error)}.") from error


def _what_is_wrong(error: Exception) -> str:
    """Which field or rule, never a value: that may be anybody's words."""
    if isinstance(error, KeyError):
        return f"{error.args[0]!r} is missing or points at nothing"
    said = getattr(error.__cause__, "diag", None)
    place = said and (said.constraint_name or said.column_name)
    return (
        f"{place} does not hold"
        if place
        else f"a value is of the wrong form ({type(error).__name__})"
    )


def _here(name: str, rows: Rows, end_user: EndUser, numbers: dict[str, dict[int, int]]) -> Rows:
    """The rows of a section as this database holds them."""
    if name in _COUNTED:
        numbers[name] = _number(SECTIONS[name], rows)
    if name == "contacts":
        return [row | {"memory_ids": [], "card": ""} for row in rows]
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
        return [row | {"message_ids": _messages(row["message_ids"], numbers)} for row in rows]
    return rows


def _number(model: type[models.Model], rows: Rows) -> dict[int, int]:
    """Gives each row a fresh number; returns new ones by old."""
    fresh = dict(zip([row["id"] for row in rows], _numbers(model, len(rows)), strict=True))
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
    """A batch that nobody here works on is anybody's."""
    held = row["state"] in (Batch.State.RUNNING, Batch.State.SUBMITTED)
    return row | {"state": Batch.State.PENDING} if held else row


def _messages(ids: Iterable[int], numbers: Mapping[str, Mapping[int, int]]) -> list[int]:
    return [numbers["messages"][pk] for pk in ids if pk in numbers["messages"]]


def _change(
    row: dict[str, Any], end_user: EndUser, numbers: dict[str, dict[int, int]]
) -> dict[str, Any]:
    """A change whose rows name this database's user, messages, links and so on, so that to
    undo it touches nothing else."""
    for touched in row["rows"]:
        section = _SECTION_OF[touched["model"]]
        if section in _COUNTED:
            known = numbers[section]
            old = int(touched["id"])
            if old not in known:
                known[old] = _numbers(SECTIONS[section], 1)[0]
            touched["id"] = str(known[old])
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


def _insert(model: type[models.Model], rows: Rows) -> None:
    """Inserts JSON rows; the database itself reads every value as its column's type."""
    table = model._meta.db_table
    known = {field.column for field in model._meta.concrete_fields}
    if not rows:
        return
    names = ", ".join(f'"{name}"' for name in rows[0] if name in known)
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} ({names}) "  # noqa: S608 names of our own tables and columns
            f"SELECT {names} FROM jsonb_populate_recordset(NULL::{table}, %s::jsonb)",
            [json.dumps(rows)],
        )


def _derive_contacts(end_user: EndUser, progress: Progress) -> None:
    for contact in Contact.objects.of(end_user).light().iterator(CHUNK):
        if contact.merged_into_id is None:
            card = identity.card_text(contact, end_user.language)
            Contact.objects.filter(pk=contact.pk).update(card=card)
            identity.index(contact)
        progress("cards", 1)


def _derive_tokens(end_user: EndUser, progress: Progress) -> None:
    """The search words of memories, with what was said around them."""
    ids = list(Memory.objects.of(end_user).order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(ids), CHUNK):
        surroundings.retokenise(end_user, ids[start : start + CHUNK])
        progress("search words", len(ids[start : start + CHUNK]))
