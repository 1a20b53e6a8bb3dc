"""Reads memories that a person or an app wrote or corrected as if users had stated them: their
facts and when these are valid, and what they contradict.

A memory waits as ``unread``. One that has facts already, for example because it was moved to
another person, is only compared again.
"""

import logging
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from uuid import UUID

from django.db.models import QuerySet

from accounts.cells import atomic
from accounts.models import EndUser
from contacts import store
from contacts.models import Contact
from memories import model_calls
from memories.corrections.rewrite import supersede
from memories.models import Memory
from memories.models.memory import fact_row
from memories.pipeline import candidates
from memories.providers.errors import ProviderError, RefusedError, TransientError
from memories.providers.factory import embedder, language_provider
from memories.types import (
    Draft,
    ExtractedMemory,
    ExtractionRequest,
    StoredFact,
    Subtype,
    Turn,
    Verdict,
)
from understanding.statements.own_words import in_first_person

log = logging.getLogger(__name__)


def waiting(end_user_id: int) -> list[UUID]:
    """Returns the ids of the memories of an end user that wait to be read, the oldest first."""
    return list(_due(end_user_id).order_by("said_at", "pk").values_list("pk", flat=True))


def _due(end_user_id: int) -> QuerySet[Memory]:
    return Memory.objects.of(end_user_id).active().facts().filter(unread=True)


def read(end_user_id: int, memory_id: UUID) -> bool:
    """Reads a waiting memory; False if it is left for later because the model is unavailable. One
    that the model can never read is marked as read and stays as it is."""
    memory = _due(end_user_id).filter(pk=memory_id).select_related("end_user").first()
    if memory is None:
        return True
    try:
        while not _write(memory, people := _contacts_of(memory), _draft(memory, people)):
            pass  # its contacts were merged, split or unlinked meanwhile
    except (TransientError, RefusedError) as error:
        log.info("memory %s is read later: %s", memory_id, error.reason)
        return False
    except ProviderError as error:
        log.warning("memory %s can't be read: %s", memory_id, error.reason)
        _due(end_user_id).filter(pk=memory_id).update(unread=False)
    return True


def _contacts_of(memory: Memory) -> list[Contact]:
    return list(Contact.objects.standing().filter(links__memory=memory, links__rejected=False))


def _draft(memory: Memory, people: Sequence[Contact]) -> Draft:
    """Returns the memory as a draft, as if it had just been stated. Raises ProviderError."""
    stored = memory.as_stored()
    reading, facts = (None, stored.facts) if memory.facts else _read_text(memory, people)
    times = reading or ExtractedMemory("", stored.type, Subtype.OTHER, ())
    extracted = replace(
        times,
        content=memory.content,
        type=stored.type,
        confidence=memory.confidence,
        valid_from=memory.valid_from or times.valid_from,
        valid_to=memory.valid_to or times.valid_to,
        happens_at=memory.happens_there or times.happens_at,
        happens_until=memory.happens_until_there if memory.happens_at else times.happens_until,
    )
    [vector] = model_calls.embed(memory.end_user, embedder(), [memory.content])
    linked = frozenset(contact.pk for contact in people)
    return Draft(
        memory.content_hash, memory.content, stored.said_at, extracted, facts, vector, [], linked,
        memory.pk,
    )  # fmt: skip


def _read_text(
    memory: Memory, people: Sequence[Contact]
) -> tuple[ExtractedMemory | None, tuple[StoredFact, ...]]:
    """Returns what a provider reads in a memory: its times (None if it reads nothing), and the
    facts about the user and ``people``."""
    content = in_first_person(memory.content)
    end_user, provider = memory.end_user, language_provider()
    request = ExtractionRequest(
        turns=(Turn(1, "user", content, memory.said_there),),
        # Its first contact is the antecedent of "she" or of a dropped subject in it.
        context=tuple(Turn(0, "user", one.name, memory.said_there) for one in people[:1]),
        people=tuple(contact.person for contact in people),
        language=end_user.writing_language,
        user_names=tuple(end_user.names),
    )
    call = partial(provider.extract, request)
    extraction = model_calls.ask(end_user, provider, "extract", call)
    if not extraction.memories:
        return None, ()
    people_by_ref: dict[str, UUID | None] = {"": None}
    for person in extraction.people:
        contact_id = person.contact_id or next(
            (one.id for one in people if person.name in (one.name, *one.aliases)), None
        )
        survivor = store.survivor(end_user, contact_id) if contact_id else None
        if survivor is not None and survivor in people:
            people_by_ref[person.ref] = survivor.pk
    dated = [
        candidates.with_period(replace(one, content=memory.content), memory.said_there)
        for one in extraction.memories
    ]
    facts = dict.fromkeys(
        StoredFact(
            fact.key,
            fact.value,
            people_by_ref[fact.person],
            fact.valid_from or one.valid_from or memory.valid_from,
            fact.valid_to or one.valid_to or memory.valid_to,
        )
        for one in dated
        for fact in one.facts
        if fact.person in people_by_ref
    )
    first = dated[0] if len(dated) == 1 else replace(dated[0], valid_from=None, valid_to=None)
    return first, tuple(facts)


def _write(memory: Memory, people: Sequence[Contact], draft: Draft) -> bool:
    """Stores what was read; False, without storing, if the people of the memory have changed."""
    provider, end_user = language_provider(), memory.end_user
    cases = candidates.conflict_cases(end_user, [draft], embedder()) if draft.facts else []
    resolve = partial(provider.resolve, cases)
    resolutions = model_calls.ask(end_user, provider, "resolve", resolve) if cases else {}
    with atomic():
        locked = EndUser.objects.lock(end_user.pk)
        row = _due(end_user.pk).filter(pk=memory.pk).first() if locked else None
        if locked is None or row is None or row.content_hash != draft.key:
            return True
        current = _contacts_of(row)
        if {*current} != {*people}:
            return False
        row.unread = False
        if not row.facts:
            row.facts = [fact_row(fact) for fact in draft.facts]
            row.valid_from, row.valid_to = draft.extracted.valid_from, draft.extracted.valid_to
            row.set_happens_at(draft.extracted.happens_at, draft.extracted.happens_until)
        row.save(
            update_fields=[
                "facts", "unread", "valid_from", "valid_to", "happens_at", "happens_until",
                "happens_offset",
            ]
        )  # fmt: skip
        for resolution in resolutions.get(draft.key, ()):
            if resolution.verdict is not Verdict.SUPERSEDES:
                continue
            older = Memory.objects.of(locked).active().filter(pk__in=resolution.targets)
            supersede(
                locked, list(older.defer("tokens")), row, resolution, actor="extractor", keep=True
            )
        for contact in current:
            store.save(contact, [])
    return True
