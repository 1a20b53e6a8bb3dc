"""Who a message means: the only reads on the hot path, at most two statements."""

from collections.abc import Callable, Iterable, Sequence
from uuid import UUID

from accounts.models import EndUser
from contacts import pronouns
from contacts.matching import candidate_keys, find_mentions
from contacts.models import ContactKey
from contacts.types import Entry, Mention, Utterance

# Turns of a conversation that pronouns may reach back to.
HISTORY = 12

Turn = tuple[str, str]
Turns = Callable[[], tuple[Sequence[Turn], Sequence[Turn]]]


def mentions_in(end_user: EndUser, text: str) -> list[Mention]:
    """The mentions in one text, pronouns left aside. One statement."""
    entries, _ = _hits(end_user, candidate_keys(text))
    return find_mentions(text, entries)


def who_is_meant(
    end_user: EndUser, message: str, turns: Turns
) -> tuple[list[Mention], dict[UUID, str]]:
    """The mentions in ``message``, pronouns resolved, and the cards of those meant.

    ``turns`` gives the session's (role, content) turns and those of the session before; it
    is called only when the message refers back. At most two statements: the turns, if they
    are read from the database, and one lookup for all texts together.
    """
    if not pronouns.refers_back(message):
        entries, cards = _hits(end_user, candidate_keys(message))
        return find_mentions(message, entries), cards
    session, before = turns()
    texts = [message, *(text for _, text in [*session, *before])]
    entries, cards = _hits(end_user, frozenset().union(*map(candidate_keys, texts)))
    named = find_mentions(message, entries)
    meant = pronouns.resolve(
        Utterance("user", message, tuple(named)),
        _utterances(session, entries),
        _utterances(before, entries),
    )
    return [*named, *meant], cards


def _utterances(turns: Iterable[Turn], entries: Sequence[Entry]) -> list[Utterance]:
    return [Utterance(role, text, tuple(find_mentions(text, entries))) for role, text in turns]


def _hits(end_user: EndUser, keys: Iterable[str]) -> tuple[list[Entry], dict[UUID, str]]:
    hits = ContactKey.objects.of(end_user).hits(keys)
    return [hit.entry for hit in hits], {hit.contact_id: hit.known["card"] for hit in hits}
