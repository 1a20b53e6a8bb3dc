"""Finds the injected memories that an exchange used: they were context for what was learnt then.

A memory was used if the reply, or what the user says to it, repeats enough of its words that the
user's message before does not have. A word of several injected memories counts less.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from uuid import UUID

from django.db.models import F

from accounts.models import EndUser
from accounts.reasons import Reason
from memories.models import Edge, Injected, Memory
from memories.search.tokens import own, tokenise
from memories.types import Draft, ExtractionRequest, Turn
from understanding.statements.own_words import own_words

# A reply uses a memory if it has so many of its distinctive words, and this share of their
# weight (one over the number of injected memories that have the word). Two words of Chinese or
# English seldom coincide by chance if the user did not say them.
LEAST_WORDS = 2
SHARE = 0.5
# How long before a reply its injection was made, at most; the clock of the app may be late.
FRESH, SKEW = timedelta(hours=1), timedelta(minutes=1)
CONFIDENCE = 0.8
_DERIVED = ("about:", "has:", "role:")  # prefixes of tokens that stand for a topic, not for a word


def used(reply: str, said: str, injected: Mapping[UUID, str]) -> list[UUID]:
    """Returns the memories (content by id) that ``reply`` used; ``said`` is the user's message
    before it."""
    words = {pk: _words(content) for pk, content in injected.items()}
    counts = Counter(word for memory_words in words.values() for word in memory_words)
    reply_words, user_words = _words(reply), _words(said)
    chosen = []
    for pk, memory_words in words.items():
        weights = {word: 1 / counts[word] for word in memory_words - user_words}
        repeated = weights.keys() & reply_words
        weight = sum(weights[word] for word in repeated)
        if len(repeated) >= LEAST_WORDS and weight >= SHARE * sum(weights.values()):
            chosen.append(pk)
    return chosen


def _words(text: str) -> frozenset[str]:
    return frozenset(token for token in own(tokenise(text)) if not token.startswith(_DERIVED))


def note(
    end_user: EndUser,
    request: ExtractionRequest,
    drafts: Sequence[Draft],
    ids: Mapping[str, UUID],
    added: Collection[UUID],
) -> int:
    """Counts injected memories as mentioned if replies among the new turns used them, and joins the
    used ones to the memories that were stored (``added``; ``ids`` by the drafts' keys) from the
    same exchange. That includes the user's next turn, and may begin in the turns before. Returns
    how many memories the new replies used. The caller holds the end user's lock."""
    new = {turn.id for turn in request.turns}
    exchanges = [
        exchange
        for exchange in _exchanges([*request.context, *request.turns])
        if new & {t.id for t in exchange if t}
    ]
    if not exchanges:
        return 0
    replies = [reply for _said, reply, _next in exchanges]
    said_at = [reply.said_at for reply in replies]
    injections = Injected.objects.of(end_user).filter(
        session_id__in={reply.session_id for reply in replies},
        created_at__range=(min(said_at) - FRESH, max(said_at) + SKEW),
    )
    rows = list(injections.order_by("-created_at", "-pk"))
    # Profiles are left out: they are about people whom any reply may name.
    facts = Memory.objects.of(end_user).facts().exclude(status=Memory.Status.ARCHIVED)
    shown_ids = {pk for row in rows for pk in row.memory_ids}
    contents = dict(facts.filter(pk__in=shown_ids).values_list("pk", "content")) if rows else {}
    edges, mentioned = [], Counter[UUID]()
    for said, reply, following in exchanges:
        first, last = reply.said_at - FRESH, reply.said_at + SKEW
        session = [row for row in rows if row.session_id == reply.session_id]
        injected = [row.memory_ids for row in session if first <= row.created_at <= last][:1]
        shown = {pk: contents[pk] for ids_ in injected for pk in ids_ if pk in contents}
        text_before = said.content if said else ""
        by_reply = used(reply.content, text_before, shown)
        if reply.id in new:
            mentioned.update(by_reply)
        by_user = used(own_words(following.content), text_before, shown) if following else []
        exchanged = {turn.id for turn in (said, reply, following) if turn}
        learnt_ids = {ids[d.key] for d in drafts if exchanged & set(d.extracted.turn_ids)}
        edges += [
            Edge(
                end_user=end_user,
                source_id=source,
                target_id=target,
                kind=Edge.Kind.WAS_CONTEXT_FOR,
                reason=Reason("reply_used" if source in by_reply else "user_took_up").stored,
                confidence=CONFIDENCE,
            )
            for source in dict.fromkeys(by_reply + by_user)
            for target in sorted(learnt_ids & set(added))
            if source != target
        ]
    for pk, times in mentioned.items():
        Memory.objects.of(end_user).filter(pk=pk).update(mention_count=F("mention_count") + times)
    Edge.objects.bulk_create(edges, ignore_conflicts=True)
    return len(mentioned)


def _exchanges(turns: Iterable[Turn]) -> list[tuple[Turn | None, Turn, Turn | None]]:
    """Returns (user turn before, reply, user turn after) for each reply, within its session."""
    user_turns: dict[str, Turn] = {}
    last_replies: dict[str, int] = {}
    exchanges: list[tuple[Turn | None, Turn, Turn | None]] = []
    for turn in turns:
        if turn.role == "user":
            user_turns[turn.session_id] = turn
            if (place := last_replies.pop(turn.session_id, None)) is not None:
                exchanges[place] = (*exchanges[place][:2], turn)
        elif turn.role == "assistant":
            last_replies[turn.session_id] = len(exchanges)
            exchanges.append((user_turns.pop(turn.session_id, None), turn, None))
    return exchanges
