"""Finds hits: the contacts that a spelling in a text may refer to, each at its place."""

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
from understanding.roles import Role, RoleWord, groups, is_relation_of_other, roles_of, terms
from understanding.text import is_cjk, is_han
from understanding.text_document import Document, Spelling
from understanding.types import Entry, How, Person

# The kinds of hits, the most exact first, with the codes of their reasons.
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
# The kinds that a form cannot have: no plurals of short forms, no short forms of role phrases.
_NOT_BY_FORM = {
    "plural": ("short", "diminutive", "alias", "role phrase", "pinyin"),
    "ending": ("name", "alias", "role phrase", "pinyin", "diminutive"),
}
_HOW_BY_KIND: Mapping[str, How] = {
    "name": "name",
    "kinship": "kinship",
    "role phrase": "kinship",
    "sound": "fuzzy",
    "fuzzy": "fuzzy",
}


# The word right before a place.
_WORD_AHEAD = re.compile(r"\b([^\W\d_]+) $")
_LONGEST_GIVEN = 20  # characters

_Place = tuple[UUID, int, int]  # the id of a person, start and end


@dataclass(frozen=True, slots=True)
class Hit:
    """A person who may be referred to at a place of the normalised text. ``kind`` is a key of
    KINDS, ``role`` the role word at the place, ``contact_role`` the role of the person that
    it matches."""

    person: Person
    start: int
    end: int
    kind: str
    text: str
    form: str = ""
    role: RoleWord | None = None
    contact_role: Role | None = None

    @property
    def how(self) -> How:
        return _HOW_BY_KIND.get(self.kind, "alias")

    @property
    def reason(self) -> Reason:
        return Reason(KINDS[self.kind], text=self.text)


def find_hits(document: Document, entries: Sequence[Entry]) -> list[Hit]:
    """Returns a hit for each entry at each place outside of masked text: one per person and place,
    of the most exact kind, none inside a longer one for the same person."""
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
    within = _inside_longer(best)
    return _closest([hit for at, hit in best.items() if at not in within])


def _closest(hits: Sequence[Hit]) -> list[Hit]:
    """Returns the hits without people that a kinship word fits less exactly than somebody else at
    its place. A person called by that word (Grandpa) precedes people who only have the role (the
    wife's grandpa), and the user's own present kin precede another person's and future kin."""
    by_place: dict[tuple[int, int], list[Hit]] = defaultdict(list)
    for hit in hits:
        by_place[hit.start, hit.end].append(hit)
    return [hit for group in by_place.values() for hit in _closest_at(group)]


def _closest_at(hits: Sequence[Hit]) -> Sequence[Hit]:
    kin = [hit for hit in hits if hit.role and hit.contact_role and hit.contact_role.level == "kin"]
    words = [hit.role for hit in kin if hit.role]
    if len(hits) < 2 or not kin or any(word.group for word in words):
        return hits
    others = [hit for hit in hits if hit not in kin]
    called = [hit for hit in kin if hit.role and _has_name(hit.person, hit.role.text)]
    if (called or any(hit.kind == "alias" for hit in others)) and words[0].whose == "bare":
        return [*others, *called]
    own = [hit for hit in kin if not is_relation_of_other(hit.person.relationship)] or kin
    present = [
        hit for hit in own if hit.contact_role and "future" not in hit.contact_role.tags
    ] or own
    return [*others, *present]


def _has_name(person: Person, word: str) -> bool:
    return name_key(word) in map(name_key, (person.name, *person.aliases))


def _inside_longer(places: Iterable[_Place]) -> set[_Place]:
    """Returns the places that are inside a longer place of the same person."""
    inside, reach = set(), defaultdict[UUID, int](int)
    for place in sorted(places, key=lambda place: (place[1], -place[2])):
        person, _start, end = place
        if end <= reach[person]:
            inside.add(place)
        reach[person] = max(reach[person], end)
    return inside


def _hit(document: Document, entry: Entry, spelling: Spelling) -> Hit | None:
    """Returns the hit of an entry at a spelling; None if they do not fit."""
    key, text = entry.key.key, entry.key.text
    start, end = spelling.start, spelling.end
    if spelling.role:
        contact_role = _matched_role(spelling.role, text, key.partition(":")[2])
        hit = Hit(entry.person, start, end, "kinship", text, "role", spelling.role, contact_role)
        return hit if contact_role else None
    if key.startswith(TITLE) and _excludes_title(entry.person, spelling.title):
        return None
    roles_at_end = [one for one in document.roles if one.start <= start and one.end == end]
    if any(_means_another(role, entry) for role in roles_at_end):
        return None
    if spelling.title:
        return Hit(entry.person, start, end, "title", text, spelling.title)
    if key.startswith((SOUND, TYPO)) or spelling.form == "nick":
        kind = _inexact_kind(key, document.norm[start:end], name_key(text))
    else:
        key, end = _full_key(document, entry, start, end)
        kind = _kind(entry, key, name_key(text)) if key else ""
        if spelling.form and kind in _NOT_BY_FORM.get(spelling.form, ()):
            return None
        if kind == "given name" and _has_another_surname(document, start, name_key(text)):
            return None
        if kind == "part" and _has_another_given_name(document, start, end, entry.person):
            return None
    return Hit(entry.person, start, end, kind, text, spelling.form) if kind else None


def _means_another(word: RoleWord, entry: Entry) -> bool:
    """Whether a role word that is also a contact's name (sister) means somebody else: a relative of
    another person (her sister), or somebody who no longer has the role (old flatmate)."""
    if entry.key.how == "kinship" or name_key(entry.key.text) not in terms():
        return False
    stated = entry.person.relationship or entry.key.text
    if word.whose == "other":
        return not is_relation_of_other(stated)
    roles = roles_of(stated)
    return bool(roles) and not any(role.fits(known) for role in word.roles for known in roles)


def _excludes_title(person: Person, title: str) -> bool:
    """Whether ``title``, or "" for none, excludes a person known only by a surname with another
    Chinese title: 孙总 is not 孙姐, since one of the two addresses somebody familiar, nor 小孙."""
    all_titles = titles("zh")
    own = {name_key(name)[1:] for name in (person.name, *person.aliases)}
    if not own <= all_titles.keys() or title in own or (title and title not in all_titles):
        return False
    addresses = (all_titles[one] for one in (title, *own) if one)
    return not title or any(one.gender and "peer" not in one.kinds for one in addresses)


def _has_another_surname(document: Document, start: int, name: str) -> bool:
    """Whether the surname before a given name is not that of ``name``: 马小棠 is not 贺小棠."""
    char_before, own = document.norm[:start][-1:], surname_of(name)
    another = char_before in words("surnames", "single") - words("surnames", "weak")
    return bool(own) and another and char_before != own and document.norm[:start][-2:] != own


def _has_another_given_name(document: Document, start: int, end: int, person: Person) -> bool:
    """Whether the given name before a surname differs: Nora Calloway is not Ewan Calloway."""
    match = _WORD_AHEAD.search(document.norm[max(0, start - _LONGEST_GIVEN) : start])
    names = [name_key(name).split(" ") for name in (person.name, *person.aliases)]
    is_surname = document.norm[start:end] in {parts[-1] for parts in names if len(parts) > 1}
    if match is None or not is_surname or match[1] not in words("given_names"):
        return False
    given = match[1]
    own = {part for parts in names for part in parts}
    return own.isdisjoint({given, *diminutives(given)}) and not any(
        given.startswith(part) or part.startswith(given) for part in own
    )


def _inexact_kind(key: str, spelling: str, name: str) -> str:
    """Returns how a spelling resembles ``name``: sound, fuzzy (a slip) or nick; "" if not so."""
    if key.startswith(SOUND):
        # In other characters than the name or its given name, or its transcription.
        same = is_han(name[0]) and (len(spelling) > len(name) or name.endswith(spelling))
        return "" if same else "sound"
    if key.startswith(TYPO):
        if spelling in words("given_names"):  # another name is no slip: Lea is not Lena
            return ""
        near = (spelling[0] == word[0] and one_edit(spelling, word) for word in name.split(" "))
        return "fuzzy" if any(near) else ""
    return "nick"


def _full_key(document: Document, entry: Entry, start: int, end: int) -> tuple[str, int]:
    """Returns the key and its end; for a long name, which is indexed by its beginning, the full
    name, or "" if the text does not contain the rest of it."""
    key, full = entry.key.key, name_key(entry.key.text)
    if len(key) < HAN_KEY_LENGTH or not full.startswith(key) or not is_cjk(key[0]):
        return key, end
    squeezed, places = document.squeezed
    at = places.index(start)
    if not squeezed.startswith(full, at):
        return "", end
    return full, places[at + len(full) - 1] + 1


def _matched_role(word: RoleWord, text: str, kind: str) -> Role | None:
    """Returns the role of ``kind`` in a contact's ``text`` that the role word may mean."""
    fitting = (
        role
        for role in roles_of(text) or groups().get(text, ())
        if role.kind == kind and any(meaning.fits(role) for meaning in word.roles)
    )
    return next(fitting, None)


def _kind(entry: Entry, key: str, full: str) -> str:
    """Returns the kind of a hit by its plain ``key`` and the name, alias or phrase ``full``."""
    if entry.key.how == "kinship":
        return "role phrase"
    if key.replace(" ", "") == full.replace(" ", ""):
        return entry.key.how if entry.key.how == "name" else "alias"
    if any(map(is_cjk, full)):
        return "given name" if any(map(is_cjk, key)) else "pinyin"
    words = full.split(" ")
    if key == words[0]:
        return "first name"
    if f" {key} " in f" {full} " or key in _joined_pairs(full):
        return "part"
    return "diminutive" if key in diminutives(words[0]) else "short"


@lru_cache(maxsize=1024)
def _joined_pairs(full: str) -> frozenset[str]:
    words = full.split(" ")
    return frozenset("".join(words[at : at + 2]) for at in range(len(words) - 1))
