"""Reading benchmark files; a file that is not of the expected form is named with its line."""

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO, cast
from uuid import NAMESPACE_URL, uuid5

from understanding.types import Person


class BadDataset(ValueError):
    """A file is not what the benchmark reads; the message names the place."""


def read_lines(paths: Iterable[Path]) -> list[dict[str, Any]]:
    """The JSON objects of .jsonl or .jsonl.gz files, in order. Raises BadDataset."""
    return [row for path in paths for row in _rows(path)]


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with _opened(path) as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError as error:
                raise BadDataset(f"{path}, line {number}: not JSON ({error})") from error
            if not isinstance(row, dict):
                raise BadDataset(f"{path}, line {number}: not a JSON object")
            yield row


def read_json(path: Path) -> Any:
    """What a .json or .json.gz file holds. Raises BadDataset."""
    with _opened(path) as file:
        try:
            return json.load(file)
        except ValueError as error:
            raise BadDataset(f"{path}: not JSON ({error})") from error


def _opened(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return cast(TextIO, gzip.open(path, "rt", encoding="utf-8"))
    return path.open(encoding="utf-8")


def people_of(case: Mapping[str, Any]) -> dict[str, Person]:
    """The contacts of a case of the people sets, by their keys."""
    return {
        row["key"]: Person(
            id=uuid5(NAMESPACE_URL, f"{case['id']}/{row['key']}"),
            name=row["name"],
            aliases=tuple(row.get("aliases") or ()),
            relationship=row.get("relationship") or "",
            gender=row.get("gender") or "",
        )
        for row in case["contacts"]
    }
