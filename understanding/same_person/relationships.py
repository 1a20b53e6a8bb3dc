"""How two people's relationships to the user relate: the same, near, unknown, other, opposed."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Literal

from understanding.lexicon import mapping, rows, titles, word_sets
from understanding.lexicon.rules import patterns
from understanding.names import name_key
from understanding.roles import OPPOSITES, STRICT, Role, is_owner, roles_of, terms
from understanding.same_person.name_types import is_role, of_other_rank, title_of
from understanding.same_person.records import Record
from understanding.same_person.text_overlap import read
from understanding.text import is_han, normalise

How = Literal["same", "near", "unknown", "other", "opposed"]

# From the strongest evidence for one person to the strongest against.
_ORDER: tuple[How, ...] = ("same", "near", "unknown", "other", "opposed")
# Kinds of role that one person may have in turn or at once, by sphere of life.
SPHERES = tuple(
    frozenset(row["kind"] for row in rows("role_kinds") if sphere in row["spheres"].split())
    for sphere in ("friends", "work", "study", "romance", "business", "health", "sport")
)
lex = patterns(__file__)
# Kinds of role that one person at a time has.
ONE_AT_A_TIME = frozenset(row["kind"] for row in rows("role_kinds") if row["single"])
_FAMILY = ("family", "partner")
# Roles so vague that the person may have any other as well.
_VAGUE = frozenset({"friend", "colleague", "relative", "neighbor"})
# Kin of kin: kinds of the owner and of the role, then what these make (male, female, a tag).
_KIN_OF_KIN = [
    (
        word_sets("kin")[row["owner"]],
        word_sets("kin")[row["role"]],
        row["male"],
        row["female"],
        row["tag"],
    )
    for row in rows("kin_of_kin")
]
_SAME_WORDS = 0.6  # two relationships with this share of the shorter one's words are the same


@dataclass(frozen=True, slots=True)
class Bond:
    """``how`` two relationships relate; ``alone``: the user has one such person at a time;
    ``former``: only one of them is over."""

    how: How
    first: str
    second: str
    alone: bool = False
    former: bool = False


@dataclass(frozen=True, slots=True)
class Tie:
    """One part of a relationship: its ``roles``, and their ``owner`` if it is not the user."""

    text: str
    roles: tuple[Role, ...]
    owner: str = ""


def relate(first: Record, second: Record) -> Bond:
    """Compares the relationships of two people to the user."""
    a, b = stated_relationship(first), stated_relationship(second)
    how, alone = _relate_texts(a, b)
    former = bool(lex.former.search(normalise(a))) != bool(lex.former.search(normalise(b)))
    return Bond(how, a, b, alone, former)


def may_be_one(a: str, b: str) -> bool:
    """Whether one person may have both relationships to the user, in turn or at once."""
    return _relate_texts(a, b)[0] not in ("other", "opposed")


def stated_relationship(record: Record) -> str:
    """Returns the relationship, or else a role or title among the names of a record; "" if none."""
    if record.relationship:
        return record.relationship
    for name in record.names:
        if is_role(name):
            return name
        key = name_key(name)
        _, title = title_of(key)
        if title in (titles("zh") if key and is_han(key[0]) else {}) and roles_of(title):
            return title
    return ""


@lru_cache(maxsize=16384)
def ties(relationship: str) -> tuple[Tie, ...]:
    """Returns the parts of a relationship: two for "auntie, ma's sister"."""
    parts = (lex.mine.sub("", part.strip()) for part in lex.part.split(normalise(relationship)))
    parts = (lex.where.sub("", part) for part in parts)
    return tuple(_parse_tie(part) for part in parts if part)


def _parse_tie(text: str) -> Tie:
    if text in terms():
        return Tie(text, terms()[text])
    owner, role = _split_owner(text)
    if not owner:
        return Tie(text, roles_of(text))
    kin = tuple(_kin_of_kin(roles_of(owner), roles_of(role)))
    return Tie(text, kin) if kin else Tie(text, roles_of(role), owner)


def _split_owner(text: str) -> tuple[str, str]:
    """The owner ("" if none) and the role of 妈妈的弟弟, 老公家姐, Kirsty's flatmate, mother of Ben."""
    if match := lex.owner.match(text):
        owner = match["owner"] or match["whose"]
        return (owner, match["role"] or match["what"]) if is_owner(owner) else ("", text)
    sizes = range(len(text) - 1, 0, -1) if is_han(text[0]) else ()
    for size in sizes:
        role = lex.whose.sub("", text[size:])
        if text[:size] in terms() and roles_of(role):
            return text[:size], role
    return "", text


def _kin_of_kin(owners: tuple[Role, ...], roles: tuple[Role, ...]) -> Iterator[Role]:
    """Yields what ``roles`` towards ``owners`` are to the user: ma's sister is an aunt."""
    for owner, role in product(owners, roles):
        for whose, what, male, female, tag in _KIN_OF_KIN:
            if owner.kind in whose and role.kind in what:
                for gender, kind in (("male", male), ("female", female)):
                    if role.gender in ("", gender):
                        subtype = mapping("role_kinds", "subtype")[kind]
                        yield Role(kind, subtype, gender, frozenset({tag} - {""}), "kin")


@lru_cache(maxsize=65536)
def _relate_texts(a: str, b: str) -> tuple[How, bool]:
    """How the two closest ties relate, and whether the user has one such person at a time."""
    results = [_relate_ties(one, other) for one, other in product(ties(a), ties(b))]
    return min(results, key=lambda result: _ORDER.index(result[0]), default=("unknown", False))


def _relate_ties(a: Tie, b: Tie) -> tuple[How, bool]:
    """How two ties relate, and whether the user has one such person at a time."""
    alone = any(map(_one_at_a_time, a.roles)) and any(map(_one_at_a_time, b.roles))
    if a.text == b.text:
        return "same", alone and not a.owner
    if of_other_rank(a.text, b.text):
        return "opposed", False
    if bool(a.owner) != bool(b.owner):
        return _relate_owned(*((a.roles, b.roles) if a.owner else (b.roles, a.roles))), False
    if a.owner and a.owner != b.owner:
        # One may give the owner's name and the other the owner's role.
        one_named = bool(roles_of(a.owner)) != bool(roles_of(b.owner))
        fits = one_named and _relate_roles(a.roles, b.roles) in ("same", "near")
        return ("near" if fits else "other"), False
    if not a.roles or not b.roles:
        known = {role.kind for role in a.roles or b.roles}
        vague = bool(known & _VAGUE) or is_han(a.text[0]) != is_han(b.text[0])
        return _relate_words(a.text, b.text) or ("unknown" if vague else "other"), False
    return _relate_roles(a.roles, b.roles), alone and not a.owner


def _one_at_a_time(role: Role) -> bool:
    return role.kind in ONE_AT_A_TIME or (role.level == "unique" and role.subtype == "other")


def _relate_owned(owned: tuple[Role, ...], own: tuple[Role, ...]) -> How:
    """How another's relative and a role towards the user relate: Curtis's dad may be the
    father-in-law and a friend's husband a friend, but Anna's sister is never one's own."""
    kinds = {role.kind for role in own}
    for role in owned:
        for _, what, male, female, _ in _KIN_OF_KIN:
            if role.kind in what and kinds & {male, female}:
                return "near"
    if any(role.subtype in _FAMILY for role in own):
        return "opposed"
    return "near" if "friend" in kinds else "other"


def _relate_words(a: str, b: str) -> How | None:
    """Returns "same" if one text contains the other or most of its words, else None."""
    first, second = read([a]), read([b])
    smaller = min(sum(first.values()), sum(second.values()))
    common = sum(min(first[w], second[w]) for w in first.keys() & second.keys())
    if a in b or b in a or (smaller and common / smaller >= _SAME_WORDS):
        return "same"
    return None


def _relate_roles(first: tuple[Role, ...], second: tuple[Role, ...]) -> How:
    pairs = [(a, b) for a in first for b in second]
    if any(a.kind == b.kind and a.fits(b) and b.fits(a) for a, b in pairs):
        return "same"
    if any(_are_near(a, b) for a, b in pairs):
        return "near"
    if any(a.subtype in _FAMILY or b.subtype in _FAMILY for a, b in pairs):
        return "opposed"
    return "other"


def _are_near(a: Role, b: Role) -> bool:
    """Whether one person may have both roles, by gender, tags and sphere of life."""
    genders = {a.gender, b.gender} == {"male", "female"}
    tags = any(len(group & (a.tags | b.tags)) > 1 for group in OPPOSITES)
    if genders or tags:
        return False
    family = a.subtype in _FAMILY or b.subtype in _FAMILY
    if family and (a.tags ^ b.tags) & STRICT:
        return False
    if a.kind == b.kind or a.fits(b) or b.fits(a):
        return True
    return not family and any(a.kind in sphere and b.kind in sphere for sphere in SPHERES)
