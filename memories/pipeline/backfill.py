"""Links memories to people they name but were never linked to, so that the text fallback
of retrieval is needed ever less."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from accounts.cells import atomic
from accounts.models import EndUser
from contacts import store
from contacts.models import Contact
from memories.context.linked import unlinked_naming
from memories.models import Link
from memories.pipeline import linker
from understanding.people.mentions import candidate_keys, entries_of, find_mentions, is_gainsaid
from understanding.roles import kinship
from understanding.statements.own_words import in_first_person
from understanding.types import Entry, Mention, Person

# A machine's later guess is less sure than what extraction said at the time.
CONFIDENCE = 0.7
# How sure a mention must be, and how much surer than of anybody else at its place.
MIN_MENTION, OVER_OTHERS = 0.55, 1.4
CHUNK = 500
_NAMING = ("name", "alias")


@dataclass(frozen=True, slots=True)
class _Naming:
    """A memory that names the contact: for each place that does, who else answers to it."""

    memory: UUID
    others: tuple[frozenset[UUID], ...]

    def is_free(self, linked: Collection[UUID]) -> bool:
        """Whether some place is not of one of those whom the memory is known to be about."""
        return any(others.isdisjoint(linked) for others in self.others)


def link_contact(contact_id: UUID) -> int:
    """Links a contact to the memories that name it; returns how many links are new.

    A rejected link stays rejected, and a doubtful mention makes none: neither one that
    another contact may be meant by as well, nor one of somebody who shares the name and has
    the memory already.
    """
    contact = Contact.objects.filter(pk=contact_id).standing().light().first()
    if contact is None:
        return 0
    naming = unlinked_naming(contact.end_user_id, contact.person)
    texts = naming.values_list("id", "content").order_by("id")[:CHUNK]
    found = list(_naming(contact.person, list(texts), _alike(contact)))
    if not found:
        return 0
    with atomic():
        end_user = EndUser.objects.lock(contact.end_user_id)
        current = Contact.objects.filter(pk=contact_id).standing().light().first()
        if end_user is None or current is None:
            return 0
        about = Link.objects.of(end_user).people_by_memory([naming.memory for naming in found])
        free = [naming.memory for naming in found if naming.is_free(about[naming.memory])]
        made = linker.link(
            end_user, [(memory, current, CONFIDENCE) for memory in free], Link.MadeBy.BACKFILL
        )
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
) -> Iterable[_Naming]:
    """The texts that clearly mean ``person``, weighed beside all who share a name with it."""
    index: Mapping[str, list[Entry]] = defaultdict(list)
    for entry in entries_of([person, *others]):
        index[entry.key.key].append(entry)
    for memory, content in texts:
        text = in_first_person(content)
        entries = [entry for key in sorted(candidate_keys(text)) for entry in index.get(key, ())]
        found = find_mentions(text, entries)
        clear = [
            mention
            for mention in found
            if mention.person.id == person.id and _is_clear(text, mention, found)
        ]
        if clear:
            yield _Naming(memory, tuple(_answering(text, mention, entries) for mention in clear))


def _is_clear(text: str, mention: Mention, found: Iterable[Mention]) -> bool:
    named = mention.how in _NAMING or (mention.how == "kinship" and kinship(mention.person.name))
    rival = max(
        (
            other.confidence
            for other in found
            if other.person.id != mention.person.id
            and other.start < mention.end
            and mention.start < other.end
        ),
        default=0.0,
    )
    sure = mention.confidence >= max(MIN_MENTION, OVER_OTHERS * rival)
    return bool(named) and sure and not is_gainsaid(text, mention)


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
        if other.start < mention.end and mention.start < other.end
    )
