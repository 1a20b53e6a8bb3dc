"""Making the end user of a document: its rows under ids that are free here, and without what is
derived, which is made anew."""

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

# What reading a document that nobody exported may raise.
_DAMAGE = (DataError, IntegrityError, ValidationError, KeyError, TypeError, ValueError, AttributeError)  # fmt: skip
# Sections whose ids are counted by the database: they get new ones.
_COUNTED = {
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
    """The document can't be read in here; the message says why."""


def import_user(
    app: App,
    document: Mapping[str, Any],
    *,
    external_id: str | None = None,
    progress: Progress = lambda _what, _count: None,
) -> EndUser:
    """Makes the document's end user for ``app``, under ``external_id`` where given, all or nothing,
    and embeds the memories. Raises CannotImport."""
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
            if name in _COUNTED:
                numbers[name] = _number(model, sections[name], sections["changes"])
            owner = {"end_user_id": end_user.pk}
            rows = [_adapted(name, row | owner, numbers) for row in sections[name]]
            for start in range(0, len(rows), CHUNK):
                _insert(model, rows[start : start + CHUNK])
                progress(name, len(rows[start : start + CHUNK]))
        except _DAMAGE as error:
            raise CannotImport(f"The {name} are damaged: {_what_is_wrong(error)}.") from error


def _what_is_wrong(error: Exception) -> str:
    """Which field or rule, never a value: that may be anybody's words."""
    if isinstance(error, KeyError):
        return f"{error.args[0]!r} is missing or points at nothing"
    diagnosis = getattr(error.__cause__, "diag", None)
    place = broken_constraint(error) or (diagnosis and diagnosis.column_name)
    wrong_form = f"a value is of the wrong form ({type(error).__name__})"
    return f"{place} does not hold" if place else wrong_form


def _insert(model: type[models.Model], rows: Rows) -> None:
    """Inserts JSON rows; the database itself reads every value as its column's type."""
    if not rows:
        return
    table = model._meta.db_table
    known = {field.column for field in model._meta.concrete_fields}
    names = ", ".join(f'"{name}"' for name in rows[0] if name in known)
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} ({names}) "  # noqa: S608 names of our own tables and columns
            # What returns something Citus does not turn into a COPY, which row-level security forbids.
            f"SELECT {names} FROM jsonb_populate_recordset(NULL::{table}, %s::jsonb) RETURNING 1",
            [json.dumps(rows)],
        )


def _derive(end_user: EndUser, progress: Progress) -> None:
    """Makes cards, keys and the search words of memories, with what was said around them."""
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
    behind = memories.exclude(consolidated_into=None).values_list("pk", flat=True)
    derived.point_at_profiles(end_user, list(behind))
    ids = list(memories.order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(ids), CHUNK):
        context_tokens.retokenise(end_user, ids[start : start + CHUNK])
        progress("search words", len(ids[start : start + CHUNK]))


def _with_free_ids(sections: dict[str, Rows]) -> dict[str, Rows]:
    """The sections with new UUIDs for those that are taken here, wherever they occur."""
    renamed: dict[str, str] = {}
    for name in (section for section in SECTIONS if section not in _COUNTED):
        ids = [row["id"] for row in sections[name]]
        taken = SECTIONS[name]._default_manager.filter(pk__in=ids).values_list("pk", flat=True)
        renamed |= {str(pk): str(uuid4()) for pk in taken}
    if not renamed:
        return sections
    # What a change has deleted may come back by an undo here and there.
    deleted = {
        str(row["id"])
        for change in sections["changes"]
        for row in change["rows"]
        if row["after"] is None and UUIDS.fullmatch(str(row["id"]))
    }
    renamed = {pk: str(uuid4()) for pk in deleted} | renamed
    text = json.dumps({name: rows for name, rows in sections.items() if name != "messages"})
    text = UUIDS.sub(lambda found: renamed.get(found[0], found[0]), text)
    return {"messages": sections["messages"], **json.loads(text)}


def _number(model: type[models.Model], rows: Rows, changes: Rows) -> dict[int, int]:
    """Gives each row, also those that changes have deleted, a new number. Returns new ones by
    old."""
    label = model._meta.label_lower
    touched = (row for change in changes for row in change["rows"] if row["model"] == label)
    old = sorted({row["id"] for row in rows}.union(int(row["id"]) for row in touched))
    numbers = fetch(
        "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)",
        [model._meta.db_table, len(old)],
    )
    fresh = {pk: number for pk, (number,) in zip(old, numbers, strict=True)}
    for row in rows:
        row["id"] = fresh[row["id"]]
    return fresh


def _adapted(section: str, row: Row, numbers: Numbers) -> Row:
    """What becomes here of a row of a section."""
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
                "source_message_ids": _messages(row["source_message_ids"], numbers),
                "embedding_model": "",
                "tokens": [],
            }
        case "entity_links":
            return row | {"entity_id": numbers["entities"][row["entity_id"]]}
        case "changes":
            return _change(row, numbers)
        case "erasures":
            row = {key: [] for key in _ERASURE_LISTS} | row
            ids = ("message_ids", "unsure_message_ids")
            return row | {key: _messages(row[key], numbers) for key in ids}
    return row


def _messages(ids: Iterable[int], numbers: Numbers) -> list[int]:
    return [numbers["messages"][pk] for pk in ids if pk in numbers["messages"]]


def _change(row: Row, numbers: Numbers) -> Row:
    """A change whose rows name this database's user, messages, links and so on."""
    for touched in row["rows"]:
        if touched["model"] == EndUser._meta.label_lower:
            touched["id"] = str(row["end_user_id"])
        section = _SECTION_OF.get(touched["model"], "")
        if section in _COUNTED:
            touched["id"] = str(numbers[section][int(touched["id"])])
        for side in filter(None, (touched["before"], touched["after"])):
            if "end_user_id" in side:
                side["end_user_id"] = row["end_user_id"]
            if "source_message_ids" in side:
                side["source_message_ids"] = _messages(side["source_message_ids"], numbers)
            if "first_id" in side and "second_id" in side:
                side |= _smaller_id_first(side)
    return row


def _smaller_id_first(pair: Row) -> Row:
    """The ids of a pair in their order, which may be another here."""
    first, second = sorted((pair["first_id"], pair["second_id"]))
    return {"first_id": first, "second_id": second}
