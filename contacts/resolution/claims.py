"""What the facts themselves claim about who is who: names they state, people they set apart."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from contacts import segmentation
from contacts.lexicon import words
from contacts.lexicon.rules import patterns, rows
from contacts.names import name_key, surname_of
from contacts.resolution import name_similarity, name_types
from contacts.resolution.records import Record
from contacts.text import is_han, normalise

# A name that only stands first in a list of facts (listed) is likely the person's, not surely.
How = Literal["called", "really", "listed", "surname"]

lex = patterns(__file__)
_STATED = rows(__file__, "stated")
# What goes on after a name that no comma ends: 真名叫谢丽在采购部.
_GOES_ON = "在是住做当今去来有从现就也都比喜不开很"
_SAME = ("same_name", "same_byname")
# No given name ends in these.
_NEVER_LAST = "了的着过人男女岁吗呢吧"
_NAMES_ITSELF = (
    "same_name",
    "same_byname",
    "pinyin",
    "part_of_name",
    "titled_name",
    "nickname",
    "diminutive",
)


@dataclass(frozen=True, slots=True)
class Claim:
    """A name that a fact states for the person of the record."""

    name: str
    how: How
    text: str


def stated(record: Record) -> list[Claim]:
    """The names that the facts state for the person of the record."""
    told = zip(record.facts, record.told, strict=True)
    return [
        Claim(name, how, text)
        for text, rest in told
        for name, how in _stated(rest)
        if not _own(name, record)
    ]


def _own(name: str, record: Record) -> bool:
    """A role or the very name that the record bears says nothing new."""
    return name_types.kind_of(name) == "role" or name_key(name) in map(name_key, record.names[:1])


@lru_cache(maxsize=16384)
def _stated(told: str) -> tuple[tuple[str, How], ...]:
    found: list[tuple[str, How]] = []
    bracketed = lex.bracketed.match(told)
    if bracketed:
        found.append((bracketed["name"].strip(), "called"))
    for place, fragment in enumerate(lex.fragment.split(told)):
        rest = fragment.strip()
        for row in _STATED:
            match = row["pattern"].search(rest)
            if match and lex.self_before.fullmatch(rest[: match.start()]):
                found.append((match["name"].strip(), row["how"]))
                break
        else:
            if place == 0 and _is_bare_name(rest):
                found.append((rest, "listed"))
    return tuple(found)


def _is_bare_name(fragment: str) -> bool:
    if not fragment:
        return False
    if is_han(fragment[0]):
        pieces = segmentation.cut(normalise(fragment))
        known = any(len(piece.text) > 1 and piece.tag[:2] not in ("nr", "") for piece in pieces)
        shaped = len(fragment) <= 3 and name_types.kind_of(fragment) == "full"
        return shaped and not known and fragment[-1] not in _NEVER_LAST
    parts = fragment.split(" ")
    known = normalise(parts[0]) in words("given_names")
    return known and len(parts) <= 2 and all(part[:1].isupper() for part in parts)


def same(first: Record, second: Record) -> tuple[Claim, str] | None:
    """A statement in one record that its person bears a name of the other."""
    for a, b in ((first, second), (second, first)):
        proper = [name for name in b.names if name_types.kind_of(name) != "role"]
        for claim in stated(a):
            for name in proper:
                if claim.how in ("called", "really") and _names(claim.name, name):
                    return claim, name
        for text, told in zip(a.facts, a.told, strict=True):
            for name in proper:
                if _in_apposition(told, name, a):
                    return Claim(name, "really", text), name
    return None


def _in_apposition(told: str, name: str, own: Record) -> bool:
    """A name right behind the role that the person goes by: 我老板谢军, my boss Nora."""
    return (
        told.startswith(name)
        and told not in own.facts
        and any(name_types.kind_of(mine) == "role" for mine in own.names)
        and not re.match(r"\w", told[len(name) :] if name.isascii() else "")
    )


def alike(first: Record, second: Record) -> tuple[Claim, str] | None:
    """Both records state one name, or one states the surname of the other."""
    for a, b in ((first, second), (second, first)):
        for claim in stated(a):
            if claim.how == "surname":
                for name in b.names:
                    if surname_of(name_key(name)) == normalise(claim.name):
                        return claim, name
                continue
            others = [c.name for c in stated(b) if c.how != "surname"]
            if claim.how == "listed":
                others += [name for name in b.names if name_types.kind_of(name) != "role"]
            for name in others:
                if _names(claim.name, name):
                    return claim, name
    return None


def _names(name: str, other: str) -> bool:
    key, rest = name_key(other), name_key(name)[len(name_key(other)) :]
    if len(key) > 1 and name_key(name).startswith(key) and rest[:1] and rest[0] in _GOES_ON:
        return True
    how = name_similarity.relate((name,), (other,)).how
    return how in ("same_name", "same_byname", "pinyin") or (
        how == "part_of_name" and len(name_key(other)) > 1
    )


def conflict(first: Record, second: Record) -> tuple[Claim, str] | None:
    """A real name in one record that isn't the other's."""
    for a, b in ((first, second), (second, first)):
        for claim in stated(a):
            if claim.how == "called":
                continue
            others = [n for n in b.names if name_types.kind_of(n) in ("full", "titled")]
            others += [c.name for c in stated(b) if c.how in ("really", "listed")]
            if claim.how == "surname":
                heads = [_surname(name) for name in others]
                if any(heads) and normalise(claim.name) not in heads:
                    return claim, others[0]
                continue
            hows = [name_similarity.relate((claim.name,), (name,)).how for name in others]
            if "other_name" in hows and not set(hows) & set(_NAMES_ITSELF):
                return claim, others[hows.index("other_name")]
    return None


def _surname(name: str) -> str:
    key = name_key(name)
    head, title = name_types.title_of(key)
    if title:
        return head if head in words("surnames", "single", "compound") else ""
    return surname_of(key)


def apart(first: Record, second: Record) -> str:
    """A fact that says that the two are two people, or nothing."""
    for a, b in ((first, second), (second, first)):
        for text, norm in zip(a.facts, a.normal_facts, strict=True):
            if lex.apart.search(text) and _occurrence(norm, a, b, inside=True):
                return text
    return ""


def other_person(first: Record, second: Record) -> str:
    """A fact of one that names the other as someone else, or nothing."""
    for a, b in ((first, second), (second, first)):
        identical = {claim.text for claim in stated(a)}
        claimed = same(a, b)
        if claimed:
            identical.add(claimed[0].text)
        for text, norm in zip(a.facts, a.normal_facts, strict=True):
            if text not in identical and _occurrence(norm, a, b, inside=False):
                return text
    return ""


def _occurrence(norm: str, own: Record, other: Record, *, inside: bool) -> bool:
    """Whether a normalised text about ``own`` names ``other``. A name that both bear counts
    as the other's where it is set beside someone (和…的李老师)."""
    mine = own.normal_names
    for name, key in zip(other.names, other.normal_names, strict=True):
        if key not in norm or len(key) < 2 or name_types.kind_of(name) == "role":
            continue
        if any(key in n for n in mine):
            shared = key in mine or name_similarity.relate((name,), own.names).how in _SAME
            beside = re.search(lex.beside.pattern + re.escape(key), norm)
            if shared and (beside or (inside and re.search(r"同名|重名|same name", norm))):
                return True
            continue
        masked = norm
        for n in mine:
            masked = masked.replace(n, "\0" * len(n))
        if is_han(key[0]):
            if key in masked and not name_types.is_word(key):
                return True
        elif re.search(rf"\b{re.escape(key)}\b", masked):
            return True
    return inside and bool(re.search(r"同名|重名|same name", norm)) and _share_name(own, other)


def _share_name(a: Record, b: Record) -> bool:
    return name_similarity.relate(a.names, b.names).how in _SAME


def succession(first: Record, second: Record) -> tuple[str, str] | None:
    """Facts that the one's time ended and the other's began."""
    for a, b in ((first, second), (second, first)):
        ended = next((t for t in a.facts if lex.ended.search(t) or lex.years.search(t)), "")
        began = next((t for t in b.facts if lex.began.search(t)), "") or _later(a, b)
        if ended and began and not lex.began.search(ended):
            return ended, began
    return None


def _later(a: Record, b: Record) -> str:
    years = [int(y) for text in a.facts for found in lex.years.findall(text) for y in found if y]
    if not years:
        return ""
    for text in b.facts:
        found = lex.years.search(text)
        if found and int(found[1]) > max(years):
            return text
    return ""
