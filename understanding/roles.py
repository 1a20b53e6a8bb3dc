"""Kinship and role words: what they mean, and whose roles they are in a text.

The words are the tables roles.tsv and role_kinds.tsv of :mod:`understanding.lexicon`.
:func:`kinship` reads one term, ``understanding.role_mentions`` finds the terms of a text.
"""

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
_TAGS_OF_NOBODY = frozenset("v a b d t f s m q ad an vn vd ns nt".split())  # jieba's

# Tags of which a person has at most one: a role with one never means a contact with another.
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
    """What a person is to another: the class (``mother``, ``boss``), its group (family, friend,
    colleague, partner, other), the gender it implies ("" for either), its tags (older, maternal, ex
    …), and whether it means the user's own without "my"."""

    kind: str
    subtype: str
    gender: str = ""
    tags: frozenset[str] = frozenset()
    level: Level = "common"

    def fits(self, other: "Role") -> bool:
        """Whether this role, stated of somebody, can mean a person known as ``other``."""
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
    """A role term in a normalised text. ``start`` and ``end`` enclose the term alone, ``outer`` is
    the start of its owner (``我`` of 我妈, ``Anna's``), ``owner`` the owner's words."""

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
    """Returns the classes that ``kind`` includes: a best friend is a friend."""
    return tuple(mapping("role_kinds", "covers").get(kind, "").split())


@cache
def terms() -> dict[str, tuple[Role, ...]]:
    """Returns every role word for one person, normalised, with the roles it may stand for."""
    return _roles_by_word(many=False)


@cache
def groups() -> dict[str, tuple[Role, ...]]:
    """Returns every word for several people at once (爸妈, my parents), with their roles."""
    return _roles_by_word(many=True)


def _roles_by_word(*, many: bool) -> dict[str, tuple[Role, ...]]:
    subtypes = mapping("role_kinds", "subtype")
    table: dict[str, tuple[Role, ...]] = {}
    for row in rows("roles"):
        if (row["number"] == "many") is many:
            tags = frozenset(row["tags"].split())
            kind, level = row["role"], row["level"]
            role = Role(kind, subtypes[kind], row["gender"], tags, level)  # type: ignore[arg-type]
            word = normalise(row["word"])
            for key in {word} if many else {word, word.replace("-", " ")}:
                table[key] = (*table.get(key, ()), role)
    return table


@lru_cache(maxsize=4096)
def roles_of(term: str) -> tuple[Role, ...]:
    """Returns the roles that a relationship or alias states: 我的大学同学, older brother, ex-boss. Empty
    if it states none."""
    key = lex.own_prefix.sub("", normalise(term).strip())
    tag, bare = "", key
    for name, pattern in (("ex", lex.former), ("future", lex.future)):
        if pattern.match(key) and key not in terms():
            tag, bare = name, pattern.sub("", key).strip()
    roles = terms().get(bare) or _by_tail(bare) or _by_tail(lex.aside.split(bare)[0].strip())
    if key.startswith("old "):
        # An old flatmate is a former one, since one has one at a time; an old friend still is one.
        former = [tagged((role,), "ex")[0] if role.level == "unique" else role for role in roles]
        return tuple(former)
    return tagged(roles, tag) if tag else roles


def with_former(text: str, start: int, end: int) -> str:
    """Returns the role word at a place of a text, with the words right before it that make it a
    former one (old flatmate, 以前的室友)."""
    before = text[:start]
    qualifier = lex.zh_former.search(before) or lex.en_former.search(before)
    return text[qualifier.start() if qualifier else start : end]


def tagged(roles: tuple[Role, ...], tag: str) -> tuple[Role, ...]:
    """Returns the roles with one more tag."""
    return tuple(replace(role, tags=role.tags | {tag}) for role in roles)


@lru_cache(maxsize=4096)
def is_relation_of_other(relationship: str) -> bool:
    """Whether a relationship text states what somebody is to another person than the user: Ben's
    sister, 老婆的闺蜜, 她妈妈, a friend of my wife. "My little sister" and 公司的同事 do not."""
    key = lex.own_prefix.sub("", normalise(relationship).strip())
    key = lex.aside.split(key)[0].strip()
    if not key or key in terms() or key in groups():
        return False
    if lex.by_pronoun.match(key):
        return True
    if lex.by_of.search(key):
        return bool(_by_tail(lex.by_of.split(key)[0]))
    possessive = lex.possessive.match(key)
    if possessive:
        return is_owner(possessive["owner"] or possessive["zh"])
    heads = (key[:size] for size in range(len(key) - 1, 1, -1)) if is_han(key[0]) else ()
    first = next((head for head in heads if head in terms()), "")
    is_near = any(role.subtype in ("family", "partner") for role in terms().get(first, ()))
    return is_near and key[len(first) :] in terms()


def is_owner(phrase: str) -> bool:
    """Whether ``phrase`` before 的 or 's refers to a person, not to a place, time or quality."""
    is_twice = len(phrase) == 2 and phrase[0] == phrase[1] and is_han(phrase[0])
    if is_twice or _by_tail(normalise(phrase)):  # 甜甜 is a nickname more often than sweet
        return True
    if lex.nobody.search(phrase) or lex.zh_praise.search(f"{phrase}的"):
        return False
    cut = segmentation.cut(phrase) if is_han(phrase[-1]) else ()
    return not cut or len(cut[-1].text) == 1 or cut[-1].tag not in _TAGS_OF_NOBODY


def _by_tail(key: str) -> tuple[Role, ...]:
    """Returns the roles of the longest known word that ``key`` ends with: 高中班主任 is a 班主任."""
    if key.isascii():
        parts = key.split(" ")
        tails = (" ".join(parts[i:]) for i in range(len(parts)))
    else:
        tails = (key[i:] for i in range(len(key) - 1))
    return next((terms()[tail] for tail in tails if tail in terms()), ())


def kinship(term: str) -> Role | None:
    """Returns the first role that ``term`` states, or None."""
    return next(iter(roles_of(term)), None)


def noun_gender(noun: str) -> str:
    """Returns the gender of a common noun for a person, or ""."""
    if lex.female_noun.search(noun):
        return "female"
    return "male" if lex.male_noun.search(noun) else ""


def gender_of(word: str) -> str:
    """Returns the gender that a role word implies, or ""."""
    genders = {role.gender for role in roles_of(word)}
    return genders.pop() if len(genders) == 1 else ""


def is_called(person: Person, word: str) -> bool:
    """Whether ``person`` has the role of a word: by relationship, alias or title."""
    asked = roles_of(word)
    return any(
        word in text.lower() or any(a.fits(b) for a in asked for b in roles_of(text))
        for text in (person.relationship, *person.aliases)
        if text
    )


def same_kind(word: str, kind: str) -> bool:
    """Whether ``word`` may refer to a relation of this ``kind``."""
    if word == kind:
        return True
    stated = roles_of(kind) or (Role(kind, ""),)
    return any(asked.fits(role) or role.fits(asked) for asked in roles_of(word) for role in stated)


def is_role(word: str) -> bool:
    """Whether ``word`` is a role towards somebody, or an occupation."""
    return bool(roles_of(word)) or word in _NOUNS


_NOUNS = words("strangers", "people_zh", "people_en") - words("strangers", "known_zh", "known_en")
_OLD, _YOUNG = words("role_ages", "old"), words("role_ages", "young")


def noun_age(text: str) -> str:
    """Returns "old" or "young" for a phrase about the old or the young, or ""."""
    if lex.old.search(text):
        return "old"
    return "young" if lex.young.search(text) else ""


@lru_cache(maxsize=16384)
def person_age(person: Person) -> str:
    """Returns "old" or "young" if what a person is to the user implies it, or ""."""
    roles = roles_of(person.relationship)
    if any(role.kind in _OLD or "older" in role.tags for role in roles):
        return "old"
    if any(role.kind in _YOUNG or "younger" in role.tags for role in roles):
        return "young"
    return ""


@lru_cache(maxsize=16384)
def person_gender(person: Person) -> str:
    """Returns the recorded gender, else that of the relationship or of a form of address."""
    if person.gender:
        return person.gender
    texts = (person.relationship, *person.aliases, person.name)
    by_title = (title.gender for title in map(_title_of, texts) if title)
    return next(filter(None, (*map(gender_of, texts), *by_title)), "")


def _title_of(text: str) -> Title | None:
    """Returns the form of address in a Chinese or English name (王姐, Mr Tan), or None."""
    first, _, name = text.lower().partition(" ")
    if name and "'" not in text and "’" not in text:
        return titles("en").get(first.rstrip("."))
    ends = (text[-size:] for size in (2, 1) if len(text) > size)
    return next((titles("zh")[end] for end in ends if end in titles("zh")), None)
