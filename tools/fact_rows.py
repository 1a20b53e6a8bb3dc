"""Every value that the offline reader takes from texts, by the row that gave it, to be read by a person:
whether the text says so of its subject. What the rows' ``right`` and ``of`` count."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand
from tqdm import tqdm

from memories.providers.offline.reading import reader
from memories.providers.offline.reading.reader import is_believed
from memories.types import ExtractionRequest, Turn

AT = datetime(2025, 6, 4, 9, 30, tzinfo=UTC)


class Command(BaseCommand):
    help = __doc__
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("authors", nargs="+", type=Path, help="folders of authors")

    def handle(self, *, authors: list[Path], **_options: Any) -> None:
        found: dict[str, dict[str, None]] = {}
        for author in tqdm(authors):
            for lines in _talks(author):
                turns = tuple(
                    Turn(at, role, text, AT) for at, (role, text) in enumerate(lines, start=1)
                )
                for draft in reader.read(ExtractionRequest(turns)).drafts:
                    for value, who in draft.values if is_believed(draft) else ():
                        name = who.name if who else "user"
                        line = f"{author.name}\t{name}\t{value.value}\t{draft.sentence.text}"
                        found.setdefault(value.key, {})[line] = None
        for row, told in sorted(found.items()):
            self.stdout.write("\n".join(f"{row}\t{line}" for line in told))


def _talks(author: Path) -> Iterator[list[tuple[str, str]]]:
    """The texts of an author's files, as turns of one talk each."""
    for file, of in (("sentences", "text"), ("mentions", "message")):
        for case in _cases(author / f"{file}.jsonl"):
            yield [("user", case[of])]
    for case in _cases(author / "changes.jsonl"):
        yield [("user", case["old"]["text"])]
        yield [("user", case["new"]["text"])]
    for case in _cases(author / "pronouns.jsonl"):
        yield [*((one["role"], one["text"]) for one in case["history"]), ("user", case["message"])]
    for case in _cases(author / "extraction.jsonl"):
        yield [(one["role"], one["text"]) for one in case["messages"]]


def _cases(path: Path) -> list[dict[str, Any]]:
    return (
        [json.loads(line) for line in path.read_text("utf-8").splitlines() if line]
        if path.exists()
        else []
    )
