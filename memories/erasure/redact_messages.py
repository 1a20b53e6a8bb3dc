"""Taking words out of messages, when what they told is forgotten. Callers hold the user's lock."""

from collections.abc import Collection, Iterable, Mapping

from accounts.models import EndUser
from memories.erasure import name_hashes
from memories.models import Memory, MemoryQuerySet, Message
from memories.search import context_tokens
from memories.search.tokens import own, tokenise
from understanding.sentences import sentences

ANSWER = Message.Role.ASSISTANT

# Around a message that is erased, so many may repeat its words: the next answers, a summary.
ECHO = 10
# Shorter words are in too many messages to say what one is about.
MIN_WORD = 2


def erase(
    end_user: EndUser,
    quotes: Mapping[int, Collection[str]],
    whole: Collection[int],
    words: Collection[str],
) -> int:
    """Empties messages; their numbers stay, so that the ranges of batches stay whole. Where another
    memory rests on one, only the sentences with ``quotes`` of it go, but all of those in ``whole``.
    So do the answers to what is emptied, and what repeats one of ``words`` close by. Returns how
    many were emptied."""
    if not quotes and not whole:
        return 0
    rows = {row.pk: row for row in Message.objects.of(end_user).filter(pk__in={*quotes, *whole})}
    resting = _resting_on(end_user, rows)
    left: dict[int, str] = {}
    for pk, row in rows.items():
        cut = pk in resting and pk not in whole
        left[pk] = without(row.content, quotes[pk]) if cut else ""
    for row in _echoes(end_user, [*rows.values()], left, words):
        left.setdefault(row.pk, "")
        rows[row.pk] = row
    _unquote(_resting_on(end_user, rows), rows, left)
    changed = [row for pk, row in rows.items() if row.content != left[pk]]
    for row in changed:
        row.content = left[row.pk]
        row.metadata = row.metadata if row.content else {}
        row.speaker = row.speaker if row.content else None
        if not row.content and row.client_id is not None:
            row.client_id = name_hashes.hash_of(end_user, row.client_id)
    columns = ["content", "client_id", "metadata", "speaker"]
    Message.objects.bulk_update(changed, columns, batch_size=500)
    context_tokens.retokenise_beside(end_user, [row.pk for row in changed])
    return sum(not row.content for row in changed)


def told_by(memories: MemoryQuerySet) -> tuple[dict[int, set[str]], set[str]]:
    """What memories quote of each message, and the values of their facts."""
    quotes: dict[int, set[str]] = {}
    told: set[str] = set()
    for memory in memories.only("quote", "facts", "source_message_ids"):
        told.update(fact["value"] for fact in memory.facts)
        for message in memory.source_message_ids:
            quotes.setdefault(message, set()).add(memory.quote)
    return quotes, told


def erased_ids(end_user: EndUser, client_ids: Iterable[str]) -> dict[str, str]:
    """What emptied messages have in place of a client's ids: sent again, they stay duplicates."""
    if end_user.forgetting_until is None:
        return {}
    return {kept: one for one in client_ids for kept in name_hashes.hashes_ever(end_user, one)}


def may_be_left_of(left: str, content: str) -> bool:
    """Whether ``left`` may be what ``without`` made of ``content``."""
    return all(left[start:end].strip() in content for start, end in _spans(left))


def without(content: str, quotes: Iterable[str]) -> str:
    """``content`` without the sentences that hold ``quotes``; empty when one is not found."""
    found = [(content.find(quote) if quote.strip() else -1, len(quote)) for quote in quotes]
    if any(at < 0 for at, _ in found):
        return ""
    return "".join(
        content[start:end]
        for start, end in _spans(content)
        if not any(at < end and start < at + length for at, length in found)
    ).strip()


def _spans(content: str) -> Iterable[tuple[int, int]]:
    """Where the sentences of a message begin and end."""
    starts = [sentence.start for sentence in sentences(content)]
    return zip(starts, [*starts[1:], len(content)], strict=True)


def _resting_on(end_user: EndUser, ids: Iterable[int]) -> dict[int, list[Memory]]:
    found: dict[int, list[Memory]] = {}
    rows = Memory.objects.of(end_user).filter(source_message_ids__overlap=list(ids))
    for memory in rows.only("quote", "source_message_ids"):
        for pk in memory.source_message_ids:
            found.setdefault(pk, []).append(memory)
    return found


def _echoes(
    end_user: EndUser, erased: Collection[Message], left: Mapping[int, str], words: Collection[str]
) -> list[Message]:
    """The answers to messages that are emptied, and messages close by that repeat a word."""
    seqs = sorted(row.seq for row in erased)
    near = {seq + step for seq in seqs for step in range(-ECHO, ECHO + 1)}
    sessions = {row.session_id for row in erased}
    close = Message.objects.of(end_user).filter(seq__in=near, session_id__in=sessions)
    rows = list(close.order_by("seq"))
    told = [word.lower() for word in words if len(word) >= MIN_WORD]
    emptied = [own(tokenise(row.content)) for row in erased if left[row.pk] == ""]
    others = [tokenise(row.content) for row in rows if row.by_user and row.pk not in left]
    rare = {word for words in emptied for word in words if len(word) >= MIN_WORD}.difference(
        *others
    )
    found = []
    answering: dict[str, bool] = {}
    for row in rows:
        if row.by_user:
            answering[row.session_id] = left.get(row.pk) == ""
            echo = row.seq < seqs[-1]
        else:
            echo = not rare.isdisjoint(tokenise(row.content))
        answer = row.role == ANSWER and answering.get(row.session_id, False)
        text = row.content.lower()
        repeats = (not row.by_user or echo) and any(word in text for word in told)
        if row.pk not in left and (answer or repeats or (echo and row.role == ANSWER)):
            found.append(row)
    return found


def _unquote(
    resting: Mapping[int, Collection[Memory]], rows: Mapping[int, Message], left: Mapping[int, str]
) -> None:
    gone = {
        memory.pk
        for pk, memories in resting.items()
        if pk in rows
        for memory in memories
        if memory.quote in rows[pk].content and memory.quote not in left[pk]
    }
    Memory.objects.filter(pk__in=gone).update(quote="")
