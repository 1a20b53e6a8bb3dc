"""Matches the entries of an address book with known people, before anything is written: each is
new, known with something to add, known as it is, or left for somebody to choose.

The contacts are read once, whatever the number of entries. Entries that are new are known to
those after them in the file.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal
from uuid import UUID

from accounts.models import EndUser
from accounts.reasons import CodedError, Reason
from contacts import store
from contacts.address_books.entries import MAX_ALIASES, Entry
from contacts.models import Contact
from understanding import names
from understanding.attribute_index import form
from understanding.attributes import is_single
from understanding.types import Person

Outcome = Literal["new", "changed", "same", "undecided", "skipped"]
NEW, SKIP = "new", "skip"
# What two people rarely share: with a similar name it tells that they are one.
_TELLING = ("birthday", "phone", "email")
MOST_CANDIDATES = 20
_YEAR = re.compile(r"\d{4}")


class UnknownChoice(CodedError):
    """The choice for an entry is impossible; ``number`` is the entry's."""

    def __init__(self, code: str, number: int, **params: object) -> None:
        super().__init__(Reason(code, number=number, **params))
        self.number = number


@dataclass(slots=True)
class Known:
    """Somebody whom an entry may mean: a contact, or with ``contact`` None an entry before it
    (``number``) that is new. ``key`` names them in a choice, ``keys`` are those of their names,
    once they were asked for."""

    key: str
    name: str
    aliases: list[str]
    attributes: dict[str, list[str]]
    relationship: str = ""
    gender: str = ""
    namesake: int = 0
    contact: Contact | None = None
    number: int = 0
    keys: set[str] = field(default_factory=set)

    def called(self, key: str) -> bool:
        """Whether this is their name, not another one of theirs."""
        return names.name_key(self.name) == key

    def is_like(self, keys: set[str]) -> bool:
        """Whether one of the lookup keys of their names is among these."""
        self.keys = self.keys or _name_keys(self.name, self.aliases)
        return not self.keys.isdisjoint(keys)


@dataclass(frozen=True, slots=True)
class Matched:
    """What is to become of an entry. ``known``: whom it means, the new one where it is new;
    ``adds``: what it says that isn't known of them yet (aliases: those to add); ``candidates``:
    who may be meant where it is undecided."""

    entry: Entry
    outcome: Outcome
    known: Known | None = None
    adds: dict[str, Any] = field(default_factory=dict)
    why: Reason | None = None
    candidates: tuple[Known, ...] = ()
    namesake: bool = False


def match(
    end_user: EndUser, entries: Iterable[Entry], choices: Mapping[int, str] | None = None
) -> tuple[list[Matched], "Circle"]:
    """What is to become of each entry, and everybody who is known then. ``choices`` say it of
    some, by their numbers: ``new``, ``skip``, or the key of somebody. Raises UnknownChoice."""
    circle, wanted = Circle(end_user), dict(choices or {})
    matched = [circle.take(entry, wanted.pop(entry.number, "")) for entry in entries]
    for number in wanted:
        raise UnknownChoice("no_such_entry", number=number)
    return matched, circle


class Circle:
    """The people of an end user, as entries find them: by name, alias, and what few share."""

    def __init__(self, end_user: EndUser) -> None:
        self.by_key: dict[str, Known] = {}
        self._named: dict[str, list[Known]] = {}
        self._also_called: dict[str, list[Known]] = {}
        self._telling: dict[tuple[str, str], list[Known]] = {}
        if end_user.pk is None:  # nobody has written for them yet
            return
        rows = Contact.objects.of(end_user).standing().light().order_by("namesake", "pk")
        for contact in rows:
            contact.end_user = end_user
            values = {key: [one["value"] for one in entries] for key, entries in contact.attributes.items()}  # fmt: skip
            self._add(
                Known(
                    str(contact.pk), contact.name, list(contact.aliases), values,
                    contact.relationship, contact.gender, contact.namesake, contact,
                )
            )  # fmt: skip

    def take(self, entry: Entry, choice: str) -> Matched:
        """What is to become of an entry; who is new is known from now on."""
        if not names.name_key(entry.name):
            return Matched(entry, "skipped", why=Reason("entry_without_name"))
        try:
            entry = replace(entry, name=store.clean_name(entry.name))
        except store.InvalidContact:
            return Matched(entry, "skipped", why=Reason("entry_name_too_long"))
        if choice == SKIP:
            return Matched(entry, "skipped", why=Reason("entry_left_out"))
        if choice == NEW:
            return self._new(entry, Reason("entry_chosen"))
        if choice:
            known = self.by_key.get(choice)
            if known is None:
                raise UnknownChoice("entry_no_such_choice", number=entry.number, choice=choice)
            return self._same(entry, known, Reason("entry_chosen"))
        return self._meant(entry)

    def find(self, name: str) -> list[Known]:
        """The people with this name, else with this alias."""
        key = names.name_key(name)
        return self._named.get(key) or self._also_called.get(key, []) if key else []

    def _meant(self, entry: Entry) -> Matched:
        """Matches by name or alias, unless birthdays differ; else by birthday, phone or email together
        with a similar name."""
        named = self.find(entry.name)
        fitting = [one for one in named if not _differs(one, entry)]
        if len(fitting) > 1 or entry.namesake:
            fitting = _narrowed(fitting, entry)
        if len(fitting) > 1:
            return self._undecided(entry, fitting)
        if fitting:
            return self._same(entry, fitting[0], _why(fitting[0], entry))
        if named:
            differs = any(_differs(one, entry) for one in named)
            return self._new(entry, Reason("entry_other_birthday") if differs else None)
        return self._by_other_names(entry)

    def _by_other_names(self, entry: Entry) -> Matched:
        for alias in entry.aliases:
            namesakes = [one for one in self.find(alias) if not _differs(one, entry)]
            if len(namesakes) == 1:
                return self._same(entry, namesakes[0], Reason("entry_same_alias", name=alias))
        alike = self._alike(entry)
        if len(alike) > 1:
            return self._undecided(entry, alike)
        if alike:
            keys = _shared(alike[0], entry)
            return self._same(entry, alike[0], Reason("entry_like_name", keys=keys))
        return self._new(entry, None)

    def _alike(self, entry: Entry) -> list[Known]:
        holders = {
            one.key: one
            for telling in _telling(entry.attributes)
            for one in self._telling.get(telling, ())
        }
        if not holders:
            return []
        wanted = _name_keys(entry.name, entry.aliases)
        ours = [names.name_key(name) for name in (entry.name, *entry.aliases)]
        return [
            one
            for one in holders.values()
            if not _differs(one, entry) and _shared(one, entry)
            if one.is_like(wanted) or _contained(ours, one)
        ]

    def _undecided(self, entry: Entry, candidates: Sequence[Known]) -> Matched:
        most = tuple(candidates[:MOST_CANDIDATES])
        return Matched(entry, "undecided", why=Reason("entry_several"), candidates=most)

    def _new(self, entry: Entry, why: Reason | None) -> Matched:
        taken = self._named.get(names.name_key(entry.name), [])
        namesake = max((one.namesake for one in taken), default=-1) + 1
        known = Known(
            f"#{entry.number}", entry.name, list(entry.aliases),
            {key: list(values) for key, values in entry.attributes.items()},
            entry.relationship, entry.gender, namesake, None, entry.number,
        )  # fmt: skip
        self._add(known)
        return Matched(entry, "new", known, why=why, namesake=bool(taken))

    def _same(self, entry: Entry, known: Known, why: Reason) -> Matched:
        adds = _missing(known, entry)
        if not adds:
            return Matched(entry, "same", known, why=why)
        self._learn(known, adds)
        return Matched(entry, "changed", known, adds, why)

    def _learn(self, known: Known, adds: Mapping[str, Any]) -> None:
        known.aliases += adds.get("aliases", [])
        known.keys = set()
        for key, values in adds.get("attributes", {}).items():
            known.attributes[key] = [*known.attributes.get(key, ()), *values]
        known.relationship = adds.get("relationship", known.relationship)
        known.gender = adds.get("gender", known.gender)
        self._index(known, adds.get("aliases", []), adds.get("attributes", {}))

    def _add(self, known: Known) -> None:
        self.by_key[known.key] = known
        self._named.setdefault(names.name_key(known.name), []).append(known)
        self._index(known, known.aliases, known.attributes)

    def _index(
        self, known: Known, aliases: Iterable[str], attributes: Mapping[str, Sequence[str]]
    ) -> None:
        for alias in aliases:
            self._also_called.setdefault(names.name_key(alias), []).append(known)
        for telling in _telling(attributes):
            self._telling.setdefault(telling, []).append(known)


def _telling(attributes: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    """The telling values among attributes, each with its attribute, in comparable form."""
    for attribute in _TELLING:
        for value in attributes.get(attribute, ()):
            if compared := form(attribute, value):
                yield attribute, compared


def _name_keys(name: str, aliases: Sequence[str]) -> set[str]:
    keys = store.keys_of(Person(UUID(int=0), name, tuple(aliases)))
    return {key.key for key in keys if key.how in ("name", "alias")}


def _narrowed(fitting: Sequence[Known], entry: Entry) -> list[Known]:
    """Narrows several people of one name: to the one who shares a telling value, has the namesake number
    of the entry, or lacks nothing of it; all of them where nothing tells them apart."""
    telling = [one for one in fitting if _shared(one, entry)]
    if len(telling) == 1:
        return telling
    same = [one for one in fitting if one.namesake == entry.namesake]
    if entry.namesake:
        return same[:1]
    complete = [one for one in (*same, *fitting) if not _missing(one, entry)]
    return complete[:1] or list(fitting)


def _why(known: Known, entry: Entry) -> Reason:
    if keys := _shared(known, entry):
        return Reason("entry_same_value", keys=keys)
    if known.called(names.name_key(entry.name)):
        return Reason("entry_same_name")
    return Reason("entry_same_alias", name=entry.name)


def _contained(ours: Sequence[str], known: Known) -> bool:
    """Whether one name holds another, as 王小红 does 小红."""
    theirs = [names.name_key(name) for name in (known.name, *known.aliases)]
    return any(
        min(len(a), len(b)) > 1 and (a.endswith(b) or b.endswith(a)) for a in ours for b in theirs
    )


def _shared(known: Known, entry: Entry) -> list[str]:
    """The telling attributes (birthday, phone, email) on which both agree."""
    return [key for key in _TELLING if _agree(known, entry, key)]


def _agree(known: Known, entry: Entry, key: str) -> bool:
    given, known_values = entry.attributes.get(key, ()), known.attributes.get(key, ())
    agreeing = ((a, b) for a in given for b in known_values if form(key, a) == form(key, b) != "")
    return any(key != "birthday" or _of_one_year(a, b) for a, b in agreeing)


def _of_one_year(one: str, other: str) -> bool:
    """Whether two birthdays name the same year, or one of them none."""
    years = [match[0] for value in (one, other) if (match := _YEAR.search(value))]
    return len({*years}) < 2


def _differs(known: Known, entry: Entry) -> bool:
    """Whether both have a birthday, and not the same."""
    both = known.attributes.get("birthday") and entry.attributes.get("birthday")
    return bool(both) and not _agree(known, entry, "birthday")


def _missing(known: Known, entry: Entry) -> dict[str, Any]:
    """The values of an entry that are not known of the person yet. A known single value stays: it is
    newer than an address book."""
    values: dict[str, Any] = {}
    book = Contact(name_key=names.name_key(known.name), aliases=list(known.aliases))
    room = max(0, MAX_ALIASES - len(known.aliases))
    if room and store.add_aliases(book, [entry.name, *entry.aliases]):
        values["aliases"] = book.aliases[len(known.aliases) :][:room]
    attributes = {}
    for key, given in entry.attributes.items():
        known_values = known.attributes.get(key, [])
        known_forms = {form(key, value) for value in known_values} - {""}
        new = [value for value in given if form(key, value) not in known_forms]
        if new and not (known_values and is_single(key)):
            attributes[key] = new
    if attributes:
        values["attributes"] = attributes
    for column in ("relationship", "gender"):
        if getattr(entry, column) and not getattr(known, column):
            values[column] = getattr(entry, column)
    return values
