"""Removes words of erased memories from messages. Callers hold the end user's lock."""

from collections.abc import Collection, Iterable, Mapping

from accounts.models import EndUser
from memories.erasure import name_hashes
from memories.models import Memory, MemoryQuerySet, Message
from memories.search import context_tokens
from memories.search.tokens import own, tokenise
from understanding.sentences import sentences

ANSWER = Message.Role.ASSISTANT

# Messages before and after an erased one that may repeat its words: answers, a summary.
ECHO = 10
# Shorter words are in too many messages to identify a topic.
MIN_WORD = 2


def erase(
    end_user: EndUser,
    quotes: Mapping[int, Collection[str]],
    whole: Collection[int],
    words: Collection[str],
) -> int:
    """Empties messages and returns how many; their rows and numbers stay, so that the ranges of
    batches stay whole. If another memory rests on a message that is not in ``whole``, only the
    sentences with its ``quotes`` are removed. Answers to emptied messages are emptied too, and
    messages close by that repeat one of ``words``."""
    if not quotes and not whole:
        return 0
    rows = {row.pk: row for row in Message.objects.of(end_user).filter(pk__in={*quotes, *whole})}
    resting = _memories_of(end_user, rows)
    texts: dict[int, str] = {}
    for pk, row in rows.items():
        cut = pk in resting and pk not in whole
        texts[pk] = without(row.content, quotes[pk]) if cut else ""
    for row in _repeating_messages(end_user, [*rows.values()], texts, words):
        texts.setdefault(row.pk, "")
        rows[row.pk] = row
    _clear_quotes(_memories_of(end_user, rows), rows, texts)
    changed = [row for pk, row in rows.items() if row.content != texts[pk]]
    for row in changed:
        row.content = texts[row.pk]
        row.metadata = row.metadata if row.content else {}
        row.speaker = row.speaker if row.content else None
        if not row.content and row.client_id is not None:
            row.client_id = name_hashes.hash_of(end_user, row.client_id)
    columns = ["content", "client_id", "metadata", "speaker"]
    Message.objects.bulk_update(changed, columns, batch_size=500)
    context_tokens.retokenise_beside(end_user, [row.pk for row in changed])
    return sum(not row.content for row in changed)


def quotes_and_values(memories: MemoryQuerySet) -> tuple[dict[int, set[str]], set[str]]:
    """Returns what memories quote from each message, by its id, and the values of their facts."""
    quotes: dict[int, set[str]] = {}
    values: set[str] = set()
    for memory in memories.only("quote", "facts", "source_message_ids"):
        values.update(fact["value"] for fact in memory.facts)
        for message in memory.source_message_ids:
            quotes.setdefault(message, set()).add(memory.quote)
    return quotes, values


def erased_ids(end_user: EndUser, client_ids: Iterable[str]) -> dict[str, str]:
    """Returns client ids by their hashes in emptied messages: sent again, they are duplicates."""
    if end_user.forgetting_until is None:
        return {}
    return {digest: one for one in client_ids for digest in name_hashes.hashes_ever(end_user, one)}


def may_be_redacted_from(left: str, content: str) -> bool:
    """Whether ``left`` may be what ``without`` returned for ``content``."""
    return all(left[start:end].strip() in content for start, end in _sentence_spans(left))


def without(content: str, quotes: Iterable[str]) -> str:
    """Returns ``content`` without the sentences with ``quotes``; empty if one is not found."""
    quote_spans = [(content.find(quote) if quote.strip() else -1, len(quote)) for quote in quotes]
    if any(at < 0 for at, _ in quote_spans):
        return ""
    return "".join(
        content[start:end]
        for start, end in _sentence_spans(content)
        if not any(at < end and start < at + length for at, length in quote_spans)
    ).strip()


def _sentence_spans(content: str) -> Iterable[tuple[int, int]]:
    """Returns where the sentences of a message begin and end."""
    starts = [sentence.start for sentence in sentences(content)]
    return zip(starts, [*starts[1:], len(content)], strict=True)


def _memories_of(end_user: EndUser, ids: Iterable[int]) -> dict[int, list[Memory]]:
    """Returns the memories that rest on these messages, by message."""
    memories: dict[int, list[Memory]] = {}
    rows = Memory.objects.of(end_user).filter(source_message_ids__overlap=list(ids))
    for memory in rows.only("quote", "source_message_ids"):
        for pk in memory.source_message_ids:
            memories.setdefault(pk, []).append(memory)
    return memories


def _repeating_messages(
    end_user: EndUser, erased: Collection[Message], texts: Mapping[int, str], words: Collection[str]
) -> list[Message]:
    """Returns the answers to messages that are emptied, and messages close by that repeat one of
    ``words`` or, in answers, a word that only emptied messages of the user have."""
    seqs = sorted(row.seq for row in erased)
    seqs_near = {seq + step for seq in seqs for step in range(-ECHO, ECHO + 1)}
    sessions = {row.session_id for row in erased}
    close = Message.objects.of(end_user).filter(seq__in=seqs_near, session_id__in=sessions)
    rows = list(close.order_by("seq"))
    long_words = [word.lower() for word in words if len(word) >= MIN_WORD]
    emptied_tokens = [own(tokenise(row.content)) for row in erased if texts[row.pk] == ""]
    kept_tokens = [tokenise(row.content) for row in rows if row.by_user and row.pk not in texts]
    rare = {word for words in emptied_tokens for word in words if len(word) >= MIN_WORD}.difference(
        *kept_tokens
    )
    repeating = []
    answering: dict[str, bool] = {}
    for row in rows:
        if row.by_user:
            answering[row.session_id] = texts.get(row.pk) == ""
            may_repeat = row.seq < seqs[-1]
        else:
            may_repeat = not rare.isdisjoint(tokenise(row.content))
        answer = row.role == ANSWER and answering.get(row.session_id, False)
        text = row.content.lower()
        repeats = (not row.by_user or may_repeat) and any(word in text for word in long_words)
        if row.pk not in texts and (answer or repeats or (may_repeat and row.role == ANSWER)):
            repeating.append(row)
    return repeating


def _clear_quotes(
    quoting: Mapping[int, Collection[Memory]], rows: Mapping[int, Message], texts: Mapping[int, str]
) -> None:
    """Clears the quotes of memories that their messages no longer contain."""
    unquoted = {
        memory.pk
        for pk, memories in quoting.items()
        if pk in rows
        for memory in memories
        if memory.quote in rows[pk].content and memory.quote not in texts[pk]
    }
    Memory.objects.filter(pk__in=unquoted).update(quote="")
