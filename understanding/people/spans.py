"""Hits: the people whom the spellings of a text may mean, each at its place."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from uuid import UUID

from accounts.reasons import Reason
from understanding.lexicon import titles, words
from understanding.names import (
    HAN_KEY_LENGTH,
    SOUND,
    TITLE,
    TYPO,
    diminutives,
    name_key,
    one_edit,
    surname_of,
)
from understanding.roles import Role, RoleWord, groups, is_anothers, roles_of, terms
from understanding.text import is_cjk, is_han
from understanding.text_document import Document, Spelling
from understanding.types import Entry, How, Person

# Each way of being named, the surest first, and its reason.
KINDS = {
    "name": "by_name",
    "alias": "by_alias",
    "pinyin": "by_pinyin",
    "first name": "by_first_name",
    "given name": "by_given_name",
    "part": "by_part",
    "role phrase": "by_own_relation",
    "kinship": "by_own_relation",
    "title": "by_title",
    "diminutive": "by_diminutive",
    "short": "by_diminutive",
    "nick": "by_diminutive",
    "sound": "by_sound",
    "fuzzy": "by_slip",
}
# What a form can't be made of: plurals of short forms, short forms of role phrases.
_INEXACT = {
    "plural": ("short", "diminutive", "alias", "role phrase", "pinyin"),
    "ending": ("name", "alias", "role phrase", "pinyin", "diminutive"),
}
_OWN_HOW: Mapping[str, How] = {
    "name": "name",
    "kinship": "kinship",
    "role phrase": "kinship",
    "sound": "fuzzy",
    "fuzzy": "fuzzy",
}


# The word right ahead of a place.
_WORD_AHEAD = re.compile(r"\b([^\W\d_]+) $")
_LONGEST_GIVEN = 20  # characters

_Place = tuple[UUID, int, int]  # a person, start and end


@dataclass(frozen=True, slots=True)
class Hit:
    """A person at a place of the normalised text; ``kind`` is a key of KINDS. ``role`` is the
    role word there, ``mine`` the role of the person that it met."""

    person: Person
    start: int
    end: int
    kind: str
    text: str
    form: str = ""
    role: RoleWord | None = None
    mine: Role | None = None

    @property
    def how(self) -> How:
        return _OWN_HOW.get(self.kind, "alias")

    @property
    def reason(self) -> Reason:
        return Reason(KINDS[self.kind], text=self.text)


def find_hits(document: Document, entries: Sequence[Entry]) -> list[Hit]:
    """Every place of every entry in prose, each person once a place, by the surest way to reach
    it, and not within a longer place of theirs."""
    mask = document.mask
    order = {kind: rank for rank, kind in enumerate(KINDS)}
    best: dict[_Place, Hit] = {}
    for entry in entries:
        for place in document.spellings.get(entry.key.key, ()):
            hit = _hit(document, entry, place)
            if hit is None or any(mask[hit.start : hit.end]):
                continue
            at = (hit.person.id, hit.start, hit.end)
            if at not in best or order[hit.kind] < order[best[at].kind]:
                best[at] = hit
    within = _within(best)
    return _closest([hit for at, hit in best.items() if at not in within])


def _closest(hits: Sequence[Hit]) -> list[Hit]:
    """Without those whom a word of kin means less exactly than somebody else at its place: who is
    known by the very word goes before who merely is that (Grandpa, the wife's), and the user's own
    kin before another's and before who is yet to be it."""
    found: dict[tuple[int, int], list[Hit]] = defaultdict(list)
    for hit in hits:
        found[hit.start, hit.end].append(hit)
    return [hit for same in found.values() for hit in _closest_at(same)]


def _closest_at(hits: Sequence[Hit]) -> Sequence[Hit]:
    kin = [hit for hit in hits if hit.role and hit.mine and hit.mine.level == "kin"]
    words = [hit.role for hit in kin if hit.role]
    if len(hits) < 2 or not kin or any(word.group for word in words):
        return hits
    rest = [hit for hit in hits if hit not in kin]
    called = [hit for hit in kin if hit.role and _is_called(hit.person, hit.role.text)]
    if (called or any(hit.kind == "alias" for hit in rest)) and words[0].whose == "bare":
        return [*rest, *called]
    own = [hit for hit in kin if not is_anothers(hit.person.relationship)] or kin
    present = [hit for hit in own if hit.mine and "future" not in hit.mine.tags] or own
    return [*rest, *present]


def _is_called(person: Person, word: str) -> bool:
    return name_key(word) in map(name_key, (person.name, *person.aliases))


def _within(places: Iterable[_Place]) -> set[_Place]:
    """The places of a person within a longer one of the same person."""
    found, reach = set(), defaultdict[UUID, int](int)
    for place in sorted(places, key=lambda place: (place[1], -place[2])):
        person, _start, end = place
        if end <= reach[person]:
            found.add(place)
        reach[person] = max(reach[person], end)
    return found


def _hit(document: Document, entry: Entry, place: Spelling) -> Hit | None:
    key, text = entry.key.key, entry.key.text
    start, end = place.start, place.end
    if place.role:
        mine = _met(place.role, text, key.partition(":")[2])
        hit = Hit(entry.person, start, end, "kinship", text, "role", place.role, mine)
        return hit if mine else None
    if key.startswith(TITLE) and _is_called_otherwise(entry.person, place.title):
        return None
    roles_here = [one for one in document.roles if one.start <= start and one.end == end]
    if any(_is_of_other(role, entry) for role in roles_here):
        return None
    if place.title:
        return Hit(entry.person, start, end, "title", text, place.title)
    if key.startswith((SOUND, TYPO)) or place.form == "nick":
        kind = _guessed(key, document.norm[start:end], name_key(text))
    else:
        key, end = _whole(document, entry, start, end)
        kind = _kind(entry, key, name_key(text)) if key else ""
        if place.form and kind in _INEXACT.get(place.form, ()):
            return None
        if kind == "given name" and _has_another_surname(document, start, name_key(text)):
            return None
        if kind == "part" and _has_another_given_name(document, start, end, entry.person):
            return None
    return Hit(entry.person, start, end, kind, text, place.form) if kind else None


def _is_of_other(word: RoleWord, entry: Entry) -> bool:
    """Whether a role word does not mean a contact who has such a word for a name (sister): it is said
    of another person's (her sister), or of who is that no longer (old flatmate)."""
    if entry.key.how == "kinship" or name_key(entry.key.text) not in terms():
        return False
    whose = entry.person.relationship or entry.key.text
    if word.whose == "other":
        return not is_anothers(whose)
    mine = roles_of(whose)
    return bool(mine) and not any(said.fits(known) for said in word.roles for known in mine)


def _is_called_otherwise(person: Person, title: str) -> bool:
    """Whether somebody of whom only a surname with another Chinese title is known is not called
    by ``title``, or by none: who is 孙总 is no 孙姐, since one of both addresses somebody
    familiar, and no 小孙."""
    every = titles("zh")
    own = {name_key(name)[1:] for name in (person.name, *person.aliases)}
    if not own <= every.keys() or title in own or (title and title not in every):
        return False
    addresses = (every[one] for one in (title, *own) if one)
    return not title or any(one.gender and "peer" not in one.kinds for one in addresses)


def _has_another_surname(document: Document, start: int, name: str) -> bool:
    """Whether a given name stands behind another surname than that of ``name``: 马小棠 is not
    贺小棠."""
    ahead, own = document.norm[:start][-1:], surname_of(name)
    another = ahead in words("surnames", "single") - words("surnames", "weak")
    return bool(own) and another and ahead != own and document.norm[:start][-2:] != own


def _has_another_given_name(document: Document, start: int, end: int, person: Person) -> bool:
    """Whether a surname stands behind another given name than the person's: Nora Calloway is not
    Ewan Calloway."""
    ahead = _WORD_AHEAD.search(document.norm[max(0, start - _LONGEST_GIVEN) : start])
    names = [name_key(name).split(" ") for name in (person.name, *person.aliases)]
    is_surname = document.norm[start:end] in {parts[-1] for parts in names if len(parts) > 1}
    if ahead is None or not is_surname or ahead[1] not in words("given_names"):
        return False
    given = ahead[1]
    own = {part for parts in names for part in parts}
    return own.isdisjoint({given, *diminutives(given)}) and not any(
        given.startswith(part) or part.startswith(given) for part in own
    )


def _guessed(key: str, piece: str, name: str) -> str:
    """The kind of a spelling that only resembles ``name``; "" where it is too far from it."""
    if key.startswith(SOUND):
        # In other characters than the name or its given name, or its transcription.
        same = is_han(name[0]) and (len(piece) > len(name) or name.endswith(piece))
        return "" if same else "sound"
    if key.startswith(TYPO):
        if piece in words("given_names"):  # another name is no slip: Lea is not Lena
            return ""
        near = (piece[0] == word[0] and one_edit(piece, word) for word in name.split(" "))
        return "fuzzy" if any(near) else ""
    return "nick"


def _whole(document: Document, entry: Entry, start: int, end: int) -> tuple[str, int]:
    """The key, in full where a long name is indexed by its beginning, and where it ends; ""
    where the rest of it doesn't stand there."""
    key, full = entry.key.key, name_key(entry.key.text)
    if len(key) < HAN_KEY_LENGTH or not full.startswith(key) or not is_cjk(key[0]):
        return key, end
    squeezed, places = document.squeezed
    at = places.index(start)
    if not squeezed.startswith(full, at):
        return "", end
    return full, places[at + len(full) - 1] + 1


def _met(word: RoleWord, text: str, kind: str) -> Role | None:
    """The role of a contact's that the role word may mean."""
    fitting = (
        mine
        for mine in roles_of(text) or groups().get(text, ())
        if mine.kind == kind and any(role.fits(mine) for role in word.roles)
    )
    return next(fitting, None)


def _kind(entry: Entry, key: str, full: str) -> str:
    """How the plain ``key`` relates to the name, alias or phrase ``full``."""
    if entry.key.how == "kinship":
        return "role phrase"
    if key.replace(" ", "") == full.replace(" ", ""):
        return entry.key.how if entry.key.how == "name" else "alias"
    if any(map(is_cjk, full)):
        return "given name" if any(map(is_cjk, key)) else "pinyin"
    words = full.split(" ")
    if key == words[0]:
        return "first name"
    if key in words or f" {key} " in f" {full} " or key in full.replace(" ", ""):
        inside = key in words or " " in key or (len(words) > 1 and key in _joined(full))
        if inside:
            return "part"
    return "diminutive" if key in diminutives(words[0]) else "short"


@lru_cache(maxsize=1024)
def _joined(full: str) -> frozenset[str]:
    words = full.split(" ")
    return frozenset("".join(words[at : at + 2]) for at in range(len(words) - 1))
