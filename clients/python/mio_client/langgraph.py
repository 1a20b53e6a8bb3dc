"""LangGraph's long-term store on Mio: ("mio", USER, "memories") and ("mio", USER, "people")."""

import asyncio
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import Any, cast
from uuid import UUID

from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from mio_client.client import Mio, MioError
from mio_client.types import Contact, Found, Memory, PersonDetail

ROOT = "mio"
KINDS = ("memories", "people")
FORM = (
    '("mio", USER, "memories") or ("mio", USER, "people"), made by mio_client.langgraph.namespace'
)
# In the metadata of a memory: the keys under which it was put, each with the rest of the value.
KEYS = "store"
TEXTS = ("text", "content")
MAX_RESULTS = 100
STATED = ("name", "aliases", "relationship", "gender", "personality", "attributes")
COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "$eq": operator.eq,
    "$ne": operator.ne,
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
Namespace = tuple[str, ...]


def namespace(user: str, kind: str = "memories") -> Namespace:
    """Where the ``memories`` or ``people`` of an end user are; LangGraph allows no dot in a label,
    so the one of ``ann@example.com`` is written ``%2E``."""
    return (ROOT, user.replace("%", "%25").replace(".", "%2E"), kind)


class MioStore(BaseStore):
    """What one app remembers of its end users. A value of ``memories`` has its words in ``text``
    or ``content``; what Mio learnt by itself has its id as key. People are known by their ids: put
    corrects one, and a new one is made by ``mio.add_contact``. What is deleted is erased for good.
    Raises InvalidNamespaceError, ValueError for a value that is no memory, and MioError."""

    def __init__(self, mio: Mio) -> None:
        self._mio = mio

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Reads in order, then writes; of two writes to a key the last one counts."""
        results: list[Result] = []
        writes: dict[tuple[Namespace, str], PutOp] = {}
        for op in ops:
            if isinstance(op, GetOp):
                results.append(self._get(*_split(op.namespace), op.key))
            elif isinstance(op, SearchOp):
                results.append(self._search(op))
            elif isinstance(op, ListNamespacesOp):
                results.append(self._namespaces(op))
            else:
                _check(op)
                writes[op.namespace, op.key] = op
                results.append(None)
        for op in writes.values():
            self._put(op)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same, in a thread."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _get(self, user: str, kind: str, key: str) -> Item | None:
        if kind == "people":
            person = self._person(user, key)
            return None if person is None else Item(**_person(user, person))
        memory = self._memory(user, key)
        return None if memory is None else Item(**_remembered(user, memory, key))

    def _search(self, op: SearchOp) -> list[SearchItem]:
        found = (
            item
            for user, kind in self._places(op.namespace_prefix)
            for item in self._found(user, kind, op.query)
            if all(_holds(item.value.get(key), asked) for key, asked in (op.filter or {}).items())
        )
        return list(islice(found, op.offset, op.offset + op.limit))

    def _found(self, user: str, kind: str, query: str | None) -> Iterator[SearchItem]:
        if kind == "people":
            yield from self._people(user, query)
            return
        rows: Iterable[Memory | Found]
        if query:
            rows = self._mio.search(user, query=query, limit=MAX_RESULTS)["results"]
        else:
            rows = self._each(self._mio.list_memories, user)
        for memory in rows:
            for key in memory["metadata"].get(KEYS) or [memory["id"]]:
                yield SearchItem(**_remembered(user, memory, key), score=memory.get("score"))

    def _people(self, user: str, query: str | None) -> Iterator[SearchItem]:
        """All people; with a query those whom it means, the surest first, else whose name it is a
        part of."""
        if query:
            meant = self._mio.context(user, message=query, include=["cards"])["contacts"]
            for one in meant:
                person = self._mio.get_contact(user, one["id"])
                yield SearchItem(**_person(user, person), score=one["confidence"])
            if meant:
                return
        for contact in self._each(self._mio.list_contacts, user, **({"q": query} if query else {})):
            yield SearchItem(**_person(user, contact))

    def _places(self, prefix: Namespace) -> Iterator[tuple[str, str]]:
        """The users and kinds below a prefix."""
        if len(prefix) == 3:
            yield _split(prefix)
            return
        if len(prefix) > 3 or prefix[:1] not in ((), (ROOT,)):
            raise _unknown(prefix)
        users = [_user(prefix)] if len(prefix) == 2 else [u["id"] for u in self._users()]
        yield from ((user, kind) for user in users for kind in KINDS)

    def _users(self) -> Iterator[Any]:
        return self._mio.each(self._mio.list_users, limit=200)

    def _namespaces(self, op: ListNamespacesOp) -> list[Namespace]:
        every = (namespace(user["id"], kind) for user in self._users() for kind in KINDS)
        conditions = op.match_conditions or ()
        kept = (one for one in every if all(_matches(one, asked) for asked in conditions))
        return sorted({one[: op.max_depth] for one in kept})[op.offset : op.offset + op.limit]

    def _put(self, op: PutOp) -> None:
        user, kind = _split(op.namespace)
        if kind == "people":
            self._put_person(user, op.key, op.value)
        elif op.value is not None:
            self._put_memory(user, op.key, op.value)
        elif memory := self._memory(user, op.key):
            self._drop(user, memory, op.key)

    def _put_memory(self, user: str, key: str, value: Mapping[str, Any]) -> None:
        text, rest = _text(value)
        held = self._memory(user, key)
        if held is not None and held["metadata"].get(KEYS, {}).keys() <= {key}:
            try:
                self._mio.update_memory(
                    user, held["id"], content=text, metadata={KEYS: {key: rest}}
                )
            except MioError as error:
                if error.code != "conflict":
                    raise
            else:
                return
        # Another memory says exactly this, or this one is also known by another key.
        same = self._mio.add_memory(user, content=text, metadata={KEYS: {key: rest}})
        if same["change_id"] is None:
            keys = {**same["metadata"].get(KEYS, {}), key: rest}
            self._mio.update_memory(user, same["id"], metadata={KEYS: keys})
        if held is not None and held["id"] != same["id"]:
            self._drop(user, held, key)

    def _drop(self, user: str, memory: Memory, key: str) -> None:
        """Erases a memory, unless it is also known by another key."""
        keys = {k: rest for k, rest in memory["metadata"].get(KEYS, {}).items() if k != key}
        if keys:
            self._mio.update_memory(user, memory["id"], metadata={KEYS: keys})
        else:
            self._mio.delete_memory(user, memory["id"])

    def _put_person(self, user: str, key: str, value: Mapping[str, Any] | None) -> None:
        person = self._person(user, key)
        if value is None:
            if person is not None:
                self._mio.delete_contact(user, person["id"])
            return
        if person is None:
            raise ValueError(f"Nobody has the id {key!r}. mio.add_contact(user, name=…) makes one.")
        stated: Any = {field: value[field] for field in STATED if field in value}
        if "attributes" in stated:
            gone = dict.fromkeys(person["attributes"])
            stated["attributes"] = {**gone, **stated["attributes"]}
        self._mio.update_contact(user, person["id"], **stated)

    def _memory(self, user: str, key: str) -> Memory | None:
        """The memory that was put under a key, or has it as its id."""
        asked: dict[str, Any] = {KEYS: {key: {}}}
        for put in self._each(self._mio.list_memories, user, metadata=asked):
            return cast(Memory, put)
        memory: Memory | None = self._by_id(self._mio.get_memory, user, key)
        # What was put under keys of its own is known by these alone.
        known = memory is not None and memory["status"] == "active"
        return memory if memory and known and KEYS not in memory["metadata"] else None

    def _person(self, user: str, key: str) -> PersonDetail | None:
        person: PersonDetail | None = self._by_id(self._mio.get_contact, user, key)
        return person

    def _by_id(self, method: Callable[[str, str], Any], user: str, key: str) -> Any:
        """The row of this id; None for a key that is no id, or of nothing."""
        try:
            return method(user, str(UUID(key)))
        except ValueError:
            return None
        except MioError as error:
            if error.status == 404:
                return None
            raise

    def _each(self, method: Any, user: str, **query: Any) -> Iterator[Any]:
        """The rows of a list; none of a user that Mio doesn't know yet."""
        try:
            yield from self._mio.each(method, user, **query)
        except MioError as error:
            if error.code != "unknown_user":
                raise


def _split(place: Namespace) -> tuple[str, str]:
    """The end user and the kind that a namespace means."""
    if len(place) != 3 or place[0] != ROOT or place[2] not in KINDS:
        raise _unknown(place)
    return _user(place), place[2]


def _user(place: Namespace) -> str:
    label = place[1]
    if not isinstance(label, str) or not label:
        raise _unknown(place)
    user = re.sub("%(25|2E)", lambda code: chr(int(code[1], 16)), label)
    if namespace(user)[1] != label:
        raise _unknown(place)
    return user


def _unknown(place: Namespace) -> InvalidNamespaceError:
    return InvalidNamespaceError(f"Mio has no namespace {place!r}: it is {FORM}.")


def _check(op: PutOp) -> None:
    """Raises what a write would fail with, before anything is written."""
    _, kind = _split(op.namespace)
    if op.value is not None and kind == "memories":
        _text(op.value)


def _text(value: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The words of a value, and the rest of it with the field that they stand in."""
    for field in TEXTS:
        text = value.get(field)
        if isinstance(text, str) and text.strip():
            rest = {key: one for key, one in value.items() if key != field}
            return text, {"in": field, "rest": rest}
    raise ValueError('A memory has its words in "text" or "content", as a string.')


def _remembered(user: str, memory: Memory | Found, key: str) -> dict[str, Any]:
    put = memory["metadata"].get(KEYS, {}).get(key)
    if put is None:
        people = [person["name"] for person in memory["people"]]
        shown = {"type": memory["type"], "people": people, "said_at": memory["said_at"]}
        put = {"in": "text", "rest": shown}
    value = {put["in"]: memory["content"], **put["rest"]}
    return _row(namespace(user), key, value, memory)


def _person(user: str, person: Contact | PersonDetail) -> dict[str, Any]:
    shown = cast(dict[str, Any], person)
    value = {field: shown[field] for field in (*STATED, "card")}
    return _row(namespace(user, "people"), person["id"], value, person)


def _row(
    place: Namespace, key: str, value: dict[str, Any], row: Memory | Found | Contact | PersonDetail
) -> dict[str, Any]:
    return {
        "namespace": place,
        "key": key,
        "value": value,
        "created_at": datetime.fromisoformat(row["created_at"]),
        "updated_at": datetime.fromisoformat(row["updated_at"]),
    }


def _matches(place: Namespace, asked: MatchCondition) -> bool:
    """Whether a namespace begins, or ends, with a path in which * is any label."""
    length = len(asked.path)
    part = place[:length] if asked.match_type == "prefix" else place[-length:]
    return len(part) == length and all(
        wanted in ("*", label) for label, wanted in zip(part, asked.path, strict=True)
    )


def _holds(value: Any, asked: Any) -> bool:
    """Whether a value is as asked: equal, or as operators such as $gte say."""
    if not isinstance(asked, Mapping) or not any(key.startswith("$") for key in asked):
        return bool(value == asked)
    if unknown := asked.keys() - COMPARED.keys():
        raise ValueError(f"Unknown operator {', '.join(unknown)}: {', '.join(COMPARED)}")
    try:
        return all(COMPARED[key](value, against) for key, against in asked.items())
    except TypeError:  # of another kind, or not there
        return False
