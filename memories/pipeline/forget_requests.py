"""Hides at once the memories and people that a user asks to forget, in a chat or on their own page,
and schedules their erasure."""

import time
from collections.abc import Collection, Iterable
from functools import reduce
from operator import itemgetter, or_
from uuid import UUID

from django.db.models import Q

from accounts.cells import atomic
from accounts.models import Change, EndUser
from accounts.reasons import Reason
from contacts import store
from contacts.models import Contact
from memories.corrections import erasure_requests
from memories.corrections.erasure_requests import ForgetScope
from memories.corrections.forgotten_names import names_of, unshared_names
from memories.erasure import same_statement
from memories.erasure.messages_about import messages_about
from memories.models import Link, Memory, Message
from memories.models.memory import resting_on
from memories.providers.factory import embedder, offline_provider
from memories.search import context_tokens
from memories.search.query_vectors import LateError, QueryVectors
from memories.search.recall import SearchRequest, search
from memories.types import Extraction, ExtractionRequest, ForgetRequest
from understanding.requests import forget_reading
from understanding.statements import secrets
from understanding.text import one_line

MAX_WORD = 40  # graphemes of a word for which nothing was found
# How much nearer in cosine the memory must be that a request means in other words. Of 26 requests
# about four invented people 7 found their memory so and none another one; at 0.025, 10 and 1.
CLEARLY = 0.03
PATIENCE = 2.0  # seconds for the embedding of such a request, while the end user is locked
_MOST_COMPARED = 100

WHY = Reason("forget_asked").stored


@atomic()
def forget_chosen(
    end_user: EndUser, *, actor: str, contact_id: UUID | None = None, memory_id: UUID | None = None
) -> Change | None:
    """Hides a person with all that is about them, or a memory, and schedules its erasure after the
    grace period; an undo of the change cancels it. None if there is no such person or memory."""
    locked = EndUser.objects.lock(end_user.pk)
    if locked is None:
        return None
    scope = ForgetScope(whole=True)
    ids = (memory_id,) if memory_id else ()
    _gather(locked, ForgetRequest(contact_id=contact_id, memory_ids=ids), scope)
    return _hide(locked, scope, actor) if scope.memories or scope.contacts else None


def forget_asked(end_user: EndUser, requests: Iterable[ForgetRequest]) -> int:
    """Hides what the requests mean and schedules its erasure, together for all requests of one
    message; returns how many memories were hidden. The caller holds the lock."""
    scopes: dict[int, ForgetScope] = {}
    for request in requests:
        _gather(end_user, request, scopes.setdefault(request.asked_in, ForgetScope()))
    return sum(_forget_scope(end_user, asked_in, scope) for asked_in, scope in scopes.items())


def follow(end_user: EndUser, request: ExtractionRequest, extraction: Extraction) -> None:
    """Carries out the forget requests of the extraction. A model's reader lets only those through
    that quote the user's own words in a new turn, if these can ask to forget (``openai/extraction``).
    Requests that the offline reader finds and the model's answer leaves out hide nothing: they are
    only noted, to be reported. The caller holds the lock."""
    forget_asked(end_user, extraction.forget)
    answered = {found.asked_in for found in extraction.forget}
    asking = [t for t in request.turns if t.role == "user" and t.id not in answered]
    if extraction.retracted_turn_ids or not any(forget_reading.may_ask(t.content) for t in asking):
        return
    missing: dict[int, set[str]] = {}
    names = {person.id: person.name for person in request.people}
    for found in offline_provider().extract(request).value.forget:
        if found.asked_in not in answered and not found.unclear:
            names_found = [names[found.contact_id]] if found.contact_id in names else []
            words = missing.setdefault(found.asked_in, set())
            words.update(one_line(word, MAX_WORD) for word in (*names_found, *found.words))
    for turn, words in missing.items():
        asked = Message.objects.of(end_user).filter(pk=turn).first()
        erasure_requests.note(end_user, asked, words)


def _forget_scope(end_user: EndUser, asked_in: int, scope: ForgetScope) -> int:
    asked = Message.objects.of(end_user).filter(pk=asked_in).first()
    if asked is not None and not (scope.memories or scope.contacts or scope.messages):
        scope.messages |= _messages_with_secret(end_user, asked)
    if not (scope.memories or scope.contacts or scope.messages):
        unclear = scope.unclear and not scope.missing
        erasure_requests.note(end_user, asked, scope.missing, unclear=unclear)
        return 0
    messages = Message.objects.of(end_user).filter(pk__in=scope.messages - {asked_in})
    their_text = " ".join(messages.values_list("content", flat=True)).lower()
    scope.missing = {word for word in scope.missing if word.lower() not in their_text}
    if asked is not None:
        scope.messages.add(asked.pk)
    hidden_count = sum(m.status != Memory.Status.ARCHIVED for m in scope.memories.values())
    _hide(end_user, scope, "extractor", WHY, asked)
    return hidden_count


def _hide(
    end_user: EndUser, scope: ForgetScope, actor: str, why: str = "", asked: Message | None = None
) -> Change | None:
    """Hides all in the scope and schedules its erasure; returns the change, which can be undone."""
    contacts = list(scope.contacts.values())
    merged = [other.pk for other in end_user.contacts.all_merged_into(scope.contacts)]
    change = erasure_requests.hide(
        end_user, scope.memories.values(), actor=actor, why=why, contacts=contacts
    )
    erasure_requests.schedule(end_user, change, scope, merged=merged, asked=asked)
    source_ids = {pk for memory in scope.memories.values() for pk in memory.source_message_ids}
    context_tokens.retokenise_beside(end_user, source_ids | scope.messages)
    return change


def _messages_with_secret(end_user: EndUser, asked: Message) -> set[int]:
    """Returns the user's earlier messages that state a secret of the kind that ``asked`` asks to
    forget: no memory contains one, and users should not have to repeat it."""
    kinds = secrets.secret_labels(asked.content)
    if not kinds:
        return set()
    names_kind = reduce(or_, (Q(content__icontains=kind) for kind in kinds))
    rows = Message.objects.of(end_user).by_user().filter(names_kind, pk__lt=asked.pk)
    return {
        row.pk
        for row in rows
        if secrets.holds_secret(row.content) and kinds & secrets.secret_labels(row.content)
    }


def _gather(end_user: EndUser, request: ForgetRequest, scope: ForgetScope) -> None:
    if request.unclear:
        scope.unclear = True
        return
    if request.everything:
        _gather_everything(end_user, request.asked_in, scope)
        return
    contact = store.survivor(end_user, request.contact_id) if request.contact_id else None
    has_topic = request.words or request.keys or request.memory_ids
    entire = contact is not None and not has_topic
    facts = Memory.objects.of(end_user).facts()
    chosen = _requested(request, contact)
    people = (
        [contact, *end_user.contacts.all_merged_into([contact.pk])] if contact and entire else []
    )
    if people:
        names = unshared_names(end_user, names_of(people), [person.pk for person in people])
        chosen |= Q(pk__in=names.named_in(facts))
    memories = list(facts.filter(chosen).defer("tokens").distinct())
    if contact is None and request.words:
        memories = _closest(end_user, memories, request)
    elif contact is not None and request.words and not memories:
        memories = _nearest(end_user, contact, request.words)
    same_ids = same_statement.with_parts(end_user, {memory.pk for memory in memories})
    memories += facts.filter(pk__in=same_ids - {m.pk for m in memories}).defer("tokens")
    if request.or_turn_ids and not (memories or entire):
        fallback = ForgetRequest(turn_ids=request.or_turn_ids, asked_in=request.asked_in)
        _gather(end_user, fallback, scope)
        return
    scope.memories |= {memory.pk: memory for memory in memories}
    scope.messages.update(request.turn_ids)
    if not (memories or entire):
        names_asked = [contact.name] if contact else []
        scope.missing.update(one_line(word, MAX_WORD) for word in (*names_asked, *request.words))
    scope.words.update(request.words)
    scope.words.update(fact["value"] for memory in memories for fact in memory.facts)
    if contact is not None and people:
        _gather_person(end_user, contact, people, request.asked_in, memories, scope)


def _gather_person(
    end_user: EndUser,
    contact: Contact,
    people: Collection[Contact],
    asked_in: int,
    memories: Iterable[Memory],
    scope: ForgetScope,
) -> None:
    """Adds the messages about a person before ``asked_in``, and the contact if all of it goes."""
    names = names_of(people)
    scope.words |= names
    related = messages_about(end_user, people)
    for ids, found_ids in ((scope.messages, related.sure), (scope.unsure_messages, related.unsure)):
        ids |= {pk for pk in found_ids if not asked_in or pk < asked_in}
    if scope.whole or _known_only_by(contact, memories):
        scope.contacts[contact.pk] = contact
        scope.names |= names
        scope.unsure_contacts |= {*related.alike}


def _gather_everything(end_user: EndUser, asked_in: int, scope: ForgetScope) -> None:
    """Adds all memories, the messages up to ``asked_in``, and contacts known only by these."""
    memories = list(Memory.objects.of(end_user).facts().defer("tokens"))
    scope.memories |= {memory.pk: memory for memory in memories}
    messages = Message.objects.of(end_user)
    until = Q(pk__lte=asked_in) if asked_in else Q()
    scope.messages.update(messages.filter(until).values_list("pk", flat=True))
    for contact in Contact.objects.of(end_user).standing():
        scope.words |= names_of([contact])
        if _known_only_by(contact, memories):
            scope.contacts[contact.pk] = contact
            scope.names |= names_of([contact])


def _requested(request: ForgetRequest, contact: Contact | None) -> Q:
    """Returns a condition: the memories that a request means."""
    chosen = Q(pk__in=request.memory_ids)
    about = Q(pk__in=Link.objects.standing().filter(contact=contact).values("memory"))
    if request.turn_ids:
        chosen |= resting_on(request.turn_ids)
    if request.words or request.keys:
        topic = _with_word(request.words, shortest=1)
        whose = {} if contact else {"person": None}
        for key in request.keys:
            topic |= Q(facts__contains=[{"key": key, **whose}])
        # About the contact, or naming them without a link.
        chosen |= (
            topic & (about | _with_word((contact.name, *contact.aliases))) if contact else topic
        )
    elif contact is not None and not request.memory_ids:
        chosen |= about
    return chosen


def _with_word(words: Iterable[str], shortest: int = 2) -> Q:
    """Returns a condition: content or quote contains one of the words that are long enough."""
    chosen = Q(pk__in=())
    for word in words:
        if len(word) >= shortest:
            chosen |= Q(content__icontains=word) | Q(quote__icontains=word)
    return chosen


def _closest(end_user: EndUser, memories: list[Memory], request: ForgetRequest) -> list[Memory]:
    """Returns the memories that a request without a person means: those that share most words with
    it, and those with facts about the user under its attributes. A single word that fits several
    people (school, a fight) does not tell which is meant, and selects only ``memory_ids``."""

    def shared(memory: Memory) -> int:
        text = f"{memory.content} {memory.quote}".lower()
        return sum(word.lower() in text for word in request.words)

    most = max(map(shared, memories), default=0)
    closest = [memory for memory in memories if most and shared(memory) == most]
    if most == 1:
        people = Link.objects.of(end_user).standing().people_by_memory(closest)
        people_meant = {person for memory in closest for person in people[memory.pk]}
        # The user's own counts as one.
        if len(people_meant) + any(not people[memory.pk] for memory in closest) > 1:
            closest = [memory for memory in closest if memory.pk in request.memory_ids]
    return closest + [
        memory
        for memory in memories
        if memory not in closest
        and any(f["key"] in request.keys and f.get("person") is None for f in memory.facts)
    ]


def _nearest(end_user: EndUser, contact: Contact, words: Iterable[str]) -> list[Memory]:
    """Returns the memory about the contact that ``words`` mean, though none contains them: the
    nearest by cosine, if it is CLEARLY nearer than the next one about them, else than any other.
    Empty if there is none, or the embedder fails or takes longer than PATIENCE."""
    query = " ".join(words)
    embedding = QueryVectors(embedder(), query, time.perf_counter() + PATIENCE)

    def ranked(contact_ids: Collection[UUID]) -> list[tuple[float, Memory]]:
        request = SearchRequest(query, limit=_MOST_COMPARED, contact_ids=contact_ids, hops=0)
        hits = search(end_user, request, embedder=embedder(), embedding=embedding)
        near = [(one.relevance.cosine or 0.0, one.memory) for one in hits if one.relevance]
        facts = [one for one in near if one[1].kind == Memory.Kind.FACT]
        return sorted(facts, key=itemgetter(0), reverse=True)

    try:
        about = ranked([contact.pk])
        first, second, *_ = about if len(about) > 1 else ranked(())
    except (LateError, ValueError):  # too late, or nothing to compare with
        return []
    return [first[1]] if first in about and first[0] - second[0] >= CLEARLY else []


def _known_only_by(contact: Contact, memories: Iterable[Memory]) -> bool:
    """Whether nothing else is known about the contact: no other memory, nothing stated by an
    operator or app (such values rest on no memory)."""
    others = Link.objects.standing().filter(contact=contact, memory__kind=Memory.Kind.FACT)
    others = others.exclude(memory__in=[memory.id for memory in memories])
    others = others.exclude(memory__status=Memory.Status.ARCHIVED)
    stated = any(
        not value.get("sources") for values in contact.attributes.values() for value in values
    )
    return not others.exists() and not stated
