"""Drafts into memories, people and relations."""

import re
from collections.abc import Iterable
from datetime import datetime

from contacts.text import HAN, is_chinese
from memories.dates import find_dates, write_dates
from memories.dates.date_words import DateHit
from memories.providers.offline import corrections
from memories.providers.offline.classify import memory_type, worth_keeping
from memories.providers.offline.draft import Draft
from memories.providers.offline.lexicons import relations
from memories.providers.offline.own_names import MAX_NAMES
from memories.providers.offline.people import Someone
from memories.providers.offline.talk import Part
from memories.types import (
    ExtractedMemory,
    ExtractedRelation,
    Extraction,
    Fact,
    MemoryType,
    Subtype,
)

_ACCOMPANIES = re.compile(r"陪|带|送|给|帮|\b(?:took|drove|accompan)", re.I)


class Writer(Part):
    """Writes the drafts of a conversation out as memories, people and relations."""

    def write(self) -> Extraction:
        memories = [
            memory
            for draft in self.drafts
            if draft.turn.id in self.wanted or draft.extra_turns
            for memory in self._memory(draft)
        ]
        memories = corrections.current_only(memories)
        memories = list(corrections.without_outgrown(memories))
        used = {ref for memory in memories for ref in memory.people}
        people = [p for p in self.book.people if p.ref in used or self._is_met(p)]
        for person in people:
            self._social(person)
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
            retracted_turn_ids=tuple(self.retracted),
            user_names=tuple(self.talk.own_names[:MAX_NAMES]),
            forget=tuple(dict.fromkeys(self.talk.forget)),
        )

    def _is_met(self, person: Someone) -> bool:
        return person.is_contact and bool(set(person.turn_ids) & self.wanted)

    def _social(self, person: Someone) -> None:
        if not person.relationship and person.social is not None:
            person.relationship = {
                Subtype.COLLEAGUE: "同事" if self._zh(person.name) else "colleague",
                Subtype.FRIEND: "朋友" if self._zh(person.name) else "friend",
            }.get(person.social, "")

    def _zh(self, name: str) -> bool:
        return self.request.language == "zh" or HAN.search(name) is not None

    def _memory(self, draft: Draft) -> Iterable[ExtractedMemory]:
        """The memory of a draft, written out; nothing when it is not worth keeping."""
        chinese = self.request.language == "zh" or is_chinese(draft.text())
        if draft.introduces is not None:
            yield from self._introduction(draft, chinese)
            return
        content = draft.content(self.book, chinese)
        if not worth_keeping(draft, content):
            return
        people = [p for p in draft.people() if p in self.book.people]
        contacts = self._linked(people)
        hits = [
            hit
            for hit in find_dates(draft.text(), draft.turn.said_at, is_chinese(draft.text()))
            if hit.at
        ]
        content = write_dates(content, draft.turn.said_at, is_chinese(content))
        when = hits[0] if hits else None
        facts = tuple(self._facts(draft))
        kind = memory_type(draft, facts, when)
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

    def _introduction(self, draft: Draft, chinese: bool) -> Iterable[ExtractedMemory]:
        who = draft.introduces
        if who is None or not who.named or who not in self.book.people or not who.relationship:
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
        linked = self._linked([who])
        yield ExtractedMemory(
            content=content,
            type=MemoryType.PERSONAL,
            subtype=who.subtype,
            turn_ids=(draft.turn.id,),
            people=tuple(p.ref for p in linked),
            quote=draft.quote,
        )

    def _linked(self, people: list[Someone]) -> list[Someone]:
        """Unnamed relations of others stand for the one whose they are."""
        linked: list[Someone] = []
        for person in people:
            while not person.is_contact and person.owner is not None:
                person = person.owner
            if person not in linked and person.is_contact:
                linked.append(person)
        return linked

    def _facts(self, draft: Draft) -> Iterable[Fact]:
        subject = draft.subject
        ref = subject.ref if subject is not None else ""
        together = [
            p
            for p in draft.people()
            if p.relation is not None and p.relation.subtype is Subtype.PARTNER
        ]
        if subject is not None and not subject.is_contact:
            yield from self._through_owner(draft, subject)
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
            and self.drafts.index(d) < self.drafts.index(draft)
            for d in self.drafts
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
                        and _ACCOMPANIES.search(piece.text)
                    ):
                        whose = draft.people()[0].ref
                    if not (subject is None and value.key == "plan"):
                        yield Fact(value.key, written, whose)
                    if value.key == "marital_status" and subject is None and together:
                        yield Fact(value.key, written, together[0].ref)

    def _through_owner(self, draft: Draft, subject: Someone) -> Iterable[Fact]:
        """What is said of somebody's unnamed child is a fact of their family."""
        owners = self._linked([subject])
        if not owners:
            return
        owner = owners[0]
        said = next(
            (s for piece in draft.pieces[:1] for s in piece.spots if s.who is subject), None
        )
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
