"""Builds triggers that see all the rows of a statement at once."""

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
