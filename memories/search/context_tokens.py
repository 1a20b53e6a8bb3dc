"""The search tokens of memories, from their content and from the texts around them: "Yes, last
week!" is found by the words of the question that it answers.

The texts around a memory are messages that it does not rest on. When one of these is hidden or
erased, its words must be removed from the memories beside it: ``retokenise_beside`` then rebuilds
their tokens from what may still be read. Callers that write hold the end user's lock.
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
# The characters of such a turn that are read: a memory is not about a whole pasted page.
LONGEST = 500
# Roles that are part of a conversation; instructions and replies of tools are not.
_ROLES = frozenset(("user", "assistant", CONTACT))


def around(turns: Sequence[Turn], turn_ids: Collection[int]) -> list[str]:
    """Returns the texts of the turns right before and right after ``turn_ids`` (``turns`` are in
    order), if they belong to the same conversation; without what was injected, and no turn that
    contains a secret or a telephone number."""
    places = [place for place, turn in enumerate(turns) if turn.id in turn_ids]
    if not places:
        return []
    texts = []
    for inner, outer in ((places[0], places[0] - 1), (places[-1], places[-1] + 1)):
        if not 0 <= outer < len(turns):
            continue
        own_turn, neighbour = turns[inner], turns[outer]
        is_same_talk = own_turn.session_id == neighbour.session_id and neighbour.role in _ROLES
        if is_same_talk and abs(own_turn.said_at - neighbour.said_at) <= PAUSE:
            texts.append(middle_cut(without_injected(neighbour.content), LONGEST))
    return [text for text in texts if text.strip() and not is_private(text)]


def tokens_of(end_user: EndUser | int, memories: Iterable[Memory]) -> dict[UUID, list[str]]:
    """Returns the search tokens of each memory, from the messages as they are now. At most three
    statements, none if no memory rests on a message."""
    memories = list(memories)
    sources = {pk for memory in memories for pk in memory.source_message_ids}
    if not sources:
        return {memory.pk: tokenise(memory.content) for memory in memories}
    seqs = dict(Message.objects.of(end_user).filter(pk__in=sources).values_list("pk", "seq"))
    seqs_near = {seq + step for seq in seqs.values() for step in (-1, 0, 1)}
    hidden_ids = hidden(end_user)
    turns = {
        row.seq: row.turn_in(UTC)
        for row in Message.objects.of(end_user).filter(seq__in=seqs_near)
        if row.pk not in hidden_ids
    }
    tokens = {}
    for memory in memories:
        own_ids = [pk for pk in memory.source_message_ids if pk in seqs]
        seqs_beside = {seqs[pk] + step for pk in own_ids for step in (-1, 0, 1)}
        turns_near = [turns[seq] for seq in sorted(seqs_beside) if seq in turns]
        tokens[memory.pk] = tokenise(memory.content, around(turns_near, own_ids))
    return tokens


def retokenise(end_user: EndUser | int, memory_ids: Collection[UUID]) -> int:
    """Rebuilds the search tokens of these memories; returns how many changed."""
    rows = list(
        Memory.objects.of(end_user)
        .filter(pk__in=list(memory_ids))
        .only("content", "source_message_ids", "tokens")
    )
    new_tokens = tokens_of(end_user, rows)
    changed = [memory for memory in rows if memory.tokens != new_tokens[memory.pk]]
    for memory in changed:
        memory.tokens = new_tokens[memory.pk]
    Memory.objects.bulk_update(changed, ["tokens"], batch_size=500)
    return len(changed)


def retokenise_beside(end_user: EndUser | int, message_ids: Collection[int]) -> int:
    """Rebuilds the tokens of memories that rest on these messages or ones next to them, after these
    were emptied, hidden or shown again; returns how many changed."""
    if not message_ids:
        return 0
    messages = Message.objects.of(end_user)
    seqs = messages.filter(pk__in=list(message_ids)).values_list("seq", flat=True)
    seqs_near = {seq + step for seq in seqs for step in (-1, 0, 1)}
    ids_near = list(messages.filter(seq__in=seqs_near).values_list("pk", flat=True))
    resting = Memory.objects.of(end_user).filter(source_message_ids__overlap=ids_near)
    return retokenise(end_user, list(resting.values_list("pk", flat=True)))


def hidden(end_user: EndUser | int) -> set[int]:
    """Returns the messages that a pending erasure hides: the request, and what it will empty."""
    hidden_ids: set[int] = set()
    memories: list[UUID] = []
    waiting = Erasure.objects.of(end_user).filter(state=Erasure.State.PENDING)
    for message_ids, memory_ids in waiting.values_list("message_ids", "memory_ids"):
        hidden_ids.update(message_ids)
        memories += memory_ids
    if memories:
        rows = Memory.objects.of(end_user).filter(pk__in=memories)
        for ids in rows.values_list("source_message_ids", flat=True):
            hidden_ids.update(ids)
    return hidden_ids
