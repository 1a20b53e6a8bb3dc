"""Kinship and role words: what they mean, and whose they are in a text.

The words are a table in :mod:`contacts.lexicon.roles`. :func:`kinship` reads one term,
:func:`find_roles` finds the terms of a text and tells the user's own (我妈, my boss) from
someone else's (她妈妈, Anna's sister), from bare ones (妈, Mum) and from talk about mothers or
bosses in general.
"""

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from contacts.lexicon import roles as lexicon
from contacts.normal import normalise

Whose = Literal["own", "other", "bare", "generic"]
Level = Literal["kin", "unique", "common"]

_OWN_PREFIX = re.compile(
    r"^(?:我们?家?的?|咱们?家?的?|俺们?家?的?|my |our |the |a |用户的?|user's )+|^本人的?"
)
_FORMER = re.compile(r"^(?:前任?|former |previous |ex[- ])")


@dataclass(frozen=True, slots=True)
class Role:
    """What someone is to another: the class (``mother``, ``boss``), where it belongs
    (family, friend, colleague, partner, other), the gender it implies ("" for either), what
    narrows it (older, maternal, ex …) and whether it means the user's own without "my"."""

    kind: str
    subtype: str
    gender: str = ""
    tags: frozenset[str] = frozenset()
    level: Level = "common"

    def fits(self, other: "Role") -> bool:
        """Whether ``self``, said of someone, can mean a person known as ``other``."""
        kinds = {self.kind, *lexicon.COVERS.get(self.kind, ())}
        if other.kind not in kinds or (self.gender and other.gender not in ("", self.gender)):
            return False
        if other.kind == self.kind and (self.tags ^ other.tags) & lexicon.STRICT:
            return False
        both = self.tags | other.tags
        return not any(len(group & both) > 1 for group in lexicon.OPPOSITES)


@dataclass(frozen=True, slots=True)
class RoleWord:
    """A role term in a normalised text. ``start``/``end`` hold the term alone, ``outer`` is
    where its owner's words begin (``我`` of 我妈, ``Anna's``); ``owner`` are those words."""

    start: int
    end: int
    outer: int
    text: str
    roles: tuple[Role, ...]
    whose: Whose
    owner: str = ""
    group: bool = False


@cache
def terms() -> dict[str, tuple[Role, ...]]:
    """Every single role word, normalised, with the roles it may stand for."""
    table: dict[str, tuple[Role, ...]] = {}
    for line in lexicon.TABLE.strip().splitlines():
        kind, subtype, gender, tags, level, zh, en = (part.strip() for part in line.split("|"))
        role = Role(kind, subtype, gender, frozenset(tags.split()), level)  # type: ignore[arg-type]
        for word in (*zh.split(), *(term.strip() for term in en.split(",") if term.strip())):
            for key in {normalise(word), normalise(word).replace("-", " ")}:
                table[key] = (*table.get(key, ()), role)
    return table


@cache
def groups() -> dict[str, tuple[Role, ...]]:
    """Every word for several people at once (爸妈, my parents), with their roles."""
    known: dict[tuple[str, str], Role] = {}
    for roles in terms().values():
        for role in roles:
            known.setdefault((role.kind, ""), Role(role.kind, role.subtype, role.gender))
    return {
        normalise(word): tuple(
            Role(kind, known[kind, ""].subtype, "", frozenset({tag} if tag else ()), "kin")
            for kind, tag in parts
        )
        for word, parts in lexicon.GROUPS.items()
    }


@lru_cache(maxsize=4096)
def roles_of(term: str) -> tuple[Role, ...]:
    """The roles that a relationship or alias states: 我的大学同学, older brother, ex-boss.
    Empty when there is none in it."""
    key = _OWN_PREFIX.sub("", normalise(term).strip())
    former = bool(_FORMER.match(key)) and key not in terms()
    bare = _FORMER.sub("", key).strip() if former else key
    found = terms().get(bare) or _by_tail(bare) or _by_tail(re.split(r"[,，(（/、;；]", bare)[0])
    if former:
        found = tuple(Role(r.kind, r.subtype, r.gender, r.tags | {"ex"}, r.level) for r in found)
    return found


def _by_tail(key: str) -> tuple[Role, ...]:
    """The role of the longest known word that ``key`` ends with: 高中班主任 is a 班主任."""
    if key.isascii():
        words = key.split(" ")
        tails = (" ".join(words[i:]) for i in range(len(words)))
    else:
        tails = (key[i:] for i in range(len(key) - 1))
    return next((terms()[tail] for tail in tails if tail in terms()), ())


def kinship(term: str) -> Role | None:
    """The (first) role that ``term`` states, or None when it isn't a role word."""
    return next(iter(roles_of(term)), None)
