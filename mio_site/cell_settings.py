"""Reads MIO_CELLS as Django's DATABASES: the databases that hold end users besides the first."""

import re
from collections.abc import Mapping
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured

_CELL = re.compile(r"([a-z][a-z0-9_]{0,29})\s*=\s*(postgres(?:ql)?://.+)")
_SCHEMA = re.compile(r"(?!pg_)[a-z_][a-z0-9_]{0,62}")
# Cells are separated by commas, which an address may contain as well.
_NEXT = re.compile(r"\s*,\s*(?=[^,=/?&]*=\s*postgres)")
# Seconds until a cell whose machine is gone counts as away.
CONNECT_TIMEOUT = "3"


def read_cells(value: str) -> dict[str, dict[str, Any]]:
    """Returns each cell's connection settings in ``value``, by name. Raises ImproperlyConfigured."""
    databases: dict[str, dict[str, Any]] = {}
    for part in _NEXT.split(value.strip().strip(",")) if value.strip() else ():
        match = _CELL.fullmatch(part.strip())
        if match is None or match[1] in ("default", *databases):
            raise ImproperlyConfigured(
                f"MIO_CELLS: {part.partition('=')[0].strip()!r} is no cell. Use "
                "NAME=postgres://USER:PASSWORD@HOST/DATABASE, several with commas between them; "
                "names have small letters, digits and _, each is there once, and none is default."
            )
        databases[match[1]] = _connection(*match.groups())
    return databases


def _connection(name: str, address: str) -> dict[str, Any]:
    config: dict[str, Any] = environ.Env.db_url_config(address)
    options = {"connect_timeout": CONNECT_TIMEOUT, **config.get("OPTIONS", {})}
    if schema := options.pop("schema", ""):
        if not _SCHEMA.fullmatch(schema):
            raise ImproperlyConfigured(f"MIO_CELLS: {schema!r} can't be the schema of {name}.")
        flags = options.get("options", "")
        options["options"] = f"{flags} -c search_path={schema},public".strip()
    return {**config, "OPTIONS": options}


def pooled(options: Mapping[str, Any]) -> dict[str, Any]:
    """Returns connection options for a process of many threads, where none waits long for a lock."""
    flags = options.get("options", "")
    return {
        "pool": {"min_size": 1, "max_size": 20, "timeout": 10},
        **options,
        "options": f"-c lock_timeout=10s {flags}".strip(),
    }
