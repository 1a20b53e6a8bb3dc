"""The signs, for and against, that two records are one person."""

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

# Years of a round age (六十多岁, in her sixties), and years by which exact ages of records may differ.
_DECADE, _SLACK = 10, 4
lex = patterns(__file__)
_TENS = "twenties thirties forties fifties sixties seventies eighties nineties".split()


@dataclass(frozen=True, slots=True)
class Age:
    """An age of ``low`` to ``high`` years; ``text`` states it."""

    low: float
    high: float
    text: str

    def apart(self, other: "Age") -> bool:
        """Whether nobody can have both ages."""
        return self.low > other.high + 1 or other.low > self.high + 1


def ages(record: Record) -> tuple[Age, ...]:
    """Returns every age that the record states."""
    texts = [*record.subjectless_facts, *record.attributes.get("age", ())]
    return tuple(age for text in texts for age in _ages(text))


def age_conflict(first: Record, second: Record) -> tuple[Age, Age] | None:
    """Returns two ages that one person can't have, or None if any ages of the two agree."""
    pairs = [(a, b) for a in ages(first) for b in ages(second)]
    # A record that agrees with one of the other's ages (a child grew up) doesn't conflict.
    if any(not a.apart(b) for a, b in pairs):
        return None
    return pairs[0] if pairs else None


@lru_cache(maxsize=16384)
def _ages(text: str) -> tuple[Age, ...]:
    """The ages that a text states about its person."""
    stated = (span for fragment in _own_fragments(text) for span in _age_ranges(fragment))
    return tuple(Age(low, high, text) for low, high in stated)


def _own_fragments(text: str) -> list[str]:
    """The fragments of a text that are not about a relative of the person."""
    fragments = (fragment.strip() for fragment in lex.fragment.split(plain(text)))
    return [fragment for fragment in fragments if not lex.relative.match(fragment)]


def _age_ranges(fragment: str) -> list[tuple[float, float]]:
    """The ages, from and to in years, that a fragment of a text states."""
    for number, word in zip(range(20, 100, 10), _TENS, strict=True):
        fragment = fragment.replace(word, f"{number}s")
    if fragment in CARDINALS:
        fragment = str(CARDINALS[fragment])
    ranges: list[tuple[float, float]] = []
    for match in lex.years.finditer(fragment):
        exact = match["n"] or match["old"] or match["bare"] or match["aged"]
        years = int(exact or match["tens"])
        if years > 110 or "month" in fragment:
            continue
        if match["tens"] or match["more"]:
            ranges.append((years - 1, years + _DECADE))
        else:
            slack = _SLACK * min(1.0, years / 20)
            ranges.append((years - slack, years + slack))
    return ranges


def gender_of(record: Record) -> str:
    """Returns female, male, or "" if the record states neither or both."""
    if record.gender:
        return record.gender
    genders = {g for text in record.subjectless_facts for g in _stated_genders(text)}
    if len(genders) == 1:
        return genders.pop()
    if genders:
        return ""
    return _gender_by_address(record)


@lru_cache(maxsize=16384)
def _stated_genders(text: str) -> tuple[str, ...]:
    """The genders that the words of a text state about its person."""
    fragments = _own_fragments(text)
    patterns_of = (("female", lex.female), ("male", lex.male))
    return tuple(name for name, pattern in patterns_of if any(map(pattern.search, fragments)))


def _gender_by_address(record: Record) -> str:
    """The gender that the relationship, titles and role words imply, "" if none or both."""
    genders = {role.gender for role in roles_of(record.relationship)}
    for name in record.names:
        key = name_key(name)
        _, title = title_of(key)
        table = titles("zh") if key and is_han(key[0]) else titles("en")
        if title in table:
            genders.add(table[title].gender)
        if key in terms():
            genders |= {role.gender for role in terms()[key]}
    genders.discard("")
    return genders.pop() if len(genders) == 1 else ""


# Groups of name relations that change the weight of other signs: the same role and town say nothing
# if the full names differ, and much if somebody has only a role for a name.
_NAME_GROUPS = {
    "full": "other_full_name different_name shared_given shared_surname",
    "unlike": "other_name other_title relative_of",
    "open": "other_byname other_script unnamed both_unnamed same_role_word",
}
_NAME_GROUP_OF = {how: group for group, hows in _NAME_GROUPS.items() for how in hows.split()}
# Signs whose weight depends on the group of the names.
_BY_NAMES = frozenset("words bond_same bond_near bond_other bond_opposed bond_alone".split())
# Attributes that a person keeps, and attributes that change.
_LASTING = frozenset("birthday hometown zodiac height gender".split())
_CHANGING = frozenset("location company school".split())
_CHANGED = 0.4  # the strength of a difference in these, relative to the lasting ones
# Signs of two relationships that fit one person; the words of these are not counted again.
SHARED_ROLE = frozenset("bond_same bond_near bond_alone".split())
# The weight of shared words is relative to the smaller record, else long records would be alike.
_LEAST_WORDS, _MOST_WORDS = 0.5, 2.0


@dataclass(frozen=True, slots=True)
class Sign:
    """A piece of evidence: it counts ``strength`` (mostly 1) times the weight of ``code``.
    ``names`` is the group of the name relation, if the weight depends on it."""

    code: str
    strength: float = 1.0
    params: Mapping[str, Any] = field(default_factory=dict)
    names: str = ""

    @property
    def features(self) -> dict[str, float]:
        """The features of the model for this sign, with their values."""
        by_group = {f"{self.code}, {self.names}": self.strength} if self.names else {}
        return {self.code: self.strength, **by_group}


def signs(
    first: Record, second: Record, rarity: Mapping[str, float], crowd: Mapping[str, float]
) -> list[Sign]:
    """Returns the signs in names, relationships, statements, traits and shared words. ``rarity``
    says how informative a word is among all people of the user, ``crowd`` a relationship."""
    name = name_similarity.relate(first.names, second.names)
    statements = list(_statement_signs(first, second))
    how: str = name.how
    if any(sign.code == "stated_name" for sign in statements) and how in _NAME_GROUP_OF:
        how = "stated_name"  # which explains why the names differ
    else:
        statements.append(Sign(how, 1.0, {"first": name.first, "second": name.second}))
    group = _NAME_GROUP_OF.get(how, "alike")
    ties = list(_bond_signs(first, second, crowd))
    role_shared = any(sign.code in SHARED_ROLE for sign in ties)
    facts = _word_signs(first, second, rarity, role_shared=role_shared)
    all_signs = [*statements, *ties, *_trait_signs(first, second), *facts]
    return [replace(s, names=group) if s.code in _BY_NAMES else s for s in all_signs]


def _bond_signs(first: Record, second: Record, crowd: Mapping[str, float]) -> Iterator[Sign]:
    bond = relationships.relate(first, second)
    params = {"first": bond.first, "second": bond.second}
    strength = min(crowd.get(key, 1.0) for key in (first.relationship, second.relationship))
    if bond.how in ("same", "near"):
        # One sign; its strength falls with the number of people who have these relationships.
        yield Sign("bond_alone" if bond.alone else f"bond_{bond.how}", strength, params)
    elif bond.how != "unknown":
        yield Sign(f"bond_{bond.how}", 1.0, params)
    if bond.former:
        yield Sign("bond_former", 1.0, params)


def _statement_signs(first: Record, second: Record) -> Iterator[Sign]:
    for code, claim in (
        ("stated_apart", claims.stated_different(first, second)),
        ("together", claims.named_together(first, second)),
        ("stated_name", claims.stated_same(first, second)),
        ("named_beside", claims.named_as_other(first, second)),
        ("owned_by", claims.owner_relationship(first, second)),
    ):
        if claim:
            yield Sign(code, 1.0, {"name": claim.name, "fact": claim.text})


def _trait_signs(first: Record, second: Record) -> Iterator[Sign]:
    conflict = age_conflict(first, second)
    if conflict:
        yield Sign("age", 1.0, {"first": conflict[0].text, "second": conflict[1].text})
    genders = gender_of(first), gender_of(second)
    if all(genders) and genders[0] != genders[1]:
        yield Sign("gender")
    differing = [key for key in sorted(_LASTING | _CHANGING) if _differs(key, first, second)]
    if differing:
        strength = 1.0 if _LASTING.intersection(differing) else min(1.0, _CHANGED * len(differing))
        yield Sign("attribute_other", strength, {"keys": differing})


def _differs(key: str, first: Record, second: Record) -> bool:
    """Whether both have values of ``key``, written in one script, that share no word."""
    sides = [read(record.attributes.get(key, ())).keys() for record in (first, second)]
    scripts = [{word.isascii() for word in side} for side in sides]
    return all(sides) and scripts[0] == scripts[1] and not sides[0] & sides[1]


def _word_signs(
    first: Record, second: Record, rarity: Mapping[str, float], *, role_shared: bool
) -> Iterator[Sign]:
    """Yields the signs of shared words in facts, attributes, relationships and roles as names."""
    # A memory about both says that they met, not that they are alike.
    of_both = set(first.facts) & set(second.facts)
    fact_words = [r.words_beside(of_both) if of_both else r.words for r in (first, second)]
    role_words: list[Words] = [r.role_words for r in (first, second)]
    if role_shared:
        counted = role_words[0].keys() | role_words[1].keys()
        fact_words = [
            {word: x for word, x in words.items() if word not in counted} for words in fact_words
        ]
        role_words = [{}, {}]
    name_words = [read(name for name in r.names if is_role(name)) for r in (first, second)]
    all_words = [{**role, **facts} for role, facts in zip(role_words, fact_words, strict=True)]
    for code, sides in (
        ("words", [(fact_words[0], fact_words[1])]),
        ("role_told", [(role_words[0], fact_words[1]), (role_words[1], fact_words[0])]),
        ("role_words", [(role_words[0], role_words[1])]),
        ("name_told", [(name_words[0], all_words[1]), (name_words[1], all_words[0])]),
    ):
        common, weight = max((_overlap(a, b, rarity) for a, b in sides), key=itemgetter(1))
        if weight >= _LEAST_WORDS:
            yield Sign(code, min(weight, _MOST_WORDS) / _MOST_WORDS, {"words": common})


def _overlap(a: Words, b: Words, rarity: Mapping[str, float]) -> tuple[list[str], float]:
    """The heaviest words that both contain, and the weight of all relative to the smaller side."""
    common = shared(a, b, rarity)
    least = min(sum(a.values()), sum(b.values()))
    return list(common.words[:5]), common.weight / math.sqrt(max(1.0, least))
