"""mem0: the JSON of its ``get_all``, a list, ``{"results": […]}`` or ``{"memories": […]}``, of one or
several users.

Its memories have no people: who is spoken of by name in one becomes an entry, for a person to
look at before anybody is made of it.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import ijson

from accounts.reasons import Reason
from contacts.address_books.entries import MAX_ENTRIES, Entry, clean
from imports.formats.json_stream import moment, text_of, without_mark
from imports.source import Source, decoded
from imports.types import Dump, NotReadable, Owner, OwnerUnknown, Statement
from understanding import names
from understanding.people.person_tagger import person_spans
from understanding.text import encodable

NAME = "mem0"
MAX_MEMORIES = 20_000
MAX_TEXT = 2000
MAX_METADATA = 4096  # bytes of JSON; more is left out
# Below, it is left open whether somebody is spoken of by name.
SURE = 0.6
_LIST = re.compile(r"^\[\s*\{")
_RESULTS = re.compile(r'^\{(?s:.{0,2000}?)"(results|memories)"\s*:\s*\[')
_BESIDE = ('"user_id"', '"created_at"', '"hash"', '"metadata"', '"categories"')


def sniff(head: str) -> float:
    text = head.lstrip()
    whose = any(mark in text for mark in _BESIDE)
    if not (_LIST.match(text) or _RESULTS.match(text)) or '"memory"' not in text or not whose:
        return 0.0
    return 0.0 if '"mapping"' in text or '"chat_messages"' in text else 0.9


def read(source: Source, me: str | None) -> Dump:
    rows = list(_rows(source))
    if not rows:
        raise NotReadable("dump_empty")
    users = Counter(owner for row in rows if (owner := _owner(row)))
    if me is not None and users and me not in users:
        raise OwnerUnknown("dump_no_such_owner", name=me, owners=", ".join(users))
    if not rows and source.skipped.count:
        raise NotReadable(source.skipped.named[0])
    now = datetime.now(UTC)
    wanted = [row for row in rows if _is_wanted(row, me, now)]
    people = _People(me or "")
    statements = [_statement(row, people) for row in wanted]
    return Dump(
        NAME, tuple(people.entries()), tuple(statements), (),
        tuple(Owner(key, count) for key, count in users.most_common()), False,
        len(rows) - len(wanted), source.skipped,
    )  # fmt: skip


def _rows(source: Source) -> Iterator[Mapping[str, Any]]:
    read = 0
    listed = _RESULTS.match(decoded(source.head()).lstrip())
    at = f"{listed[1]}.item" if listed else "item"
    try:
        with source.open() as stream:
            items = ijson.items(without_mark(stream), at, use_float=True)
            for number, row in enumerate(items, 1):
                if number > MAX_MEMORIES:
                    raise NotReadable("dump_crowd", limit=MAX_MEMORIES)
                if isinstance(row, dict) and _text(row):
                    read += 1
                    yield row
                else:
                    source.skipped.add(Reason("dump_row", number=number))
    except (ijson.JSONError, UnicodeError, RecursionError) as error:
        if not read:
            raise NotReadable("chat_damaged", name=source.name) from error
        source.skipped.add(Reason("chat_cut_off", name=source.name))


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


def _statement(row: Mapping[str, Any], people: "_People") -> Statement:
    text = _text(row)
    ident = text_of(row.get("id")) or text_of(row.get("hash"))
    digest = hashlib.sha256(f"{ident}\0{text}".encode()).hexdigest()[:32]
    numbers = people.named(text)
    at = _moment(row.get("updated_at")) or _moment(row.get("created_at"))
    return Statement(text, f"{NAME}:{digest}", numbers, True, at, _noted(row))


def _noted(row: Mapping[str, Any]) -> dict[str, Any]:
    """What the program noted beside it: its metadata and categories."""
    metadata = row.get("metadata")
    noted = dict(metadata) if isinstance(metadata, dict) else {}
    if isinstance(row.get("categories"), list) and row["categories"]:
        noted["categories"] = row["categories"]
    text = json.dumps(noted, ensure_ascii=False)
    if len(text.encode(errors="replace")) > MAX_METADATA or "\x00" in text or "\\u0000" in text:
        return {}
    return noted if text == encodable(text) else {}


class _People:
    """The people named in memories, each once, without the user."""

    def __init__(self, me: str) -> None:
        self._me = {names.name_key(part) for part in re.split(r"[\W_\d]+", me) if part}
        self._me.add(names.name_key(me))
        self._found: dict[str, Entry] = {}

    def named(self, text: str) -> tuple[int, ...]:
        """The numbers of those whom a text names."""
        numbers = []
        for span in person_spans(text):
            name = clean(text[span.start : span.end])
            key = names.name_key(name)
            if span.kind != "name" or span.probability < SURE or not key or key in self._me:
                continue
            if key not in self._found and len(self._found) == MAX_ENTRIES:
                raise NotReadable("book_crowd", limit=MAX_ENTRIES)
            entry = self._found.setdefault(key, Entry(len(self._found) + 1, name))
            numbers.append(entry.number)
        return tuple(dict.fromkeys(numbers))

    def entries(self) -> list[Entry]:
        return list(self._found.values())
