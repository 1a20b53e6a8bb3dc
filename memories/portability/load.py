"""Creates the end user of a document: stores its rows under ids that are free here, and rebuilds
derived data."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from uuid import uuid4

from django.core.exceptions import ValidationError
from django.db import DataError, IntegrityError, models

from accounts import placement, time_zones
from accounts.cells import atomic, connection, fetch
from accounts.changes import UUIDS
from accounts.citus import broken_constraint
from accounts.models import App, EndUser
from contacts import key_index, store
from contacts.models import Contact
from memories.corrections import derived
from memories.models import Batch, Memory
from memories.models.memory import content_hash
from memories.pipeline.store_memories import embed_missing
from memories.portability.document import (
    ADDED,
    ADDED_SECTIONS,
    CHUNK,
    FORMAT,
    SECTIONS,
    USER_COLUMNS,
    VERSION,
    Rows,
)
from memories.providers.factory import embedder
from memories.search import context_tokens

# Errors of reading a document that no export has written.
_DAMAGE = (DataError, IntegrityError, ValidationError, KeyError, TypeError, ValueError, AttributeError)  # fmt: skip
# Sections whose ids the database numbers: they get new ones.
_NUMBERED = {
    name for name, model in SECTIONS.items() if isinstance(model._meta.pk, models.AutoField)
}
_SECTION_OF = {model._meta.label_lower: name for name, model in SECTIONS.items()}
# Not in documents of earlier releases.
_ERASURE_LISTS = ("names", "name_hashes", "unsure_message_ids", "unsure_contact_ids")

Progress = Callable[[str, int], None]
Row = dict[str, Any]
# The new numbers of rows by their old ones, by section.
Numbers = dict[str, dict[int, int]]


class CannotImport(ValueError):
    """The document can't be imported; the message says why."""


def import_user(
    app: App,
    document: Mapping[str, Any],
    *,
    external_id: str | None = None,
    progress: Progress = lambda _what, _count: None,
) -> EndUser:
    """Creates the document's end user for ``app``, under ``external_id`` if given, completely or
    not at all, and embeds the memories. Raises CannotImport."""
    if isinstance(document, Mapping):
        document = {section: [] for section in ADDED_SECTIONS} | dict(document)
    _check(document)
    name = external_id or str(document["user"].get("external_id"))
    with placement.entered(app, name):
        try:
            with atomic():
                end_user = _make_user(app, document["user"], name)
                sections = {one: [dict(row) for row in document[one]] for one in SECTIONS}
                _insert_all(end_user, _with_free_ids(sections), progress)
                _derive(end_user, progress)
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


def _make_user(app: App, row: Mapping[str, Any], name: str) -> EndUser:
    if EndUser.objects.filter(app=app, external_id=name).exists():
        raise CannotImport(f"{app} has a user {name} already; forget that one first.")
    carried = [key for key in USER_COLUMNS if key in row or key not in ADDED]
    values = {key: row[key] for key in carried} | {"external_id": name, "app_id": app.pk}
    if values.get("time_zone"):
        time_zones.check(values["time_zone"])
    if pk := placement.claim(app, name):
        values["id"] = pk
    _insert(EndUser, [values])
    return EndUser.objects.get(app=app, external_id=name)


def _insert_all(end_user: EndUser, sections: dict[str, Rows], progress: Progress) -> None:
    numbers: Numbers = {}
    for name, model in SECTIONS.items():
        try:
            if name in _NUMBERED:
                numbers[name] = _number(model, sections[name], sections["changes"])
            owner = {"end_user_id": end_user.pk}
            rows = [_adapt_row(name, row | owner, numbers) for row in sections[name]]
            for start in range(0, len(rows), CHUNK):
                _insert(model, rows[start : start + CHUNK])
                progress(name, len(rows[start : start + CHUNK]))
        except _DAMAGE as error:
            raise CannotImport(f"The {name} are damaged: {_what_is_wrong(error)}.") from error


def _what_is_wrong(error: Exception) -> str:
    """Returns which field or rule is violated, never a value: that may be anybody's words."""
    if isinstance(error, KeyError):
        return f"{error.args[0]!r} is missing or points at nothing"
    diagnosis = getattr(error.__cause__, "diag", None)
    violated = broken_constraint(error) or (diagnosis and diagnosis.column_name)
    wrong_form = f"a value is of the wrong form ({type(error).__name__})"
    return f"{violated} does not hold" if violated else wrong_form


def _insert(model: type[models.Model], rows: Rows) -> None:
    """Inserts JSON rows; the database converts every value to the type of its column."""
    if not rows:
        return
    table = model._meta.db_table
    known = {field.column for field in model._meta.concrete_fields}
    names = ", ".join(f'"{name}"' for name in rows[0] if name in known)
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} ({names}) "  # noqa: S608 names of our own tables and columns
            # With RETURNING Citus makes no COPY of it, which row-level security forbids.
            f"SELECT {names} FROM jsonb_populate_recordset(NULL::{table}, %s::jsonb) RETURNING 1",
            [json.dumps(rows)],
        )


def _derive(end_user: EndUser, progress: Progress) -> None:
    """Rebuilds cards, keys, and the search words of memories with those of the turns around."""
    for contact in Contact.objects.of(end_user).light().iterator(CHUNK):
        if contact.merged_into_id is None:
            Contact.objects.filter(pk=contact.pk).update(
                card=str(store.card_of(contact, end_user.language)),
                coming=store.coming(contact),
                sort_key=key_index.sort_key(contact.name),
            )
            store.index(contact)
        progress("cards", 1)
    memories = Memory.objects.of(end_user)
    consolidated_ids = memories.exclude(consolidated_into=None).values_list("pk", flat=True)
    derived.point_at_profiles(end_user, list(consolidated_ids))
    ids = list(memories.order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(ids), CHUNK):
        context_tokens.retokenise(end_user, ids[start : start + CHUNK])
        progress("search words", len(ids[start : start + CHUNK]))


def _with_free_ids(sections: dict[str, Rows]) -> dict[str, Rows]:
    """Returns the sections with new UUIDs, wherever they occur, for those that are taken here."""
    new_ids: dict[str, str] = {}
    for name in (section for section in SECTIONS if section not in _NUMBERED):
        ids = [row["id"] for row in sections[name]]
        taken_ids = SECTIONS[name]._default_manager.filter(pk__in=ids).values_list("pk", flat=True)
        new_ids |= {str(pk): str(uuid4()) for pk in taken_ids}
    if not new_ids:
        return sections
    # An undo may restore what a change has deleted, here and in the other database.
    deleted = {
        str(row["id"])
        for change in sections["changes"]
        for row in change["rows"]
        if row["after"] is None and UUIDS.fullmatch(str(row["id"]))
    }
    new_ids = {pk: str(uuid4()) for pk in deleted} | new_ids
    text = json.dumps({name: rows for name, rows in sections.items() if name != "messages"})
    text = UUIDS.sub(lambda found: new_ids.get(found[0], found[0]), text)
    return {"messages": sections["messages"], **json.loads(text)}


def _number(model: type[models.Model], rows: Rows, changes: Rows) -> dict[int, int]:
    """Gives each row a new number, and rows that changes have deleted too. Returns the new numbers
    by the old."""
    label = model._meta.label_lower
    touched = (row for change in changes for row in change["rows"] if row["model"] == label)
    old = sorted({row["id"] for row in rows}.union(int(row["id"]) for row in touched))
    numbers = fetch(
        "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)",
        [model._meta.db_table, len(old)],
    )
    new_by_old = {pk: number for pk, (number,) in zip(old, numbers, strict=True)}
    for row in rows:
        row["id"] = new_by_old[row["id"]]
    return new_by_old


def _adapt_row(section: str, row: Row, numbers: Numbers) -> Row:
    """Returns a row of a section as it is stored here."""
    match section:
        case "contacts":
            return row | {"memory_ids": [], "card": "", "coming": [], "sort_key": ""}
        case "suggestions":
            return row | _smaller_id_first(row)
        case "batches" if row["state"] in (Batch.State.RUNNING, "submitted"):
            # It can be claimed here; "submitted" is of earlier releases.
            return row | {"state": Batch.State.PENDING}
        case "memories":
            is_profile = row["kind"] == Memory.Kind.PROFILE
            return row | {
                "content_hash": row["content_hash"] if is_profile else content_hash(row["content"]),
                "batch_id": numbers["batches"].get(row["batch_id"]),
                "source_message_ids": _new_message_ids(row["source_message_ids"], numbers),
                "embedding_model": "",
                "tokens": [],
            }
        case "entity_links":
            return row | {"entity_id": numbers["entities"][row["entity_id"]]}
        case "changes":
            return _adapt_change(row, numbers)
        case "erasures":
            row = {key: [] for key in _ERASURE_LISTS} | row
            ids = ("message_ids", "unsure_message_ids")
            return row | {key: _new_message_ids(row[key], numbers) for key in ids}
    return row


def _new_message_ids(ids: Iterable[int], numbers: Numbers) -> list[int]:
    return [numbers["messages"][pk] for pk in ids if pk in numbers["messages"]]


def _adapt_change(row: Row, numbers: Numbers) -> Row:
    """Returns a change whose rows have the ids of the user, messages and links in this database."""
    for touched in row["rows"]:
        if touched["model"] == EndUser._meta.label_lower:
            touched["id"] = str(row["end_user_id"])
        section = _SECTION_OF.get(touched["model"], "")
        if section in _NUMBERED:
            touched["id"] = str(numbers[section][int(touched["id"])])
        for side in filter(None, (touched["before"], touched["after"])):
            if "end_user_id" in side:
                side["end_user_id"] = row["end_user_id"]
            if "source_message_ids" in side:
                side["source_message_ids"] = _new_message_ids(side["source_message_ids"], numbers)
            if "first_id" in side and "second_id" in side:
                side |= _smaller_id_first(side)
    return row


def _smaller_id_first(pair: Row) -> Row:
    """Returns the ids of a pair in ascending order, which new ids may have changed."""
    first, second = sorted((pair["first_id"], pair["second_id"]))
    return {"first_id": first, "second_id": second}
