"""A backup of a default installation, put back into a new home, is the same memory."""

import json
import zipfile
from pathlib import Path
from typing import Any

from tests.system.first_day.conftest import Installation

QUESTION = {"query": "what must not be served to guests?", "limit": 5}


def rows_in(backup: Path) -> dict[str, int]:
    with zipfile.ZipFile(backup) as archive:
        told: dict[str, int] = json.loads(archive.read("manifest.json"))["rows"]
    return told


def ranks(found: Any) -> list[tuple[str, int | None]]:
    return [(one["id"], one["vector_rank"]) for one in found["results"]]


def test_a_backup_put_back_elsewhere_has_every_row_and_finds_the_same(
    installation: Installation,
) -> None:
    first, second = installation.folder / "a.backup", installation.folder / "b.backup"
    # Other tests of the package talk to the same installation.
    installation.call("process", {"wait": True})
    before = ranks(installation.call("search", QUESTION))
    assert any(rank for _, rank in before)
    installation.mio("backup a.backup --verify")
    rows = rows_in(first)
    assert rows["memories_vector"] >= len(before)

    copy = Installation(installation.folder, "second home")
    copy.key = installation.key
    copy.mio("restore a.backup --yes")
    copy.mio("backup b.backup")
    assert rows_in(second) == rows
    copy.mio("doctor")
    with copy:
        assert ranks(copy.call("search", QUESTION)) == before
