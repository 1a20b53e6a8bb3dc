"""Names that are not people: a street or a brand that was taken for a person."""

from dataclasses import replace
from uuid import UUID

from accounts.cells import atomic
from accounts.changes import recording
from accounts.models import Change, EndUser
from contacts import merge, store
from memories.corrections import derived, forgotten_names
from memories.corrections.edit_memories import locked, restore_superseded
from memories.corrections.remove_contacts import remove_contacts
from memories.models import Memory
from memories.types import ExtractedPerson, Extraction
from understanding.names import name_key
from understanding.same_person.name_types import is_role


@atomic()
def not_a_person(end_user: EndUser, contact_id: UUID, *, actor: str) -> Change:
    """Deletes a contact that is no person, and stores its names so that no text creates a contact
    of them. Memories stay, without facts about it. Raises InvalidMerge and InvalidCorrection."""
    end_user = locked(end_user)
    contact = merge.get_unmerged(end_user, contact_id)
    entries = [contact, *end_user.contacts.all_merged_into([contact.pk])]
    ids = [one.pk for one in entries]
    owners = {str(pk) for pk in ids}
    names = forgotten_names.unshared_names(end_user, forgotten_names.names_of(entries), ids).all
    keys = {name_key(name) for name in names if not is_role(name)} - {""}
    linked = Memory.objects.of(end_user).facts().filter(links__contact__in=ids)
    memory_ids = list(linked.values_list("pk", flat=True).distinct())
    with recording(end_user, "not_a_person", actor, contact.name, [contact.pk]) as (
        recorder,
        change,
    ):
        recorder.watch([end_user])
        end_user.not_people = sorted({*end_user.not_people, *keys})
        end_user.save(update_fields=["not_people"])
        for entry in entries:
            restore_superseded(end_user, memory_ids, recorder, of=entry.pk)
        memories = list(derived.tracked(Memory.objects.of(end_user).filter(pk__in=memory_ids)))
        recorder.watch(memories)
        for memory in memories:
            memory.facts = [fact for fact in memory.facts if fact["person"] not in owners]
            memory.save(update_fields=["facts", "updated_at"])
        remove_contacts(end_user, [contact], recorder, forget_names=False)
        derived.point_at_profiles(end_user, memory_ids, recorder=recorder)
    return change


@atomic()
def may_be_a_person(end_user: EndUser, name: str, *, actor: str) -> Change | None:
    """Removes a name from ``EndUser.not_people``, so that texts may create a contact from it again;
    None if it is not there. Raises InvalidCorrection."""
    end_user = locked(end_user)
    if name not in end_user.not_people:
        return None
    with recording(end_user, "may_be_a_person", actor, name) as (recorder, change):
        recorder.watch([end_user])
        end_user.not_people = [one for one in end_user.not_people if one != name]
        end_user.save(update_fields=["not_people"])
    return change


def without(end_user: EndUser, extraction: Extraction) -> Extraction:
    """Returns an extraction without new people all of whose names are in ``EndUser.not_people``,
    and without facts and relations of them; memories stay."""
    not_people = {*end_user.not_people}

    def is_dropped(person: ExtractedPerson) -> bool:
        keys = {name_key(name) for name in (person.name, *person.aliases)}
        return (
            person.contact_id is None
            and keys <= not_people
            and not store.find(end_user, person.name)
        )

    dropped = {person.ref for person in extraction.people if is_dropped(person)}
    if not dropped:
        return extraction
    return replace(
        extraction,
        people=tuple(one for one in extraction.people if one.ref not in dropped),
        memories=tuple(
            replace(
                memory,
                people=tuple(ref for ref in memory.people if ref not in dropped),
                facts=tuple(fact for fact in memory.facts if fact.person not in dropped),
            )
            for memory in extraction.memories
        ),
        relations=tuple(
            one for one in extraction.relations if dropped.isdisjoint({one.subject, one.object})
        ),
    )
