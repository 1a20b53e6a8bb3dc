"""The search words of memories, from their content and from what was said around them: "Yes, last
week!" is found by the words of the question that it answers.

The words around a memory come from messages that it does not rest on. When one of these is
hidden or erased, its words must go from the memories beside it: ``retokenise_beside`` then
makes them anew from what may still be read. Callers that write hold the end user's lock.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, timedelta
from uuid import UUID

from accounts.models import EndUser
from memories.models import Erasure, Memory, Message
from memories.search.tokens import tokenise
from memories.types import CONTACT, Turn
from understanding.statements.own_words import without_injected
from understanding.statements.secrets import is_private
from understanding.text import middle_cut

# A pause after which people talk about something else (the usual cut of web sessions:
# Catledge and Pitkow 1995 measured 25.5 minutes; 30 has become the custom).
PAUSE = timedelta(minutes=30)
# Characters of such a turn that are read: a pasted page is not what a memory is about.
LONGEST = 500
# Who speaks in a conversation; instructions and the replies of tools are no part of it.
_ROLES = frozenset(("user", "assistant", CONTACT))


def around(turns: Sequence[Turn], turn_ids: Collection[int]) -> list[str]:
    """The texts of the turns right before and right after ``turn_ids`` (``turns`` are in
    order), as far as they belong to the same conversation. Never what was injected, and no
    turn that holds a secret or a telephone number."""
    places = [place for place, turn in enumerate(turns) if turn.id in turn_ids]
    if not places:
        return []
    found = []
    for inner, outer in ((places[0], places[0] - 1), (places[-1], places[-1] + 1)):
        if not 0 <= outer < len(turns):
            continue
        one, other = turns[inner], turns[outer]
        same = one.session_id == other.session_id and other.role in _ROLES
        if same and abs(one.said_at - other.said_at) <= PAUSE:
            found.append(middle_cut(without_injected(other.content), LONGEST))
    return [text for text in found if text.strip() and not is_private(text)]


def tokens_of(end_user: EndUser | int, memories: Iterable[Memory]) -> dict[UUID, list[str]]:
    """The search tokens of each memory, by the messages as they stand now. At most three
    statements, none when no memory rests on a message."""
    memories = list(memories)
    sources = {pk for memory in memories for pk in memory.source_message_ids}
    if not sources:
        return {memory.pk: tokenise(memory.content) for memory in memories}
    seqs = dict(Message.objects.of(end_user).filter(pk__in=sources).values_list("pk", "seq"))
    near = {seq + step for seq in seqs.values() for step in (-1, 0, 1)}
    unread = hidden(end_user)
    turns = {
        row.seq: row.turn_in(UTC)
        for row in Message.objects.of(end_user).filter(seq__in=near)
        if row.pk not in unread
    }
    found = {}
    for memory in memories:
        own = [pk for pk in memory.source_message_ids if pk in seqs]
        beside = {seqs[pk] + step for pk in own for step in (-1, 0, 1)}
        told = [turns[seq] for seq in sorted(beside) if seq in turns]
        found[memory.pk] = tokenise(memory.content, around(told, own))
    return found


def retokenise(end_user: EndUser | int, memory_ids: Collection[UUID]) -> int:
    """Makes the search tokens of these memories anew; returns how many changed."""
    rows = list(
        Memory.objects.of(end_user)
        .filter(pk__in=list(memory_ids))
        .only("content", "source_message_ids", "tokens")
    )
    fresh = tokens_of(end_user, rows)
    changed = [memory for memory in rows if memory.tokens != fresh[memory.pk]]
    for memory in changed:
        memory.tokens = fresh[memory.pk]
    Memory.objects.bulk_update(changed, ["tokens"], batch_size=500)
    return len(changed)


def retokenise_beside(end_user: EndUser | int, message_ids: Collection[int]) -> int:
    """Makes the tokens anew of the memories that rest on messages next to these (or on these),
    after these were emptied, hidden or shown again; returns how many changed."""
    if not message_ids:
        return 0
    messages = Message.objects.of(end_user)
    seqs = messages.filter(pk__in=list(message_ids)).values_list("seq", flat=True)
    near = {seq + step for seq in seqs for step in (-1, 0, 1)}
    beside = list(messages.filter(seq__in=near).values_list("pk", flat=True))
    resting = Memory.objects.of(end_user).filter(source_message_ids__overlap=beside)
    return retokenise(end_user, list(resting.values_list("pk", flat=True)))


def hidden(end_user: EndUser | int) -> set[int]:
    """The messages that an erasure waits for: what asked for it and what it will empty."""
    found: set[int] = set()
    memories: list[UUID] = []
    waiting = Erasure.objects.of(end_user).filter(state=Erasure.State.PENDING)
    for message_ids, memory_ids in waiting.values_list("message_ids", "memory_ids"):
        found.update(message_ids)
        memories += memory_ids
    if memories:
        rows = Memory.objects.of(end_user).filter(pk__in=memories)
        for ids in rows.values_list("source_message_ids", flat=True):
            found.update(ids)
    return found
