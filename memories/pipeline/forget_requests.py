"""Hides the memories and people that a user asks to forget, in a chat or on their own page, at once,
and schedules their erasure."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from uuid import UUID

from django.db.models import Q

from accounts.cells import atomic
from accounts.models import Change, EndUser
from accounts.reasons import Reason
from contacts import store
from contacts.models import Contact
from memories.corrections import erasure_requests
from memories.corrections.forgotten_names import left_of, names_of
from memories.erasure import same_statement
from memories.erasure.messages_about import messages_about
from memories.models import Link, Memory, Message
from memories.models.memory import resting_on
from memories.providers.factory import offline_provider
from memories.search import context_tokens
from memories.types import Extraction, ExtractionRequest, ForgetRequest
from understanding.requests import forget_reading
from understanding.statements import secrets
from understanding.text import one_line

MAX_WORD = 40  # graphemes of what nothing was found for

WHY = Reason("forget_asked").stored


@dataclass(slots=True)
class _ForgetScope:
    """What one message asks to forget. ``whole``: people go also where more is known of them."""

    memories: dict[UUID, Memory] = field(default_factory=dict)
    contacts: dict[UUID, Contact] = field(default_factory=dict)
    messages: set[int] = field(default_factory=set)
    words: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    missing: set[str] = field(default_factory=set)
    unsure_messages: set[int] = field(default_factory=set)
    unsure_contacts: set[UUID] = field(default_factory=set)
    unclear: bool = False
    whole: bool = False


@atomic()
def forget_chosen(
    end_user: EndUser,
    *,
    actor: str,
    contact_id: UUID | None = None,
    memory_id: UUID | None = None,
) -> Change | None:
    """Hides a person with all that is about them, or a memory, and plans its erasure after the
    grace period; an undo of the change calls it off. None where there is no such."""
    locked = EndUser.objects.lock(end_user.pk)
    if locked is None:
        return None
    what = _ForgetScope(whole=True)
    ids = (memory_id,) if memory_id else ()
    _gather(locked, ForgetRequest(contact_id=contact_id, memory_ids=ids), what)
    return _hide(locked, what, actor) if what.memories or what.contacts else None


def forget_asked(end_user: EndUser, requests: Iterable[ForgetRequest]) -> int:
    """Hides what the requests mean and plans its erasure, together for all that one message
    asks; returns how many memories were hidden. The caller holds the lock."""
    meant: dict[int, _ForgetScope] = {}
    for request in requests:
        _gather(end_user, request, meant.setdefault(request.asked_in, _ForgetScope()))
    return sum(_forget(end_user, asked_in, what) for asked_in, what in meant.items())


def follow(end_user: EndUser, request: ExtractionRequest, extraction: Extraction) -> None:
    """Does what the extraction says the user asked to forget, and notes, to be reported, what new
    turns ask to forget and a model's answer leaves out: a model alone hides nothing, nor do words
    alone that it read otherwise. The caller holds the lock."""
    forget_asked(end_user, extraction.forget)
    answered = {one.asked_in for one in extraction.forget}
    asking = [t for t in request.turns if t.role == "user" and t.id not in answered]
    if extraction.retracted_turn_ids or not any(forget_reading.may_ask(t.content) for t in asking):
        return
    missing: dict[int, set[str]] = {}
    names = {person.id: person.name for person in request.people}
    for one in offline_provider().extract(request).value.forget:
        if one.asked_in not in answered and not one.unclear:
            named = [names[one.contact_id]] if one.contact_id in names else []
            words = missing.setdefault(one.asked_in, set())
            words.update(one_line(word, MAX_WORD) for word in (*named, *one.words))
    for turn, words in missing.items():
        asked = Message.objects.of(end_user).filter(pk=turn).first()
        erasure_requests.note(end_user, asked, words)


def _forget(end_user: EndUser, asked_in: int, what: _ForgetScope) -> int:
    asked = Message.objects.of(end_user).filter(pk=asked_in).first()
    if asked is not None and not (what.memories or what.contacts or what.messages):
        what.messages |= _telling_secret(end_user, asked)
    if not (what.memories or what.contacts or what.messages):
        unclear = what.unclear and not what.missing
        erasure_requests.note(end_user, asked, what.missing, unclear=unclear)
        return 0
    told = Message.objects.of(end_user).filter(pk__in=what.messages - {asked_in})
    said = " ".join(told.values_list("content", flat=True)).lower()
    missing = {word for word in what.missing if word.lower() not in said}
    if asked is not None:
        what.messages.add(asked.pk)
    seen = sum(m.status != Memory.Status.ARCHIVED for m in what.memories.values())
    _hide(end_user, what, "extractor", WHY, asked, missing)
    return seen


def _hide(
    end_user: EndUser,
    what: _ForgetScope,
    actor: str,
    why: str = "",
    asked: Message | None = None,
    missing: Iterable[str] = (),
) -> Change | None:
    """Hides what is meant and schedules its erasure; returns the change that an undo takes back."""
    contacts = list(what.contacts.values())
    merged = [other.pk for other in end_user.contacts.all_merged_into(what.contacts)]
    change = erasure_requests.hide(
        end_user, what.memories.values(), actor=actor, why=why, contacts=contacts
    )
    erasure_requests.schedule(
        end_user,
        change,
        memory_ids=what.memories,
        contact_ids=[*what.contacts, *merged],
        message_ids=what.messages,
        words=what.words,
        names=what.names,
        unsure_messages=what.unsure_messages,
        unsure_contacts=what.unsure_contacts,
        asked=asked,
        missing=missing,
    )
    told_in = {pk for memory in what.memories.values() for pk in memory.source_message_ids}
    context_tokens.retokenise_beside(end_user, told_in | what.messages)
    return change


def _telling_secret(end_user: EndUser, asked: Message) -> set[int]:
    """The user's messages that tell a secret of the kind that a later one asks to forget: no memory
    holds one, and nobody has to repeat it."""
    kinds = secrets.labels(asked.content)
    if not kinds:
        return set()
    named = reduce(or_, (Q(content__icontains=kind) for kind in kinds))
    rows = Message.objects.of(end_user).by_user().filter(named, pk__lt=asked.pk)
    return {
        row.pk
        for row in rows
        if secrets.holds_secret(row.content) and kinds & secrets.labels(row.content)
    }


def _gather(end_user: EndUser, request: ForgetRequest, into: _ForgetScope) -> None:
    if request.unclear:
        into.unclear = True
        return
    if request.everything:
        _gather_everything(end_user, request.asked_in, into)
        return
    contact = store.survivor(end_user, request.contact_id) if request.contact_id else None
    meant = request.words or request.keys or request.memory_ids
    whole = contact is not None and not meant
    facts = Memory.objects.of(end_user).facts()
    chosen = _chosen(request, contact)
    people = (
        [contact, *end_user.contacts.all_merged_into([contact.pk])] if contact and whole else []
    )
    if people:
        names = left_of(end_user, names_of(people), [person.pk for person in people])
        chosen |= Q(pk__in=names.named_in(facts))
    memories = list(facts.filter(chosen).defer("tokens").distinct())
    if contact is None and request.words:
        memories = _closest(end_user, memories, request)
    same = same_statement.below(end_user, {memory.pk for memory in memories})
    memories += facts.filter(pk__in=same - {m.pk for m in memories}).defer("tokens")
    if request.or_turn_ids and not (memories or whole):
        last = ForgetRequest(turn_ids=request.or_turn_ids, asked_in=request.asked_in)
        _gather(end_user, last, into)
        return
    into.memories |= {memory.pk: memory for memory in memories}
    into.messages.update(request.turn_ids)
    if not (memories or whole):
        of = [contact.name] if contact else []
        into.missing.update(one_line(word, MAX_WORD) for word in (*of, *request.words))
    into.words.update(request.words)
    into.words.update(fact["value"] for memory in memories for fact in memory.facts)
    if contact is not None and people:
        _gather_person(end_user, contact, people, request.asked_in, memories, into)


def _gather_person(
    end_user: EndUser,
    contact: Contact,
    people: Collection[Contact],
    asked_in: int,
    memories: Iterable[Memory],
    into: _ForgetScope,
) -> None:
    """What tells of a person until they are asked to be forgotten, and the person themself."""
    names = names_of(people)
    into.words |= names
    told = messages_about(end_user, people)
    for wanted, found in ((into.messages, told.sure), (into.unsure_messages, told.unsure)):
        wanted |= {pk for pk in found if not asked_in or pk < asked_in}
    if into.whole or _only_by(contact, memories):
        into.contacts[contact.pk] = contact
        into.names |= names
        into.unsure_contacts |= {*told.alike}


def _gather_everything(end_user: EndUser, asked_in: int, into: _ForgetScope) -> None:
    """All that is kept, the messages up to the one that asks, and everybody known only so."""
    memories = list(Memory.objects.of(end_user).facts().defer("tokens"))
    into.memories |= {memory.pk: memory for memory in memories}
    told = Message.objects.of(end_user)
    until = Q(pk__lte=asked_in) if asked_in else Q()
    into.messages.update(told.filter(until).values_list("pk", flat=True))
    for contact in Contact.objects.of(end_user).standing():
        into.words |= names_of([contact])
        if _only_by(contact, memories):
            into.contacts[contact.pk] = contact
            into.names |= names_of([contact])


def _chosen(request: ForgetRequest, contact: Contact | None) -> Q:
    chosen = Q(pk__in=request.memory_ids)
    about = Q(pk__in=Link.objects.standing().filter(contact=contact).values("memory"))
    if request.turn_ids:
        chosen |= resting_on(request.turn_ids)
    if request.words or request.keys:
        topic = _saying(request.words, shortest=1)
        whose = {} if contact else {"person": None}
        for key in request.keys:
            topic |= Q(facts__contains=[{"key": key, **whose}])
        # About the contact, or naming them where no link was made.
        chosen |= topic & (about | _saying((contact.name, *contact.aliases))) if contact else topic
    elif contact is not None and not request.memory_ids:
        chosen |= about
    return chosen


def _saying(words: Iterable[str], shortest: int = 2) -> Q:
    """Memories whose content or quote has one of the words of at least so many characters."""
    chosen = Q(pk__in=())
    for word in words:
        if len(word) >= shortest:
            chosen |= Q(content__icontains=word) | Q(quote__icontains=word)
    return chosen


def _closest(end_user: EndUser, memories: list[Memory], request: ForgetRequest) -> list[Memory]:
    """Without a person to hold on to, only the memories that share most words are meant, and
    what the user told of themself under the attributes asked for. A lone word that several
    people's lives share (school, a fight) says nothing of whose is meant: none then."""

    def shared(memory: Memory) -> int:
        text = f"{memory.content} {memory.quote}".lower()
        return sum(word.lower() in text for word in request.words)

    most = max(map(shared, memories), default=0)
    closest = [memory for memory in memories if most and shared(memory) == most]
    if most == 1:
        people = Link.objects.of(end_user).standing().people_by_memory(closest)
        lives = {person for memory in closest for person in people[memory.pk]}
        # The user's own counts as one.
        if len(lives) + any(not people[memory.pk] for memory in closest) > 1:
            closest = [memory for memory in closest if memory.pk in request.memory_ids]
    return closest + [
        memory
        for memory in memories
        if memory not in closest
        and any(f["key"] in request.keys and f.get("person") is None for f in memory.facts)
    ]


def _only_by(contact: Contact, memories: Iterable[Memory]) -> bool:
    """Whether nothing else is known of the contact: no other memory, nothing stated by an
    operator or app (such values rest on no memory)."""
    others = Link.objects.standing().filter(contact=contact, memory__kind=Memory.Kind.FACT)
    others = others.exclude(memory__in=[memory.id for memory in memories])
    others = others.exclude(memory__status=Memory.Status.ARCHIVED)
    stated = any(
        not value.get("sources") for values in contact.attributes.values() for value in values
    )
    return not others.exists() and not stated
