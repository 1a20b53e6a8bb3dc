"""Who a message means: names, references and pronouns, a model's opinion where these are unsure,
and where nobody is named the vote of the memories found."""

from collections.abc import Iterable
from functools import cache
from uuid import UUID

from django.conf import settings

from accounts.models import EndUser
from contacts import lookup
from memories.context import model_resolution
from memories.context.memory_vote import Voted
from memories.context.model_resolution import Opinion, Question
from memories.context.render import InjectedContact
from memories.context.request import ContextRequest
from memories.context.timing import Clock
from memories.context.turns import turns_of
from understanding.types import Mention, Person


def ask(
    end_user: EndUser, request: ContextRequest, clock: Clock
) -> tuple[lookup.People, Question | Opinion]:
    """The people by the fast path, and the question that a model is asked meanwhile where that is
    unsure, else its opinion as it stands."""
    with clock.step("who"):
        turns = cache(turns_of(end_user, request.session_id, request.history))
        stay = settings.MIO_KEEP_CARDS if request.keep_cards is None else request.keep_cards
        stay = stay if "cards" in request.include else 0
        people = lookup.look_up(end_user, request.message, turns, stay)
    how = request.resolve or settings.MIO_RESOLVE
    if how == "fast":
        return people, Opinion(people.mentions, {}, "fast")
    with clock.step("model"):
        asked = model_resolution.ask(
            end_user,
            request.message,
            people,
            turns,
            request.resolve_budget_ms,
            however_slow=how == "model",
        )
    if not isinstance(asked, Question):
        clock.steps.pop()  # nobody was asked
    return people, asked


def answer(asked: Question | Opinion, clock: Clock) -> Opinion:
    """The model's opinion, waited for within its budget."""
    if isinstance(asked, Opinion):
        return asked
    with clock.step("model"):
        return asked.opinion()


def decided(
    end_user: EndUser, people: lookup.People, opinion: Opinion, voted: Voted | None
) -> lookup.People:
    """The people by all opinions together. A vote counts instead of what was found of the same
    person before."""
    mentions, cards = list(opinion.mentions), {**people.cards, **opinion.cards}
    if voted is not None:
        person = voted.mention.person.id
        mentions = [*(m for m in mentions if m.person.id != person), voted.mention]
        cards |= lookup.cards_of(end_user, {person: voted.known})
    return people._replace(mentions=mentions, cards=cards)


def meant(mentions: Iterable[Mention]) -> dict[UUID, Person]:
    """The people whom a message itself means, by their ids."""
    return {m.person.id: m.person for m in mentions if m.how != "conversation"}


def contacts_of(people: lookup.People) -> list[InjectedContact]:
    """One entry a person, by the surest of their mentions, in order of the text."""
    best: dict[UUID, Mention] = {}
    for mention in people.mentions:
        held = best.get(mention.person.id)
        if held is None or mention.confidence > held.confidence:
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
