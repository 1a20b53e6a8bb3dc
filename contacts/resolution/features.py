"""Two records as signs: what speaks for and against their being one person, in words."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from contacts.attributes import is_single
from contacts.resolution import claims, demographics, name_similarity, relationships
from contacts.resolution.records import Record
from contacts.resolution.text_overlap import read, shared
from contacts.resolution.vector_similarity import Background, nearness
from contacts.text import is_han

# Attributes that a person keeps; of the others a person has one after the other.
_LASTING = frozenset("birthday hometown zodiac height gender".split())
# Only of people without a common name one may be the other's successor.
_NO_COMMON_NAME = frozenset(
    "other_name other_byname other_script other_title unnamed both_unnamed same_role_word".split()
)
_UNRELATED_NAMES = frozenset("other_name other_byname other_script unnamed".split())
# Of a nickname in pinyin the characters aren't known: it may be of another name that sounds
# alike. With nothing else in common two such people aren't worth asking about.
_BY_SOUND = 0.6
# Above and below these a pair of notes is alike or unlike (deviations above strangers).
_NEAR, _MOST_NEAR = 0.8, 4.5
_MOST_WORDS = 5.0
_LEAST_WORDS = 0.7


@dataclass(frozen=True, slots=True)
class Sign:
    """``strength`` (mostly 1) times the weight of ``code`` is what it counts."""

    code: str
    strength: float = 1.0
    params: Mapping[str, Any] = field(default_factory=dict)


def who(first: Record, second: Record) -> list[Sign]:
    """The signs in names, ties and statements."""
    claimed = [*_claims(first, second)]
    found = [*_names(first, second), *claimed]
    if any(sign.code == "stated_name" for sign in claimed):
        # The statement explains why the names differ.
        found = [sign for sign in found if sign.code not in _UNRELATED_NAMES]
    return found


def what(
    first: Record, second: Record, background: Background, rarity: Mapping[str, float]
) -> list[Sign]:
    """The signs in what is known of the two."""
    return [*_traits(first, second), *_facts(first, second, background, rarity)]


def _names(first: Record, second: Record) -> Iterator[Sign]:
    name = name_similarity.relate(first.names, second.names)
    heard = name.how == "nickname" and not all(map(is_han, name.first[:1] + name.second[:1]))
    strength = _BY_SOUND if heard else 1.0
    yield Sign(name.how, strength, {"first": name.first, "second": name.second})
    bond = relationships.relate(first, second)
    params = {"first": bond.first, "second": bond.second}
    if bond.how != "unknown":
        yield Sign(f"bond_{bond.how}", 1.0, params)
    if bond.how in ("same", "near") and bond.alone and name.how in ("unnamed", "same_role_word"):
        yield Sign("bond_alone", 1.0, params)
    if bond.former and name.how in ("unnamed", "same_role_word", "both_unnamed"):
        yield Sign("bond_former", 1.0, params)


def _claims(first: Record, second: Record) -> Iterator[Sign]:
    same = claims.same(first, second)
    alike = claims.alike(first, second)
    other = claims.conflict(first, second)
    apart = claims.apart(first, second)
    if same:
        yield _claimed("stated_name", *same)
    elif alike:
        yield _claimed("stated_alike", *alike)
    if other and not same:
        yield _claimed("stated_other", *other)
    if apart:
        yield Sign("stated_apart", 1.0, {"fact": apart})
    else:
        beside = claims.other_person(first, second)
        if beside:
            yield Sign("named_beside", 1.0, {"fact": beside})
    if name_similarity.relate(first.names, second.names).how in _NO_COMMON_NAME:
        parted = claims.succession(first, second)
        if parted:
            yield Sign("succession", 1.0, {"first": parted[0], "second": parted[1]})


def _claimed(code: str, claim: claims.Claim, name: str) -> Sign:
    return Sign(code, 1.0, {"stated": claim.name, "name": name, "fact": claim.text})


def _traits(first: Record, second: Record) -> Iterator[Sign]:
    aged = demographics.conflict(first, second)
    if aged:
        yield Sign("age", 1.0, {"first": aged[0].text, "second": aged[1].text})
    genders = demographics.gender(first), demographics.gender(second)
    if all(genders) and genders[0] != genders[1]:
        yield Sign("gender", 1.0)
    days = demographics.birthday(first), demographics.birthday(second)
    if all(days) and days[0] != days[1]:
        yield Sign("birthday_other", 1.0, {"first": days[0], "second": days[1]})
    lives = demographics.settled_apart(first, second)
    if lives:
        yield Sign("settled", 1.0, {"first": lives[0], "second": lives[1]})
    dead = demographics.outlived(first, second)
    if dead:
        yield Sign("outlived", 1.0, {"first": dead[0], "second": dead[1]})


def _facts(
    first: Record, second: Record, background: Background, rarity: Mapping[str, float]
) -> Iterator[Sign]:
    if not first.words or not second.words:
        yield Sign("little_known")
        return
    same, other = _attributes(first, second)
    if same:
        yield Sign("attribute_same", min(2.0, len(same)), {"keys": same})
    if other:
        yield Sign("attribute_other", min(2.0, len(other)), {"keys": other})
    # A memory of both says that they met, not that they are alike.
    common = set(first.facts) & set(second.facts)
    words = [r.words_beside(common) if common else r.words for r in (first, second)]
    both = shared(words[0], words[1], rarity)
    if both.weight >= _LEAST_WORDS:
        said = list(both.words[:5])
        yield Sign("words", min(both.weight, _MOST_WORDS) / _MOST_WORDS, {"words": said})
    near = nearness(first, second, background)
    if near > _NEAR:
        yield Sign("near", min(near, _MOST_NEAR) / _MOST_NEAR)
    elif both.weight < _LEAST_WORDS and not same and first.language == second.language:
        yield Sign("far")


def _attributes(first: Record, second: Record) -> tuple[list[str], list[str]]:
    """Lasting attributes with one value, and with two. What changes in life (job, place) may
    agree, but its difference says little."""
    same, other = [], []
    for key in sorted(first.attributes.keys() & second.attributes.keys()):
        values, others = (read(record.attributes[key]) for record in (first, second))
        if values.keys() & others.keys():
            same.append(key)
        elif key in _LASTING or is_single(key):
            other.append(key)
    return same, other
