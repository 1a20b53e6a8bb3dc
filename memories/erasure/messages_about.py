"""Finds the messages that refer to people who are being erased: by name, role or pronoun."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from uuid import UUID

from django.db.models import Q

from accounts.models import EndUser
from contacts.key_index import hits, relations_of
from contacts.lookup import CHARACTERS, HISTORY
from contacts.models import Contact, Suggestion
from memories.corrections.forgotten_names import Names, is_fuller, names_of, unshared_names
from memories.models import Message, MessageQuerySet
from memories.types import CONTACT
from understanding.coreference.resolve import resolve_all
from understanding.names import name_key
from understanding.people.mentions import candidate_keys, find_mentions
from understanding.roles import kinship
from understanding.types import Entry, Mention, Utterance

SURE = 0.5  # a mention with less confidence is a guess
# Only so many of the latest are left to decide: nobody decides more.
MOST_UNDECIDED = 200


@dataclass(frozen=True, slots=True)
class MessagesAbout:
    """The ids of messages that refer to people for ``sure``, of those that may refer to somebody
    else, the latest first, and of other contacts that may be the same people."""

    sure: frozenset[int]
    unsure: tuple[int, ...]
    alike: tuple[UUID, ...]


def messages_about(end_user: EndUser, contacts: Collection[Contact]) -> MessagesAbout:
    """Returns the messages about ``contacts``: those that name them or that they wrote, and those
    near these with a role or pronoun for them. A shared name makes a message only ``unsure``."""
    erased_ids = [contact.pk for contact in contacts]
    names = names_of(contacts)
    unshared = unshared_names(end_user, names, erased_ids)
    rows = Message.objects.of(end_user)
    shared = names - unshared.all
    named = {*unshared.named_in(rows), *_written_by(rows, unshared.all)}
    doubtful = {*Names(shared).named_in(rows), *_written_by(rows, shared)}
    by_role = Q(pk__in=())
    for contact in contacts:  # a role that only one person has (my boss)
        role = kinship(contact.relationship)
        if role is not None and role.level != "common":
            by_role |= Q(content__icontains=contact.relationship)
    seqs = rows.filter(Q(pk__in=named | doubtful) | by_role).values_list("seq", flat=True)
    near_seqs = {seq + step for seq in seqs for step in range(-HISTORY, HISTORY + 1)}
    nearby = rows.filter(seq__in=near_seqs).order_by("seq").not_erased()
    for pk, mentions_by_span in _mentions_of(end_user, list(nearby)):
        for mentions in mentions_by_span:
            person_ids = {mention.person.id for mention in mentions}
            if person_ids.isdisjoint(erased_ids):
                continue
            is_guess = max(mention.confidence for mention in mentions) < SURE
            (doubtful if is_guess or not person_ids <= {*erased_ids} else named).add(pk)
    unsure = sorted(doubtful - named, reverse=True)[:MOST_UNDECIDED]
    return MessagesAbout(frozenset(named), tuple(unsure), _similar_contacts(end_user, contacts))


def _written_by(rows: MessageQuerySet, names: Collection[str]) -> Iterable[int]:
    """Returns the ids of messages whose speaker has one of these names."""
    keys = {name_key(name) for name in names}
    speakers = rows.exclude(speaker=None).order_by().values_list("speaker", flat=True).distinct()
    written_names = [name for name in speakers if name and name_key(name) in keys]
    return rows.filter(speaker__in=written_names).values_list("pk", flat=True)


def _mentions_of(
    end_user: EndUser, rows: Sequence[Message]
) -> Iterable[tuple[int, list[list[Mention]]]]:
    """Yields the mentions of each message, by name or pronoun, one list per span."""
    texts = [row.content[:CHARACTERS] for row in rows]
    keys = [candidate_keys(text) for text in texts]
    key_hits = hits(end_user, frozenset().union(*keys), related=True)
    entries: dict[str, list[Entry]] = {}
    for hit in key_hits:
        entries.setdefault(hit.key, []).append(hit.entry)
    related, _cards = relations_of(key_hits)
    utterances = []
    for row, text, text_keys in zip(rows, texts, keys, strict=True):
        candidates = [entry for key in sorted(text_keys) for entry in entries.get(key, ())]
        role = CONTACT if row.speaker else row.role
        utterances.append(Utterance(role, text, tuple(find_mentions(text, candidates))))
    sessions = groupby(zip(rows, utterances, strict=True), key=lambda pair: pair[0].session_id)
    resolved = resolve_all([[one for _, one in pairs] for _, pairs in sessions], related)
    for row, utterance, anaphors in zip(rows, utterances, resolved, strict=True):
        spots: dict[tuple[int, int], list[Mention]] = {}
        for mention in (*utterance.mentions, *anaphors):
            spots.setdefault((mention.start, mention.end), []).append(mention)
        yield row.pk, list(spots.values())


def _similar_contacts(end_user: EndUser, contacts: Collection[Contact]) -> tuple[UUID, ...]:
    """Returns contacts suggested to be one of these, or with the same name plus a surname."""
    erased = {contact.pk for contact in contacts}
    similar, different = set(), set()
    for row in Suggestion.objects.of(end_user).concerning(erased):
        pair = {row.first_id, row.second_id} - erased
        different |= pair if row.state == Suggestion.State.DIFFERENT else set()
        similar |= pair
    keys = set(map(name_key, names_of(contacts)))
    for other in Contact.objects.of(end_user).light().exclude(pk__in=erased):
        other_keys = set(map(name_key, names_of([other])))
        if any(is_fuller(a, b) or is_fuller(b, a) for a in other_keys for b in keys):
            similar.add(other.merged_into_id or other.pk)
    return tuple(sorted(similar - different - erased))
