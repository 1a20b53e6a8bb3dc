"""How two relationships to the user stand to one another: the same, near, other, opposed."""

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

# From what says most for one person to what says least.
_ORDER: tuple[How, ...] = ("same", "near", "unknown", "other", "opposed")
# Kinds of tie that one person may have in turn or at once, by sphere of life.
SPHERES = tuple(
    frozenset(row["kind"] for row in rows("role_kinds") if sphere in row["spheres"].split())
    for sphere in ("friends", "work", "study", "romance", "business", "health", "sport")
)
lex = patterns(__file__)
# Of these the user has one at a time.
ONE_AT_A_TIME = frozenset(row["kind"] for row in rows("role_kinds") if row["single"])
_FAMILY = ("family", "partner")
# Ties that say so little that any other may stand beside them.
_VAGUE = frozenset({"friend", "colleague", "relative", "neighbor"})
# Whose what is which kin of the user's: kinds of the owner and the role, male and female kin, a tag.
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
# Share of the words of the shorter relationship that makes two of them one.
_SAME_WORDS = 0.6


@dataclass(frozen=True, slots=True)
class Bond:
    """``how`` the relationships relate; ``alone``: the user has one such person at a time;
    ``former``: one of them is over."""

    how: How
    first: str
    second: str
    alone: bool = False
    former: bool = False


@dataclass(frozen=True, slots=True)
class Tie:
    """What a relationship says: the ``roles``, and whose they are where not the user's own."""

    text: str
    roles: tuple[Role, ...]
    owner: str = ""


def relate(first: Record, second: Record) -> Bond:
    """How what the two are to the user agrees."""
    a, b = stated(first), stated(second)
    how, alone = _relate(a, b)
    former = bool(lex.former.search(normalise(a))) != bool(lex.former.search(normalise(b)))
    return Bond(how, a, b, alone, former)


def may_be_one(a: str, b: str) -> bool:
    """Whether one person may be both to the user, in turn or at once."""
    return _relate(a, b)[0] not in ("other", "opposed")


def stated(record: Record) -> str:
    """What the record says the person is to the user: the relationship, or a role as name."""
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
    """What each part of a relationship says: two of "auntie, ma's sister"."""
    parts = (lex.mine.sub("", part.strip()) for part in lex.part.split(normalise(relationship)))
    parts = (lex.where.sub("", part) for part in parts)
    return tuple(_tie(part) for part in parts if part)


def _tie(text: str) -> Tie:
    if text in terms():
        return Tie(text, terms()[text])
    owner, rest = _owned(text)
    if not owner:
        return Tie(text, roles_of(text))
    kin = tuple(_kin_of_kin(roles_of(owner), roles_of(rest)))
    return Tie(text, kin) if kin else Tie(text, roles_of(rest), owner)


def _owned(text: str) -> tuple[str, str]:
    """The owner and the role of 妈妈的弟弟, 老公家姐, Kirsty's flatmate, mother of Ben."""
    if found := lex.owner.match(text):
        owner = found["owner"] or found["whose"]
        return (owner, found["role"] or found["what"]) if is_owner(owner) else ("", text)
    sizes = range(len(text) - 1, 0, -1) if is_han(text[0]) else ()
    for size in sizes:
        rest = lex.whose.sub("", text[size:])
        if text[:size] in terms() and roles_of(rest):
            return text[:size], rest
    return "", text


def _kin_of_kin(owners: tuple[Role, ...], roles: tuple[Role, ...]) -> Iterator[Role]:
    for owner, role in product(owners, roles):
        for whose, what, male, female, tag in _KIN_OF_KIN:
            if owner.kind in whose and role.kind in what:
                for gender, kind in (("male", male), ("female", female)):
                    if role.gender in ("", gender):
                        subtype = mapping("role_kinds", "subtype")[kind]
                        yield Role(kind, subtype, gender, frozenset({tag} - {""}), "kin")


@lru_cache(maxsize=65536)
def _relate(a: str, b: str) -> tuple[How, bool]:
    """How two relationships relate, and whether the user has one such person at a time."""
    found = [_relate_ties(one, other) for one, other in product(ties(a), ties(b))]
    return min(found, key=lambda each: _ORDER.index(each[0]), default=("unknown", False))


def _relate_ties(a: Tie, b: Tie) -> tuple[How, bool]:
    alone = any(map(_one_at_a_time, a.roles)) and any(map(_one_at_a_time, b.roles))
    if a.text == b.text:
        return "same", alone and not a.owner
    if of_other_rank(a.text, b.text):
        return "opposed", False
    if bool(a.owner) != bool(b.owner):
        return _one_owned(*((a.roles, b.roles) if a.owner else (b.roles, a.roles))), False
    if a.owner and a.owner != b.owner:
        # The owner may be told by name in one and by role in the other.
        one_named = bool(roles_of(a.owner)) != bool(roles_of(b.owner))
        fits = one_named and _by_roles(a.roles, b.roles) in ("same", "near")
        return ("near" if fits else "other"), False
    if not a.roles or not b.roles:
        known = {role.kind for role in a.roles or b.roles}
        vague = bool(known & _VAGUE) or is_han(a.text[0]) != is_han(b.text[0])
        return _by_words(a.text, b.text) or ("unknown" if vague else "other"), False
    return _by_roles(a.roles, b.roles), alone and not a.owner


def _one_at_a_time(role: Role) -> bool:
    return role.kind in ONE_AT_A_TIME or (role.level == "unique" and role.subtype == "other")


def _one_owned(owned: tuple[Role, ...], own: tuple[Role, ...]) -> How:
    """Curtis's dad may be the father-in-law and a friend's husband a friend, but Anna's sister
    is never one's own."""
    kinds = {role.kind for role in own}
    for role in owned:
        for _, what, male, female, _ in _KIN_OF_KIN:
            if role.kind in what and kinds & {male, female}:
                return "near"
    if any(role.subtype in _FAMILY for role in own):
        return "opposed"
    return "near" if "friend" in kinds else "other"


def _by_words(a: str, b: str) -> How | None:
    first, second = read([a]), read([b])
    lesser = min(sum(first.values()), sum(second.values()))
    both = sum(min(first[w], second[w]) for w in first.keys() & second.keys())
    if a in b or b in a or (lesser and both / lesser >= _SAME_WORDS):
        return "same"
    return None


def _by_roles(first: tuple[Role, ...], second: tuple[Role, ...]) -> How:
    pairs = [(a, b) for a in first for b in second]
    if any(a.kind == b.kind and a.fits(b) and b.fits(a) for a, b in pairs):
        return "same"
    if any(_near(a, b) for a, b in pairs):
        return "near"
    if any(a.subtype in _FAMILY or b.subtype in _FAMILY for a, b in pairs):
        return "opposed"
    return "other"


def _near(a: Role, b: Role) -> bool:
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
