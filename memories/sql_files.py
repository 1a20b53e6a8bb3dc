"""Reads hand-written SQL from files beside the modules, and builds triggers that see all the rows
of a statement at once."""

import re
from pathlib import Path
from typing import Any

import pgtrigger

_ROWS = {
    pgtrigger.Insert: {"new": "new_rows"},
    pgtrigger.Delete: {"old": "old_rows"},
    pgtrigger.Update: {"old": "old_rows", "new": "new_rows"},
}


def after(
    operation: pgtrigger.Operation, name: str, func: str, *, record: str | None = None
) -> pgtrigger.Trigger:
    """Returns a trigger that runs ``func`` (PL/pgSQL) once after a statement, however many rows
    this wrote. ``func`` reads them as ``new_rows``, ``old_rows`` or both, whichever the operation
    has. ``record`` declares a variable for a row.
    """
    return pgtrigger.Trigger(
        name=name,
        level=pgtrigger.Statement,
        when=pgtrigger.After,
        operation=operation,
        referencing=pgtrigger.Referencing(**_ROWS[operation]),
        declare=[(record, "RECORD")] if record else None,
        func=func,
    )


def sql_pieces(module: str, **constants: Any) -> dict[str, str]:
    """Returns the statements of the .sql file beside ``module`` (its ``__file__``) by the names in
    the lines before them (``-- name``), with ``constants`` and earlier statements filled in."""
    text = Path(module).with_suffix(".sql").read_text(encoding="utf-8")
    _head, *pieces = re.split(r"(?m)^-- (\w+)$", text)
    statements: dict[str, str] = {}
    for name, piece in zip(pieces[::2], pieces[1::2], strict=True):
        statements[name] = piece.format(**constants, **statements)
    return statements
