"""Decides whom a message refers to: names, references and pronouns first; if these are uncertain, a
model's opinion, asked in parallel with the search and within a time budget; if nobody is named, the
vote of memories. A late or unusable answer of the model leaves the first answer as it was."""

import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Literal
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
from memories.search.context_tokens import PAUSE
from memories.types import CONTACT, MeantPeople, Reply, ShownTurn, Usage, WhoRequest
from understanding.coreference.resolve import may_refer_to_one
from understanding.statements.client_text import without_client_text
from understanding.statements.own_words import without_injected
from understanding.types import Mention, Person

if TYPE_CHECKING:
    from memories.providers.openai.provider import OpenAIProvider

# No model is asked about mentions of at least SURE confidence, or pronouns of SURE_AMONG if
# somebody else who is talked about fits. On the corpus, 15 % of messages are asked about, and the
# fast path is wrong in more than half of these.
SURE, SURE_AMONG = 0.65, 0.9
MOST_PEOPLE, MOST_TURNS = 12, 6
# The least confidence of an answer that counts, and the one of each person if it names several.
LEAST = EITHER = 0.5

# fast: no model was wanted, or there is none; sure: there was nothing to ask.
Resolved = Literal["fast", "sure", "model", "late", "failed"]


def turns_of(
    end_user: EndUser, session_id: str, history: Sequence[tuple[str, str]]
) -> lookup.Turns:
    """Returns a function that reads the turns before a message, once: those of the client's
    ``history``, and if they are few also the stored session. Injected text is left out."""

    @cache
    def read() -> tuple[list[lookup.Turn], list[lookup.Turn]]:
        if len(history) >= lookup.HISTORY:
            return _cleaned([lookup.Turn(*turn) for turn in history]), []
        session, before = stored_turns(end_user, session_id)
        if history:
            session, before = _continue_session(session, history, named=bool(session_id)), []
        return _cleaned(session), _cleaned(before)

    return read


def _continue_session(
    stored: Sequence[lookup.Turn], history: Sequence[tuple[str, str]], *, named: bool
) -> list[lookup.Turn]:
    """Returns the older turns of the stored session, then those of ``history``, each replaced by
    its stored turn if there is one. If the session is not ``named`` and no turn of ``history`` is
    stored, this is another session, and the stored turns are left out."""
    older_count, turns, is_same_session = len(stored), list[lookup.Turn](), named
    for role, text in reversed(history):
        at = next((at for at in range(older_count - 1, -1, -1) if stored[at].text == text), None)
        if at is not None:
            older_count, is_same_session = at, True
        turns.append(stored[at] if at is not None else lookup.Turn(role, text))
    return [*(stored[:older_count] if is_same_session else ()), *reversed(turns)][-lookup.HISTORY :]


def _cleaned(turns: Sequence[lookup.Turn]) -> list[lookup.Turn]:
    """Returns the turns without injected text, and the user's also without what a client wrote."""
    user = Message.Role.USER
    texts = (
        without_injected(without_client_text(turn.text))
        if turn.role == user
        else without_injected(turn.text)
        for turn in turns
    )
    return [turn._replace(text=text) for turn, text in zip(turns, texts, strict=True)]


def stored_turns(end_user: EndUser, session_id: str) -> tuple[list[lookup.Turn], list[lookup.Turn]]:
    """Returns the latest turns of the session, however old, and those of the latest other session,
    oldest first. If an app names no sessions, a pause ends one. One statement."""
    latest = end_user.messages.order_by("-seq").values_list(
        "session_id", "role", "content", "created_at", "understood", "speaker", "received_at", "seq"
    )
    stored = latest[: 2 * lookup.HISTORY]
    if session_id:
        stored = stored.union(latest.filter(session_id=session_id)[: lookup.HISTORY])
    rows = sorted(stored, key=lambda row: row[-1])
    is_over = not session_id and rows and rows[-1][-2] < timezone.now() - PAUSE
    current = [] if is_over else [row for row in rows if row[0] == session_id]
    others = rows if is_over else [row for row in rows if row[0] != session_id]
    previous = [row for row in others if row[0] == others[-1][0]]
    session, before = (
        [
            lookup.Turn(CONTACT if speaker else role, text, tuple(understood), at)
            for _session, role, text, at, understood, speaker, *_ in part[-lookup.HISTORY :]
        ]
        for part in (current, previous)
    )
    return session, before


@dataclass(frozen=True, slots=True)
class Opinion:
    """The mentions in force, who decided them, and the cards of the people whom the model named."""

    mentions: Sequence[Mention]
    resolved: Resolved = "fast"
    cards: Mapping[UUID, Card] = field(default_factory=dict)

    @property
    def meant(self) -> dict[UUID, Person]:
        """The people to whom the message itself refers, by their ids."""
        return {m.person.id: m.person for m in self.mentions if m.how != "conversation"}


@dataclass(frozen=True, slots=True)
class Question:
    """A question to a model about a message, which a thread that reads no rows asks from the start
    on; the client of the model's server has a timeout of its own."""

    end_user: EndUser
    message: str
    fast: lookup.People
    doubtful: frozenset[Mention]
    shown: Mapping[UUID, lookup.Candidate]
    provider: "OpenAIProvider"
    asked: Future[Reply[Sequence[MeantPeople]]]
    began: float
    budget_ms: float

    def opinion(self) -> Opinion:
        """Returns the mentions of the fast path, the doubtful ones replaced by the model's answer.
        Waits at most for the rest of the budget, and never raises because of the model."""
        fast = self.fast.mentions
        try:
            reply = self.asked.result(max(0.0, self.budget_ms / 1000 - self._elapsed()))
        except TimeoutError:
            self._record(Usage(0, 0, self._elapsed() * 1000), ModelCall.Outcome.LATE)
            return Opinion(fast, "late")
        except ProviderError as error:
            with best_effort("Ledger of end user", self.end_user.pk):
                model_calls.write_failure(self.end_user, self.provider, pace.PURPOSE, error)
            return Opinion(fast, "failed")
        answers = [one for one in reply.value if one.confidence >= LEAST]
        answered = [mention for one in answers for mention in self._mentions(one)]
        mentions = _combined(self.fast, self.doubtful, answered)
        cards = {mention.person.id: self.shown[mention.person.id].card for mention in answered}
        opinion = Opinion(mentions, "model", cards)
        changed = opinion.meant.keys() != Opinion(fast).meant.keys()
        self._record(reply.usage, ModelCall.Outcome.CHANGED if changed else ModelCall.Outcome.OK)
        return opinion

    def _elapsed(self) -> float:
        return time.monotonic() - self.began

    def _record(self, usage: Usage, outcome: ModelCall.Outcome) -> None:
        with best_effort("Ledger of end user", self.end_user.pk):
            model_calls.write(self.end_user, self.provider, pace.PURPOSE, usage, outcome=outcome)

    def _mentions(self, answer: MeantPeople) -> list[Mention]:
        start = self.message.find(answer.words) if answer.words else 0
        end = start + len(answer.words)
        confidence = answer.confidence if len(answer.people) == 1 else EITHER
        reason = Reason("by_model")
        return [
            Mention(self.shown[pk].person, start, end, answer.words, "model", confidence, reason)
            for pk in answer.people
        ]


def ask(
    end_user: EndUser, request: ContextRequest, fast: lookup.People, turns: lookup.Turns
) -> Question | Opinion:
    """Returns a question to the model if the ``fast`` answer leaves in doubt who is meant; else the
    answer. A model that was too slow before is not asked, unless "model" is wanted."""
    began, provider = time.monotonic(), resolving_provider()
    if provider is None:
        return Opinion(fast.mentions)
    doubtful = doubted(request.message, fast.mentions, fast.people_in_session)
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
    who_request = WhoRequest(
        request.message,
        tuple(ShownTurn(turn.role, turn.text, turn.at, earlier=not session) for turn in recent),
        tuple((one.person.id, "; ".join(str(one.card.compact()).splitlines())) for one in people),
        end_user.zone,
    )
    executor = ThreadPoolExecutor(1, "second-opinion")
    future = executor.submit(provider.who, who_request)
    executor.shutdown(wait=False)
    shown = {one.person.id: one for one in people}
    return Question(
        end_user, request.message, fast, doubtful, shown, provider, future, began,
        request.resolve_budget_ms,
    )  # fmt: skip


def doubted(
    message: str, mentions: Iterable[Mention], people_in_session: Mapping[UUID, Person]
) -> frozenset[Mention] | None:
    """Returns the doubtful mentions: unlikely ones, pronouns that fit somebody else in the
    conversation, and pronouns that conflict with a phrase of the user's own, with the phrase. None
    if no model need be asked; an empty set if nobody was found, but one of the people talked about
    may be meant."""
    named = [mention for mention in mentions if mention.how != "conversation"]
    if not named:
        return frozenset() if people_in_session and may_refer_to_one(message) else None
    unlikely = {mention for mention in named if mention.confidence < SURE}
    phrases = [mention for mention in named if mention.how == "reference"]
    places = Counter((mention.start, mention.end) for mention in named)
    for mention in (mention for mention in named if mention.how == "pronoun"):
        alone = places[mention.start, mention.end] == 1
        rivals = alone and any(
            _may_be_other(mention.person, person) for person in people_in_session.values()
        )
        if rivals and mention.confidence < SURE_AMONG:
            unlikely.add(mention)
        conflicting = [one for one in phrases if _may_be_other(mention.person, one.person)]
        if conflicting:
            unlikely |= {mention, *conflicting}
    return frozenset(unlikely) or None


def _may_be_other(person: Person, other: Person) -> bool:
    """Whether a pronoun that is resolved to one person may refer to the other, by their genders."""
    return person.id != other.id and {person.gender, other.gender} != {"female", "male"}


def _combined(
    fast: lookup.People, doubtful: Collection[Mention], answered: Sequence[Mention]
) -> list[Mention]:
    """Combines the mentions of the fast path with the model's. Certain ones stay, unless the model
    says that the same words refer to others; doubtful ones are dropped. People of the conversation
    before stay unless the model names anybody, or only people not talked about are meant."""
    by_span: dict[tuple[int, int], set[UUID]] = {}
    for mention in answered:
        if mention.end > mention.start:
            by_span.setdefault((mention.start, mention.end), set()).add(mention.person.id)
    certain = [
        mention
        for mention in fast.mentions
        if mention.how != "conversation"
        and mention not in doubtful
        and mention.person.id in by_span.get((mention.start, mention.end), {mention.person.id})
    ]
    known = {mention.person.id for mention in certain}
    united = [*certain, *(mention for mention in answered if mention.person.id not in known)]
    ids = {mention.person.id for mention in united}
    staying = [
        mention
        for mention in fast.mentions
        if mention.how == "conversation"
        and not answered
        and mention.person.id not in ids
        and (not ids or ids & fast.people_in_session.keys())
    ]
    return [*sorted(united, key=lambda mention: mention.start), *staying]


def decided(
    end_user: EndUser, people: lookup.People, opinion: Opinion, voted: Voted | None
) -> tuple[lookup.People, list[InjectedContact]]:
    """Returns the people by all opinions together, and an entry for each. A vote replaces earlier
    mentions of the same person."""
    mentions, cards = list(opinion.mentions), {**people.cards, **opinion.cards}
    if voted is not None:
        person = voted.mention.person.id
        mentions = [*(m for m in mentions if m.person.id != person), voted.mention]
        cards |= lookup.cards_of(end_user, {person: voted.known})
    people = people._replace(mentions=mentions, cards=cards)
    return people, _contacts_of(people)


def _contacts_of(people: lookup.People) -> list[InjectedContact]:
    """Returns one entry per person, by their most confident mention, in the order of the text."""
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
