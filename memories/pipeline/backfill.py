"""Links memories to contacts that they name but are not linked to, so that retrieval needs its text
fallback less."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from uuid import UUID

from accounts.cells import atomic
from accounts.models import EndUser
from contacts import store
from contacts.models import Contact
from memories.context.what import unlinked_naming
from memories.models import Link
from memories.pipeline import sync_contacts
from understanding.people.mentions import candidate_keys, entries_of, find_mentions, role_conflicts
from understanding.roles import kinship
from understanding.statements.own_words import in_first_person
from understanding.types import Entry, Mention, Person

# A later guess is less certain than what extraction found at the time.
CONFIDENCE = 0.7
# The least probability of a mention, and its least ratio to that of anybody else at its place.
MIN_MENTION, OVER_OTHERS = 0.55, 1.4
CHUNK = 500
_NAMING = ("name", "alias")


def link_contact(contact_id: UUID) -> int:
    """Links a contact to the memories that name it; returns how many links are new.

    A rejected link stays rejected. A doubtful mention makes no link: one that may refer to another
    contact as well, or that also fits a person to whom the memory is linked already.
    """
    contact = Contact.objects.filter(pk=contact_id).standing().light().first()
    if contact is None:
        return 0
    naming = unlinked_naming(contact.end_user_id, contact.person)
    texts = naming.values_list("id", "content").order_by("id")[:CHUNK]
    # The other contacts who have a name of this one.
    keys = [key.key for key in store.keys_of(contact.person) if key.how in _NAMING]
    sharing = Contact.objects.of(contact.end_user_id).standing().light().exclude(pk=contact.pk)
    sharing = sharing.filter(keys__key__in=keys, keys__how__in=_NAMING).order_by("id").distinct()
    namesakes = [other.person for other in sharing]
    naming_memories = dict(_clear_mentions(contact.person, texts, namesakes))
    if not naming_memories:
        return 0
    with atomic():
        end_user = EndUser.objects.lock(contact.end_user_id)
        current = Contact.objects.filter(pk=contact_id).standing().light().first()
        if end_user is None or current is None:
            return 0
        people_linked = Link.objects.of(end_user).people_by_memory(naming_memories)
        pairs = [
            (memory, current, CONFIDENCE)
            for memory, places in naming_memories.items()
            if any(others.isdisjoint(people_linked[memory]) for others in places)
        ]
        created = sync_contacts.link(end_user, pairs, Link.MadeBy.BACKFILL)
        if created:
            store.save(current, [])
    return created


def _clear_mentions(
    person: Person, texts: Iterable[tuple[UUID, str]], others: Collection[Person]
) -> Iterator[tuple[UUID, list[frozenset[UUID]]]]:
    """Yields the memories with clear mentions of ``person``, weighed against the ``others`` who
    share a name, and for each such mention the ids of the others who would match it."""
    index: Mapping[str, list[Entry]] = defaultdict(list)
    for entry in entries_of([person, *others]):
        index[entry.key.key].append(entry)
    for memory, content in texts:
        text = in_first_person(content)
        entries = [entry for key in sorted(candidate_keys(text)) for entry in index.get(key, ())]
        mentions = find_mentions(text, entries)
        places = [
            _others_matching(text, mention, entries)
            for mention in mentions
            if mention.person.id == person.id and _is_clear(text, mention, mentions)
        ]
        if places:
            yield memory, places


def _is_clear(text: str, mention: Mention, every: Iterable[Mention]) -> bool:
    by_name = mention.how in _NAMING or (mention.how == "kinship" and kinship(mention.person.name))
    rivals = [one for one in every if one.person.id != mention.person.id and _overlap(one, mention)]
    rival = max((one.confidence for one in rivals), default=0.0)
    is_probable = mention.confidence >= max(MIN_MENTION, OVER_OTHERS * rival)
    return bool(by_name) and is_probable and not role_conflicts(text, mention)


def _others_matching(text: str, mention: Mention, entries: Iterable[Entry]) -> frozenset[UUID]:
    """Returns who else would be found at the place of ``mention`` if each were the only person."""
    entries_by_person: dict[UUID, list[Entry]] = defaultdict(list)
    for entry in entries:
        entries_by_person[entry.person.id].append(entry)
    entries_by_person.pop(mention.person.id)
    return frozenset(
        person
        for person, person_entries in entries_by_person.items()
        if any(_overlap(other, mention) for other in find_mentions(text, person_entries))
    )


def _overlap(one: Mention, other: Mention) -> bool:
    """Whether two mentions overlap in the text."""
    return one.start < other.end and other.start < one.end
