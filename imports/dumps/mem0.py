"""mem0: the JSON of its ``get_all``, a list, ``{"results": […]}`` or ``{"memories": […]}``, of one
or several users.

Its memories have no people: somebody whom a memory names becomes an entry, which a person looks at
before a contact is made of it."""

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
# The least probability that a span is the name of a person.
SURE = 0.6
_PATHS = ("item", "results.item", "memories.item")
_OTHER_KEYS = ('"user_id"', '"created_at"', '"hash"', '"metadata"', '"categories"')


def sniff(head: str) -> float:
    is_known = any(mark in head for mark in _OTHER_KEYS)
    of_chats = '"mapping"' in head or '"chat_messages"' in head
    if not is_known or of_chats or '"memory"' not in head:
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
    user_rows = [row for row in rows if _is_wanted(row, me, now)]
    parts = "".join(char if char.isalpha() else " " for char in me or "").split()
    user_keys = {names.name_key(part) for part in (*parts, me or "")}
    people: dict[str, Entry] = {}
    statements = [_statement(row, people, user_keys) for row in user_rows]
    return Dump(
        NAME, tuple(people.values()), tuple(statements), (),
        dict(users.most_common()), False,
        len(rows) - len(user_rows), source.skipped,
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
    """Returns a memory on one line, of at most MAX_TEXT characters."""
    return " ".join(encodable(text).replace("\x00", "").split())[:MAX_TEXT]


def _owner(row: Mapping[str, Any]) -> str:
    """Returns the user whose memory it is; "" if the file does not say."""
    return clean(text_of(row.get("user_id")))


def _is_wanted(row: Mapping[str, Any], me: str | None, now: datetime) -> bool:
    """Whether it is the user's, as far as that is known, and has not expired."""
    owner = _owner(row)
    of_assistant = not owner and bool(text_of(row.get("agent_id")))
    of_user = not of_assistant and (me is None or owner in ("", me))
    expires = _moment(row.get("expiration_date"))
    return of_user and (expires is None or expires > now)


def _moment(value: Any) -> datetime | None:
    at = moment(value) if value else None
    return at.replace(tzinfo=UTC) if at is not None and at.tzinfo is None else at


def _statement(row: Mapping[str, Any], people: dict[str, Entry], user_keys: set[str]) -> Statement:
    text = _text(row)
    ident = text_of(row.get("id")) or text_of(row.get("hash"))
    digest = hashlib.sha256(f"{ident}\0{text}".encode()).hexdigest()[:32]
    numbers = _numbers_of_people(text, people, user_keys)
    at = _moment(row.get("updated_at")) or _moment(row.get("created_at"))
    return Statement(text, f"{NAME}:{digest}", numbers, True, at, _metadata(row))


def _metadata(row: Mapping[str, Any]) -> dict[str, Any]:
    """Returns metadata and categories; nothing if they are too large or can't be stored."""
    metadata = row.get("metadata")
    values = dict(metadata) if isinstance(metadata, dict) else {}
    if isinstance(row.get("categories"), list) and row["categories"]:
        values["categories"] = row["categories"]
    text = json.dumps(values, ensure_ascii=False)
    if len(text.encode(errors="replace")) > MAX_METADATA or "\x00" in text or "\\u0000" in text:
        return {}
    return values if text == encodable(text) else {}


def _numbers_of_people(text: str, people: dict[str, Entry], user_keys: set[str]) -> tuple[int, ...]:
    """Returns the numbers of the people whom a text names, except the user (``user_keys`` are the
    keys of the user's names). Adds new people to ``people``, by the keys of their names."""
    spans = [
        span for span in person_spans(text) if span.kind == "name" and span.probability >= SURE
    ]
    texts = {names.name_key(text[one.start : one.end]): text[one.start : one.end] for one in spans}
    keys = texts.keys() - user_keys - {""}
    for key in filter(keys.__contains__, texts):
        people.setdefault(key, Entry(len(people) + 1, clean(texts[key])))
    if len(people) > MAX_ENTRIES:
        raise NotReadable("book_crowd", limit=MAX_ENTRIES)
    return tuple(people[key].number for key in texts if key in keys)
