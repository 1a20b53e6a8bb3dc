"""Upserts the people of an extraction (`sync_contacts()` of Mio v2), links its memories, and
applies its corrections of known people: a better name, a name that was wrong, two who are one."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from accounts.models import EndUser
from accounts.reasons import Reason
from contacts import edit, merge, relations, store, suggestions
from contacts.models import Contact
from memories.corrections import denials, merge_contacts
from memories.corrections.denials import Denials
from memories.models import Link, Memory
from memories.types import Draft, ExtractedPerson, Extraction, SamePerson
from understanding import names
from understanding.roles import kinship

MAX_USER_NAMES = 5
ACTOR = "extractor"


def learn_user_names(end_user: EndUser, introduced: Iterable[str]) -> None:
    """Adds names by which the user introduced themself; at most five are stored."""
    by_key: dict[str, str] = {}
    for name in (*end_user.names, *introduced):
        by_key.setdefault(names.name_key(name), name)
    known = list(by_key.values())[:MAX_USER_NAMES]
    if len(known) > len(end_user.names):
        end_user.names = known
        end_user.save(update_fields=["names"])


def sync_contacts(
    end_user: EndUser,
    people: Iterable[ExtractedPerson],
    mentions: Mapping[str, Sequence[datetime]],
    said_at: datetime,
    denied: Denials = denials.NONE,
    user_names: Iterable[str] = (),
) -> tuple[dict[str, Contact], int]:
    """Finds or creates a contact for each person and adds what was learnt about them, and the names
    by which the user introduced themself. Returns the contacts by ref, and how many are new.

    ``mentions`` are the times at which each ref was mentioned; ``said_at`` is the time for people
    whom no memory names. A person without a contact id gets no contact if several bear the name.
    The caller holds the end user's lock.
    """
    learn_user_names(end_user, user_names)
    contacts: dict[str, Contact] = {}
    created = 0
    for person in sorted(people, key=ExtractedPerson.order):
        times = mentions.get(person.ref) or [said_at]
        others = {contact.id for contact in contacts.values()}
        contact, made = _contact_for(end_user, person, min(times), others)
        if contact is None:
            continue
        created += made
        # Two refs may be one contact: both then share one instance.
        contact = next((c for c in contacts.values() if c.id == contact.id), contact)
        contacts[person.ref] = contact
        fields = _learn(contact, person, denied)
        contact.mention_count += len(times)
        contact.first_mentioned_at = min(contact.first_mentioned_at, *times)
        contact.last_mentioned_at = max(contact.last_mentioned_at, *times)
        store.save(contact, [*fields, "mention_count", "first_mentioned_at", "last_mentioned_at"])
    return contacts, created


def _contact_for(
    end_user: EndUser, person: ExtractedPerson, said_at: datetime, others: Collection[UUID]
) -> tuple[Contact | None, bool]:
    """Returns the contact of a person, created if there is none, and whether it is new; None if the
    name is ambiguous or invalid. ``others`` are contacts that the extraction distinguishes."""
    known = store.find_described(end_user, person, others)
    if known is not None:
        return known, False
    if not person.namesake and store.find(end_user, person.name, others):
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
    """Adds new names, a new relationship and a missing gender; returns the changed fields.

    A real name replaces a role word that served as the name (我的上司, my boss → 王思琪).
    """
    fields = []
    if kinship(contact.name) and not kinship(person.name):
        bearers = store.find(contact.end_user, person.name)
        if all(other.id == contact.id for other in bearers):
            role_name, contact.name = contact.name, person.name
            contact.name_key = names.name_key(contact.name)
            store.add_aliases(contact, [role_name])
            fields += ["name", "aliases"]
    if store.add_aliases(contact, denied.aliases(contact.id, [person.name, *person.aliases])):
        fields.append("aliases")
    if person.relationship and person.relationship != contact.relationship:
        contact.relationship = person.relationship[:200]
        fields.append("relationship")
    if person.gender and not contact.gender:
        contact.gender = person.gender
        fields.append("gender")
    return fields


def connect(
    end_user: EndUser,
    extraction: Extraction,
    contacts: Mapping[str, Contact],
    drafts: Sequence[Draft],
    memory_ids: Mapping[str, UUID],
    denied: Denials = denials.NONE,
) -> None:
    """Records the relations between people, links the stored memories (by the drafts' keys) to them
    and renders their cards again. Renames and merges known people as the user said, each as a
    change of its own, which can be undone. The caller holds the end user's lock."""
    touched = _record_relations(end_user, extraction, contacts, drafts, memory_ids, denied)
    memory_contacts = [
        (memory_ids[draft.key], contacts[ref], draft.extracted.link_confidence.get(ref, 1.0))
        for draft in drafts
        for ref in draft.extracted.people
        if ref in contacts
    ]
    link(end_user, memory_contacts, Link.MadeBy.EXTRACTOR)
    for contact in {
        contact.id: contact for contact in (*touched, *(c for _, c, _ in memory_contacts))
    }.values():
        store.save(contact, [])
    for person in extraction.people:
        if person.ref in contacts and (person.better_name or person.wrong_aliases):
            _rename(end_user, person, contacts[person.ref], denied)
    for same in extraction.same:
        if same.one in contacts and same.other in contacts:
            _merge_or_suggest(end_user, same, contacts[same.one], contacts[same.other])


def _record_relations(
    end_user: EndUser,
    extraction: Extraction,
    contacts: Mapping[str, Contact],
    drafts: Sequence[Draft],
    memory_ids: Mapping[str, UUID],
    denied: Denials,
) -> list[Contact]:
    """Records how people are related, with the memories from the same turns as sources; returns the
    contacts with new relations."""
    touched: list[Contact] = []
    for item in extraction.relations:
        if item.subject not in contacts or item.object not in contacts:
            continue
        subject, other = contacts[item.subject], contacts[item.object]
        sources = [
            memory_ids[draft.key]
            for draft in drafts
            if set(draft.extracted.turn_ids) & set(item.turn_ids)
            and {item.subject, item.object} & set(draft.extracted.people)
        ]
        is_denied = denied.relation(subject.id, item.kind, other.id, item.turn_ids)
        if not is_denied and relations.relate(end_user, subject, item.kind, other, sources):
            touched += [subject, other]
    return touched


def link(
    end_user: EndUser,
    memory_contacts: Iterable[tuple[Memory | UUID, Contact | UUID, float]],
    made_by: str,
) -> int:
    """Links memories to contacts with a confidence in 0..1; returns how many links are new.

    An existing link stays as it is, so one that an operator rejected is never made again. A
    memory that is gone by now, or was merged into another, gets none. Call it inside a
    transaction that holds the end user's lock.
    """
    rows = [
        Link(
            end_user=end_user,
            memory_id=getattr(memory, "id", memory),
            contact_id=getattr(contact, "id", contact),
            confidence=confidence,
            made_by=made_by,
        )
        for memory, contact, confidence in memory_contacts
    ]
    links = {(row.memory_id, row.contact_id): row for row in rows}
    ids = {row.memory_id for row in rows}
    known = Link.objects.of(end_user).filter(memory__in=ids)
    existing = set(known.values_list("memory_id", "contact_id"))
    memories = Memory.objects.of(end_user).filter(merged_into=None, pk__in=ids)
    memory_ids = set(memories.values_list("pk", flat=True))
    fresh = [links[key] for key in links if key[0] in memory_ids and key not in existing]
    Link.objects.bulk_create(fresh, ignore_conflicts=True)
    return len(fresh)


def note_unlinked(end_user_id: int) -> None:
    """Stores whether the user has a memory about people without a link, so that searches over all
    users for such memories read few users."""
    has_unlinked = Memory.objects.unlinked([end_user_id]).exists()
    stale = EndUser.objects.filter(pk=end_user_id, has_unlinked=not has_unlinked)
    stale.update(has_unlinked=has_unlinked)


def _rename(end_user: EndUser, person: ExtractedPerson, contact: Contact, denied: Denials) -> None:
    """Gives the contact its better name, with the old one as alias, and removes wrong aliases."""
    wrong = {names.name_key(alias) for alias in person.wrong_aliases}
    [new_name] = denied.aliases(contact.pk, [person.better_name]) or [""]
    name = new_name or contact.name
    aliases = [contact.name, *contact.aliases] if new_name else contact.aliases
    removed = wrong - {names.name_key(name)}
    remaining = [alias for alias in aliases if names.name_key(alias) not in removed]
    if name == contact.name and remaining == contact.aliases:
        return
    why = Reason("called_better", name=name) if new_name else Reason("not_called_so")
    try:
        edit.edit_contact(
            end_user, contact.pk, {"name": name, "aliases": remaining}, actor=ACTOR, why=why.stored
        )
    except edit.NameTaken:
        return  # the name of somebody else: a person has to decide whose it is


def _merge_or_suggest(end_user: EndUser, same: SamePerson, one: Contact, other: Contact) -> None:
    """Merges the two if the user said so in words; otherwise suggests the merge."""
    pair = (one.pk, other.pk)
    if not same.quote:
        suggestions.suggest_one(end_user, pair)
        return
    survivor, loser = suggestions.survivor_first(end_user, pair)
    why = Reason("said_same", quote=same.quote).stored
    try:
        merge_contacts.merge(end_user, loser, survivor, actor=ACTOR, why=why)
    except merge.InvalidMerge:
        return  # merged already, or separated by a person
