"""What the quotes of a batch amount to: memories, people and relations."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from memories.providers.offline.reading.choices import (
    BORNE_OUT,
    ELSEWHERE,
    FACT,
    IMAGINED,
    NAME,
    OWN,
    ROLE,
    UNTRUE,
)
from memories.providers.offline.reading.circle import PersonDraft, in_order
from memories.providers.offline.reading.draft_book import DraftBook
from memories.providers.offline.reading.quoting import Draft
from memories.types import (
    ExtractedMemory,
    ExtractedRelation,
    Extraction,
    ExtractionRequest,
    Fact,
    MemoryType,
    Subtype,
)
from understanding.dates import find_dates
from understanding.dates.date_words import DateHit
from understanding.text import is_chinese


def extraction_of(book: DraftBook, request: ExtractionRequest) -> Extraction:
    """What the drafts amount to, and who was met."""
    wanted = {turn.id for turn in request.turns}
    contacts = _contacts(book, wanted)
    return Extraction(
        people=tuple(one.extracted() for one in contacts),
        memories=tuple(_memory(draft, contacts) for draft in book.drafts),
        relations=tuple(_relations(contacts)),
        retracted_turn_ids=tuple(book.retracted),
        user_names=tuple(book.discourse.user_names),
        forget=tuple(dict.fromkeys(book.forget)),
    )


def _contacts(book: DraftBook, wanted: set[int]) -> list[PersonDraft]:
    """Whom the batch speaks of as people of the user's life, and whose relatives they are."""
    _forget_unsaid_roles(book)
    told = {one.ref for draft in book.drafts for one in draft.people()}
    found = [
        one
        for one in book.discourse.circle.people
        if set(one.turns) & wanted and is_contact(one, one.ref in told)
    ]
    owners = [one.owner for one in found if one.owner is not None and one.owner.owner is None]
    owners += [owner for one in found for _, owner in one.ties if owner.named]
    return [one for one in in_order(found) if one in found or one in owners]


def _forget_unsaid_roles(book: DraftBook) -> None:
    """Whoever is new and has a name is in no role that only sentences give them which imagine: what
    a dream made of them is none."""
    said = {
        one.ref
        for draft in book.drafts
        for spot in draft.spots
        if spot.how == "role" and not _imagines(draft)
        for one in spot.people
    }
    for one in book.discourse.circle.people:
        if one.contact_id is None and one.named and one.ref not in said:
            one.role, one.owner = "", None


def _imagines(draft: Draft) -> bool:
    return draft.judged.act["fiction"] + draft.judged.act["suppose"] >= IMAGINED


def is_contact(one: PersonDraft, told: bool) -> bool:
    """Whether somebody is a person of the user's life: a contact, somebody whose name is sure,
    was used twice or stands beside what they are to somebody, or a relative or other role of the
    user's own of whom something is told."""
    if one.contact_id is not None:
        return True
    if one.by_pronoun:
        return False
    if one.named:
        borne_out = len(one.turns) > 1 or one.role
        return one.certainty >= (BORNE_OUT if borne_out else NAME)
    return told and one.owner is None and bool(one.role) and one.certainty >= ROLE


def _memory(draft: Draft, contacts: Sequence[PersonDraft]) -> ExtractedMemory:
    said_at = draft.spoken.turn.said_at
    content, brackets = draft.content()
    words = draft.words()
    hits = [hit for hit in find_dates(words, said_at, is_chinese(words)) if hit.at]
    people = [one for one in draft.people() if one in contacts]
    kind = MemoryType.PREFERENCE if draft.wish else draft.judged.type
    return ExtractedMemory(
        content=content,
        type=kind,
        subtype=_subtype(draft, people),
        turn_ids=tuple(dict.fromkeys((draft.turn_id, *draft.extra_turns))),
        people=tuple(one.ref for one in people),
        quote=words,
        brackets=tuple(brackets),
        facts=tuple(_facts(draft, contacts)),
        happens_at=hits[0].at if hits else None,
        happens_until=_last_day(hits[0]) if hits else None,
        expires_at=_expiry(kind, hits),
        confidence=round(draft.sure() if people else 1.0, 3),
        link_confidence={one.ref: round(draft.sure_of(one), 3) for one in people},
    )


def _subtype(draft: Draft, people: Sequence[PersonDraft]) -> Subtype:
    """The user's own where they are its subject, or it is about them beside somebody. Of nobody
    who is a contact it is as of whom it speaks, so that it is linked once they are one."""
    own = draft.subject is None and (draft.explicit or draft.judged.about_user >= OWN)
    about = people or draft.people()
    if not about or (people and own):
        return Subtype.SELF
    return next((one for one in about if one is draft.subject), about[0]).subtype


def _facts(draft: Draft, contacts: Sequence[PersonDraft]) -> Iterator[Fact]:
    if draft.wish:
        yield Fact("answer_wish", draft.text())
    for value, subject in dict.fromkeys(draft.values) if is_believed(draft) else ():
        if subject is None or subject in contacts:
            yield Fact(value.key, value.value, subject.ref if subject else "")


def is_believed(draft: Draft) -> bool:
    """Whether a sentence is told as a fact, stands alone, and hardly does what need not be true."""
    acts = draft.judged.act
    untrue = acts["suppose"] + sum(acts[act] for act in ELSEWHERE)
    return draft.before is None and untrue < UNTRUE and draft.judged.modality["fact"] >= FACT


def _last_day(hit: DateHit) -> datetime | None:
    """The beginning of the last day of a longer time."""
    if hit.at is None or hit.until is None or hit.until - hit.at <= timedelta(days=1):
        return None
    return hit.until - timedelta(days=1)


def _expiry(kind: MemoryType, hits: Sequence[DateHit]) -> datetime | None:
    ends = [hit.until for hit in hits if hit.until is not None]
    return max(ends) if kind is MemoryType.PLAN and ends else None


def _relations(contacts: Sequence[PersonDraft]) -> Iterator[ExtractedRelation]:
    for one in contacts:
        if one.owner is not None and one.owner in contacts and one.role:
            yield ExtractedRelation(one.ref, one.role, one.owner.ref, tuple(one.turns))
        for role, owner in one.ties:
            if owner in contacts:
                yield ExtractedRelation(one.ref, role, owner.ref, tuple(one.turns))
