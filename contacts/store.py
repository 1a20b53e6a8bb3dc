"""The only writer of who a contact is: create, find again, rename, describe, index.

Callers hold the end user's lock (``EndUser.objects.lock``) inside a transaction.
"""

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
MAX_LENGTH = 200  # code points, as many as the columns hold
# The columns that lookup keys follow from.
_INDEXED = {
    "name", "aliases", "relationship", "gender", "attributes", "references", "merged_into",
}  # fmt: skip


class InvalidContact(CodedError):
    """What was given can't be a contact; the message says why."""


def clean_name(name: str) -> str:
    """``name`` as it is stored. Raises InvalidContact when nothing of it can be looked up."""
    cleaned = _short(name)
    key = names.name_key(cleaned)
    if not key:
        raise InvalidContact(Reason("name_without_letters"))
    if len(key) > MAX_LENGTH:
        raise InvalidContact(Reason("name_too_long"))
    return cleaned


def _short(name: str) -> str:
    """``name`` on one line, nothing of it invisible, with no more graphemes or code points than
    a name has."""
    line = clean(name, MAX_NAME)
    graphemes = MAX_NAME
    while len(line) > MAX_LENGTH:
        graphemes -= 10
        line = truncate(line, graphemes) if graphemes > 0 else line[:MAX_LENGTH]
    return line


def find(end_user: EndUser, name: str, others: Collection[UUID] = ()) -> list[Contact]:
    """The standing contacts that bear this name, or else this alias; of the ``others``, who are
    known to be other people, nobody is meant by an alias."""
    key = names.name_key(name)
    standing = Contact.objects.of(end_user).standing()
    named = list(standing.filter(name_key=key).order_by("namesake"))
    if named:
        return named
    bearers = standing.filter(keys__key=key, keys__how="alias", aliases__contains=[name])
    return [one for one in bearers if one.pk not in others]


class Described(Protocol):
    """Somebody as a text or file tells of them; ``contact_id`` where it is a known contact, a
    ``namesake`` is another than the known one of this name."""

    @property
    def name(self) -> str: ...
    @property
    def relationship(self) -> str: ...
    @property
    def contact_id(self) -> UUID | None: ...
    @property
    def namesake(self) -> bool: ...


def named(end_user: EndUser, person: Described, others: Collection[UUID] = ()) -> Contact | None:
    """The ``survivor`` of the person's ``contact_id``, else the one contact that bears their name; where
    a ``namesake`` of the known one is meant, who of its bearers that is by the relationship. None
    when it is nobody, or anybody, of them; ``others`` as for ``find``."""
    if person.contact_id and (contact := survivor(end_user, person.contact_id)):
        return contact
    bearers = find(end_user, person.name, others)
    if not person.namesake:
        return bearers[0] if len(bearers) == 1 else None
    relationships = [each.relationship for each in bearers]
    place = namesakes.meant(relationships, person.relationship, another=True)
    return bearers[place] if place is not None else None


def survivor(end_user: EndUser, contact_id: UUID) -> Contact | None:
    """The contact with this id, or the one that it was merged into; None if there is none."""
    contact, met = end_user.contacts.filter(pk=contact_id).first(), set()
    while contact is not None and contact.merged_into_id:
        met.add(contact.pk)
        further = end_user.contacts.filter(pk=contact.merged_into_id).exclude(pk__in=met)
        contact = further.first()
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
    """The contact of this name and whether it is new. ``namesake`` asks for another person
    of the same name."""
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
    """Stores new contacts of whom nothing is known but what they hold, with their keys and
    cards: three statements, however many. Those at ``namesakes`` (places in the list) may bear
    a name that is taken.

    Nothing is stored where names are taken: returns the places of these with the contact that
    bears the name, None where another of the list does."""
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
            [(contact.id, *key) for contact in contacts for key in sorted(_stored_keys(contact))],
        )
    return taken


def next_namesake(end_user: EndUser, key: str) -> int:
    """The next free number among those of this name."""
    taken = end_user.contacts.standing().filter(name_key=key)
    return max(taken.values_list("namesake", flat=True), default=-1) + 1


def add_aliases(contact: Contact, aliases: Iterable[str]) -> bool:
    """Adds what is new to ``contact.aliases`` (unsaved); True when something was."""
    known = {contact.name_key, *map(names.name_key, contact.aliases)}
    before = len(contact.aliases)
    for alias in aliases:
        text = _short(alias)
        key = names.name_key(text)
        if key and key not in known:
            known.add(key)
            contact.aliases.append(text)
    return len(contact.aliases) != before


def _stored_keys(contact: Contact) -> set[tuple[str, str, str]]:
    return {(k.key, k.how, k.text[:200]) for k in all_keys_of(contact)}


def index(contact: Contact) -> None:
    """Makes the lookup keys of a contact follow from its names and attributes; a merged one
    has none."""
    missing = _stored_keys(contact)
    held = {(k.key, k.how, k.text): k.pk for k in contact.keys.all()}
    contact.keys.filter(pk__in=[held[k] for k in held.keys() - missing]).delete()
    _add_keys(contact.end_user_id, [(contact.id, *key) for key in sorted(missing - held.keys())])


def _add_keys(end_user_id: int, keys: Sequence[tuple[UUID, str, str, str]]) -> None:
    """One statement: a contact has some thirty keys, of which objects would take longer to
    make than rows to write."""
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
    """The lookup keys of a person that fit the index."""
    return tuple(key for key in names.lookup_keys(person) if 0 < len(key.key) <= 250)


def all_keys_of(contact: Contact) -> tuple[names.NameKey, ...]:
    """Every key that a contact is found by: its names', those of what is known of it, and the
    user's own phrases."""
    if contact.merged_into_id:
        return ()
    return (
        *keys_of(contact.person),
        *key_index.keys_of(contact.person),
        *attribute_index.keys_of(contact.attributes),
        *references.keys_of(entry["text"] for entry in contact.references),
    )


def save(contact: Contact, fields: Sequence[str]) -> None:
    """Writes ``fields`` of a contact, then what follows from them: keys and card."""
    if "name" in fields:
        contact.name = clean_name(contact.name)
        contact.name_key = names.name_key(contact.name)
        fields = [*fields, "name_key"]
    contact.card = str(card_of(contact, contact.end_user.language))
    contact.coming = coming(contact)
    # The order among others follows from a name that an undo has put back as well.
    contact.save(update_fields={*fields, "card", "coming", "sort_key", "updated_at"})
    if _INDEXED & set(fields):
        index(contact)
    if "name" in fields:
        render_around(contact.end_user, [contact.id])


def render_around(end_user: EndUser, contact_ids: Iterable[UUID]) -> None:
    """Renders the cards of those who are related to these contacts, which name them."""
    ids = set(contact_ids)
    related = Relation.objects.of(end_user).among(ids).values_list("subject", "object")
    others = {pk for pair in related for pk in pair} - ids
    for contact in end_user.contacts.standing().light().filter(pk__in=others):
        save(contact, [])


def card_of(contact: Contact, language: str) -> cards.Card:
    """The card of a contact in ``language``, with the newest notes that its profile does not
    speak for yet; where these come from is a setting."""
    notes_of = import_string(settings.MIO_CARD_NOTES)
    related = relations.on_card(contact, language)
    return cards.render(contact, language, related, notes_of(contact))


def coming(
    contact: Contact, plans: Sequence[tuple[date, date | None, str]] | None = None
) -> list[dict[str, Any]]:
    """What ``Contact.coming`` holds: the next ``plans`` with a person, which else come from where a
    setting says, and the important dates."""
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
    """``{"location": "深圳", "interests": ["徒步", "摄影"]}``: a value, or a list of several."""
    flat = {key: [v["value"] for v in values] for key, values in contact.attributes.items()}
    return {key: values[0] if len(values) == 1 else values for key, values in flat.items()}
