"""Drafts into memories with type, subtype and facts, and into people and relations."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from contacts.text import is_chinese
from memories.dates import find_dates, write_dates
from memories.dates.date_words import DateHit
from memories.providers.offline.reading.choices import CHOICES, OWN, UNSETTLED, Choices
from memories.providers.offline.reading.circle import Someone, in_order
from memories.providers.offline.reading.draft_book import DraftBook
from memories.providers.offline.reading.speech import as_typed
from memories.providers.offline.reading.telling import Draft
from memories.types import (
    ExtractedMemory,
    ExtractedRelation,
    Extraction,
    ExtractionRequest,
    Fact,
    MemoryType,
    Subtype,
)

MAX_NAMES = 5
# What is told of somebody at second hand, or meant but not settled, is never said to be sure.
HEARSAY = 0.55


def realize(book: DraftBook, request: ExtractionRequest, choices: Choices = CHOICES) -> Extraction:
    """What the drafts amount to, and who was met."""
    wanted = {turn.id for turn in request.turns}
    kept = [draft for draft in book.drafts if is_kept(draft, choices)]
    contacts = _contacts(book, kept, wanted, choices)
    memories = [
        memory
        for draft in kept
        if (memory := _memory(draft, contacts, request.language)) is not None
    ]
    return Extraction(
        people=tuple(one.extracted() for one in contacts),
        memories=tuple(memories),
        relations=tuple(_relations(contacts)),
        retracted_turn_ids=tuple(book.retracted),
        user_names=tuple(book.discourse.user_names[:MAX_NAMES]),
        forget=tuple(dict.fromkeys(book.forget)),
    )


def is_kept(draft: Draft, choices: Choices) -> bool:
    """Whether a draft becomes a memory."""
    parsed = any(clause.values for clause in draft.clauses)
    return keep_of(draft) >= (choices.parsed if parsed else choices.keep)


def keep_of(draft: Draft) -> float:
    """The probability that a draft tells something of a life."""
    if draft.judgement is None:
        return 0.0
    return draft.judgement.keep


def _contacts(
    book: DraftBook, kept: Sequence[Draft], wanted: set[int], choices: Choices
) -> list[Someone]:
    """Whom the batch speaks of as people of the user's life, and whose relatives they are."""
    told = {one.ref for draft in kept for one in draft.people()}
    found = [
        one
        for one in book.discourse.circle.people
        if set(one.turns) & wanted and is_contact(one, one.ref in told, choices)
    ]
    owners = [one.owner for one in found if one.owner is not None and one.owner.owner is None]
    owners += [owner for one in found for _, owner in one.ties if owner.named]
    return [one for one in in_order(found) if one in found or one in owners]


def is_contact(one: Someone, told: bool, choices: Choices) -> bool:
    """Whether somebody is a person of the user's life: a contact, somebody with a name, or a
    relative or other role of the user's own; of others' unnamed relatives only those of whom
    something is told."""
    if one.contact_id is not None:
        return True
    if one.named:
        return one.certainty >= choices.name
    if one.by_pronoun:
        return False
    if one.owner is not None:
        return told and one.certainty >= choices.owned and one.owner.owner is None
    return one.certainty >= (choices.role if one.role else choices.stranger)


def _memory(draft: Draft, contacts: Sequence[Someone], language: str) -> ExtractedMemory | None:
    judgement = draft.judgement
    if judgement is None:
        return None
    said_at = draft.heard.turn.said_at
    text = draft.text()
    chinese = language == "zh" or is_chinese(text)
    content = write_dates(draft.content(chinese), said_at, is_chinese(text))
    if not content:
        return None
    hits = [hit for hit in find_dates(text, said_at, is_chinese(text)) if hit.at]
    people = [one for one in draft.people() if one in contacts]
    confidence = keep_of(draft) * (draft.sure() if draft.people() else 1.0)
    if judgement.modality["hearsay"] + judgement.modality["unsure"] >= UNSETTLED:
        confidence = min(confidence, HEARSAY)
    return ExtractedMemory(
        content=content,
        type=judgement.type,
        subtype=_subtype(draft, people),
        turn_ids=tuple(dict.fromkeys((draft.turn_id, *draft.extra_turns))),
        people=tuple(one.ref for one in people),
        quote=as_typed(draft.sentence.text, draft.heard.turn.content),
        facts=tuple(_facts(draft, contacts, said_at)),
        happens_at=hits[0].at if hits else None,
        expires_at=_expiry(judgement.type, hits),
        confidence=round(min(confidence, 1.0), 3),
    )


def _subtype(draft: Draft, people: Sequence[Someone]) -> Subtype:
    """The user's own where they are its subject, or it is about them beside somebody."""
    own = draft.subject is None and draft.clauses[0].explicit
    about = draft.judgement.about_user if draft.judgement else 0.0
    if not people or own or about >= OWN:
        return Subtype.SELF
    return next((one for one in people if one is draft.subject), people[0]).subtype


def _facts(draft: Draft, contacts: Sequence[Someone], said_at: datetime) -> Iterator[Fact]:
    seen: set[tuple[str, str]] = set()
    for clause in draft.clauses:
        if clause.subject is not None and clause.subject not in contacts:
            continue
        for value in clause.values:
            plan = value.key == "plan"
            if (value.key, value.value) in seen or (plan and clause.subject is None):
                continue
            seen.add((value.key, value.value))
            written = write_dates(value.value, said_at, True) if plan else value.value
            yield Fact(value.key, written, clause.subject.ref if clause.subject else "")


def _expiry(kind: MemoryType, hits: Sequence[DateHit]) -> datetime | None:
    ends = [hit.until for hit in hits if hit.until is not None]
    return max(ends) if kind is MemoryType.PLAN and ends else None


def _relations(contacts: Sequence[Someone]) -> Iterator[ExtractedRelation]:
    for one in contacts:
        if one.owner is not None and one.owner in contacts and one.role:
            yield ExtractedRelation(one.ref, one.role, one.owner.ref, tuple(one.turns))
        for role, owner in one.ties:
            if owner in contacts:
                yield ExtractedRelation(one.ref, role, owner.ref, tuple(one.turns))
