"""MIO_CELLS as Django's DATABASES: which databases hold end users besides the first."""

import re
from collections.abc import Mapping
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured

_NAME = re.compile(r"[a-z][a-z0-9_]{0,29}")
_SCHEMA = re.compile(r"[a-z_][a-z0-9_]{0,62}")
# Cells are parted by commas, which an address may hold as well.
_NEXT = re.compile(r"\s*,\s*(?=[^,=/?&]*=\s*postgres)")
# Seconds until a cell whose machine is gone counts as away.
CONNECT_TIMEOUT = "3"
NEEDED = "use NAME=postgres://USER:PASSWORD@HOST/DATABASE, several with commas between them"


def read_cells(value: str) -> dict[str, dict[str, Any]]:
    """The connection settings of each cell in ``value``, by name. ``?schema=`` of an address is the
    schema that holds the cell. Raises ImproperlyConfigured."""
    databases: dict[str, dict[str, Any]] = {}
    for part in filter(None, _NEXT.split(value.strip().strip(","))):
        name, _, address = (one.strip() for one in part.partition("="))
        if not _NAME.fullmatch(name) or name == "default" or name in databases:
            raise ImproperlyConfigured(
                f"MIO_CELLS: {name!r} can't name a cell: small letters, digits and _, not default, "
                "each once."
            )
        if not address.startswith(("postgres://", "postgresql://")):
            raise ImproperlyConfigured(f"MIO_CELLS: {name} has no address; {NEEDED}.")
        databases[name] = _connection(name, address)
    if value.strip() and not databases:
        raise ImproperlyConfigured(f"MIO_CELLS names no cell; {NEEDED}.")
    return databases


def _connection(name: str, address: str) -> dict[str, Any]:
    read: dict[str, Any] = environ.Env.db_url_config(address)
    options = {"connect_timeout": CONNECT_TIMEOUT, **read.get("OPTIONS", {})}
    if schema := options.pop("schema", ""):
        if not _SCHEMA.fullmatch(schema) or schema.startswith("pg_"):
            raise ImproperlyConfigured(f"MIO_CELLS: {schema!r} can't be the schema of {name}.")
        told = options.get("options", "")
        options["options"] = f"{told} -c search_path={schema},public".strip()
    return {**read, "OPTIONS": options}


def pooled(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a connection for a process of many threads. Where clients wait, none does so
    for a lock until it gives up: a write to a user is over in a second, or it is one of very many
    rows."""
    told = options.get("options", "")
    return {
        "pool": {"min_size": 1, "max_size": 20, "timeout": 10},
        **options,
        "options": f"-c lock_timeout=10s {told}".strip(),
    }
