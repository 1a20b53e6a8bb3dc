"""Who a message means: the only reads on the hot path, at most two statements."""

from collections.abc import Callable, Iterable, Sequence
from uuid import UUID

from accounts.models import EndUser
from contacts import pronouns, relations
from contacts.matching import candidate_keys, find_mentions
from contacts.models import ContactKey, Hit
from contacts.types import Entry, Mention, Utterance

# Turns of a conversation that pronouns may reach back to.
HISTORY = 12
# Of a longer message the beginning says whom it is about; it bounds the time of a lookup.
CHARACTERS = 4000

Turn = tuple[str, str]
Turns = Callable[[], tuple[Sequence[Turn], Sequence[Turn]]]


def mentions_in(end_user: EndUser, text: str) -> list[Mention]:
    """The mentions in one text, pronouns left aside. One statement."""
    hits = ContactKey.objects.of(end_user).hits(candidate_keys(text))
    return find_mentions(text, [hit.entry for hit in hits])


def who_is_meant(
    end_user: EndUser, message: str, turns: Turns
) -> tuple[list[Mention], dict[UUID, str]]:
    """The mentions in ``message``, pronouns resolved, and the cards of those meant.

    ``turns`` gives the session's (role, content) turns and those of the session before; it
    is called only when the message refers back. At most two statements: the turns, if they
    are read from the database, and one lookup for all texts together.
    """
    message = message[:CHARACTERS]
    keys = ContactKey.objects.of(end_user)
    if not pronouns.refers_back(message):
        hits = keys.hits(candidate_keys(message))
        return find_mentions(message, [hit.entry for hit in hits]), _cards(hits)
    session, before = ([(role, text[:CHARACTERS]) for role, text in part] for part in turns())
    texts = [message, *(text for _, text in [*session, *before])]
    hits = keys.hits(frozenset().union(*map(candidate_keys, texts)), related=True)
    entries = [hit.entry for hit in hits]
    named = find_mentions(message, entries)
    related, cards = relations.of_hits(hits)
    meant = pronouns.resolve(
        Utterance("user", message, tuple(named)),
        _utterances(session, entries),
        _utterances(before, entries),
        related,
    )
    return [*named, *meant], cards | _cards(hits)


def _utterances(turns: Iterable[Turn], entries: Sequence[Entry]) -> list[Utterance]:
    return [Utterance(role, text, tuple(find_mentions(text, entries))) for role, text in turns]


def _cards(hits: Iterable[Hit]) -> dict[UUID, str]:
    return {UUID(hit.known["id"]): hit.known["card"] for hit in hits}
