"""Two records as signs: what speaks for and against their being one person, in words."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any

from understanding.same_person import claims, demographics, name_similarity, relationships
from understanding.same_person.name_types import is_role
from understanding.same_person.records import Record
from understanding.same_person.text_overlap import Words, read, shared

# How two names stand, as far as it changes what everything else says: the same role and town say
# nothing of two who have different full names, and much of one who has only a role for a name.
_STANDS = {
    "full": "other_full_name different_name shared_given shared_surname",
    "unlike": "other_name other_title relative_of",
    "open": "other_byname other_script unnamed both_unnamed same_role_word",
}
_STAND_OF = {how: stand for stand, hows in _STANDS.items() for how in hows.split()}
# Signs that say something else by how the names stand.
_BY_NAMES = frozenset("words bond_same bond_near bond_other bond_opposed bond_alone".split())
# Attributes that a person keeps, and those of which a person has one after the other.
_LASTING = frozenset("birthday hometown zodiac height gender".split())
_CHANGING = frozenset("location company school".split())
# What a difference in the latter counts of one in the former.
_CHANGED = 0.4
# Two relationships that fit one person: what their words say again counts no second time.
SHARED_ROLE = frozenset("bond_same bond_near bond_alone".split())
# Shared words weigh by the smaller record, so that two long ones are not alike by length.
_LEAST_WORDS, _MOST_WORDS = 0.5, 2.0


@dataclass(frozen=True, slots=True)
class Sign:
    """``strength`` (mostly 1) times the weight of ``code`` is what it counts; ``names`` says how
    the names stand, where the weight depends on that."""

    code: str
    strength: float = 1.0
    params: Mapping[str, Any] = field(default_factory=dict)
    names: str = ""

    @property
    def features(self) -> dict[str, float]:
        """The features of the model that this sign is."""
        beside = {f"{self.code}, {self.names}": self.strength} if self.names else {}
        return {self.code: self.strength, **beside}


def signs(
    first: Record, second: Record, rarity: Mapping[str, float], crowd: Mapping[str, float]
) -> list[Sign]:
    """The signs in names, ties, statements and in what is known of the two. ``rarity`` says how
    much a word tells among all people of the user, ``crowd`` how much a relationship."""
    name = name_similarity.relate(first.names, second.names)
    claimed = list(_claims(first, second))
    how: str = name.how
    if any(sign.code == "stated_name" for sign in claimed) and how in _STAND_OF:
        how = "stated_name"  # which explains why the names differ
    else:
        claimed.append(Sign(how, 1.0, {"first": name.first, "second": name.second}))
    stand = _STAND_OF.get(how, "alike")
    ties = list(_ties(first, second, crowd))
    role_shared = any(sign.code in SHARED_ROLE for sign in ties)
    facts = _facts(first, second, rarity, role_shared=role_shared)
    found = [*claimed, *ties, *_traits(first, second), *facts]
    return [replace(s, names=stand) if s.code in _BY_NAMES else s for s in found]


def _ties(first: Record, second: Record, crowd: Mapping[str, float]) -> Iterator[Sign]:
    bond = relationships.relate(first, second)
    params = {"first": bond.first, "second": bond.second}
    told = min(crowd.get(key, 1.0) for key in (first.relationship, second.relationship))
    if bond.how in ("same", "near"):
        # One sign, however many there are of what both relationships say.
        yield Sign("bond_alone" if bond.alone else f"bond_{bond.how}", told, params)
    elif bond.how != "unknown":
        yield Sign(f"bond_{bond.how}", 1.0, params)
    if bond.former:
        yield Sign("bond_former", 1.0, params)


def _claims(first: Record, second: Record) -> Iterator[Sign]:
    for code, found in (
        ("stated_apart", claims.apart(first, second)),
        ("together", claims.together(first, second)),
        ("stated_name", claims.same(first, second)),
        ("named_beside", claims.beside(first, second)),
        ("owned_by", claims.owned(first, second)),
    ):
        if found:
            yield Sign(code, 1.0, {"name": found.name, "fact": found.text})


def _traits(first: Record, second: Record) -> Iterator[Sign]:
    aged = demographics.conflict(first, second)
    if aged:
        yield Sign("age", 1.0, {"first": aged[0].text, "second": aged[1].text})
    genders = demographics.gender(first), demographics.gender(second)
    if all(genders) and genders[0] != genders[1]:
        yield Sign("gender")
    other = [key for key in sorted(_LASTING | _CHANGING) if _differs(key, first, second)]
    if other:
        strength = 1.0 if _LASTING.intersection(other) else min(1.0, _CHANGED * len(other))
        yield Sign("attribute_other", strength, {"keys": other})


def _differs(key: str, first: Record, second: Record) -> bool:
    """Whether both have values of ``key``, written in one script, that share no word."""
    sides = [read(one.attributes.get(key, ())).keys() for one in (first, second)]
    scripts = [{word.isascii() for word in side} for side in sides]
    return all(sides) and scripts[0] == scripts[1] and not sides[0] & sides[1]


def _facts(
    first: Record, second: Record, rarity: Mapping[str, float], *, role_shared: bool
) -> Iterator[Sign]:
    # A memory of both says that they met, not that they are alike.
    of_both = set(first.facts) & set(second.facts)
    told = [r.words_beside(of_both) if of_both else r.words for r in (first, second)]
    roles: list[Words] = [r.role_words for r in (first, second)]
    if role_shared:
        spent = roles[0].keys() | roles[1].keys()
        told = [{word: x for word, x in words.items() if word not in spent} for words in told]
        roles = [{}, {}]
    named = [read(name for name in r.names if is_role(name)) for r in (first, second)]
    about = [{**role, **facts} for role, facts in zip(roles, told, strict=True)]
    for code, sides in (
        ("words", [(told[0], told[1])]),
        ("role_told", [(roles[0], told[1]), (roles[1], told[0])]),
        ("role_words", [(roles[0], roles[1])]),
        ("name_told", [(named[0], about[1]), (named[1], about[0])]),
    ):
        common, weight = max((_overlap(a, b, rarity) for a, b in sides), key=itemgetter(1))
        if weight >= _LEAST_WORDS:
            yield Sign(code, min(weight, _MOST_WORDS) / _MOST_WORDS, {"words": common})


def _overlap(a: Words, b: Words, rarity: Mapping[str, float]) -> tuple[list[str], float]:
    """The heaviest words that both hold, and the weight of all by the size of the smaller side."""
    both = shared(a, b, rarity)
    least = min(sum(a.values()), sum(b.values()))
    return list(both.words[:5]), both.weight / math.sqrt(max(1.0, least))
