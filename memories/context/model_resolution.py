"""A second opinion on whom a message means: where the fast path is unsure, a model is asked, within
a budget of time. What is late, failed or makes no sense leaves the fast answer as it was."""

import time
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from accounts.best_effort import best_effort
from accounts.models import EndUser
from accounts.reasons import Reason
from contacts import lookup
from contacts.cards import compact
from contacts.coreference.resolve import points_at_somebody
from contacts.types import Mention
from memories import model_calls
from memories.providers.errors import ProviderError, TransientError
from memories.providers.factory import resolving_provider
from memories.providers.interface import Resolver
from memories.types import Meant, Reply, WhoRequest

# What the fast path is as sure of as this is not asked about.
SURE = 0.8
MOST_PEOPLE, MOST_TURNS = 12, 6
# The least confidence of a model that counts.
LEAST = 0.5

# fast: nobody wanted a model, or there is none; sure: there was nothing to ask.
Resolved = Literal["fast", "sure", "model", "late", "failed"]


@dataclass(frozen=True, slots=True)
class Opinion:
    """The mentions that stand, the cards of those whom only the model brought up, and whose
    answer it is."""

    mentions: tuple[Mention, ...]
    cards: dict[UUID, str]
    resolved: Resolved


def second_opinion(
    end_user: EndUser,
    message: str,
    mentions: Sequence[Mention],
    turns: lookup.Turns,
    budget_ms: float,
) -> Opinion:
    """The mentions of the fast path, with what it was unsure of as a model says. Never raises
    because of the model, and takes the budget at most."""
    until = time.monotonic() + budget_ms / 1000
    fast, provider = tuple(mentions), resolving_provider()
    if provider is None:
        return Opinion(fast, {}, "fast")
    if not _is_unsure(message, mentions):
        return Opinion(fast, {}, "sure")
    session, before = turns()
    recent = tuple((turn.role, turn.text) for turn in (session or before)[-MOST_TURNS:])
    texts = [message, *(text for _, text in reversed(recent))]
    people = lookup.candidates(
        end_user, texts, [mention.person.id for mention in mentions], MOST_PEOPLE
    )
    if not people or model_calls.is_refused(provider):
        return Opinion(fast, {}, "failed" if people else "sure")
    lines = tuple((one.person.id, _line(one.card)) for one in people)
    request = WhoRequest(message, recent, lines)
    try:
        with model_calls.traced(provider, "who"):
            reply = _within(until, provider, request)
    except ProviderError as error:
        with best_effort("Ledger of end user", end_user.pk):
            model_calls.write_failure(end_user, provider, "who", error)
        return Opinion(fast, {}, "late" if isinstance(error, _Late) else "failed")
    with best_effort("Ledger of end user", end_user.pk):
        model_calls.write(end_user, provider, "who", reply.usage)
    by_id = {one.person.id: one for one in people}
    said = [one for one in reply.value if one.confidence >= LEAST]
    found = [_mention(by_id[one.person], message, one) for one in said]
    cards = {one.person.id: by_id[one.person.id].card for one in found}
    return Opinion(tuple(_united(mentions, found)), cards, "model")


class _Late(TransientError):
    """The budget was over before the answer came."""


def _is_unsure(message: str, mentions: Iterable[Mention]) -> bool:
    """Whether the message points at somebody, and the fast path can't well tell at whom."""
    meant = [mention for mention in mentions if mention.how != "conversation"]
    if meant:
        return any(mention.confidence < SURE for mention in meant)
    return points_at_somebody(message)


def _within(until: float, provider: Resolver, request: WhoRequest) -> Reply[Sequence[Meant]]:
    """The answer of a thread, for whose end nobody waits longer than ``until``. The thread reads
    no rows; the client of its server gives up by itself."""
    executor = ThreadPoolExecutor(1, "second-opinion")
    asked: Future[Reply[Sequence[Meant]]] = executor.submit(provider.who, request)
    executor.shutdown(wait=False)
    try:
        return asked.result(max(0.0, until - time.monotonic()))
    except TimeoutError:
        pass
    raise _Late(Reason("budget_over"))


def _line(card: str) -> str:
    return "; ".join(line.strip() for line in compact(card).splitlines() if line.strip())


def _mention(known: lookup.Candidate, message: str, said: Meant) -> Mention:
    start = message.find(said.words) if said.words else 0
    return Mention(
        known.person,
        start,
        start + len(said.words),
        said.words,
        "model",
        said.confidence,
        Reason("by_model"),
    )


def _united(mentions: Iterable[Mention], found: Sequence[Mention]) -> list[Mention]:
    """What was sure stays, what was unsure gives way to what the model says."""
    said = {mention.person.id for mention in found}
    kept = [
        mention
        for mention in mentions
        if mention.person.id not in said
        and (mention.confidence >= SURE or mention.how == "conversation")
    ]
    sure = {m.person.id: m for m in mentions if m.confidence >= SURE and m.how != "conversation"}
    united = [*kept, *(sure.get(mention.person.id, mention) for mention in found)]
    meant = [mention for mention in united if mention.how != "conversation"]
    back = [mention for mention in united if mention.how == "conversation"]
    return [*sorted(meant, key=lambda mention: mention.start), *back]
