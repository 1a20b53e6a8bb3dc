"""Matches the entries of an address book with known people, before anything is written: each is
new, known with something to add, known as it is, or left for somebody to choose.

The contacts are read once, whatever the number of entries. Entries that are new are known to
those after them in the file.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal
from uuid import UUID

from accounts.models import EndUser
from accounts.reasons import CodedError, Reason
from contacts import edit, store
from contacts.models import Contact
from imports.types import Entry
from understanding import names
from understanding.attribute_index import form
from understanding.attributes import is_single
from understanding.dates import important_dates
from understanding.types import Person

Outcome = Literal["new", "changed", "same", "undecided", "skipped"]
NEW, SKIP = "new", "skip"
# What two people rarely share: with a similar name it tells that they are one.
_TELLING = ("birthday", "phone", "email")
MOST_CANDIDATES = 20
# Of a person, as many as the API takes: entries that all mean one person add no more.
MAX_ALIASES = 50


class UnknownChoice(CodedError):
    """The choice for an entry is impossible; ``number`` is the entry's."""

    def __init__(self, code: str, number: int, **params: object) -> None:
        super().__init__(Reason(code, number=number, **params))
        self.number = number


@dataclass(slots=True)
class Known:
    """Somebody whom an entry may mean: a contact, with what entries add to it (unsaved). ``number``
    is that of the entry that made it, 0 of who was known before."""

    contact: Contact
    number: int = 0
    name_keys: set[str] = field(default_factory=set)  # once they were asked for

    @property
    def key(self) -> str:
        """What names them in a choice."""
        return f"#{self.number}" if self.number else str(self.contact.pk)

    @property
    def stored_id(self) -> UUID | None:
        return None if self.contact._state.adding else self.contact.pk

    @property
    def all_names(self) -> tuple[str, ...]:
        return (self.contact.name, *self.contact.aliases)

    def values(self, key: str) -> list[str]:
        return [one["value"] for one in self.contact.attributes.get(key, ())]

    def is_like(self, keys: set[str]) -> bool:
        """Whether one of the lookup keys of their names is among these."""
        self.name_keys = self.name_keys or _name_keys(self.all_names)
        return not self.name_keys.isdisjoint(keys)


@dataclass(frozen=True, slots=True)
class Matched:
    """What is to become of an entry. ``known``: whom it means, the new one where it is new;
    ``adds``: what it says that isn't known of them yet (aliases: those to add); ``candidates``:
    who may be meant where it is undecided."""

    entry: Entry
    outcome: Outcome
    known: Known | None = None
    adds: Mapping[str, Any] = field(default_factory=dict)
    why: Reason | None = None
    candidates: tuple[Known, ...] = ()


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
        self.end_user = end_user
        self.by_key: dict[str, Known] = {}
        self._named: dict[str, list[Known]] = defaultdict(list)
        self._also_called: dict[str, list[Known]] = defaultdict(list)
        self._telling: dict[tuple[str, str], list[Known]] = defaultdict(list)
        if end_user.pk is None:  # nobody has written for them yet
            return
        rows = Contact.objects.of(end_user).standing().light().order_by("namesake", "pk")
        for contact in rows:
            contact.end_user = end_user
            self._add(Known(contact))

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
        if choice and choice not in self.by_key:
            raise UnknownChoice("entry_no_such_choice", number=entry.number, choice=choice)
        if choice:
            return self._same(entry, self.by_key[choice], Reason("entry_chosen"))
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
            return _undecided(entry, fitting)
        if fitting:
            return self._same(entry, fitting[0], _why(fitting[0], entry))
        if named:
            differs = any(_differs(one, entry) for one in named)
            return self._new(entry, Reason("entry_other_birthday") if differs else None)
        for alias in entry.aliases:
            namesakes = [one for one in self.find(alias) if not _differs(one, entry)]
            if len(namesakes) == 1:
                return self._same(entry, namesakes[0], Reason("entry_same_alias", name=alias))
        alike = self._alike(entry)
        if len(alike) > 1:
            return _undecided(entry, alike)
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
        wanted = _name_keys((entry.name, *entry.aliases))
        return [
            one
            for one in holders.values()
            if not _differs(one, entry) and _shared(one, entry)
            if one.is_like(wanted) or _contained((entry.name, *entry.aliases), one.all_names)
        ]

    def _new(self, entry: Entry, why: Reason | None) -> Matched:
        taken = self._named.get(names.name_key(entry.name), [])
        values = {
            "name": entry.name,
            "aliases": entry.aliases,
            "relationship": entry.relationship[:200],
            "gender": entry.gender,
            "attributes": entry.attributes,
        }
        contact = edit.unsaved(self.end_user, values)
        contact.namesake = max((one.contact.namesake for one in taken), default=-1) + 1
        # Two telephone numbers of one person are both right.
        contact.side_by_side = sorted(
            key for key, held in contact.attributes.items() if len(held) > 1 and is_single(key)
        )
        known = Known(contact, entry.number)
        self._add(known)
        return Matched(entry, "new", known, why=why)

    def _same(self, entry: Entry, known: Known, why: Reason) -> Matched:
        adds = _missing(known, entry)
        if not adds:
            return Matched(entry, "same", known, why=why)
        known.contact.aliases = [*known.contact.aliases, *adds.get("aliases", ())]
        known.name_keys = set()
        plain = {column: value for column, value in adds.items() if column != "aliases"}
        if "attributes" in adds:
            plain["attributes"] = {
                key: [*known.values(key), *new] for key, new in adds["attributes"].items()
            }
        edit.assign(known.contact, plain)
        self._index(known, adds.get("aliases", ()), adds.get("attributes", {}))
        return Matched(entry, "changed", known, adds, why)

    def _add(self, known: Known) -> None:
        self.by_key[known.key] = known
        self._named[known.contact.name_key].append(known)
        telling = {key: known.values(key) for key in _TELLING}
        self._index(known, known.contact.aliases, telling)

    def _index(
        self, known: Known, aliases: Iterable[str], attributes: Mapping[str, Sequence[str]]
    ) -> None:
        for alias in aliases:
            self._also_called[names.name_key(alias)].append(known)
        for telling in _telling(attributes):
            self._telling[telling].append(known)


def _telling(attributes: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    """The telling values among attributes, each with its attribute, in comparable form."""
    for attribute in _TELLING:
        for value in attributes.get(attribute, ()):
            if compared := form(attribute, value):
                yield attribute, compared


def _undecided(entry: Entry, candidates: Sequence[Known]) -> Matched:
    most = tuple(candidates[:MOST_CANDIDATES])
    return Matched(entry, "undecided", why=Reason("entry_several"), candidates=most)


def _name_keys(all_names: Sequence[str]) -> set[str]:
    keys = store.keys_of(Person(UUID(int=0), all_names[0], tuple(all_names[1:])))
    return {key.key for key in keys if key.how in ("name", "alias")}


def _narrowed(fitting: Sequence[Known], entry: Entry) -> list[Known]:
    """Of several people of one name, the one whom the entry means: who shares a telling value, has its
    namesake number, or already has all its values. All of them where nothing decides."""
    telling = [one for one in fitting if _shared(one, entry)]
    if len(telling) == 1:
        return telling
    same = [one for one in fitting if one.contact.namesake == entry.namesake]
    if entry.namesake:
        return same[:1]
    complete = [one for one in (*same, *fitting) if not _missing(one, entry)]
    return complete[:1] or list(fitting)


def _why(known: Known, entry: Entry) -> Reason:
    if keys := _shared(known, entry):
        return Reason("entry_same_value", keys=keys)
    if known.contact.name_key == names.name_key(entry.name):
        return Reason("entry_same_name")
    return Reason("entry_same_alias", name=entry.name)


def _contained(ours: Iterable[str], theirs: Iterable[str]) -> bool:
    """Whether one name holds another, as 王小红 does 小红."""
    their_keys = [*map(names.name_key, theirs)]
    return any(
        min(len(a), len(b)) > 1 and (a.endswith(b) or b.endswith(a))
        for a in map(names.name_key, ours)
        for b in their_keys
    )


def _shared(known: Known, entry: Entry) -> list[str]:
    return [key for key in _TELLING if _agree(known, entry, key)]


def _agree(known: Known, entry: Entry, key: str) -> bool:
    return any(
        given == held
        or (
            form(key, given) == form(key, held) != ""
            and (key != "birthday" or _of_one_year(given, held))
        )
        for given in entry.attributes.get(key, ())
        for held in known.values(key)
    )


def _of_one_year(one: str, other: str) -> bool:
    """Whether two birthdays name the same year, or one of them none."""
    days = [day for value in (one, other) if (day := important_dates.read(value)) and day.year]
    return len({day.year for day in days}) < 2


def _differs(known: Known, entry: Entry) -> bool:
    both = known.values("birthday") and entry.attributes.get("birthday")
    return bool(both) and not _agree(known, entry, "birthday")


def _missing(known: Known, entry: Entry) -> dict[str, Any]:
    """The values of an entry that are not known of the person yet. A known single value stays: it is
    newer than an address book."""
    values: dict[str, Any] = {}
    aliases = known.contact.aliases
    book = Contact(name_key=known.contact.name_key, aliases=list(aliases))
    if store.add_aliases(book, [entry.name, *entry.aliases]) and len(aliases) < MAX_ALIASES:
        values["aliases"] = book.aliases[len(aliases) : MAX_ALIASES]
    attributes = {}
    for key, given in entry.attributes.items():
        known_values = known.values(key)
        known_forms = {form(key, value) for value in known_values} - {""}
        new = [value for value in given if form(key, value) not in known_forms]
        if new and not (known_values and is_single(key)):
            attributes[key] = new
    if attributes:
        values["attributes"] = attributes
    for column in ("relationship", "gender"):
        if getattr(entry, column) and not getattr(known.contact, column):
            values[column] = getattr(entry, column)
    return values
