"""Is forgotten what a user asks to forget, and nothing else? Scored on the rows that are put away.

Each author is an end user who has told of all that the cases of the file name, one memory each, in
a message of its own. Every case is one more message, which the whole pipeline takes in; what it did
is rolled back before the next one.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from django.utils import timezone
from tqdm import tqdm

from accounts.cells import atomic
from accounts.models import EndUser
from memories.models import Batch, Erasure, Memory, Message
from memories.pipeline import run as pipeline
from memories.pipeline.buffer import Incoming, receive
from memories.types import Turn
from tools.bench.datasets import read_lines
from tools.bench.metrics import ratio
from tools.bench.retrieval import Library
from tools.bench.scratch import scratch_database

LAST = "The dentist moved the appointment."
WHOLE = {"all", "last"}
Row = Mapping[str, Any]


class _Undo(Exception):
    """Ends a transaction whose rows are not wanted."""


def run(paths: Iterable[Path], progress: bool = True) -> dict[str, Any]:
    """Of the requests: the share that put away what is meant and nothing else (``recall``), that
    put away anything else (``wrong``), that were filed as understood in part or not found and are
    told of (``said``), and that left no trace (``missed``); of all other messages the share that
    put something away (``false_alarms``) or are filed as unclear. The same by language and by what
    is asked (everything, last, named). The weights have seen the corpus; held out by author
    these are figures of ``python -m tools train forget_model``."""
    return figures(outcomes(paths, progress))


def figures(counts: Mapping[str, Counter[str]]) -> dict[str, Any]:
    """The figures of all cases and of each group."""
    groups = {group: _figures(count) for group, count in sorted(counts.items()) if group}
    return _figures(counts[""]) | groups


def outcomes(
    paths: Iterable[Path], progress: bool = True, before: Callable[[Path], None] | None = None
) -> dict[str, Counter[str]]:
    """How many cases ended how, of all ("") and by group; ``before`` is called before each file."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    with scratch_database():
        library = Library()
        for path in tqdm([*paths], desc="forgetting", disable=not progress):
            if before is not None:
                before(path)
            rows = read_lines([path])
            for row, outcome in _outcomes(library, str(path), rows):
                for group in ("", f"lang {row['lang']}", f"kind {_kind(row)}"):
                    counts[group][outcome] += 1
    return counts


def _kind(row: Row) -> str:
    if not row["asks"]:
        return "talk"
    return row["about"] if row["about"] in WHOLE else "named"


def _figures(count: Counter[str]) -> dict[str, Any]:
    asked = sum(count[name] for name in ("right", "wrong", "said", "missed"))
    talk = sum(count[name] for name in ("alarm", "unclear", "quiet"))
    return {
        "requests": asked,
        "recall": ratio(count["right"], asked),
        "wrong": ratio(count["wrong"], asked),
        "said": ratio(count["said"], asked),
        "missed": ratio(count["missed"], asked),
        "others": talk,
        "false_alarms": ratio(count["alarm"], talk),
        "unclear": ratio(count["unclear"], talk),
    }


def _outcomes(library: Library, name: str, rows: Sequence[Row]) -> Iterable[tuple[Row, str]]:
    topics = list(
        dict.fromkeys(row["about"] for row in rows if row["asks"] and row["about"] not in WHOLE)
    )
    end_user, told = _life(library, name, [*topics, LAST])
    for row in rows:
        hidden, filed = _said(end_user, row["text"])
        yield row, _outcome(row, hidden, filed, told)


def _outcome(row: Row, hidden: set[UUID], filed: set[str], told: Mapping[str, UUID]) -> str:
    if not row["asks"]:
        return (
            "alarm" if hidden or filed & {"pending", "erased"} else "unclear" if filed else "quiet"
        )
    meant = {"all": set(told.values()), "last": {told[LAST]}}.get(
        row["about"], {told[row["about"]]} if row["about"] in told else set()
    )
    # What holds the same words is of the same matter.
    allowed = meant | {pk for text, pk in told.items() if row["about"].lower() in text.lower()}
    if hidden - allowed:
        return "wrong"
    if meant <= hidden:
        return "right"
    return "said" if filed else "missed"


def _life(library: Library, name: str, texts: Sequence[str]) -> tuple[EndUser, dict[str, UUID]]:
    """An end user with a memory of each text, told in a message of its own."""
    begun = timezone.now() - timedelta(hours=2)
    end_user, _ = library.end_user(name, [])
    messages = [
        Message(
            end_user=end_user,
            seq=number,
            role="user",
            content=text,
            created_at=begun + timedelta(minutes=number),
        )
        for number, text in enumerate(texts, start=1)
    ]
    Message.objects.bulk_create(messages)
    end_user.message_seq = end_user.extracted_seq = len(texts)
    end_user.save()
    turns = [Turn(m.pk, "user", m.content, m.created_at) for m in messages]
    made = library.tell(end_user, turns)
    return end_user, {m.content: made[m.pk] for m in messages}


def _said(end_user: EndUser, text: str) -> tuple[set[UUID], set[str]]:
    """The memories that a message puts away, and the states of the requests it files."""
    memories = Memory.objects.of(end_user)
    before = set(memories.active().values_list("id", flat=True))
    hidden: set[UUID] = set()
    filed: set[str] = set()
    try:
        with atomic():
            receive(end_user.app, end_user.external_id, [Incoming("user", text)])
            while pipeline.extract_next(end_user.pk, everything=True):
                pass
            failed = Batch.objects.of(end_user).exclude(state=Batch.State.DONE)
            if failed.exists():
                raise RuntimeError(f"A message was not read: {failed.get().error}")
            hidden = before - set(memories.active().values_list("id", flat=True))
            filed = set(Erasure.objects.of(end_user).values_list("state", flat=True))
            raise _Undo
    except _Undo:
        pass
    return hidden, filed
