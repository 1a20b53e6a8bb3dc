"""An address book beside the contacts that are known: who is who, what is new, and back.

``take_in`` goes through the verbs of the contact book, so that each change is in the audit
trail; a second time it changes nothing.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from accounts.models import EndUser
from accounts.reasons import Reason
from contacts import attribute_index, edit, names, relations, store
from contacts.attributes import is_single
from contacts.models import Contact, ContactKey, Relation
from contacts.types import Person
from contacts.vcard.read import RELATIONS, Entry, Related

ACTOR = "operator:vcard"
WHY = Reason("vcard").stored
# What two people rarely share: with a similar name it tells that they are one.
_TELLING = ("birthday", "phone", "email")


@dataclass(frozen=True, slots=True)
class TakenIn:
    """What became of an entry: its contact, and whether that is new or was changed."""

    entry: Entry
    contact: Contact
    made: bool
    changed: bool


def take_in(end_user: EndUser, entries: Iterable[Entry]) -> Iterator[TakenIn]:
    """Makes contacts of the entries that have a name, or adds what is new to those whom they
    mean. The caller holds the end user's lock. Raises InvalidContact."""
    for entry in entries:
        if not names.name_key(entry.name):
            continue
        contact = known(end_user, entry)
        if contact is None:
            contact, _ = edit.create_contact(
                end_user, entry.name, actor=ACTOR, why=WHY, aliases=entry.aliases,
                namesake=bool(store.find(end_user, entry.name)), **_values(entry),
            )  # fmt: skip
            yield TakenIn(entry, contact, made=True, changed=False)
            continue
        values = _missing(contact, entry)
        if values:
            contact, _ = edit.edit_contact(end_user, contact.id, values, actor=ACTOR, why=WHY)
        yield TakenIn(entry, contact, made=False, changed=bool(values))


def relate(end_user: EndUser, taken: Sequence[TakenIn]) -> int:
    """Records the relations that entries state to people who are contacts; how many are new."""
    made = 0
    touched: dict[UUID, Contact] = {}
    for item in taken:
        for related in item.entry.related:
            found = [c for c in store.find(end_user, related.name) if c.id != item.contact.id]
            if len(found) != 1:
                continue
            held = Relation.objects.of(end_user).filter(subject=found[0], object=item.contact)
            kind = _word(related.kind, end_user.language)
            if not held.filter(kind=kind[: relations.MAX_KIND]).exists():
                made += relations.relate(end_user, found[0], kind, item.contact) is not None
                touched |= {found[0].id: found[0], item.contact.id: item.contact}
    for pk in touched:
        store.save(Contact.objects.of(end_user).select_related("end_user").get(pk=pk), [])
    return made


def known(end_user: EndUser, entry: Entry) -> Contact | None:
    """The contact that an entry means: by name or alias, unless what both state speaks against
    it; else by birthday, phone or email together with a name that is like it."""
    named = store.find(end_user, entry.name)
    fitting = [contact for contact in named if not _differs(contact, entry)]
    if len(fitting) > 1 or entry.namesake:
        telling = [c for c in fitting if any(_shares(c, entry, key) for key in _TELLING)]
        same = [c for c in fitting if c.namesake == entry.namesake]
        fitting = telling if len(telling) == 1 else same
    if fitting or named:
        return fitting[0] if fitting else None
    for alias in entry.aliases:
        found = [c for c in store.find(end_user, alias) if not _differs(c, entry)]
        if len(found) == 1:
            return found[0]
    return _like(end_user, entry)


def _like(end_user: EndUser, entry: Entry) -> Contact | None:
    telling = [
        key
        for attribute in _TELLING
        for value in entry.attributes.get(attribute, ())
        for key in attribute_index.keys_for(attribute, value)
    ]
    if not telling:
        return None
    holders = ContactKey.objects.of(end_user).filter(key__in=telling).values("contact")
    person = Person(UUID(int=0), entry.name, entry.aliases)
    wanted = {key.key for key in store.keys_of(person) if key.how in ("name", "alias")}
    alike = [
        contact
        for contact in Contact.objects.of(end_user).standing().filter(pk__in=holders).order_by("pk")
        if wanted & {k.key for k in store.keys_of(contact.person) if k.how in ("name", "alias")}
        or _contained(entry, contact)
    ]
    return alike[0] if len(alike) == 1 else None


def _contained(entry: Entry, contact: Contact) -> bool:
    """Whether one name holds another, as 王小红 does 小红."""
    ours = [names.name_key(name) for name in (entry.name, *entry.aliases)]
    theirs = [names.name_key(name) for name in (contact.name, *contact.aliases)]
    return any(
        min(len(a), len(b)) > 1 and (a.endswith(b) or b.endswith(a)) for a in ours for b in theirs
    )


def _held(contact: Contact, key: str) -> list[str]:
    return [entry["value"] for entry in contact.attributes.get(key, [])]


def _shares(contact: Contact, entry: Entry, key: str) -> bool:
    given = entry.attributes.get(key, ())
    return any(attribute_index.agree(key, a, b) for a in given for b in _held(contact, key))


def _differs(contact: Contact, entry: Entry) -> bool:
    """Whether both have a birthday, and not the same."""
    both = contact.attributes.get("birthday") and entry.attributes.get("birthday")
    return bool(both) and not _shares(contact, entry, "birthday")


def _values(entry: Entry) -> dict[str, Any]:
    values: dict[str, Any] = {key: list(given) for key, given in entry.attributes.items()}
    found: dict[str, Any] = {"attributes": values} if values else {}
    if entry.relationship:
        found["relationship"] = entry.relationship[:200]
    if entry.gender:
        found["gender"] = entry.gender
    return found


def _missing(contact: Contact, entry: Entry) -> dict[str, Any]:
    """What an entry says that isn't known yet. What is known of a person has come later than
    an address book, so a single value stays."""
    values: dict[str, Any] = {}
    aliases = Contact(name_key=contact.name_key, aliases=list(contact.aliases))
    if store.add_aliases(aliases, [entry.name, *entry.aliases]):
        values["aliases"] = aliases.aliases
    attributes = {}
    for key, given in entry.attributes.items():
        held = _held(contact, key)
        new = [v for v in given if not any(attribute_index.agree(key, v, h) == 1.0 for h in held)]
        if new and not (held and is_single(key)):
            attributes[key] = [*held, *new]
    if attributes:
        values["attributes"] = attributes
    for column in ("relationship", "gender"):
        if getattr(entry, column) and not getattr(contact, column):
            values[column] = getattr(entry, column)
    return values


def _word(kind: str, language: str) -> str:
    return RELATIONS.get(kind, kind) if language == "zh" else kind


def entries(end_user: EndUser) -> list[Entry]:
    """All standing contacts as entries of an address book, without their notes."""
    kinds = {word: kind for kind, word in reversed([*RELATIONS.items()])}
    related: dict[UUID, list[Related]] = {}
    stated = Relation.objects.of(end_user).select_related("subject").order_by("id")
    for relation in stated.defer("subject__memory_ids", "subject__embedding"):
        kind = kinds.get(relation.kind, relation.kind)
        related.setdefault(relation.object_id, []).append(Related(relation.subject.name, kind))
    contacts = Contact.objects.of(end_user).standing().light().order_by("name_key", "namesake")
    return [
        Entry(
            number, contact.name, tuple(contact.aliases),
            {key: tuple(_held(contact, key)) for key in contact.attributes},
            contact.relationship, contact.gender, tuple(related.get(contact.id, ())), (),
            contact.namesake,
        )
        for number, contact in enumerate(contacts, 1)
    ]  # fmt: skip
