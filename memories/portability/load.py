"""Making the end user of a document."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from django.core.exceptions import ValidationError
from django.db import DataError, IntegrityError, models

from accounts import placement, time_zones
from accounts.cells import atomic, connection
from accounts.citus import broken_constraint
from accounts.models import App, EndUser
from contacts import key_index, store
from contacts.models import Contact
from memories.corrections import sources
from memories.models import Memory
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
from memories.portability.rows import here, with_free_ids
from memories.providers.factory import embedder
from memories.search import context_tokens

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

Progress = Callable[[str, int], None]


class CannotImport(ValueError):
    """The document can't be read in here; the message says why."""


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
    name = external_id or str(document["user"].get("external_id"))
    with placement.entered(app, name):
        return _imported(app, document, name, progress)


def _imported(
    app: App, document: Mapping[str, Any], external_id: str, progress: Progress
) -> EndUser:
    try:
        with atomic():
            end_user = _make_user(app, document["user"], external_id)
            sections = {name: [dict(row) for row in _section(document, name)] for name in SECTIONS}
            _insert_all(end_user, with_free_ids(sections), progress)
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
        rows = _section(document, section)
        if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
            raise CannotImport(f"The export has no list of {section}.")


def _section(document: Mapping[str, Any], name: str) -> Any:
    return document.get(name, [] if name in ADDED_SECTIONS else None)


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
    numbers: dict[str, dict[int, int]] = {}
    for name, model in SECTIONS.items():
        try:
            rows = here(name, sections, end_user, numbers)
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
    place = broken_constraint(error) or (said and said.column_name)
    return (
        f"{place} does not hold"
        if place
        else f"a value is of the wrong form ({type(error).__name__})"
    )


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
            # What returns something Citus does not turn into a COPY, which row-level security forbids.
            f"SELECT {names} FROM jsonb_populate_recordset(NULL::{table}, %s::jsonb) RETURNING 1",
            [json.dumps(rows)],
        )


def _derive_contacts(end_user: EndUser, progress: Progress) -> None:
    for contact in Contact.objects.of(end_user).light().iterator(CHUNK):
        if contact.merged_into_id is None:
            card = str(store.card_of(contact, end_user.language))
            by_name = key_index.sort_key(contact.name)
            coming = store.coming(contact)
            derived = {"card": card, "coming": coming, "sort_key": by_name}
            Contact.objects.filter(pk=contact.pk).update(**derived)
            store.index(contact)
        progress("cards", 1)
    behind = Memory.objects.of(end_user).exclude(consolidated_into=None)
    sources.point_at_profiles(end_user, list(behind.values_list("pk", flat=True)))


def _derive_tokens(end_user: EndUser, progress: Progress) -> None:
    """The search words of memories, with what was said around them."""
    ids = list(Memory.objects.of(end_user).order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(ids), CHUNK):
        context_tokens.retokenise(end_user, ids[start : start + CHUNK])
        progress("search words", len(ids[start : start + CHUNK]))
