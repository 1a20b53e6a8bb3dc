"""Two records as signs: what speaks for and against their being one person, in words."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any

from contacts.resolution import claims, demographics, name_similarity, relationships
from contacts.resolution.name_types import is_role
from contacts.resolution.records import Record
from contacts.resolution.text_overlap import Words, read, shared

# How two names stand, as far as it changes what everything else says: the same role and town say
# nothing of two who have different full names, and much of one who has only a role for a name.
_STANDS = {
    "full": "other_full_name shared_given shared_surname",
    "unlike": "other_name other_title relative_of",
    "open": "other_byname other_script unnamed both_unnamed same_role_word",
}
# Of two full names one part or both differ.
FULL_NAMES = frozenset(_STANDS["full"].split())
_STAND_OF = {how: stand for stand, hows in _STANDS.items() for how in hows.split()}
# Signs that say something else by how the names stand.
_BY_NAMES = frozenset("words bond_same bond_near bond_other bond_opposed bond_alone".split())
# Attributes that a person keeps; of the others a person has one after the other.
_LASTING = frozenset("birthday hometown zodiac height gender".split())
# A sign that the corpus doesn't show (its records have no attributes) counts as this one does.
COUNTS_AS = {"attribute_other": "age"}
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
        name = COUNTS_AS.get(self.code, self.code)
        beside = {f"{name}, {self.names}": self.strength} if self.names else {}
        return {name: self.strength, **beside}


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
    found = [
        *claimed,
        *_ties(first, second, crowd),
        *_traits(first, second),
        *_facts(first, second, rarity),
    ]
    return [replace(s, names=stand) if s.code in _BY_NAMES else s for s in found]


def _ties(first: Record, second: Record, crowd: Mapping[str, float]) -> Iterator[Sign]:
    bond = relationships.relate(first, second)
    params = {"first": bond.first, "second": bond.second}
    told = min(crowd.get(key, 1.0) for key in (first.relationship, second.relationship))
    if bond.how in ("same", "near"):
        yield Sign(f"bond_{bond.how}", told, params)
    elif bond.how != "unknown":
        yield Sign(f"bond_{bond.how}", 1.0, params)
    if bond.how in ("same", "near") and bond.alone:
        yield Sign("bond_alone", 1.0, params)
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
    other = _other_attributes(first, second)
    if other:
        yield Sign("attribute_other", 1.0, {"keys": other})


def _other_attributes(first: Record, second: Record) -> list[str]:
    """Lasting attributes that differ. What changes in life (job, place) says little by that."""
    return [
        key
        for key in sorted(first.attributes.keys() & second.attributes.keys())
        if key in _LASTING
        and not read(first.attributes[key]).keys() & read(second.attributes[key]).keys()
    ]


def _facts(first: Record, second: Record, rarity: Mapping[str, float]) -> Iterator[Sign]:
    # A memory of both says that they met, not that they are alike.
    of_both = set(first.facts) & set(second.facts)
    told = [r.words_beside(of_both) if of_both else r.words for r in (first, second)]
    roles = [r.role_words for r in (first, second)]
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
