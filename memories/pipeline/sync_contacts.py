"""`sync_contacts()` of Mio v2: upsert the people of an extraction and link its memories."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from accounts.models import EndUser
from contacts import relations, store
from contacts.models import Contact
from memories.corrections import denials
from memories.corrections.denials import Denials
from memories.models import Link
from memories.pipeline import linker
from memories.types import Draft, ExtractedPerson, ExtractedRelation
from understanding import names
from understanding.roles import kinship


@dataclass(frozen=True, slots=True)
class Synced:
    """``contacts`` by the extraction's refs; ``created`` counts the new ones."""

    contacts: Mapping[str, Contact]
    created: int


MAX_USER_NAMES = 5


def learn_user_names(end_user: EndUser, found: Iterable[str]) -> None:
    """Adds names by which the user introduced themself; the first five are kept."""
    known = {names.name_key(name): name for name in end_user.names}
    for name in found:
        known.setdefault(names.name_key(name), name)
    kept = list(known.values())[:MAX_USER_NAMES]
    if len(kept) > len(end_user.names):
        end_user.names = kept
        end_user.save(update_fields=["names"])


def sync_contacts(
    end_user: EndUser,
    people: Iterable[ExtractedPerson],
    mentions: Mapping[str, Sequence[datetime]],
    said_at: datetime,
    denied: Denials = denials.NONE,
) -> Synced:
    """Finds or makes a contact for each person and adds what was learnt of them.

    ``mentions`` are the times at which each ref was spoken of; ``said_at`` is the time for
    one that no memory names. A name that several contacts bear is nobody's without a contact id. The caller
    holds the end user's lock.
    """
    contacts: dict[str, Contact] = {}
    created = 0
    for person in sorted(people, key=ExtractedPerson.order):
        times = mentions.get(person.ref) or [said_at]
        others = {contact.id for contact in contacts.values()}
        contact, made = _contact_for(end_user, person, min(times), others)
        if contact is None:
            continue
        created += made
        # Two refs may turn out to be one contact: both then share one instance.
        contact = next((c for c in contacts.values() if c.id == contact.id), contact)
        contacts[person.ref] = contact
        fields = _learn(contact, person, denied)
        contact.mention_count += len(times)
        contact.first_mentioned_at = min(contact.first_mentioned_at, *times)
        contact.last_mentioned_at = max(contact.last_mentioned_at, *times)
        store.save(contact, [*fields, "mention_count", "first_mentioned_at", "last_mentioned_at"])
    return Synced(contacts, created)


def _contact_for(
    end_user: EndUser, person: ExtractedPerson, said_at: datetime, others: Collection[UUID]
) -> tuple[Contact | None, bool]:
    """``others`` are the contacts of people from whom the extraction keeps this one apart."""
    if person.contact_id is not None:
        known = store.survivor(end_user, person.contact_id)
        if known is not None:
            return known, False
    found = store.named(
        end_user, person.name, person.relationship, namesake=person.namesake, others=others
    )
    if found is not None:
        return found, False
    bearers = store.without_alias(store.find(end_user, person.name), person.name, others)
    if not person.namesake and bearers:
        return None, False
    try:
        return store.create(
            end_user,
            person.name,
            relationship=person.relationship,
            gender=person.gender,
            mentioned_at=said_at,
            namesake=person.namesake,
        )
    except store.InvalidContact:
        return None, False


def _learn(contact: Contact, person: ExtractedPerson, denied: Denials) -> list[str]:
    """Adds names, relationship and gender that were not known; returns the changed fields.

    A real name takes the place of the role word that stood in for it (我的上司 → 王思琪).
    """
    fields = []
    if kinship(contact.name) and not kinship(person.name):
        taken = store.find(contact.end_user, person.name)
        if not [other for other in taken if other.id != contact.id]:
            stood_in, contact.name = contact.name, person.name
            contact.name_key = names.name_key(contact.name)
            store.add_aliases(contact, [stood_in])
            fields += ["name", "aliases"]
    aliases = denied.aliases(contact.id, [person.name, *person.aliases])
    if store.add_aliases(contact, aliases):
        fields.append("aliases")
    if person.relationship and person.relationship != contact.relationship:
        contact.relationship = person.relationship[:200]
        fields.append("relationship")
    if person.gender and not contact.gender:
        contact.gender = person.gender
        fields.append("gender")
    return fields


def relate(
    end_user: EndUser,
    found: Iterable[ExtractedRelation],
    contacts: Mapping[str, Contact],
    drafts: Sequence[Draft],
    memory_ids: Mapping[str, UUID],
    denied: Denials = denials.NONE,
) -> None:
    """Records who is whose what, resting on the memories that come from the same turns; the
    cards of both say it."""
    touched: dict[UUID, Contact] = {}
    for item in found:
        if item.subject in contacts and item.object in contacts:
            sources = [
                memory_ids[draft.key]
                for draft in drafts
                if set(draft.extracted.turn_ids) & set(item.turn_ids)
                and {item.subject, item.object} & set(draft.extracted.people)
            ]
            subject, other = contacts[item.subject], contacts[item.object]
            if denied.relation(subject.id, item.kind, other.id, item.turn_ids):
                continue
            if relations.relate(end_user, subject, item.kind, other, sources):
                touched |= {subject.id: subject, other.id: other}
    for contact in touched.values():
        store.save(contact, [])


def link_drafts(
    end_user: EndUser,
    drafts: Iterable[Draft],
    memory_ids: Mapping[str, UUID],
    contacts: Mapping[str, Contact],
) -> int:
    """Links every draft's memory to the people it is about, and renders their cards anew.

    ``memory_ids`` maps a draft's key to the row that says it; returns the new links.
    """
    wanted = [
        (memory_ids[draft.key], contacts[ref], draft.extracted.link_confidence.get(ref, 1.0))
        for draft in drafts
        for ref in draft.extracted.people
        if ref in contacts
    ]
    made = linker.link(end_user, wanted, Link.MadeBy.EXTRACTOR)
    for contact in {contact.id: contact for _, contact, _ in wanted}.values():
        store.save(contact, [])
    return made
