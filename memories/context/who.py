"""Whom a message means: names, references and pronouns first; a model's opinion, asked beside the
search and within a budget of time, where these are unsure; the vote of memories where nobody is
named. What a model answers late or wrongly leaves the first answer as it was."""

import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from typing import Literal
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from accounts.best_effort import best_effort
from accounts.models import EndUser
from accounts.reasons import Reason
from contacts import lookup
from contacts.cards import Card
from memories import model_calls
from memories.context import pace
from memories.context.memory_vote import Voted
from memories.context.render import InjectedContact
from memories.context.request import ContextRequest
from memories.models import Message, ModelCall
from memories.providers.errors import ProviderError
from memories.providers.factory import resolving_provider
from memories.providers.openai.provider import OpenAIProvider
from memories.search.context_tokens import PAUSE
from memories.types import CONTACT, MeantPeople, Reply, ShownTurn, Usage, WhoRequest
from understanding.coreference.resolve import may_mean_one
from understanding.statements.own_words import without_injected, without_others
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


def turns_of(
    end_user: EndUser, session_id: str, history: Sequence[tuple[str, str]]
) -> lookup.Turns:
    """Reads the turns before a message once, when it is called: those of the client's ``history``,
    and where they are few those of the stored session. Without what was injected."""

    @cache
    def read() -> tuple[list[lookup.Turn], list[lookup.Turn]]:
        if len(history) >= lookup.HISTORY:
            return _own([lookup.Turn(*turn) for turn in history]), []
        session, before = stored_turns(end_user, session_id)
        if history:
            session, before = _continued(session, history, named=bool(session_id)), []
        return _own(session), _own(before)

    return read


def _continued(
    stored: Sequence[lookup.Turn], given: Sequence[tuple[str, str]], *, named: bool
) -> list[lookup.Turn]:
    """The given turns behind those of the stored session that are older; each given one that is
    stored with what is stored of it. Where the session has no name and none of the given is
    stored, it is another."""
    older, turns, known = len(stored), list[lookup.Turn](), named
    for role, text in reversed(given):
        at = next((at for at in range(older - 1, -1, -1) if stored[at].text == text), None)
        if at is not None:
            older, known = at, True
        turns.append(stored[at] if at is not None else lookup.Turn(role, text))
    return [*(stored[:older] if known else ()), *reversed(turns)][-lookup.HISTORY :]


def _own(turns: Sequence[lookup.Turn]) -> list[lookup.Turn]:
    """The turns without what was injected, and of the user's without what a client wrote."""
    user = Message.Role.USER
    texts = (
        without_others(one.text) if one.role == user else without_injected(one.text)
        for one in turns
    )
    return [turn._replace(text=text) for turn, text in zip(turns, texts, strict=True)]


def stored_turns(end_user: EndUser, session_id: str) -> tuple[list[lookup.Turn], list[lookup.Turn]]:
    """The latest turns of the session, however old, and those of the latest other session, oldest
    first. Where an app names no sessions, a pause ends one. One statement."""
    latest = end_user.messages.order_by("-seq").values_list(
        "session_id", "role", "content", "created_at", "understood", "speaker", "received_at", "seq"
    )
    stored = latest[: 2 * lookup.HISTORY]
    if session_id:
        stored = stored.union(latest.filter(session_id=session_id)[: lookup.HISTORY])
    rows = sorted(stored, key=lambda row: row[-1])
    ended = not session_id and rows and rows[-1][-2] < timezone.now() - PAUSE
    current = [] if ended else [row for row in rows if row[0] == session_id]
    others = rows if ended else [row for row in rows if row[0] != session_id]
    last = [row for row in others if row[0] == others[-1][0]]
    session, before = (
        [
            lookup.Turn(CONTACT if speaker else role, text, tuple(understood), at)
            for _session, role, text, at, understood, speaker, *_ in some[-lookup.HISTORY :]
        ]
        for some in (current, last)
    )
    return session, before


@dataclass(frozen=True, slots=True)
class Opinion:
    """The mentions that stand, whose answer it is, and the cards of those whom only the model
    brought up."""

    mentions: Sequence[Mention]
    resolved: Resolved = "fast"
    cards: Mapping[UUID, Card] = field(default_factory=dict)

    @property
    def meant(self) -> dict[UUID, Person]:
        """The people whom the message itself means, by their ids."""
        return {m.person.id: m.person for m in self.mentions if m.how != "conversation"}


@dataclass(frozen=True, slots=True)
class Question:
    """What a model is asked about a message from its making on, in a thread that reads no rows;
    the client of its server gives up by itself."""

    end_user: EndUser
    message: str
    fast: lookup.People
    doubtful: frozenset[Mention]
    shown: Mapping[UUID, lookup.Candidate]
    provider: OpenAIProvider
    asked: Future[Reply[Sequence[MeantPeople]]]
    began: float
    budget_ms: float

    def opinion(self) -> Opinion:
        """The mentions of the fast path, with what it was unsure of as the model says. Waits for
        the rest of the budget at most, and never raises because of the model."""
        fast = self.fast.mentions
        try:
            reply = self.asked.result(max(0.0, self.budget_ms / 1000 - self._since()))
        except TimeoutError:
            self._note(Usage(0, 0, self._since() * 1000), ModelCall.Outcome.LATE)
            return Opinion(fast, "late")
        except ProviderError as error:
            with best_effort("Ledger of end user", self.end_user.pk):
                model_calls.write_failure(self.end_user, self.provider, pace.PURPOSE, error)
            return Opinion(fast, "failed")
        answers = [one for one in reply.value if one.confidence >= LEAST]
        answered = [mention for one in answers for mention in self._mentions(one)]
        mentions = _united(self.fast, self.doubtful, answered)
        cards = {mention.person.id: self.shown[mention.person.id].card for mention in answered}
        opinion = Opinion(mentions, "model", cards)
        changed = opinion.meant.keys() != Opinion(fast).meant.keys()
        self._note(reply.usage, ModelCall.Outcome.CHANGED if changed else ModelCall.Outcome.OK)
        return opinion

    def _since(self) -> float:
        return time.monotonic() - self.began

    def _note(self, usage: Usage, outcome: ModelCall.Outcome) -> None:
        with best_effort("Ledger of end user", self.end_user.pk):
            model_calls.write(self.end_user, self.provider, pace.PURPOSE, usage, outcome=outcome)

    def _mentions(self, answer: MeantPeople) -> list[Mention]:
        start = self.message.find(answer.words) if answer.words else 0
        end = start + len(answer.words)
        sure = answer.confidence if len(answer.people) == 1 else EITHER
        reason = Reason("by_model")
        return [
            Mention(self.shown[pk].person, start, end, answer.words, "model", sure, reason)
            for pk in answer.people
        ]


def ask(
    end_user: EndUser, request: ContextRequest, fast: lookup.People, turns: lookup.Turns
) -> Question | Opinion:
    """A question to the model where the ``fast`` answer leaves in doubt whom the message means; else
    that answer. One that turned out too slow here is not asked, unless "model" is wanted."""
    began, provider = time.monotonic(), resolving_provider()
    if provider is None:
        return Opinion(fast.mentions)
    doubtful = doubted(request.message, fast.mentions, fast.talked_of)
    if doubtful is None:
        return Opinion(fast.mentions, "sure")
    session, before = turns()
    recent = (session or before)[-MOST_TURNS:]
    texts = [request.message, *(turn.text for turn in reversed(recent))]
    known = [lookup.Candidate(m.person, fast.cards[m.person.id]) for m in fast.mentions]
    people = lookup.candidates(end_user, texts, known, MOST_PEOPLE)
    if not people:
        return Opinion(fast.mentions, "sure")
    if model_calls.is_refused(provider):
        return Opinion(fast.mentions, "failed")
    however_slow = (request.resolve or settings.MIO_RESOLVE) == "model"
    if not however_slow and pace.is_left_alone(provider.model):
        return Opinion(fast.mentions)
    asked = WhoRequest(
        request.message,
        tuple(ShownTurn(turn.role, turn.text, turn.at, earlier=not session) for turn in recent),
        tuple((one.person.id, "; ".join(str(one.card.compact()).splitlines())) for one in people),
        end_user.zone,
    )
    executor = ThreadPoolExecutor(1, "second-opinion")
    answer = executor.submit(provider.who, asked)
    executor.shutdown(wait=False)
    shown = {one.person.id: one for one in people}
    return Question(
        end_user, request.message, fast, doubtful, shown, provider, answer, began,
        request.resolve_budget_ms,
    )  # fmt: skip


def doubted(
    message: str, mentions: Iterable[Mention], talked_of: Mapping[UUID, Person]
) -> frozenset[Mention] | None:
    """The mentions of which it is not sure that they are meant: unlikely ones, pronouns that
    somebody else in the talk fits, and pronouns where a phrase of the user's own means somebody
    else, with it. None where nobody need be asked; an empty set where nobody was found and one of
    those who are talked of may be meant."""
    named = [mention for mention in mentions if mention.how != "conversation"]
    if not named:
        return frozenset() if talked_of and may_mean_one(message) else None
    unlikely = {mention for mention in named if mention.confidence < SURE}
    phrases = [mention for mention in named if mention.how == "reference"]
    places = Counter((mention.start, mention.end) for mention in named)
    for mention in (mention for mention in named if mention.how == "pronoun"):
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


def _united(
    fast: lookup.People, doubtful: Collection[Mention], answered: Sequence[Mention]
) -> list[Mention]:
    """What was sure stays, unless the model says that the same words mean others; what was
    doubtful gives way to what it says. Nobody stays from the talk before where the model names
    somebody, or others alone are meant."""
    read_as: dict[tuple[int, int], set[UUID]] = {}
    for mention in answered:
        if mention.end > mention.start:
            read_as.setdefault((mention.start, mention.end), set()).add(mention.person.id)
    sure = [
        mention
        for mention in fast.mentions
        if mention.how != "conversation"
        and mention not in doubtful
        and mention.person.id in read_as.get((mention.start, mention.end), {mention.person.id})
    ]
    known = {mention.person.id for mention in sure}
    united = [*sure, *(mention for mention in answered if mention.person.id not in known)]
    ids = {mention.person.id for mention in united}
    staying = [
        mention
        for mention in fast.mentions
        if mention.how == "conversation"
        and not answered
        and mention.person.id not in ids
        and (not ids or ids & fast.talked_of.keys())
    ]
    return [*sorted(united, key=lambda mention: mention.start), *staying]


def decided(
    end_user: EndUser, people: lookup.People, opinion: Opinion, voted: Voted | None
) -> tuple[lookup.People, list[InjectedContact]]:
    """The people by all opinions together, and an entry for each of them. A vote counts instead of
    what was found of the same person before."""
    mentions, cards = list(opinion.mentions), {**people.cards, **opinion.cards}
    if voted is not None:
        person = voted.mention.person.id
        mentions = [*(m for m in mentions if m.person.id != person), voted.mention]
        cards |= lookup.cards_of(end_user, {person: voted.known})
    people = people._replace(mentions=mentions, cards=cards)
    return people, _contacts_of(people)


def _contacts_of(people: lookup.People) -> list[InjectedContact]:
    """One entry a person, by the surest of their mentions, in order of the text."""
    best: dict[UUID, Mention] = {}
    for mention in people.mentions:
        surest = best.get(mention.person.id)
        if surest is None or mention.confidence > surest.confidence:
            best[mention.person.id] = mention
    return [
        InjectedContact(
            id=mention.person.id,
            name=mention.person.name,
            matched_by=mention.how,
            matched_text=mention.text,
            confidence=round(mention.confidence, 3),
            card=str(card.compact() if mention.how == "conversation" else card),
        )
        for mention in best.values()
        for card in [people.cards[mention.person.id]]
    ]
