"""Links memories to people they name but were never linked to, so that the text fallback
of retrieval is needed ever less."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from uuid import UUID

from accounts.cells import atomic
from accounts.models import EndUser
from contacts import store
from contacts.models import Contact
from memories.context.linked import unlinked_naming
from memories.models import Link
from memories.pipeline import sync_contacts
from understanding.people.mentions import candidate_keys, entries_of, find_mentions, role_conflicts
from understanding.roles import kinship
from understanding.statements.own_words import in_first_person
from understanding.types import Entry, Mention, Person

# A machine's later guess is less sure than what extraction said at the time.
CONFIDENCE = 0.7
# How sure a mention must be, and how much surer than of anybody else at its place.
MIN_MENTION, OVER_OTHERS = 0.55, 1.4
CHUNK = 500
_NAMING = ("name", "alias")


def link_contact(contact_id: UUID) -> int:
    """Links a contact to the memories that name it; returns how many links are new.

    A rejected link stays rejected, and a doubtful mention makes none: one that may mean another
    contact as well, or only others to whom the memory is linked already.
    """
    contact = Contact.objects.filter(pk=contact_id).standing().light().first()
    if contact is None:
        return 0
    naming = unlinked_naming(contact.end_user_id, contact.person)
    texts = naming.values_list("id", "content").order_by("id")[:CHUNK]
    naming_memories = dict(_naming(contact.person, texts, _alike(contact)))
    if not naming_memories:
        return 0
    with atomic():
        end_user = EndUser.objects.lock(contact.end_user_id)
        current = Contact.objects.filter(pk=contact_id).standing().light().first()
        if end_user is None or current is None:
            return 0
        about = Link.objects.of(end_user).people_by_memory(naming_memories)
        pairs = [
            (memory, current, CONFIDENCE)
            for memory, places in naming_memories.items()
            if any(others.isdisjoint(about[memory]) for others in places)
        ]
        made = sync_contacts.link(end_user, pairs, Link.MadeBy.BACKFILL)
        if made:
            store.save(current, [])
    return made


def _alike(contact: Contact) -> list[Person]:
    """The other contacts who are found by a name that finds this one."""
    keys = [key.key for key in store.keys_of(contact.person) if key.how in _NAMING]
    sharing = Contact.objects.of(contact.end_user_id).standing().light()
    sharing = sharing.filter(keys__key__in=keys, keys__how__in=_NAMING).exclude(pk=contact.pk)
    return [other.person for other in sharing.order_by("id").distinct()]


def _naming(
    person: Person, texts: Iterable[tuple[UUID, str]], others: Collection[Person]
) -> Iterator[tuple[UUID, list[frozenset[UUID]]]]:
    """The memories that clearly mean ``person``, weighed beside all who share a name with it, and
    for each place that does, who else answers to it."""
    index: Mapping[str, list[Entry]] = defaultdict(list)
    for entry in entries_of([person, *others]):
        index[entry.key.key].append(entry)
    for memory, content in texts:
        text = in_first_person(content)
        entries = [entry for key in sorted(candidate_keys(text)) for entry in index.get(key, ())]
        mentions = find_mentions(text, entries)
        places = [
            _answering(text, mention, entries)
            for mention in mentions
            if mention.person.id == person.id and _is_clear(text, mention, mentions)
        ]
        if places:
            yield memory, places


def _is_clear(text: str, mention: Mention, found: Iterable[Mention]) -> bool:
    named = mention.how in _NAMING or (mention.how == "kinship" and kinship(mention.person.name))
    rivals = [one for one in found if one.person.id != mention.person.id and _meet(one, mention)]
    rival = max((one.confidence for one in rivals), default=0.0)
    sure = mention.confidence >= max(MIN_MENTION, OVER_OTHERS * rival)
    return bool(named) and sure and not role_conflicts(text, mention)


def _answering(text: str, mention: Mention, entries: Iterable[Entry]) -> frozenset[UUID]:
    """Who else would be meant at the place of ``mention`` if there were nobody but them."""
    alone: dict[UUID, list[Entry]] = defaultdict(list)
    for entry in entries:
        if entry.person.id != mention.person.id:
            alone[entry.person.id].append(entry)
    return frozenset(
        person
        for person, theirs in alone.items()
        for other in find_mentions(text, theirs)
        if _meet(other, mention)
    )


def _meet(one: Mention, other: Mention) -> bool:
    """Whether two mentions have a place of the text in common."""
    return one.start < other.end and other.start < one.end
