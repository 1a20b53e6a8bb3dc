"""Hand-written SQL, which stands in files beside the modules, and triggers that see all the rows of
a statement at once."""

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
    """Run ``func`` (PL/pgSQL) once after a statement, however many rows it wrote.

    It reads them as ``new_rows``, ``old_rows`` or both, whichever the operation has.
    ``record`` names a variable that takes a row.
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
    """The statements of the .sql file beside ``module`` (its ``__file__``), by the names in the lines
    before them (``-- name``), with these constants filled in."""
    text = Path(module).with_suffix(".sql").read_text(encoding="utf-8")
    _head, *pieces = re.split(r"(?m)^-- (\w+)$", text)
    found: dict[str, str] = {}
    for name, piece in zip(pieces[::2], pieces[1::2], strict=True):
        found[name] = piece.format(**constants, **found)
    return found
