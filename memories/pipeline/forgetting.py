"""What a user asks in a chat to forget is put away: memories, and people known only by them."""

from collections.abc import Iterable

from django.db.models import Q

from accounts.models import EndUser
from contacts import identity
from contacts.models import Contact
from memories import corrections
from memories.models import Link, Memory
from memories.types import ForgetRequest

WHY = "The user asked to forget this."


def forget_asked(end_user: EndUser, requests: Iterable[ForgetRequest]) -> int:
    """Hides what each request means; returns how many memories. The caller holds the lock."""
    hidden = 0
    for request in requests:
        contact = identity.survivor(end_user, request.contact_id) if request.contact_id else None
        chosen = Q(pk__in=())
        if request.turn_ids:
            turns = list(request.turn_ids)
            chosen |= Q(source_message_ids__overlap=turns, source_message_ids__contained_by=turns)
        whole = contact is not None and not request.words and not request.keys
        if contact is not None and whole:
            chosen |= _about(contact) | _saying((contact.name, *contact.aliases))
        elif request.words or request.keys:
            topic = _saying(request.words)
            whose = {} if contact else {"person": None}
            for key in request.keys:
                topic |= Q(facts__contains=[{"key": key, **whose}])
            chosen |= topic & _mine(contact) if contact else topic
        facts = Memory.objects.of(end_user).filter(kind=Memory.Kind.FACT)
        memories = list(
            facts.filter(chosen)
            .exclude(status=Memory.Status.ARCHIVED)
            .defer("embedding", "tokens")
            .distinct()
        )
        if contact is None and request.words:
            memories = _closest(memories, request)
        gone = [contact] if contact is not None and whole and _only_by(contact, memories) else []
        corrections.hide(end_user, memories, actor="extractor", why=WHY, contacts=gone)
        hidden += len(memories)
    return hidden


def _about(contact: Contact) -> Q:
    links = Link.objects.standing().filter(contact=contact)
    return Q(pk__in=links.values("memory"))


def _mine(contact: Contact) -> Q:
    """About the contact, or naming them where no link was made."""
    return _about(contact) | _saying((contact.name, *contact.aliases))


def _saying(words: Iterable[str]) -> Q:
    """Memories whose content or quote has one of the words."""
    chosen = Q(pk__in=())
    for word in words:
        if len(word) > 1:
            chosen |= Q(content__icontains=word) | Q(quote__icontains=word)
    return chosen


def _closest(memories: list[Memory], request: ForgetRequest) -> list[Memory]:
    """Without a person to hold on to, only the memories that share most words are meant."""

    def shared(memory: Memory) -> int:
        text = f"{memory.content} {memory.quote}".lower()
        return sum(word.lower() in text for word in request.words)

    most = max(map(shared, memories), default=0)
    return [memory for memory in memories if most and shared(memory) == most]


def _only_by(contact: Contact, memories: Iterable[Memory]) -> bool:
    """Whether nothing else is known of the contact: no other memory, nothing stated by an
    operator or app (such values rest on no memory)."""
    others = (
        Link.objects.standing()
        .filter(contact=contact, memory__kind=Memory.Kind.FACT)
        .exclude(memory__in=[memory.id for memory in memories])
        .exclude(memory__status=Memory.Status.ARCHIVED)
    )
    stated = any(
        not value.get("sources") for values in contact.attributes.values() for value in values
    )
    return not others.exists() and not stated
