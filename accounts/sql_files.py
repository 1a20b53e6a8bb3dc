"""Reads hand-written SQL from files beside the modules."""

import re
from pathlib import Path
from typing import Any


def sql_pieces(module: str, **constants: Any) -> dict[str, str]:
    """Returns the statements of the .sql file beside ``module`` (its ``__file__``) by the names in
    the lines before them (``-- name``), with ``constants`` and earlier statements filled in."""
    text = Path(module).with_suffix(".sql").read_text(encoding="utf-8")
    _head, *pieces = re.split(r"(?m)^-- (\w+)$", text)
    statements: dict[str, str] = {}
    for name, piece in zip(pieces[::2], pieces[1::2], strict=True):
        statements[name] = piece.format(**constants, **statements)
    return statements
