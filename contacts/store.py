"""Creates, finds again, renames, describes and indexes contacts: the only module that writes these.

Callers hold the end user's lock (``EndUser.objects.lock``) inside a transaction."""

from collections.abc import Collection, Iterable, Sequence
from datetime import date, datetime
from typing import Any, Protocol
from uuid import UUID

from django.conf import settings
from django.utils.module_loading import import_string

from accounts.cells import connection
from accounts.models import EndUser
from accounts.reasons import CodedError, Reason
from contacts import cards, key_index, relations
from contacts.models import Contact, Relation
from understanding import attribute_index, names
from understanding.dates import important_dates
from understanding.people import references
from understanding.same_person import namesakes
from understanding.text import clean, truncate
from understanding.types import Person

MAX_NAME = 100  # graphemes
MAX_LENGTH = 200  # code points, as many as the columns can store
# The columns that lookup keys are derived from.
_INDEXED = {
    "name", "aliases", "relationship", "gender", "attributes", "references", "merged_into",
}  # fmt: skip


class InvalidContact(CodedError):
    """A contact can't have the values given; the message says why."""


def clean_name(name: str) -> str:
    """Returns ``name`` as it is stored. Raises InvalidContact if it has no key, or is too long."""
    cleaned = _cleaned(name)
    key = names.name_key(cleaned)
    if not key:
        raise InvalidContact(Reason("name_without_letters"))
    if len(key) > MAX_LENGTH:
        raise InvalidContact(Reason("name_too_long"))
    return cleaned


def _cleaned(name: str) -> str:
    """``name`` on one line, without invisible characters, as long as a name may be."""
    line = clean(name, MAX_NAME)
    graphemes = MAX_NAME
    while len(line) > MAX_LENGTH:
        graphemes -= 10
        line = truncate(line, graphemes) if graphemes > 0 else line[:MAX_LENGTH]
    return line


def find(end_user: EndUser, name: str, others: Collection[UUID] = ()) -> list[Contact]:
    """Returns the standing contacts with this name, or else with this alias; ``others`` are known
    to be other people and are not found by an alias."""
    key = names.name_key(name)
    standing = Contact.objects.of(end_user).standing()
    by_name = list(standing.filter(name_key=key).order_by("namesake"))
    if by_name:
        return by_name
    bearers = standing.filter(keys__key=key, keys__how="alias", aliases__contains=[name])
    return [contact for contact in bearers if contact.pk not in others]


class Described(Protocol):
    """A person as a text or file describes them; ``contact_id`` if they are a known contact,
    ``namesake`` if they are another than the known one of this name."""

    @property
    def name(self) -> str: ...
    @property
    def relationship(self) -> str: ...
    @property
    def contact_id(self) -> UUID | None: ...
    @property
    def namesake(self) -> bool: ...


def find_described(
    end_user: EndUser, person: Described, others: Collection[UUID] = ()
) -> Contact | None:
    """Returns the ``survivor`` of the person's ``contact_id``, else the one contact with their
    name; for a ``namesake`` of the known one the bearer of the name that fits by the relationship.
    None if nobody or several fit; ``others`` as for ``find``."""
    if person.contact_id and (contact := survivor(end_user, person.contact_id)):
        return contact
    bearers = find(end_user, person.name, others)
    if not person.namesake:
        return bearers[0] if len(bearers) == 1 else None
    relationships = [bearer.relationship for bearer in bearers]
    place = namesakes.index_of_bearer(relationships, person.relationship, another=True)
    return bearers[place] if place is not None else None


def survivor(end_user: EndUser, contact_id: UUID) -> Contact | None:
    """Returns the contact with this id, or the one that it was merged into, or None."""
    contact, visited = end_user.contacts.filter(pk=contact_id).first(), set()
    while contact is not None and contact.merged_into_id:
        visited.add(contact.pk)
        next_one = end_user.contacts.filter(pk=contact.merged_into_id).exclude(pk__in=visited)
        contact = next_one.first()
    return contact


def create(
    end_user: EndUser,
    name: str,
    *,
    aliases: Iterable[str] = (),
    relationship: str = "",
    gender: str = "",
    mentioned_at: datetime | None = None,
    namesake: bool = False,
) -> tuple[Contact, bool]:
    """Returns the contact of this name, created unless it exists, and whether it is new.
    ``namesake`` always creates one."""
    name = clean_name(name)
    when = {"first_mentioned_at": mentioned_at, "last_mentioned_at": mentioned_at}
    contact = Contact(
        end_user=end_user,
        name=name,
        name_key=names.name_key(name),
        relationship=relationship[:200],
        gender=gender,
        mention_count=0,
        **(when if mentioned_at else {}),
    )
    add_aliases(contact, aliases)
    if taken := create_all(end_user, [contact], {0} if namesake else ()):
        return end_user.contacts.get(pk=taken[0] or contact.pk), False
    return contact, True


def create_all(
    end_user: EndUser, contacts: Sequence[Contact], namesakes: Collection[int] = ()
) -> dict[int, UUID | None]:
    """Stores new contacts, about whom nothing else is known, with their keys and cards, in three
    statements however many. Those at ``namesakes`` (places in the list) may have a name that is
    taken.

    Nothing is stored if names are taken: returns the places of these with the contact that has the
    name, None if it is another of the list."""
    keys = {contact.name_key for contact in contacts}
    standing = Contact.objects.of(end_user).standing().filter(name_key__in=keys)
    bearers: dict[str, dict[int, UUID | None]] = {}
    for key, number, pk in standing.values_list("name_key", "namesake", "id"):
        bearers.setdefault(key, {})[number] = pk
    taken = {}
    for place, contact in enumerate(contacts):
        same = bearers.setdefault(contact.name_key, {})
        contact.namesake = max(same, default=-1) + 1 if place in namesakes else 0
        if contact.namesake in same:
            taken[place] = same[contact.namesake]
            continue
        same[contact.namesake] = None
        contact.card = str(cards.render(contact, end_user.language))
        contact.coming = coming(contact, [])
    if not taken:
        Contact.objects.bulk_create(contacts)
        _add_keys(
            end_user.pk,
            [(contact.id, *key) for contact in contacts for key in sorted(_key_rows(contact))],
        )
    return taken


def next_namesake(end_user: EndUser, key: str) -> int:
    """Returns the next free number among the contacts of this name."""
    taken = end_user.contacts.standing().filter(name_key=key)
    return max(taken.values_list("namesake", flat=True), default=-1) + 1


def add_aliases(contact: Contact, aliases: Iterable[str]) -> bool:
    """Adds new ``aliases`` to ``contact.aliases`` (unsaved); True if there were any."""
    known = {contact.name_key, *map(names.name_key, contact.aliases)}
    before = len(contact.aliases)
    for alias in aliases:
        text = _cleaned(alias)
        key = names.name_key(text)
        if key and key not in known:
            known.add(key)
            contact.aliases.append(text)
    return len(contact.aliases) != before


def _key_rows(contact: Contact) -> set[tuple[str, str, str]]:
    """The lookup keys of a contact as they are stored: key, how, text."""
    return {(k.key, k.how, k.text[:200]) for k in all_keys_of(contact)}


def index(contact: Contact) -> None:
    """Updates the stored lookup keys of a contact, or deletes them if it was merged."""
    keys = _key_rows(contact)
    pk_by_key = {(k.key, k.how, k.text): k.pk for k in contact.keys.all()}
    contact.keys.filter(pk__in=[pk_by_key[k] for k in pk_by_key.keys() - keys]).delete()
    _add_keys(contact.end_user_id, [(contact.id, *key) for key in sorted(keys - pk_by_key.keys())])


def _add_keys(end_user_id: int, keys: Sequence[tuple[UUID, str, str, str]]) -> None:
    """Adds keys in one statement: objects for the thirty keys of a contact would take longer."""
    if not keys:
        return
    contact_ids, *columns = zip(*keys, strict=True)
    with connection.cursor() as cursor:
        cursor.execute(
            """INSERT INTO contacts_contactkey (end_user_id, contact_id, key, how, text)
               SELECT %s, * FROM unnest(%s::uuid[], %s::text[], %s::text[], %s::text[])
               ON CONFLICT DO NOTHING""",
            [end_user_id, list(contact_ids), *map(list, columns)],
        )


def keys_of(person: Person) -> tuple[names.NameKey, ...]:
    """Returns the lookup keys of a person that fit the index."""
    return tuple(key for key in names.lookup_keys(person) if 0 < len(key.key) <= 250)


def all_keys_of(contact: Contact) -> tuple[names.NameKey, ...]:
    """Returns every key that finds a contact: of names, attributes, and the user's own phrases."""
    if contact.merged_into_id:
        return ()
    return (
        *keys_of(contact.person),
        *key_index.keys_of(contact.person),
        *attribute_index.keys_of(contact.attributes),
        *references.keys_of(entry["text"] for entry in contact.references),
    )


def save(contact: Contact, fields: Sequence[str]) -> None:
    """Saves ``fields`` of a contact, and what is derived from them: keys and card."""
    if "name" in fields:
        contact.name = clean_name(contact.name)
        contact.name_key = names.name_key(contact.name)
        fields = [*fields, "name_key"]
    contact.card = str(card_of(contact, contact.end_user.language))
    contact.coming = coming(contact)
    # The sort key is saved as well: an undo may have restored the name.
    contact.save(update_fields={*fields, "card", "coming", "sort_key", "updated_at"})
    if _INDEXED & set(fields):
        index(contact)
    if "name" in fields:
        render_around(contact.end_user, [contact.id])


def render_around(end_user: EndUser, contact_ids: Iterable[UUID]) -> None:
    """Renders and saves the cards of contacts related to these, which name them."""
    ids = set(contact_ids)
    related = Relation.objects.of(end_user).among(ids).values_list("subject", "object")
    others = {pk for pair in related for pk in pair} - ids
    for contact in end_user.contacts.standing().light().filter(pk__in=others):
        save(contact, [])


def card_of(contact: Contact, language: str) -> cards.Card:
    """Renders the card of a contact in ``language``, with the newest notes that are not in its
    profile yet; a setting names the function that reads them."""
    notes_of = import_string(settings.MIO_CARD_NOTES)
    related = relations.on_card(contact, language)
    return cards.render(contact, language, related, notes_of(contact))


def coming(
    contact: Contact, plans: Sequence[tuple[date, date | None, str]] | None = None
) -> list[dict[str, Any]]:
    """Returns ``Contact.coming``: the next ``plans`` with a person, read by the function that a
    setting names if None, and the important dates."""
    if plans is None:
        plans = import_string(settings.MIO_CARD_PLANS)(contact)
    dates = important_dates.of_attributes(contact.attributes)
    return [
        *(
            {
                "on": on.isoformat(),
                **({"until": until.isoformat()} if until else {}),
                "text": truncate(text, cards.MAX_VALUE),
            }
            for on, until, text in plans
        ),
        *({"kind": kind, "value": value} for kind, value, _ in dates),
    ]


def flat_attributes(contact: Contact) -> dict[str, Any]:
    """Returns ``{"location": "深圳", "interests": ["徒步", "摄影"]}``: a list only of several values."""
    flat = {key: [v["value"] for v in values] for key, values in contact.attributes.items()}
    return {key: values[0] if len(values) == 1 else values for key, values in flat.items()}
