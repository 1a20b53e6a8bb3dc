"""mem0: the JSON of its ``get_all``, a list, ``{"results": […]}`` or ``{"memories": […]}``, of one or
several users.

Its memories have no people: who is spoken of by name in one becomes an entry, for a person to
look at before anybody is made of it.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from accounts.reasons import Reason
from imports.dumps.person_fields import MAX_ENTRIES, clean
from imports.formats.json_stream import first_object, moment, objects, text_of
from imports.source import Source
from imports.types import Dump, Entry, NotReadable, Statement
from understanding import names
from understanding.people.person_tagger import person_spans
from understanding.text import encodable

NAME = "mem0"
MAX_MEMORIES = 20_000
MAX_TEXT = 2000
MAX_METADATA = 4096  # bytes of JSON; more is left out
# Below, it is left open whether somebody is spoken of by name.
SURE = 0.6
_NAMED = ("name", "nickname")
_PATHS = ("item", "results.item", "memories.item")
_BESIDE = ('"user_id"', '"created_at"', '"hash"', '"metadata"', '"categories"')


def sniff(head: str) -> float:
    whose = any(mark in head for mark in _BESIDE)
    of_chats = '"mapping"' in head or '"chat_messages"' in head
    if not whose or of_chats or '"memory"' not in head:
        return 0.0
    return 0.9 if first_object(head.encode()) in _PATHS else 0.0


def read(source: Source, me: str | None) -> Dump:
    rows = list(_rows(source))
    if not rows:
        raise NotReadable("dump_empty")
    users = Counter(owner for row in rows if (owner := _owner(row)))
    if me is not None and users and me not in users:
        raise NotReadable("dump_no_such_owner", name=me, owners=", ".join(users))
    now = datetime.now(UTC)
    wanted = [row for row in rows if _is_wanted(row, me, now)]
    parts = "".join(char if char.isalpha() else " " for char in me or "").split()
    own = {names.name_key(part) for part in (*parts, me or "")}
    people: dict[str, Entry] = {}
    statements = [_statement(row, people, own) for row in wanted]
    return Dump(
        NAME, tuple(people.values()), tuple(statements), (),
        dict(users.most_common()), False,
        len(rows) - len(wanted), source.skipped,
    )  # fmt: skip


def _rows(source: Source) -> Iterator[Mapping[str, Any]]:
    for number, (_, row) in enumerate(objects(source, first_object(source.head())), 1):
        if number > MAX_MEMORIES:
            raise NotReadable("dump_crowd", limit=MAX_MEMORIES)
        if _text(row):
            yield row
        else:
            source.skipped.add(Reason("dump_row", number=number))


def _text(row: Mapping[str, Any]) -> str:
    return clean_text(text_of(row.get("memory")))


def clean_text(text: str) -> str:
    """A memory on one line, of a length that is kept."""
    return " ".join(encodable(text).replace("\x00", "").split())[:MAX_TEXT]


def _owner(row: Mapping[str, Any]) -> str:
    """The user whose memory it is; "" where the file does not say."""
    return clean(text_of(row.get("user_id")))


def _is_wanted(row: Mapping[str, Any], me: str | None, now: datetime) -> bool:
    """Whether it is the user's, as far as that is known, and holds."""
    owner = _owner(row)
    of_assistant = not owner and bool(text_of(row.get("agent_id")))
    whose = not of_assistant and (me is None or owner in ("", me))
    expires = _moment(row.get("expiration_date"))
    return whose and (expires is None or expires > now)


def _moment(value: Any) -> datetime | None:
    at = moment(value) if value else None
    return at.replace(tzinfo=UTC) if at is not None and at.tzinfo is None else at


def _statement(row: Mapping[str, Any], people: dict[str, Entry], own: set[str]) -> Statement:
    text = _text(row)
    ident = text_of(row.get("id")) or text_of(row.get("hash"))
    digest = hashlib.sha256(f"{ident}\0{text}".encode()).hexdigest()[:32]
    numbers = _named(text, people, own)
    at = _moment(row.get("updated_at")) or _moment(row.get("created_at"))
    return Statement(text, f"{NAME}:{digest}", numbers, True, at, _noted(row))


def _noted(row: Mapping[str, Any]) -> dict[str, Any]:
    metadata = row.get("metadata")
    noted = dict(metadata) if isinstance(metadata, dict) else {}
    if isinstance(row.get("categories"), list) and row["categories"]:
        noted["categories"] = row["categories"]
    text = json.dumps(noted, ensure_ascii=False)
    if len(text.encode(errors="replace")) > MAX_METADATA or "\x00" in text or "\\u0000" in text:
        return {}
    return noted if text == encodable(text) else {}


def _named(text: str, people: dict[str, Entry], own: set[str]) -> tuple[int, ...]:
    """The numbers of those whom a text names, but for the user (``own`` are the keys of the user's
    names); who is new is added to ``people``, by the keys of their names."""
    spans = [
        span for span in person_spans(text) if span.kind in _NAMED and span.probability >= SURE
    ]
    called = {names.name_key(text[one.start : one.end]): text[one.start : one.end] for one in spans}
    keys = called.keys() - own - {""}
    for key in filter(keys.__contains__, called):
        people.setdefault(key, Entry(len(people) + 1, clean(called[key])))
    if len(people) > MAX_ENTRIES:
        raise NotReadable("book_crowd", limit=MAX_ENTRIES)
    return tuple(people[key].number for key in called if key in keys)
