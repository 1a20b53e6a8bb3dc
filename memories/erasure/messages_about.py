"""The messages that tell of people who are forgotten: by name, by role, by pronoun."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from uuid import UUID

from django.db.models import Q

from accounts.models import EndUser
from contacts.key_index import hits, relations_of
from contacts.lookup import CHARACTERS, HISTORY
from contacts.models import Contact, Suggestion
from memories.corrections.forgotten_names import Names, is_fuller, left_of, names_of
from memories.models import Message, MessageQuerySet
from memories.types import CONTACT
from understanding.coreference.resolve import resolve_all
from understanding.names import name_key
from understanding.people.mentions import candidate_keys, find_mentions
from understanding.roles import kinship
from understanding.types import Entry, Mention, Utterance

SURE = 0.5  # a mention with less confidence is a guess
# So many of the latest are asked about: nobody decides more.
MOST_UNDECIDED = 200


@dataclass(frozen=True, slots=True)
class MessagesAbout:
    """The ids of messages that tell of people for ``sure``, of those that may mean somebody else,
    the latest first, and of other contacts that may be the same people."""

    sure: frozenset[int]
    unsure: tuple[int, ...]
    alike: tuple[UUID, ...]


def messages_about(end_user: EndUser, contacts: Collection[Contact]) -> MessagesAbout:
    """What tells of ``contacts``: messages that name them, and those right after these that mean
    them by a pronoun or a role. A name that others bear as well says nothing for sure."""
    gone = [contact.pk for contact in contacts]
    names = names_of(contacts)
    own = left_of(end_user, names, gone)
    rows = Message.objects.of(end_user)
    named = set(own.named_in(rows))
    doubtful = set(Names(names - own.all).named_in(rows))
    named |= set(_by(rows, own.all))
    doubtful |= set(_by(rows, names - own.all))
    by_role = Q(pk__in=())
    for contact in contacts:  # a word for what they are to the user (my boss), where one person is
        role = kinship(contact.relationship)
        if role is not None and role.level != "common":
            by_role |= Q(content__icontains=contact.relationship)
    seqs = rows.filter(Q(pk__in=named | doubtful) | by_role).values_list("seq", flat=True)
    near = {seq + step for seq in seqs for step in range(-HISTORY, HISTORY + 1)}
    around = rows.filter(seq__in=near).order_by("seq").exclude(content="")
    for pk, meant in _meanings(end_user, list(around)):
        for mentions in meant:
            who = {mention.person.id for mention in mentions}
            if who.isdisjoint(gone):
                continue
            guess = max(mention.confidence for mention in mentions) < SURE
            (doubtful if guess or not who <= {*gone} else named).add(pk)
    unsure = sorted(doubtful - named, reverse=True)[:MOST_UNDECIDED]
    return MessagesAbout(frozenset(named), tuple(unsure), _alike(end_user, contacts))


def _by(rows: MessageQuerySet, names: Collection[str]) -> Iterable[int]:
    """The messages that somebody of one of these names wrote."""
    keys = {name_key(name) for name in names}
    speakers = rows.exclude(speaker=None).order_by().values_list("speaker", flat=True).distinct()
    known = [name for name in speakers if name and name_key(name) in keys]
    return rows.filter(speaker__in=known).values_list("pk", flat=True)


def _meanings(
    end_user: EndUser, rows: Sequence[Message]
) -> Iterable[tuple[int, list[list[Mention]]]]:
    texts = [row.content[:CHARACTERS] for row in rows]
    keys = [candidate_keys(text) for text in texts]
    found = hits(end_user, frozenset().union(*keys), related=True)
    entries: dict[str, list[Entry]] = {}
    for hit in found:
        entries.setdefault(hit.key, []).append(hit.entry)
    related, _cards = relations_of(found)
    said = []
    for row, text, held in zip(rows, texts, keys, strict=True):
        fitting = [entry for key in sorted(held) for entry in entries.get(key, ())]
        role = CONTACT if row.speaker else row.role
        said.append(Utterance(role, text, tuple(find_mentions(text, fitting))))
    sessions = groupby(zip(rows, said, strict=True), key=lambda pair: pair[0].session_id)
    resolved = resolve_all([[one for _, one in pairs] for _, pairs in sessions], related)
    for row, utterance, meant in zip(rows, said, resolved, strict=True):
        spots: dict[tuple[int, int], list[Mention]] = {}
        for mention in (*utterance.mentions, *meant):
            spots.setdefault((mention.start, mention.end), []).append(mention)
        yield row.pk, list(spots.values())


def _alike(end_user: EndUser, contacts: Collection[Contact]) -> tuple[UUID, ...]:
    """Contacts suggested to be the same as one of these, or whose name is theirs with a surname."""
    gone = {contact.pk for contact in contacts}
    rows = Suggestion.objects.of(end_user).filter(Q(first__in=gone) | Q(second__in=gone))
    found, denied = set(), set()
    for row in rows:
        pair = {row.first_id, row.second_id} - gone
        denied |= pair if row.state == Suggestion.State.DIFFERENT else set()
        found |= pair
    keys = set(map(name_key, names_of(contacts)))
    for other in Contact.objects.of(end_user).light().exclude(pk__in=gone):
        theirs = set(map(name_key, names_of([other])))
        if any(is_fuller(a, b) or is_fuller(b, a) for a in theirs for b in keys):
            found.add(other.merged_into_id or other.pk)
    return tuple(sorted(found - denied - gone))
