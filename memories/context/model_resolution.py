"""A second opinion on whom a message means: where the fast path is unsure a model is asked, beside
the search and within a budget of time. What is late, failed or makes no sense leaves the fast answer
as it was."""

import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from accounts.best_effort import best_effort
from accounts.models import EndUser
from accounts.reasons import Reason
from contacts import lookup
from contacts.cards import Card
from memories import model_calls
from memories.context import pace
from memories.models import ModelCall
from memories.providers.errors import ProviderError
from memories.providers.factory import resolving_provider
from memories.providers.openai.provider import OpenAIProvider
from memories.types import MeantPeople, Reply, ShownTurn, Usage, WhoRequest
from understanding.coreference.resolve import may_mean_one
from understanding.types import Mention, Person

# What the fast path is as sure of as this is not asked about, nor a pronoun as sure of somebody
# where another who is talked of fits as well. On the corpus, 15 % of messages are asked about, and
# the fast path is wrong in more than half of these.
SURE, SURE_AMONG = 0.65, 0.9
MOST_PEOPLE, MOST_TURNS = 12, 6
# The least confidence of a model that counts, and that of each person whom a word may mean.
LEAST = EITHER = 0.5

# fast: nobody wanted a model, or there is none; sure: there was nothing to ask.
Resolved = Literal["fast", "sure", "model", "late", "failed"]


@dataclass(frozen=True, slots=True)
class Opinion:
    """The mentions that stand, the cards of those whom only the model brought up, and whose
    answer it is."""

    mentions: Sequence[Mention]
    cards: Mapping[UUID, Card]
    resolved: Resolved


@dataclass(frozen=True, slots=True)
class Question:
    """What a model is asked about a message from its making on, in a thread that reads no rows;
    the client of its server gives up by itself."""

    end_user: EndUser
    message: str
    found: lookup.People
    doubtful: frozenset[Mention]
    shown: Mapping[UUID, lookup.Candidate]
    provider: OpenAIProvider
    asked: Future[Reply[Sequence[MeantPeople]]]
    began: float
    budget_ms: float

    def opinion(self) -> Opinion:
        """The mentions of the fast path, with what it was unsure of as the model says. Waits for
        the rest of the budget at most, and never raises because of the model."""
        fast = self.found.mentions
        try:
            reply = self.asked.result(max(0.0, self.budget_ms / 1000 - self._since()))
        except TimeoutError:
            usage = Usage(0, 0, self._since() * 1000)
            self._note(usage, ModelCall.Outcome.LATE)
            return Opinion(fast, {}, "late")
        except ProviderError as error:
            with best_effort("Ledger of end user", self.end_user.pk):
                model_calls.write_failure(self.end_user, self.provider, pace.PURPOSE, error)
            return Opinion(fast, {}, "failed")
        said = [one for one in reply.value if one.confidence >= LEAST]
        found = [mention for one in said for mention in self._mentions(one)]
        mentions = _united(self.found, self.doubtful, found)
        changed = _meant(mentions) != _meant(fast)
        self._note(reply.usage, ModelCall.Outcome.CHANGED if changed else ModelCall.Outcome.OK)
        cards = {mention.person.id: self.shown[mention.person.id].card for mention in found}
        return Opinion(mentions, cards, "model")

    def _since(self) -> float:
        return time.monotonic() - self.began

    def _note(self, usage: Usage, outcome: ModelCall.Outcome) -> None:
        with best_effort("Ledger of end user", self.end_user.pk):
            model_calls.write(self.end_user, self.provider, pace.PURPOSE, usage, outcome=outcome)

    def _mentions(self, said: MeantPeople) -> list[Mention]:
        start = self.message.find(said.words) if said.words else 0
        end = start + len(said.words)
        sure = said.confidence if len(said.people) == 1 else EITHER
        reason = Reason("by_model")
        return [
            Mention(self.shown[pk].person, start, end, said.words, "model", sure, reason)
            for pk in said.people
        ]


def ask(
    end_user: EndUser,
    message: str,
    found: lookup.People,
    turns: lookup.Turns,
    budget_ms: float,
    *,
    however_slow: bool,
) -> Question | Opinion:
    """A question to the model where ``found``, the fast answer, leaves in doubt whom the message
    means; else that answer. Nor is one asked that turned out too slow here, unless
    ``however_slow``."""
    began, provider = time.monotonic(), resolving_provider()
    if provider is None:
        return Opinion(found.mentions, {}, "fast")
    doubtful = doubted(message, found.mentions, found.talked_of)
    if doubtful is None:
        return Opinion(found.mentions, {}, "sure")
    session, before = turns()
    recent = (session or before)[-MOST_TURNS:]
    texts = [message, *(turn.text for turn in reversed(recent))]
    known = [lookup.Candidate(m.person, found.cards[m.person.id]) for m in found.mentions]
    people = lookup.candidates(end_user, texts, known, MOST_PEOPLE)
    if not people:
        return Opinion(found.mentions, {}, "sure")
    if model_calls.is_refused(provider):
        return Opinion(found.mentions, {}, "failed")
    if not however_slow and pace.is_left_alone(provider.model):
        return Opinion(found.mentions, {}, "fast")
    request = WhoRequest(
        message,
        tuple(ShownTurn(turn.role, turn.text, turn.at, earlier=not session) for turn in recent),
        tuple((one.person.id, _line(one.card)) for one in people),
        end_user.zone,
    )
    shown = {one.person.id: one for one in people}
    asked = _begun(provider, request)
    return Question(
        end_user, message, found, doubtful, shown, provider, asked, began, budget_ms
    )  # fmt: skip


def doubted(
    message: str, mentions: Iterable[Mention], talked_of: Mapping[UUID, Person]
) -> frozenset[Mention] | None:
    """The mentions of which it is not sure that they are meant: unlikely ones, pronouns that
    somebody else in the talk fits, and pronouns where a phrase of the user's own means somebody
    else, with it. None where nobody need be asked; an empty set where nobody was found and one of
    those who are talked of may be meant."""
    meant = [mention for mention in mentions if mention.how != "conversation"]
    if not meant:
        return frozenset() if talked_of and may_mean_one(message) else None
    unlikely = {mention for mention in meant if mention.confidence < SURE}
    phrases = [mention for mention in meant if mention.how == "reference"]
    places = Counter((mention.start, mention.end) for mention in meant)
    for mention in (mention for mention in meant if mention.how == "pronoun"):
        alone = places[mention.start, mention.end] == 1
        rivals = alone and any(
            _may_be_other(mention.person, person) for person in talked_of.values()
        )
        if rivals and mention.confidence < SURE_AMONG:
            unlikely.add(mention)
        against = [one for one in phrases if _may_be_other(mention.person, one.person)]
        if against:
            unlikely |= {mention, *against}
    return frozenset(unlikely) or None


def _may_be_other(person: Person, other: Person) -> bool:
    """Whether a pronoun that is taken to mean one may mean the other."""
    return person.id != other.id and {person.gender, other.gender} != {"female", "male"}


def _begun(provider: OpenAIProvider, request: WhoRequest) -> Future[Reply[Sequence[MeantPeople]]]:
    executor = ThreadPoolExecutor(1, "second-opinion")
    begun = executor.submit(provider.who, request)
    executor.shutdown(wait=False)
    return begun


def _line(card: Card) -> str:
    return "; ".join(str(card.compact()).splitlines())


def _meant(mentions: Iterable[Mention]) -> set[UUID]:
    return {mention.person.id for mention in mentions if mention.how != "conversation"}


def _united(
    fast: lookup.People, doubtful: Collection[Mention], found: Sequence[Mention]
) -> list[Mention]:
    """What was sure stays, unless the model says that the same words mean others; what was
    doubtful gives way to what it says. Nobody stays from the talk before where the model names
    somebody, or others alone are meant."""
    meant = [mention for mention in fast.mentions if mention.how != "conversation"]
    read_as: dict[tuple[int, int], set[UUID]] = {}
    for mention in found:
        if mention.end > mention.start:
            read_as.setdefault((mention.start, mention.end), set()).add(mention.person.id)
    sure = [
        mention
        for mention in meant
        if mention not in doubtful
        and mention.person.id in read_as.get((mention.start, mention.end), {mention.person.id})
    ]
    known = {mention.person.id for mention in sure}
    united = [*sure, *(mention for mention in found if mention.person.id not in known)]
    ids = _meant(united)
    back = [
        mention
        for mention in fast.mentions
        if mention.how == "conversation"
        and not found
        and mention.person.id not in ids
        and (not ids or ids & fast.talked_of.keys())
    ]
    return [*sorted(united, key=lambda mention: mention.start), *back]
