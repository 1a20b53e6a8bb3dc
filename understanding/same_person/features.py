"""Two records as signs: what speaks for and against their being one person, in words."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from operator import itemgetter
from typing import Any

from understanding.lexicon import titles
from understanding.lexicon.rules import patterns
from understanding.names import name_key
from understanding.numerals import CARDINALS
from understanding.roles import roles_of, terms
from understanding.same_person import claims, name_similarity, relationships
from understanding.same_person.name_types import is_role, title_of
from understanding.same_person.records import Record
from understanding.same_person.text_overlap import Words, plain, read, shared
from understanding.text import is_han

# A round age covers its decade (六十多岁, in her sixties), an exact one the years that records
# of different age may differ by.
_DECADE, _SLACK = 10, 4
lex = patterns(__file__)
_TENS = {
    word: str(number)
    for word, number in zip(
        "twenties thirties forties fifties sixties seventies eighties nineties".split(),
        range(20, 100, 10),
        strict=True,
    )
}


@dataclass(frozen=True, slots=True)
class Age:
    """``low`` to ``high`` years; ``text`` states it."""

    low: float
    high: float
    text: str

    def apart(self, other: "Age") -> bool:
        """Whether no one can be of both ages."""
        return self.low > other.high + 1 or other.low > self.high + 1


def ages(record: Record) -> tuple[Age, ...]:
    """Every age that the record states."""
    texts = [*record.told, *record.attributes.get("age", ())]
    return tuple(age for text in texts for age in _ages(text))


def age_conflict(first: Record, second: Record) -> tuple[Age, Age] | None:
    """Two ages that one person can't have, when no ages of the two agree."""
    pairs = [(a, b) for a in ages(first) for b in ages(second)]
    # A record that agrees with one of the other's ages (a child grew up) doesn't conflict.
    if any(not a.apart(b) for a, b in pairs):
        return None
    return pairs[0] if pairs else None


@lru_cache(maxsize=16384)
def _ages(text: str) -> tuple[Age, ...]:
    """The ages that a text states of the person it is about."""
    stated = (span for fragment in _own_fragments(text) for span in _stated(fragment))
    return tuple(Age(low, high, text) for low, high in stated)


def _own_fragments(text: str) -> list[str]:
    """The fragments of a text that are not about a relative of the person."""
    fragments = (fragment.strip() for fragment in lex.fragment.split(plain(text)))
    return [fragment for fragment in fragments if not lex.relative.match(fragment)]


def _stated(fragment: str) -> list[tuple[float, float]]:
    for word, number in _TENS.items():
        fragment = fragment.replace(word, f"{number}s")
    if fragment in CARDINALS:
        fragment = str(CARDINALS[fragment])
    found: list[tuple[float, float]] = []
    for match in lex.years.finditer(fragment):
        given = match["n"] or match["old"] or match["bare"] or match["aged"]
        years = int(given or match["tens"])
        if years > 110 or "month" in fragment:
            continue
        if match["tens"] or match["more"]:
            found.append((years - 1, years + _DECADE))
        else:
            slack = _SLACK * min(1.0, years / 20)
            found.append((years - slack, years + slack))
    return found


def gender_of(record: Record) -> str:
    """female, male, or "" when the record says nothing or both."""
    if record.gender:
        return record.gender
    said = {g for text in record.told for g in _said(text)}
    if len(said) == 1:
        return said.pop()
    if said:
        return ""
    return _by_address(record)


@lru_cache(maxsize=16384)
def _said(text: str) -> tuple[str, ...]:
    """The genders that the words of a text state of the person it is about."""
    fragments = _own_fragments(text)
    patterns_of = (("female", lex.female), ("male", lex.male))
    return tuple(name for name, pattern in patterns_of if any(map(pattern.search, fragments)))


def _by_address(record: Record) -> str:
    found = {role.gender for text in (record.relationship,) for role in roles_of(text)}
    for name in record.names:
        key = name_key(name)
        _, title = title_of(key)
        table = titles("zh") if key and is_han(key[0]) else titles("en")
        if title in table:
            found.add(table[title].gender)
        if key in terms():
            found |= {role.gender for role in terms()[key]}
    found.discard("")
    return found.pop() if len(found) == 1 else ""


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
    aged = age_conflict(first, second)
    if aged:
        yield Sign("age", 1.0, {"first": aged[0].text, "second": aged[1].text})
    genders = gender_of(first), gender_of(second)
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
