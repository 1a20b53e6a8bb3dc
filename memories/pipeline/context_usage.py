"""Which injected memories an exchange made use of: they were context for what was learnt then.

A memory was used when the reply, or what the user says to it, repeats enough of what only it
could have told: words of its own that neither the user's message before nor the other injected
memories have.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID

from django.db.models import F

from accounts.models import EndUser
from accounts.reasons import Reason
from memories.models import Edge, Injected, Memory
from memories.search.tokens import own, tokenise
from memories.types import Draft, Turn
from understanding.statements.own_words import own_words

# A reply uses a memory when it has so many of its distinctive words, and this share of their
# weight (one over the number of injected memories that have the word). Two words of Chinese or
# English seldom meet by chance where the user didn't say them.
LEAST_WORDS = 2
SHARE = 0.5
# What was injected for a reply: at most so long before it; the clock of the app may be late.
FRESH, SKEW = timedelta(hours=1), timedelta(minutes=1)
CONFIDENCE = 0.8
_DERIVED = ("about:", "has:", "role:")  # tokens that stand for a matter, not for a word


def used(reply: str, said: str, injected: Mapping[UUID, str]) -> list[UUID]:
    """The memories (content by id) that ``reply`` made use of, when ``said`` was the user's
    message before it."""
    words = {pk: _words(content) for pk, content in injected.items()}
    held = Counter(word for found in words.values() for word in found)
    told, asked = _words(reply), _words(said)
    chosen = []
    for pk, found in words.items():
        weights = {word: 1 / held[word] for word in found - asked}
        repeated = weights.keys() & told
        heard = sum(weights[word] for word in repeated)
        if len(repeated) >= LEAST_WORDS and heard >= SHARE * sum(weights.values()):
            chosen.append(pk)
    return chosen


def _words(text: str) -> frozenset[str]:
    return frozenset(token for token in own(tokenise(text)) if not token.startswith(_DERIVED))


@dataclass(frozen=True, slots=True)
class _Exchange:
    """A reply of the assistant, what the user ``said`` before it, and what they say ``next``."""

    said: Turn | None
    reply: Turn
    next: Turn | None

    @property
    def turn_ids(self) -> set[int]:
        return {turn.id for turn in (self.said, self.reply, self.next) if turn}


def note(
    end_user: EndUser,
    context: Sequence[Turn],
    turns: Sequence[Turn],
    drafts: Iterable[Draft],
    ids: Mapping[str, UUID],
    added: Collection[UUID],
) -> int:
    """Counts the injected memories that the replies among ``turns`` used as mentioned, and
    joins each to the memories that were stored (``added``; ``ids`` by the drafts' keys) from
    the same exchange, the user's next turn included; it may have begun in the ``context``,
    the turns before. Returns how many were used. The caller holds the end user's lock."""
    new = {turn.id for turn in turns}
    exchanges = [one for one in _exchanges([*context, *turns]) if one.turn_ids & new]
    if not exchanges:
        return 0
    rows = list(
        Injected.objects.of(end_user)
        .filter(
            session_id__in={one.reply.session_id for one in exchanges},
            created_at__gte=min(one.reply.said_at for one in exchanges) - FRESH,
            created_at__lte=max(one.reply.said_at for one in exchanges) + SKEW,
        )
        .order_by("-created_at", "-pk")
    )
    contents = _contents(end_user, rows)
    drafts = list(drafts)
    edges, mentioned = [], Counter[UUID]()
    for one in exchanges:
        row = _before(rows, one.reply)
        if row is None:
            continue
        shown = {pk: contents[pk] for pk in row.memory_ids if pk in contents}
        said = one.said.content if one.said else ""
        by_reply = used(one.reply.content, said, shown)
        if one.reply.id in new:
            mentioned.update(by_reply)
        by_user = used(own_words(one.next.content), said, shown) if one.next else []
        learnt = {ids[d.key] for d in drafts if one.turn_ids & set(d.extracted.turn_ids)}
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
            for target in sorted(learnt & set(added))
            if source != target
        ]
    for times in set(mentioned.values()):
        alike = [pk for pk, count in mentioned.items() if count == times]
        Memory.objects.of(end_user).filter(pk__in=alike).update(
            mention_count=F("mention_count") + times
        )
    Edge.objects.bulk_create(edges, ignore_conflicts=True)
    return len(mentioned)


def _exchanges(turns: Sequence[Turn]) -> list[_Exchange]:
    """Each reply of the assistant with the user's turns around it in the same session."""
    said: dict[str, Turn] = {}
    open_: dict[str, int] = {}
    found: list[_Exchange] = []
    for turn in turns:
        if turn.role == "user":
            said[turn.session_id] = turn
            if (place := open_.pop(turn.session_id, None)) is not None:
                found[place] = replace(found[place], next=turn)
        elif turn.role == "assistant":
            open_[turn.session_id] = len(found)
            found.append(_Exchange(said.pop(turn.session_id, None), turn, None))
    return found


def _before(rows: Sequence[Injected], reply: Turn) -> Injected | None:
    """The latest injection of the session before a reply (rows come latest first)."""
    return next(
        (
            row
            for row in rows
            if row.session_id == reply.session_id
            and reply.said_at - FRESH <= row.created_at <= reply.said_at + SKEW
        ),
        None,
    )


def _contents(end_user: EndUser, rows: Iterable[Injected]) -> dict[UUID, str]:
    """What the injected memories say; profiles speak for people whom any reply may name."""
    ids = {pk for row in rows for pk in row.memory_ids}
    if not ids:
        return {}
    facts = Memory.objects.of(end_user).filter(pk__in=ids, kind=Memory.Kind.FACT)
    return dict(facts.exclude(status=Memory.Status.ARCHIVED).values_list("pk", "content"))
