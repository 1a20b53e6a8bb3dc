"""Whom a known name means: who is known by it, or somebody else of that name."""

import re

from contacts.resolution import namesakes
from memories.providers.offline.lexicons import relations
from memories.providers.offline.meeting import Spot
from memories.providers.offline.people import Someone
from memories.providers.offline.relation_words import key_of, role_patterns, role_said
from memories.providers.offline.roles import RoleScanner

_TO_NAME = re.compile(
    r"里?(?:也?有)?(?:一?[个位])?(?:也?名?叫做?)?|,?\s(?:(?:is )?(?:also )?(?:named |called ))?"
)
_FROM = re.compile(r"\sfrom (?:work|my \w+)\b")
_OF_OTHERS = re.compile(r"(?:\b(?:his|her|their|your)|['’]s?)\s$|[他她你]们?的?$", re.I)


class Bearers(RoleScanner):
    """Tells namesakes apart by what the clause says of them."""

    def _bearer(
        self, text: str, spots: list[Spot], start: int, end: int, known: Someone
    ) -> tuple[Someone, bool]:
        """Whom the name at ``start``..``end`` means, and whether they are met here: ``known``,
        unless the words say that it's another or what stands beside it gainsays it."""
        name, role = text[start:end], self._role_beside(text, spots, start, end)
        # What an earlier batch took in makes nobody new.
        maybe = self.renewing or self.book.is_shared(name)
        if maybe and namesakes.says_another(text, start, end):
            role = role or role_said(text, end) or namesakes.role_by_place(text)
            return self._named(name, role, None, another=True)
        if namesakes.is_someone_else(role, known.relationship):
            return self._named(name, role, None)
        return self.book.spoken_last(known, name), False

    def _role_beside(self, text: str, spots: list[Spot], start: int, end: int) -> str:
        """What a name's bearer is to the user by a word right beside it (同事张伟, an intern
        named Sam; Sam, my landlord), or ""."""
        _, bare_zh, mine_en, bare_en = role_patterns()
        for match in (m for p in (bare_zh, bare_en) for m in p.finditer(text, 0, start)):
            sort = relations()[key_of(match.group("word"))].subtype
            if _TO_NAME.fullmatch(text, match.end(), start) and not (
                _OF_OTHERS.search(text[: match.start()])
                or self._is_anothers(text, spots, match.start(), sort)
            ):
                return match.group("word")
        place = _FROM.match(text, end)
        if place:
            return namesakes.role_by_place(place.group())
        aside = mine_en.match(text, end + 2) if text.startswith(", ", end) else None
        return aside.group("word") if aside and text[aside.end() :][:1] in ",." else ""
