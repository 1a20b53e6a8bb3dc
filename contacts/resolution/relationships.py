"""How two relationships to the user stand to one another: the same, near, other, opposed."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from contacts.lexicon import rows, titles, words
from contacts.lexicon.rules import patterns
from contacts.names import name_key
from contacts.resolution.name_types import is_role, of_other_rank, title_of
from contacts.resolution.records import Record
from contacts.resolution.text_overlap import read
from contacts.roles import OPPOSITES, STRICT, Role, roles_of
from contacts.text import is_han, normalise

How = Literal["unknown", "same", "near", "other", "opposed"]

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
_DEGREES = words("grammar_en", "degrees")
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


@lru_cache(maxsize=65536)
def _relate(a: str, b: str) -> tuple[How, bool]:
    if not a or not b:
        return "unknown", False
    a, b = lex.mine.sub("", normalise(a)), lex.mine.sub("", normalise(b))
    strange = bool(lex.not_a_contact.search(a)), bool(lex.not_a_contact.search(b))
    if strange[0] != strange[1]:
        return "opposed", False
    owners = _owner(a), _owner(b)
    roles_a, roles_b = roles_of(a), roles_of(b)
    alone = any(map(_one_at_a_time, roles_a)) and any(map(_one_at_a_time, roles_b))
    if a == b:
        return "same", alone and not any(owners)
    if of_other_rank(a, b):
        return "opposed", False
    if bool(owners[0]) != bool(owners[1]):
        return _one_owned(owners[0] or owners[1], (roles_b if owners[0] else roles_a)), False
    if any(owners):
        return ("near" if owners[0] == owners[1] else "other"), False
    if not roles_a or not roles_b:
        known = {role.kind for role in roles_a or roles_b}
        vague = bool(known & _VAGUE) or is_han(a[0]) != is_han(b[0])
        return (_by_words(a, b) or ("unknown" if vague else "other")), False
    if bool(lex.shopkeeper.search(a)) != bool(lex.shopkeeper.search(b)) or _qualified_apart(a, b):
        return "other", False
    return _by_roles(roles_a, roles_b), alone


def _qualified_apart(a: str, b: str) -> bool:
    """The same word narrowed in two ways that share nothing: swim coach, life coach."""
    if not (a.isascii() and b.isascii()):
        return False
    first, second = a.split(" "), b.split(" ")
    return (
        len(first) == len(second) == 2
        and first[1] == second[1]
        and first[0] != second[0]
        and not (set(first) & _DEGREES or set(second) & _DEGREES)
    )


def _one_at_a_time(role: Role) -> bool:
    return role.kind in ONE_AT_A_TIME or (role.level == "unique" and role.subtype == "other")


def _owner(text: str) -> str:
    found = lex.owner.match(text)
    return found["owner"] if found else ""


def _one_owned(owner: str, plain_roles: tuple[Role, ...]) -> How:
    """A friend's husband may be called a friend, but never one's own sister."""
    kin = any(role.subtype in _FAMILY for role in plain_roles)
    if kin and all(role.kind.endswith("inlaw") for role in plain_roles):
        return "near" if any(r.subtype in _FAMILY for r in roles_of(owner)) else "opposed"
    if kin:
        return "opposed"
    return "near" if any(role.kind == "friend" for role in plain_roles) else "other"


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
    if a.subtype in _FAMILY or b.subtype in _FAMILY:
        if (a.tags ^ b.tags) & STRICT:
            return False
        if a.kind == b.kind:
            return True
    elif a.kind == b.kind:
        return True
    if a.fits(b) or b.fits(a):
        return True
    return any(a.kind in sphere and b.kind in sphere for sphere in SPHERES)
