"""Turns an extraction into drafts (cleaned, hashed, embedded, tokenised) and conflict cases."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import chain
from operator import mul
from types import MappingProxyType
from uuid import UUID, uuid4

from django.db.models import Q
from django.db.models.functions import Length

from accounts.models import EndUser
from contacts import store
from contacts.models import Contact
from memories import model_calls
from memories.fact_conflicts import FORMER, contradictions, opposites
from memories.models import Link, Memory
from memories.models.memory import content_hash
from memories.providers.embeddings import Embedder
from memories.providers.thresholds import calibration_of
from memories.search import context_tokens
from memories.search.context_tokens import around
from memories.search.tokens import tokenise
from memories.types import (
    ConflictCase,
    Draft,
    ExtractedMemory,
    ExtractedPerson,
    Extraction,
    ExtractionRequest,
    Resolution,
    StoredFact,
    StoredMemory,
)
from understanding.attributes import is_single
from understanding.dates.time_range import period
from understanding.roles import roles_of, terms
from understanding.sentences import clauses_in
from understanding.text import folded, letters, truncate

MAX_CONTENT = 1000  # graphemes: TiMemory's limit
_AND = re.compile(r"\b(?:and|but|while)\b|而且|但")
SIMILAR = 10  # existing memories looked at for a new one (TiMemory's default)
SHOWN = 4  # of them, besides those that state the same attribute, shown to the provider
PAIRS = 2  # drafts of a batch with which an existing memory is shown for its meaning alone
ROLE_MEMORIES = 3  # about a person whose role changes


def prepare(
    end_user: EndUser, extraction: Extraction, request: ExtractionRequest, embedder: Embedder
) -> tuple[dict[str, UUID], list[Draft], list[ConflictCase]]:
    """Returns the ids of an extraction's people by ref (provisional ones for people without a
    contact), the drafts of its memories, and the conflict cases of these."""
    people = _people_ids(end_user, extraction)
    drafts = _drafts_of(end_user, extraction, request, people, embedder)
    roles = _changed_roles(end_user, extraction, people)
    return people, drafts, conflict_cases(end_user, drafts, embedder, roles)


def _people_ids(end_user: EndUser, extraction: Extraction) -> dict[str, UUID]:
    """Returns an id for every person of the extraction: that of a known contact, else a provisional
    one, so that facts can be compared before the contacts exist."""
    ids: dict[str, UUID] = {}
    for person in sorted(extraction.people, key=ExtractedPerson.order):
        known = store.find_described(end_user, person, others=ids.values())
        ids[person.ref] = known.id if known else uuid4()
    return ids


def _drafts_of(
    end_user: EndUser,
    extraction: Extraction,
    request: ExtractionRequest,
    people: Mapping[str, UUID],
    embedder: Embedder,
) -> list[Draft]:
    """Returns one draft for each distinct content, embedded in one call."""
    times = {turn.id: turn.said_at for turn in request.context + request.turns}
    latest = max(turn.said_at for turn in request.turns)
    # Forgotten or retracted words must not stay in the context tokens of the memories beside them.
    hidden_turns = context_tokens.hidden(end_user) | set(extraction.retracted_turn_ids)
    for forget_request in extraction.forget:
        hidden_turns |= {forget_request.asked_in, *forget_request.turn_ids}
    turns = [
        replace(turn, content="") if turn.id in hidden_turns else turn
        for turn in request.context + request.turns
    ]
    distinct: dict[str, tuple[ExtractedMemory, datetime]] = {}
    for memory in extraction.memories:
        content = truncate(" ".join(memory.content.split()), MAX_CONTENT)
        if not content:
            continue
        if memory.brackets and content != memory.content:  # cut: the offsets are unknown
            memory = replace(memory, brackets=())
        said_at = max((times[i] for i in memory.turn_ids if i in times), default=latest)
        dated = with_period(replace(memory, content=content), said_at)
        distinct.setdefault(content_hash(content), (dated, said_at))
    contents = [memory.content for memory, _said_at in distinct.values()]
    vectors = model_calls.embed(end_user, embedder, contents)
    return [
        Draft(
            key=key,
            content=memory.content,
            said_at=said_at,
            extracted=memory,
            facts=tuple(
                StoredFact(
                    fact.key,
                    fact.value,
                    people.get(fact.person) if fact.person else None,
                    fact.valid_from or memory.valid_from,
                    fact.valid_to or memory.valid_to,
                )
                for fact in memory.facts
                if not fact.person or fact.person in people
            ),
            embedding=vector,
            tokens=tokenise(memory.content, around(turns, memory.turn_ids)),
            people=frozenset(people[ref] for ref in memory.people if ref in people),
        )
        for (key, (memory, said_at)), vector in zip(distinct.items(), vectors, strict=True)
    ]


def with_period(memory: ExtractedMemory, said_at: datetime) -> ExtractedMemory:
    """Returns ``memory`` with the time of validity that its text states (from 2019 to 2021), unless
    it has one: for all of it, or only for the facts in the clause that states the time."""
    if memory.valid_from or memory.valid_to:
        return memory
    clauses = [clause.text for clause in clauses_in(memory.content)]
    if len(memory.facts) > 1:
        clauses = [part for clause in clauses for part in _AND.split(clause)]
    for clause in clauses:
        if (span := period(clause, said_at)) is None:
            continue
        inside = [fact for fact in memory.facts if folded(fact.value) in folded(clause)]
        if len(inside) == len(memory.facts):
            return replace(memory, valid_from=span.since, valid_to=span.until)
        facts = tuple(
            replace(fact, valid_from=span.since, valid_to=span.until) if fact in inside else fact
            for fact in memory.facts
        )
        return replace(memory, facts=facts)
    return memory


def _changed_roles(
    end_user: EndUser, extraction: Extraction, people: Mapping[str, UUID]
) -> dict[UUID, list[StoredMemory]]:
    """Returns for each contact whose relationship the extraction changes the active memories that
    mention the old one: the shortest, which state little else."""
    roles = {people[one.ref]: one.relationship for one in extraction.people if one.relationship}
    changed = {}
    for contact in Contact.objects.of(end_user).filter(pk__in=roles).light():
        old_role, new_role = contact.relationship, roles[contact.pk]
        if not old_role or folded(old_role) == folded(new_role):
            continue
        kinds = {role.kind for role in roles_of(old_role)}
        # The words for the same role (boss, 上司, manager).
        synonyms = [word for word, uses in terms().items() if any(r.kind in kinds for r in uses)]
        pattern = "|".join(map(re.escape, (old_role, *synonyms)))
        about = Memory.objects.of(end_user).active().facts().about(contact.pk)
        named = about.filter(content__iregex=pattern).order_by(Length("content"), "id")
        if rows := named.defer("tokens")[:ROLE_MEMORIES]:
            changed[contact.pk] = [row.as_stored() for row in rows]
    return changed


def conflict_cases(
    end_user: EndUser,
    drafts: Sequence[Draft],
    embedder: Embedder,
    roles: Mapping[UUID, Sequence[StoredMemory]] = MappingProxyType({}),
) -> list[ConflictCase]:
    """Returns for each draft the active memories, and the earlier drafts of the batch, that it may
    repeat, update or contradict: those that state the same attribute of the same person or the
    ``roles`` of its people, and the nearest in meaning about one of its people."""
    slots = _same_slots(end_user, drafts)
    ordered = sorted(drafts, key=_order)
    stated: list[dict[UUID, StoredMemory]] = []
    near: list[dict[UUID, StoredMemory]] = []
    for place, draft in enumerate(ordered):
        earlier = [other for other in ordered[:place] if _order(other) < _order(draft)]
        stated.append(
            {m.id: m for fact in draft.facts for m in slots.get((fact.key, fact.person), ())}
            | {m.id: m for person in draft.people for m in roles.get(person, ())}
            | {
                m.id: m.as_stored()
                for m in earlier
                if any(contradictions(draft.facts, draft.said_at, m.facts))
            }
        )
        near.append({m.id: m for m in _similar(end_user, draft, embedder, earlier)})
    ids = {pk for memories in (*stated, *near) for pk in memories}
    people = Link.objects.of(end_user).people_by_memory(ids)

    def about(memory: StoredMemory) -> StoredMemory:
        return replace(memory, people=memory.people | people.get(memory.id, set()))

    fits = partial(_is_comparable, near=calibration_of(embedder.model).near_duplicate)
    related = [
        [one for pk, m in possible.items() if pk not in certain and fits(draft, one := about(m))]
        for draft, certain, possible in zip(ordered, stated, near, strict=True)
    ]
    similar: dict[UUID, list[float]] = defaultdict(list)
    for one in chain(*related):
        similar[one.id].append(one.similarity)
    # An existing memory is shown with at most PAIRS drafts for its meaning.
    least = {pk: sorted(similarities)[-PAIRS:][0] for pk, similarities in similar.items()}
    cases = []
    for draft, certain, possible in zip(ordered, stated, related, strict=True):
        nearest = sorted(
            (m for m in possible if m.similarity >= least[m.id]), key=lambda m: -m.similarity
        )
        existing = [about(one) for pk, one in certain.items() if pk != draft.id] + nearest[:SHOWN]
        if existing:
            cases.append(ConflictCase(draft.key, draft.as_stored(), tuple(existing)))
    return cases


def _is_comparable(draft: Draft, memory: StoredMemory, near: float) -> bool:
    """Whether both are about one person or about the user alone; else whether they state one plan,
    whose date may move for all of its people, or are equal and only one of them names people."""
    if draft.people & memory.people or not (draft.people or memory.people):
        return True
    if memory.happens_at and draft.extracted.happens_at and memory.happens_at > draft.said_at:
        return memory.similarity >= near
    both_name_people = draft.people and memory.people
    return not both_name_people and letters(draft.content) == letters(memory.content)


def _order(draft: Draft) -> tuple[datetime, int]:
    return draft.said_at, max(draft.extracted.turn_ids, default=0)


def _similar(
    end_user: EndUser, draft: Draft, embedder: Embedder, earlier: Sequence[Draft]
) -> list[StoredMemory]:
    """Returns the memories nearest in meaning, and the ``earlier`` drafts that are near too."""
    current = Memory.objects.of(end_user).active().facts()
    nearest = current.nearest(embedder.space, draft.embedding).defer("tokens")[:SIMILAR]
    memories = [memory.as_stored(1 - memory.distance) for memory in nearest]
    for other in earlier:
        cosine = sum(map(mul, draft.embedding, other.embedding))
        memories.append(replace(other.as_stored(), similarity=cosine))
    threshold = calibration_of(embedder.model).comparable
    return [memory for memory in memories if memory.similarity >= threshold]


def _same_slots(
    end_user: EndUser, drafts: Sequence[Draft]
) -> dict[tuple[str, UUID | None], list[StoredMemory]]:
    """Returns the active memories that state a single-valued attribute of the drafts, or a taste
    that one of them reverses, by the (attribute, person) of the draft."""
    facts = [fact for draft in drafts for fact in draft.facts]
    wanted: dict[tuple[str, UUID | None], list[tuple[str, UUID | None]]] = {}
    for fact in facts:
        ended = (fact.key, FORMER.get(fact.key, ""))
        for key in (*filter(is_single, ended), *opposites(fact.key)):
            wanted.setdefault((key, fact.person), []).append((fact.key, fact.person))
    if not wanted:
        return {}
    any_of = Q()
    for key, person in wanted:
        any_of |= Q(facts__contains=[{"key": key, "person": str(person) if person else None}])
    memories = Memory.objects.of(end_user).active().filter(any_of).defer("tokens")
    memories_by_slot: dict[tuple[str, UUID | None], list[StoredMemory]] = {}
    latest = max(draft.said_at for draft in drafts)
    for memory in (row.as_stored() for row in memories):
        for fact in memory.current:
            # Of many tastes only those that the drafts contradict.
            if is_single(fact.key) or any(contradictions(facts, latest, [fact])):
                for slot in wanted.get((fact.key, fact.person), ()):
                    memories_by_slot.setdefault(slot, []).append(memory)
    return memories_by_slot


def settle(draft: Draft, contacts: Mapping[UUID, UUID]) -> Draft:
    """Returns the draft with the ids of contacts that exist; ``contacts`` maps provisional ids to
    these. People who became no contact are dropped, and so are the facts about them."""
    facts = tuple(
        replace(fact, person=contacts[fact.person] if fact.person else None)
        for fact in draft.facts
        if fact.person is None or fact.person in contacts
    )
    people = frozenset(contacts[person] for person in draft.people if person in contacts)
    return replace(draft, facts=facts, people=people)


def settle_ended(resolution: Resolution, contacts: Mapping[UUID, UUID]) -> Resolution:
    """Returns the resolution with its ended facts about contacts that exist; ``contacts`` as in
    ``settle``."""

    def settled(fact: StoredFact) -> StoredFact:
        return replace(fact, person=fact.person and contacts.get(fact.person, fact.person))

    ended = {pk: tuple(map(settled, facts)) for pk, facts in resolution.ended.items()}
    return replace(resolution, ended=ended)
