"""Kinship and role words: what they mean, and whose they are in a text.

The words are the tables roles.tsv and role_kinds.tsv of :mod:`understanding.lexicon`. :func:`kinship` reads one term,
``understanding.role_mentions`` finds the terms of a text.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Literal

from understanding import segmentation
from understanding.lexicon import Title, mapping, rows, titles, words
from understanding.lexicon.rules import patterns
from understanding.text import is_han, normalise
from understanding.types import Person

Whose = Literal["own", "other", "bare", "generic"]
Level = Literal["kin", "unique", "common"]

lex = patterns("role_phrases")
_NOBODY_TAGS = frozenset("v a b d t f s m q ad an vn vd ns nt".split())  # jieba's

# Tags of which a person bears at most one: a role with one never means a contact with another.
OPPOSITES: tuple[frozenset[str], ...] = (
    frozenset({"older", "younger"}),
    frozenset({"maternal", "paternal"}),
    frozenset({"blood", "marriage"}),
    frozenset({"his", "hers"}),
    frozenset({"sister", "wife", "husband", "brother"}),
)
# Tags that a word must share with the contact's own: my mother is not my mother-in-law.
STRICT: frozenset[str] = frozenset({"inlaw", "step", "ex"})


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
        kinds = {self.kind, *covered_by(self.kind)}
        if other.kind not in kinds or (self.gender and other.gender not in ("", self.gender)):
            return False
        if "future" in self.tags - other.tags:
            return False
        if other.kind == self.kind and (self.tags ^ other.tags) & STRICT:
            return False
        both = self.tags | other.tags
        return not any(len(group & both) > 1 for group in OPPOSITES)


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
def covered_by(kind: str) -> tuple[str, ...]:
    """The classes that answer to ``kind`` as well: asked for a friend, a best friend fits."""
    return tuple(mapping("role_kinds", "covers").get(kind, "").split())


@cache
def terms() -> dict[str, tuple[Role, ...]]:
    """Every single role word, normalised, with the roles it may stand for."""
    table: dict[str, tuple[Role, ...]] = {}
    for word, role in _roles(many=False):
        for key in {normalise(word), normalise(word).replace("-", " ")}:
            table[key] = (*table.get(key, ()), role)
    return table


@cache
def groups() -> dict[str, tuple[Role, ...]]:
    """Every word for several people at once (爸妈, my parents), with their roles."""
    table: dict[str, tuple[Role, ...]] = {}
    for word, role in _roles(many=True):
        table[normalise(word)] = (*table.get(normalise(word), ()), role)
    return table


def _roles(*, many: bool) -> Iterator[tuple[str, Role]]:
    subtypes = mapping("role_kinds", "subtype")
    for row in rows("roles"):
        if row["role"] and (row["number"] == "many") is many:
            tags = frozenset(row["tags"].split())
            kind, level = row["role"], row["level"]
            yield row["word"], Role(kind, subtypes[kind], row["gender"], tags, level)  # type: ignore[arg-type]


@lru_cache(maxsize=4096)
def roles_of(term: str) -> tuple[Role, ...]:
    """The roles that a relationship or alias states: 我的大学同学, older brother, ex-boss.
    Empty when there is none in it."""
    key = lex.own_prefix.sub("", normalise(term).strip())
    tag, bare = "", key
    for name, said in (("ex", lex.former), ("future", lex.future)):
        if said.match(key) and key not in terms():
            tag, bare = name, said.sub("", key).strip()
    found = terms().get(bare) or _by_tail(bare) or _by_tail(lex.aside.split(bare)[0].strip())
    if key.startswith("old "):
        # An old flatmate is one no longer, since one has one at a time; an old friend still is one.
        over = [tagged((role,), "ex")[0] if role.level == "unique" else role for role in found]
        return tuple(over)
    return tagged(found, tag) if tag else found


def with_former(text: str, start: int, end: int) -> str:
    """The role word at this place of a text, with what stands right before it and says that they are
    that no longer (old flatmate, 以前的室友)."""
    before = text[:start]
    qualifier = lex.zh_former.search(before) or lex.en_former.search(before)
    return text[qualifier.start() if qualifier else start : end]


def tagged(roles: tuple[Role, ...], tag: str) -> tuple[Role, ...]:
    """The roles narrowed by a tag more."""
    return tuple(replace(role, tags=role.tags | {tag}) for role in roles)


@lru_cache(maxsize=4096)
def is_anothers(relationship: str) -> bool:
    """Whether a relationship text says what someone is to somebody else than the user: Ben's
    sister, 老婆的闺蜜, 她妈妈, a friend of my wife. "My little sister" and 公司的同事 do not."""
    key = lex.own_prefix.sub("", normalise(relationship).strip())
    key = lex.aside.split(key)[0].strip()
    if not key or key in terms() or key in groups():
        return False
    if lex.by_pronoun.match(key):
        return True
    if lex.by_of.search(key):
        return bool(_by_tail(lex.by_of.split(key)[0]))
    found = lex.possessive.match(key)
    if found:
        return is_owner(found["owner"] or found["zh"])
    heads = (key[:size] for size in range(len(key) - 1, 1, -1)) if is_han(key[0]) else ()
    first = next((head for head in heads if head in terms()), "")
    near = any(role.subtype in ("family", "partner") for role in terms().get(first, ()))
    return near and key[len(first) :] in terms()


def is_owner(phrase: str) -> bool:
    """Whether ``phrase``, said before 的 or 's, mean somebody and no place, time or quality."""
    is_twice = len(phrase) == 2 and phrase[0] == phrase[1] and is_han(phrase[0])
    if is_twice or _by_tail(normalise(phrase)):  # 甜甜 is a nickname more often than sweet
        return True
    if lex.nobody.search(phrase) or lex.zh_praise.search(f"{phrase}的"):
        return False
    cut = segmentation.cut(phrase) if is_han(phrase[-1]) else ()
    return not cut or len(cut[-1].text) == 1 or cut[-1].tag not in _NOBODY_TAGS


def _by_tail(key: str) -> tuple[Role, ...]:
    """The role of the longest known word that ``key`` ends with: 高中班主任 is a 班主任."""
    if key.isascii():
        parts = key.split(" ")
        tails = (" ".join(parts[i:]) for i in range(len(parts)))
    else:
        tails = (key[i:] for i in range(len(key) - 1))
    return next((terms()[tail] for tail in tails if tail in terms()), ())


def kinship(term: str) -> Role | None:
    """The (first) role that ``term`` states, or None when it isn't a role word."""
    return next(iter(roles_of(term)), None)


def noun_gender(noun: str) -> str:
    """The gender that a common noun for a person carries, or nothing."""
    if lex.female_noun.search(noun):
        return "female"
    return "male" if lex.male_noun.search(noun) else ""


def gender_of(word: str) -> str:
    """The gender that a role word implies, or nothing."""
    genders = {role.gender for role in roles_of(word)}
    return genders.pop() if len(genders) == 1 else ""


def is_called(person: Person, word: str) -> bool:
    """Whether ``person`` is what the role word says: by relationship, alias or title."""
    asked = roles_of(word)
    return any(
        word in text.lower() or any(a.fits(b) for a in asked for b in roles_of(text))
        for text in (person.relationship, *person.aliases)
        if text
    )


def same_kind(word: str, kind: str) -> bool:
    """Whether a relation of this ``kind`` may be spoken of as ``word``."""
    if word == kind:
        return True
    stated = roles_of(kind) or (Role(kind, ""),)
    return any(asked.fits(role) or role.fits(asked) for asked in roles_of(word) for role in stated)


def is_role(word: str) -> bool:
    """Whether ``word`` is what somebody is to another, or an occupation."""
    return bool(roles_of(word)) or word in _LISTED


_LISTED = words("strangers", "people_zh", "people_en") - words("strangers", "known_zh", "known_en")
_OLD, _YOUNG = words("role_ages", "old"), words("role_ages", "young")


def noun_age(text: str) -> str:
    """Whether a phrase is of the old or the young, or nothing."""
    if lex.old.search(text):
        return "old"
    return "young" if lex.young.search(text) else ""


@lru_cache(maxsize=16384)
def person_age(person: Person) -> str:
    """Whether what somebody is to the user makes them old or young, or nothing."""
    roles = roles_of(person.relationship)
    if any(role.kind in _OLD or "older" in role.tags for role in roles):
        return "old"
    if any(role.kind in _YOUNG or "younger" in role.tags for role in roles):
        return "young"
    return ""


@lru_cache(maxsize=16384)
def person_gender(person: Person) -> str:
    """What is recorded, else what the relationship or a form of address says."""
    if person.gender:
        return person.gender
    texts = (person.relationship, *person.aliases, person.name)
    by_title = (title.gender for title in map(_title, texts) if title)
    return next(filter(None, (*map(gender_of, texts), *by_title)), "")


def _title(text: str) -> Title | None:
    """The form of address at the end of a Chinese name or the beginning of an English one (王姐, Mr Tan)."""
    first, _, name = text.lower().partition(" ")
    if name and "'" not in text and "’" not in text:
        return titles("en").get(first.rstrip("."))
    ends = (text[-size:] for size in (2, 1) if len(text) > size)
    return next((titles("zh")[end] for end in ends if end in titles("zh")), None)
