"""Drafts into memories with type, subtype and facts, and into people and relations."""

import re
from collections.abc import Iterable
from datetime import datetime

from contacts.lexicon.rules import patterns, sets
from contacts.text import HAN, is_chinese
from memories.dates import find_dates, write_dates
from memories.dates.date_words import DateHit
from memories.providers.offline.extraction import repairs
from memories.providers.offline.extraction.draft import Draft
from memories.providers.offline.extraction.naming import MAX_NAMES
from memories.providers.offline.extraction.reading_state import Reading
from memories.providers.offline.extraction.referents import Book, Someone
from memories.providers.offline.lexicons import relations
from memories.types import ExtractedMemory, ExtractedRelation, Extraction, Fact, MemoryType, Subtype

RE = patterns(__file__)


def realize(reading: Reading) -> Extraction:
    """What a reading amounts to: its drafts as memories, and the people and ties in them."""
    memories = [
        memory
        for draft in reading.drafts
        if draft.turn.id in reading.wanted or draft.extra_turns
        for memory in _memories_of(reading, draft)
    ]
    memories = repairs.current_only(memories)
    memories = list(repairs.without_outgrown(memories))
    used = {ref for memory in memories for ref in memory.people}
    people = [p for p in reading.book.people if p.ref in used or _is_met(reading, p)]
    for person in people:
        _social(reading, person)
    refs = {p.ref for p in people}
    links = [
        ExtractedRelation(p.ref, p.owned_as, p.owner.ref, tuple(p.turn_ids))
        for p in people
        if p.owner is not None and p.owner.ref in refs and p.owned_as
    ]
    return Extraction(
        people=tuple(p.extracted() for p in people),
        memories=tuple(memories),
        relations=tuple(links),
        retracted_turn_ids=tuple(reading.retracted),
        user_names=tuple(reading.own_names[:MAX_NAMES]),
        forget=tuple(dict.fromkeys(reading.forget)),
    )


def _is_met(reading: Reading, person: Someone) -> bool:
    return person.is_contact and bool(set(person.turn_ids) & reading.wanted)


def _social(reading: Reading, person: Someone) -> None:
    if not person.relationship and person.social is not None:
        person.relationship = {
            Subtype.COLLEAGUE: "同事" if _zh(reading, person.name) else "colleague",
            Subtype.FRIEND: "朋友" if _zh(reading, person.name) else "friend",
        }.get(person.social, "")


def _zh(reading: Reading, name: str) -> bool:
    return reading.request.language == "zh" or HAN.search(name) is not None


def _memories_of(reading: Reading, draft: Draft) -> Iterable[ExtractedMemory]:
    """The memory of a draft, written out; nothing when it is not worth keeping."""
    chinese = reading.request.language == "zh" or is_chinese(draft.text())
    if draft.introduces is not None:
        yield from _introduction(reading.book, draft, chinese)
        return
    content = draft.content(reading.book, chinese)
    if not _worth_keeping(draft, content):
        return
    people = [p for p in draft.people() if p in reading.book.people]
    contacts = _contacts_among(people)
    hits = [
        hit
        for hit in find_dates(draft.text(), draft.turn.said_at, is_chinese(draft.text()))
        if hit.at
    ]
    content = write_dates(content, draft.turn.said_at, is_chinese(content))
    when = hits[0] if hits else None
    facts = tuple(_facts(reading, draft))
    kind = _memory_type(draft, facts, when)
    subject = draft.subject or (people[0] if people else None)
    subtype = subject.subtype if subject is not None else Subtype.SELF
    yield ExtractedMemory(
        content=content,
        type=kind,
        subtype=subtype,
        turn_ids=tuple(dict.fromkeys((draft.turn.id, *draft.extra_turns))),
        people=tuple(dict.fromkeys(p.ref for p in contacts)),
        quote=draft.quote,
        facts=facts,
        happens_at=when.at if when else None,
        expires_at=_expiry(kind, hits),
        confidence=draft.confidence,
    )


def _introduction(book: Book, draft: Draft, chinese: bool) -> Iterable[ExtractedMemory]:
    who = draft.introduces
    if who is None or not who.named or who not in book.people or not who.relationship:
        return
    names = [alias for alias in who.aliases if alias not in relations()]
    if chinese:
        also = f"（{'、'.join(names)}）" if names else ""
        owner = "" if who.owner is not None else "用户的"
        content = f"{who.name}{also}是{owner}{who.relationship}"
    else:
        also = f" ({', '.join(names)})" if names else ""
        owner = "" if who.owner is not None else "the user's "
        content = f"{who.name}{also} is {owner}{who.relationship}"
    linked = _contacts_among([who])
    yield ExtractedMemory(
        content=content,
        type=MemoryType.PERSONAL,
        subtype=who.subtype,
        turn_ids=(draft.turn.id,),
        people=tuple(p.ref for p in linked),
        quote=draft.quote,
    )


def _contacts_among(people: list[Someone]) -> list[Someone]:
    """Unnamed relations of others stand for the one whose they are."""
    linked: list[Someone] = []
    for person in people:
        nearest = (one for one in reversed([*person.with_owners()]) if one.is_contact)
        if (meant := next(nearest, None)) is not None and meant not in linked:
            linked.append(meant)
    return linked


def _facts(reading: Reading, draft: Draft) -> Iterable[Fact]:
    subject = draft.subject
    ref = subject.ref if subject is not None else ""
    together = [
        p
        for p in draft.people()
        if p.relation is not None and p.relation.subtype is Subtype.PARTNER
    ]
    if subject is not None and not subject.is_contact:
        yield from _through_owner(draft, subject)
        return
    if (
        subject is not None
        and subject.owner is not None
        and subject.named
        and draft.introduces is None
        and subject.owner.is_contact
    ) and not any(
        d is not draft
        and d.subject is subject
        and reading.drafts.index(d) < reading.drafts.index(draft)
        for d in reading.drafts
    ):
        yield Fact(
            "family" if subject.subtype_of_kind is Subtype.FAMILY else "relations",
            f"{subject.owned_as}{subject.name}",
            subject.owner.ref,
        )
    seen: set[tuple[str, str]] = set()
    for person, key, words in draft.side_facts:
        yield Fact(key, words, person.ref)
    for piece in draft.pieces:
        for value in piece.values:
            written = (
                write_dates(value.value, draft.turn.said_at, True)
                if value.key in {"plan"}
                else value.value
            )
            if (value.key, written) not in seen:
                seen.add((value.key, written))
                whose = ref
                if (
                    subject is None
                    and value.key in {"health", "medication", "allergy"}
                    and len(draft.people()) == 1
                    and RE.accompanies.search(piece.text)
                ):
                    whose = draft.people()[0].ref
                if not (subject is None and value.key == "plan"):
                    yield Fact(value.key, written, whose)
                if value.key == "marital_status" and subject is None and together:
                    yield Fact(value.key, written, together[0].ref)


def _through_owner(draft: Draft, subject: Someone) -> Iterable[Fact]:
    """What is said of somebody's unnamed child is a fact of their family."""
    owners = _contacts_among([subject])
    if not owners:
        return
    owner = owners[0]
    said = next((s for piece in draft.pieces[:1] for s in piece.spots if s.who is subject), None)
    text = re.sub(r"[^\w\u4e00-\u9fff].*", "", draft.pieces[0].text[said.end :]) if said else ""
    if (
        text
        and len(text) <= 12
        and subject.subtype_of_kind in {Subtype.FAMILY, Subtype.PARTNER}
        and HAN.search(text)
    ):
        yield Fact("family", f"{subject.owned_as}{text}", owner.ref)


def _expiry(kind: MemoryType, hits: list[DateHit]) -> datetime | None:
    ends = [hit.until for hit in hits if hit.until is not None]
    return max(ends) if kind is MemoryType.PLAN and ends else None


# What a fact's key makes of a memory, the weightiest first.
_TYPES = {MemoryType(name): keys for name, keys in sets(__file__, "types").items()}


def _memory_type(draft: Draft, facts: tuple[Fact, ...], when: DateHit | None) -> MemoryType:
    """The category of a memory, by its facts first and its words after."""
    text = draft.text()
    future = (
        when is not None
        and when.until is not None
        and when.until > draft.turn.said_at
        and not (_is_today(when, draft) and RE.done.search(text) and not RE.will.search(text))
    )
    keys = {fact.key for fact in facts}
    if (RE.will.search(text) and (future or "plan" in keys)) or (future and not keys):
        return MemoryType.PLAN
    for kind, telling in _TYPES.items():
        if keys & telling:
            return kind
    if keys - {"plan"}:
        return MemoryType.PERSONAL
    if "plan" in keys:
        return MemoryType.PLAN
    if RE.health.search(text):
        return MemoryType.HEALTH
    if RE.work.search(text):
        return MemoryType.PROFESSIONAL
    if when is not None or RE.did.search(text):
        return MemoryType.ACTIVITY
    return MemoryType.MISCELLANEOUS


def _is_today(when: DateHit, draft: Draft) -> bool:
    """Whether a date has begun by the time of the telling."""
    return when.at is not None and when.at.date() <= draft.turn.said_at.date()


def _worth_keeping(draft: Draft, content: str) -> bool:
    """Whether a statement says something lasting about somebody."""
    if RE.whim.match(content):
        return False
    values = [value for piece in draft.pieces for value in piece.values]
    if values:
        return True
    text = draft.text()
    if draft.people() and find_dates(text, draft.turn.said_at, HAN.search(text) is not None):
        return True
    size = len(HAN.findall(text)) + 2 * len(re.findall(r"[A-Za-z]{2,}|\d+", text))
    if draft.subject is not None:
        return size >= 5 and not RE.thin.match(text)
    if any(piece.explicit for piece in draft.pieces) and draft.people():
        return size >= 7
    if (
        not draft.people()
        and draft.pieces
        and draft.pieces[0].explicit
        and not draft.pieces[0].spots
    ):
        return size >= 6
    if any(spot.who is None for piece in draft.pieces for spot in piece.spots):
        return size >= 8 and bool(
            RE.will.search(text)
            or RE.work.search(text)
            or RE.health.search(text)
            or re.search(r"\d|用的|穿的|住的|路过|参观|参加|买了|养|学|戴", text)
        )
    return size >= 8 and bool(RE.will.search(text) and re.search(r"\d|[周月号]", text))
