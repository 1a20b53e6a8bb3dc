"""How two names stand to one another: the same, one made from the other, or unrelated."""

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from understanding.names import name_key
from understanding.roles import roles_of, terms
from understanding.same_person.name_types import How, Kind, is_full, kind_of, of_other_rank
from understanding.same_person.similarity_latin import both_latin, two_scripts
from understanding.same_person.similarity_zh import both_chinese
from understanding.text import HAN, is_han

# Names that no two words for one person would be: only a statement makes one person of two who
# bear them.
PLAINLY_DIFFERENT: frozenset[How] = frozenset({"different_name", "other_full_name"})
# What an alias can't outweigh where another pair of names is plainly different.
_UNRELATED: frozenset[How] = frozenset({"other_byname", "other_script", "other_name"})
# From what says most for one person to what says least; the first that holds is taken.
STRENGTH: tuple[How, ...] = (
    "same_name", "same_byname", "pinyin", "part_of_name", "nickname", "diminutive", "titled_name",
    "spelling", "short_form", "transliteration", "homophone", "same_role_word", "unnamed", "both_unnamed",
    "other_byname", "other_script", "other_title", "shared_surname", "shared_given", "other_name",
    "different_name", "other_full_name", "relative_of",
)  # fmt: skip
_BRACKET = re.compile(r"[()（）]")
_LATIN_PART = re.compile(r"[A-Za-z]{3,}(?: [A-Za-z]+)*")
# One name twice says the less, the more people answer to such a name.
_SAME: dict[Kind, How] = {
    **dict.fromkeys(("full", "part", "handle"), "same_name"),
    **dict.fromkeys(("byname", "titled"), "same_byname"),
    "role": "same_role_word",
}


@dataclass(frozen=True, slots=True)
class Naming:
    """``how`` the two names relate, and which names it was seen on."""

    how: How
    first: str
    second: str


def relate(first: tuple[str, ...], second: tuple[str, ...]) -> Naming:
    """The strongest way in which a name of one stands to a name of the other. That one is
    named after the other (阿竹的妈妈) settles it: they are two people."""
    pairs = [Naming(_relate(a, b), a, b) for a, b in product(first, second)]
    related = next((pair for pair in pairs if pair.how == "relative_of"), None)
    if related:
        return related
    # A record that has a name is not unnamed for having a role as an alias.
    strong = min(pairs, key=lambda pair: STRENGTH.index(pair.how))
    different = next((pair for pair in pairs if pair.how in PLAINLY_DIFFERENT), None)
    if different and strong.how in _UNRELATED:
        return different
    if strong.how in ("unnamed", "both_unnamed"):
        named = [p for p in pairs if p.how not in ("unnamed", "both_unnamed")]
        return min(named, key=lambda pair: STRENGTH.index(pair.how)) if named else strong
    return strong


@lru_cache(maxsize=16384)
def _spellings(name: str) -> tuple[str, ...]:
    """A name and those that are put together in it: 周美凤 (Mrs Chew), 肥May."""
    parts = [part.strip() for part in _BRACKET.split(name)]
    latin = _LATIN_PART.findall(name) if HAN.search(name) else []
    return tuple(dict.fromkeys(part for part in (name, *parts, *latin) if part))


@lru_cache(maxsize=65536)
def _relate(first: str, second: str) -> How:
    spelt = product(_spellings(first), _spellings(second))
    how = min((_of_spellings(a, b) for a, b in spelt), key=STRENGTH.index)
    unrelated = how in ("other_name", "different_name")
    return "other_full_name" if unrelated and is_full(first) and is_full(second) else how


@lru_cache(maxsize=65536)
def _of_spellings(first: str, second: str) -> How:
    a, b = name_key(first), name_key(second)
    if not a or not b:
        return "other_byname"
    if a == b:
        return _SAME[kind_of(first)]
    if a.replace(" ", "") == b.replace(" ", ""):
        return "same_name"
    if _named_after(first, second) or _named_after(second, first):
        return "relative_of"
    kinds = {kind_of(first), kind_of(second)}
    if kinds == {"role"}:
        return "same_role_word" if _same_role(a, b) else "both_unnamed"
    if "role" in kinds:
        return "unnamed"
    han = is_han(a[0]), is_han(b[0])
    if all(han):
        return both_chinese(a, b)
    if not any(han):
        return both_latin(a, b, kinds)
    chinese, latin = (a, b) if han[0] else (b, a)
    return two_scripts(chinese, latin)


def _same_role(a: str, b: str) -> bool:
    fits = (x.kind == y.kind and (x.fits(y) or y.fits(x))
            for x in roles_of(a) for y in roles_of(b))  # fmt: skip
    return not of_other_rank(a, b) and any(fits)


def _named_after(name: str, other: str) -> bool:
    """Whether ``name`` is a relative, or someone else of ``other``: 阿竹的妈妈, Kate's mum."""
    key, base = name_key(name), name_key(other)
    if kind_of(other) == "role" or not key.startswith(base) or key == base:
        return False
    rest = re.sub(r"^(?:的|他|她|家|'?s )+", "", key[len(base) :].strip())
    rest = re.sub(r"^s ", "", rest)
    return bool(rest) and (rest in terms() or (bool(roles_of(rest)) and len(rest) > 1))
