"""Matches the entries of an address book with known people, before anything is written: each entry
creates a contact, changes one, adds nothing, is skipped, or is left for somebody to choose.

The contacts are read once, whatever the number of entries. A contact that an entry creates is known
to the entries after it in the file."""

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
# What two people rarely share: if the names are similar, an equal value identifies a person.
_IDENTIFYING = ("birthday", "phone", "email")
MOST_CANDIDATES = 20
# Aliases of a person, as many as the API takes; entries that mean one person add no more.
MAX_ALIASES = 50


class UnknownChoice(CodedError):
    """The choice for the entry ``number`` is impossible."""

    def __init__(self, code: str, number: int, **params: object) -> None:
        super().__init__(Reason(code, number=number, **params))
        self.number = number


@dataclass(slots=True)
class KnownContact:
    """A contact that an entry may match, with the values that entries added (unsaved). ``number``
    is the number of the entry that created it, 0 for a stored contact."""

    contact: Contact
    number: int = 0
    name_keys: set[str] = field(default_factory=set)  # filled at first use

    @property
    def key(self) -> str:
        """The contact's key in ``choices``: ``#`` and the number of its entry, else its id."""
        return f"#{self.number}" if self.number else str(self.contact.pk)

    @property
    def stored_id(self) -> UUID | None:
        """The id of the contact; None until it is stored."""
        return None if self.contact._state.adding else self.contact.pk

    @property
    def all_names(self) -> tuple[str, ...]:
        return (self.contact.name, *self.contact.aliases)

    def values(self, key: str) -> list[str]:
        return [one["value"] for one in self.contact.attributes.get(key, ())]

    def is_like(self, keys: set[str]) -> bool:
        """Whether a lookup key of one of the contact's names is in ``keys``."""
        self.name_keys = self.name_keys or _name_keys(self.all_names)
        return not self.name_keys.isdisjoint(keys)


@dataclass(frozen=True, slots=True)
class EntryOutcome:
    """The outcome for an entry. ``known`` is the contact that it matches or creates, ``adds`` the
    values that this contact lacks (of aliases, those to add), ``candidates`` those to choose from."""

    entry: Entry
    outcome: Outcome
    known: KnownContact | None = None
    adds: Mapping[str, Any] = field(default_factory=dict)
    why: Reason | None = None
    candidates: tuple[KnownContact, ...] = ()


def match(
    end_user: EndUser, entries: Iterable[Entry], choices: Mapping[int, str] | None = None
) -> tuple[list[EntryOutcome], "KnownPeople"]:
    """Returns the outcome of each entry, and all people known after them. ``choices`` decide some
    entries by their numbers: ``new``, ``skip``, or the key of a contact. Raises UnknownChoice."""
    people, open_choices = KnownPeople(end_user), dict(choices or {})
    matched = [people.take(entry, open_choices.pop(entry.number, "")) for entry in entries]
    for number in open_choices:
        raise UnknownChoice("no_such_entry", number=number)
    return matched, people


class KnownPeople:
    """The people of an end user, indexed by name, alias and identifying values."""

    def __init__(self, end_user: EndUser) -> None:
        self.end_user = end_user
        self.by_key: dict[str, KnownContact] = {}
        self._by_name: dict[str, list[KnownContact]] = defaultdict(list)
        self._by_alias: dict[str, list[KnownContact]] = defaultdict(list)
        self._by_value: dict[tuple[str, str], list[KnownContact]] = defaultdict(list)
        if end_user.pk is None:  # not stored yet, so there are no contacts
            return
        rows = Contact.objects.of(end_user).standing().light().order_by("namesake", "pk")
        for contact in rows:
            contact.end_user = end_user
            self._add(KnownContact(contact))

    def take(self, entry: Entry, choice: str) -> EntryOutcome:
        """Returns the outcome of an entry, whose contact is then indexed. Raises UnknownChoice."""
        if not names.name_key(entry.name):
            return EntryOutcome(entry, "skipped", why=Reason("entry_without_name"))
        try:
            entry = replace(entry, name=store.clean_name(entry.name))
        except store.InvalidContact:
            return EntryOutcome(entry, "skipped", why=Reason("entry_name_too_long"))
        if choice == SKIP:
            return EntryOutcome(entry, "skipped", why=Reason("entry_left_out"))
        if choice == NEW:
            return self._create(entry, Reason("entry_chosen"))
        if choice and choice not in self.by_key:
            raise UnknownChoice("entry_no_such_choice", number=entry.number, choice=choice)
        if choice:
            return self._update(entry, self.by_key[choice], Reason("entry_chosen"))
        return self._match(entry)

    def find(self, name: str) -> list[KnownContact]:
        """Returns the people with this name; if there are none, those with this alias."""
        key = names.name_key(name)
        return self._by_name.get(key) or self._by_alias.get(key, []) if key else []

    def _match(self, entry: Entry) -> EntryOutcome:
        """Matches an entry by name or alias, unless birthdays differ; else by an equal birthday,
        phone or email together with a similar name."""
        namesakes = self.find(entry.name)
        fitting = [one for one in namesakes if not _birthday_differs(one, entry)]
        if len(fitting) > 1 or entry.namesake:
            fitting = _narrowed(fitting, entry)
        if len(fitting) > 1:
            return _undecided(entry, fitting)
        if fitting:
            return self._update(entry, fitting[0], _match_reason(fitting[0], entry))
        if namesakes:
            differs = any(_birthday_differs(one, entry) for one in namesakes)
            return self._create(entry, Reason("entry_other_birthday") if differs else None)
        for alias in entry.aliases:
            bearers = [one for one in self.find(alias) if not _birthday_differs(one, entry)]
            if len(bearers) == 1:
                return self._update(entry, bearers[0], Reason("entry_same_alias", name=alias))
        similar = self._similar(entry)
        if len(similar) > 1:
            return _undecided(entry, similar)
        if similar:
            keys = _shared_attributes(similar[0], entry)
            return self._update(entry, similar[0], Reason("entry_like_name", keys=keys))
        return self._create(entry, None)

    def _similar(self, entry: Entry) -> list[KnownContact]:
        """Returns people of similar name who share an identifying value; no birthday differs."""
        sharing = {
            one.key: one
            for value in _identifying_values(entry.attributes)
            for one in self._by_value.get(value, ())
        }
        if not sharing:
            return []
        entry_keys = _name_keys((entry.name, *entry.aliases))
        return [
            one
            for one in sharing.values()
            if not _birthday_differs(one, entry) and _shared_attributes(one, entry)
            if one.is_like(entry_keys) or _is_suffix((entry.name, *entry.aliases), one.all_names)
        ]

    def _create(self, entry: Entry, why: Reason | None) -> EntryOutcome:
        """Creates an unsaved contact from the entry and indexes it."""
        namesakes = self._by_name.get(names.name_key(entry.name), [])
        values = {
            "name": entry.name,
            "aliases": entry.aliases,
            "relationship": entry.relationship[:200],
            "gender": entry.gender,
            "attributes": entry.attributes,
        }
        contact = edit.build_contact(self.end_user, values)
        contact.namesake = max((one.contact.namesake for one in namesakes), default=-1) + 1
        # Two telephone numbers of one person are both right.
        contact.side_by_side = sorted(
            key for key, listed in contact.attributes.items() if len(listed) > 1 and is_single(key)
        )
        known = KnownContact(contact, entry.number)
        self._add(known)
        return EntryOutcome(entry, "new", known, why=why)

    def _update(self, entry: Entry, known: KnownContact, why: Reason) -> EntryOutcome:
        """Adds the values of the entry that the contact lacks to it (unsaved)."""
        adds = _missing_values(known, entry)
        if not adds:
            return EntryOutcome(entry, "same", known, why=why)
        known.contact.aliases = [*known.contact.aliases, *adds.get("aliases", ())]
        known.name_keys = set()
        columns = {column: value for column, value in adds.items() if column != "aliases"}
        if "attributes" in adds:
            columns["attributes"] = {
                key: [*known.values(key), *new] for key, new in adds["attributes"].items()
            }
        edit.assign(known.contact, columns)
        self._index(known, adds.get("aliases", ()), adds.get("attributes", {}))
        return EntryOutcome(entry, "changed", known, adds, why)

    def _add(self, known: KnownContact) -> None:
        self.by_key[known.key] = known
        self._by_name[known.contact.name_key].append(known)
        identifying = {key: known.values(key) for key in _IDENTIFYING}
        self._index(known, known.contact.aliases, identifying)

    def _index(
        self, known: KnownContact, aliases: Iterable[str], attributes: Mapping[str, Sequence[str]]
    ) -> None:
        for alias in aliases:
            self._by_alias[names.name_key(alias)].append(known)
        for value in _identifying_values(attributes):
            self._by_value[value].append(known)


def _identifying_values(attributes: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    """Yields the identifying values in comparable form, each after its attribute."""
    for attribute in _IDENTIFYING:
        for value in attributes.get(attribute, ()):
            if compared := form(attribute, value):
                yield attribute, compared


def _undecided(entry: Entry, candidates: Sequence[KnownContact]) -> EntryOutcome:
    first = tuple(candidates[:MOST_CANDIDATES])
    return EntryOutcome(entry, "undecided", why=Reason("entry_several"), candidates=first)


def _name_keys(all_names: Sequence[str]) -> set[str]:
    """Returns the lookup keys of these names in full (kinds ``name`` and ``alias``)."""
    keys = store.keys_of(Person(UUID(int=0), all_names[0], tuple(all_names[1:])))
    return {key.key for key in keys if key.how in ("name", "alias")}


def _narrowed(fitting: Sequence[KnownContact], entry: Entry) -> list[KnownContact]:
    """Returns those of several people of one name who match the entry: the one who shares an
    identifying value, else the one with its namesake number, else one who already has all its
    values. All of them if nothing decides; none if nobody has its number."""
    sharing = [one for one in fitting if _shared_attributes(one, entry)]
    if len(sharing) == 1:
        return sharing
    same_number = [one for one in fitting if one.contact.namesake == entry.namesake]
    if entry.namesake:
        return same_number[:1]
    complete = [one for one in (*same_number, *fitting) if not _missing_values(one, entry)]
    return complete[:1] or list(fitting)


def _match_reason(known: KnownContact, entry: Entry) -> Reason:
    if keys := _shared_attributes(known, entry):
        return Reason("entry_same_value", keys=keys)
    if known.contact.name_key == names.name_key(entry.name):
        return Reason("entry_same_name")
    return Reason("entry_same_alias", name=entry.name)


def _is_suffix(entry_names: Iterable[str], known_names: Iterable[str]) -> bool:
    """Whether a name of one side ends with a name of the other, as 王小红 ends with 小红."""
    known_keys = [*map(names.name_key, known_names)]
    return any(
        min(len(a), len(b)) > 1 and (a.endswith(b) or b.endswith(a))
        for a in map(names.name_key, entry_names)
        for b in known_keys
    )


def _shared_attributes(known: KnownContact, entry: Entry) -> list[str]:
    """Returns the identifying attributes of which both have an equal value."""
    return [key for key in _IDENTIFYING if _shares_value(known, entry, key)]


def _shares_value(known: KnownContact, entry: Entry, key: str) -> bool:
    return any(
        entry_value == known_value
        or (
            form(key, entry_value) == form(key, known_value) != ""
            and (key != "birthday" or _same_year(entry_value, known_value))
        )
        for entry_value in entry.attributes.get(key, ())
        for known_value in known.values(key)
    )


def _same_year(birthday: str, other: str) -> bool:
    """Whether two birthdays name the same year, or at least one names none."""
    days = [day for value in (birthday, other) if (day := important_dates.read(value)) and day.year]
    return len({day.year for day in days}) < 2


def _birthday_differs(known: KnownContact, entry: Entry) -> bool:
    both = known.values("birthday") and entry.attributes.get("birthday")
    return bool(both) and not _shares_value(known, entry, "birthday")


def _missing_values(known: KnownContact, entry: Entry) -> dict[str, Any]:
    """Returns the values of an entry that the contact lacks, by column. A known single value stays:
    it is newer than an address book."""
    values: dict[str, Any] = {}
    aliases = known.contact.aliases
    extended = Contact(name_key=known.contact.name_key, aliases=list(aliases))
    if store.add_aliases(extended, [entry.name, *entry.aliases]) and len(aliases) < MAX_ALIASES:
        values["aliases"] = extended.aliases[len(aliases) : MAX_ALIASES]
    attributes = {}
    for key, entry_values in entry.attributes.items():
        known_values = known.values(key)
        known_forms = {form(key, value) for value in known_values} - {""}
        new_values = [value for value in entry_values if form(key, value) not in known_forms]
        if new_values and not (known_values and is_single(key)):
            attributes[key] = new_values
    if attributes:
        values["attributes"] = attributes
    for column in ("relationship", "gender"):
        if getattr(entry, column) and not getattr(known.contact, column):
            values[column] = getattr(entry, column)
    return values
