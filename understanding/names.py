"""Names as keys: one spelling for each, and every key under which a person can be found.

A text is turned into the keys that may stand in it by ``understanding.people.mentions``; a person
into the keys of :func:`lookup_keys`. Where the two meet, one indexed lookup has found all who
may be meant.
"""

import itertools
import re
from collections.abc import Collection, Iterator
from functools import cache, lru_cache

from nicknames import NickNamer
from rapidfuzz.distance import OSA

from understanding.lexicon import mapping, titles, words
from understanding.roles import groups, is_anothers, roles_of, terms
from understanding.segmentation import cut
from understanding.text import is_cjk, is_han, normalise
from understanding.types import How, NameKey, Person

# A longer Chinese name is indexed by its beginning, a longer Latin one by its first words.
HAN_KEY_LENGTH = 4
LATIN_KEY_WORDS = 3
# Where a role belongs, see ``Role.subtype``.
GROUPS = ("family", "partner", "friend", "colleague", "other")
KIN = "kin:"
TITLE = "title:"
OF = "of:"  # a role towards somebody else: Yvonne's mum, 男友的妈妈
PART = "part:"  # a character of a Chinese given name: 阿明, 明仔, 明明 of 志明
SOUND = "~py:"
TYPO = "~"
# What a name is shortened to at its end: Ange, Des, Gwil.
_SHORT_LENGTHS = range(3, 7)
# Shorter names have too many neighbours at one edit.
TYPO_LENGTHS = range(5, 13)

_SEPARATORS = re.compile(r"[\s\-‐-―·._~/]+")
_DROPPED = str.maketrans("", "", "'\"“”「」『』()（）[]【】<>《》*@#,，、。!！?？:：;；")
# A syllable in pinyin, without its tone (Hanyu Pinyin, GB/T 16159): any beginning with any end.
SYLLABLE = (
    r"(?:[zcs]h?|[bpmfdtnlgkhjqxrwy])?(?:iang|iong|uang|ang|eng|ing|ong|ian|iao|uai|uan|"
    r"ai|an|ao|ei|en|er|ia|ie|in|iu|ou|ua|ui|un|uo|ue|ve|a|e|i|o|u|v)"
)
# Words beside a name that are none: the Kid, la Dev.
_NO_NAMES = frozenset("the my our la le el de da of mr mrs ms miss dr".split())
# A relationship is a phrase or several, each with what narrows it behind its head.
_ASIDES = re.compile(r"[,，、(（)）/;；&+]| and ")
_COMPLEMENT = re.compile(r"(?i)(?<=\w) (?:at|in|from|of|on|for|to|with|by|since|who)\b.*")
_FORMER = re.compile(
    r"(?i)(?:(?:my|our|the|an?|former|previous|ex|old|new|current)[ -]|我们?|前任?)(?=.)"
)
_PINYIN_WORD = re.compile(rf"(?:{SYLLABLE}){{1,4}}")


@lru_cache(maxsize=16384)
def name_key(name: str) -> str:
    """The identity of a name: normalised, with spaces, dots and hyphens inside as one space
    between Latin words and as nothing beside Chinese characters. Empty for no name at all."""
    words = _SEPARATORS.sub(" ", normalise(name).translate(_DROPPED)).split()
    key = ""
    for word in words:
        glued = not key or is_cjk(key[-1]) or is_cjk(word[0])
        key += word if glued else f" {word}"
    return key


@cache
def kinds_of(group: str) -> Collection[str]:
    """The roles (mother, uncle …) that belong to a group of ``GROUPS``."""
    everyone = itertools.chain(*terms().values())
    return sorted({role.kind for role in everyone if role.subtype == group})


def surname_of(key: str) -> str:
    """The Chinese surname that the name ``key`` begins with, or "" when it isn't shaped like
    surname and given name."""
    if not 2 <= len(key) <= 4 or not all(map(is_han, key)) or key in terms():
        return ""
    if key[:2] in words("surnames", "compound") and len(key) > 2:
        return key[:2]
    return key[0] if key[0] in _surnames() and len(key) <= 3 else ""


@cache
def _surnames() -> frozenset[str]:
    """The surnames of one character: the common ones, and those rare ones that are hardly words."""
    rare = words("surnames", "reader") - words("surnames", "weak")
    return words("surnames", "single") | rare


@lru_cache(maxsize=16384)
def syllable(char: str) -> str:
    """The toneless reading of a Chinese character (ü as v)."""
    return _sounds(char)[0]


@lru_cache(maxsize=16384)
def readings(key: str) -> tuple[str, ...]:
    """The toneless syllables of a Chinese name, its surname read as surnames are."""
    surname = surname_of(key)
    special = mapping("surname_readings", "reading").get(surname)
    head = [special] if special else _sounds(surname)
    return (*head, *_sounds(key[len(surname) :]))


def _sounds(text: str) -> list[str]:
    """The toneless syllables of Chinese characters, in their context."""
    # Loaded at first use: its phrases take half a second, and most commands read no name.
    from pypinyin import Style, lazy_pinyin

    return lazy_pinyin(text, style=Style.NORMAL)


def _pinyin_keys(key: str) -> set[str]:
    """How a Chinese name of two to four characters is spelt in Latin letters."""
    if not 2 <= len(key) <= 4 or not all(map(is_han, key)):
        return set()
    sounds = readings(key)
    size = len(surname_of(key))
    head, tail = sounds[:size], sounds[size:]
    orders = [sounds, (*tail, *head)] if head else [sounds]
    keys: set[str] = set()
    for order in orders:
        keys |= {"".join(order), " ".join(order)}
    if head:
        surname, given = "".join(head), "".join(tail)
        keys |= {f"{surname} {given}", f"{given} {surname}"}
        if len(tail) > 1:
            keys |= {given, " ".join(tail)}
    keys = {" ".join(k.split()[:LATIN_KEY_WORDS]) for k in keys}
    return keys | {k.replace("v", "u") for k in keys if "v" in k}


@cache
def nicknamer() -> NickNamer:
    """English given names and what each is shortened to."""
    return NickNamer()


def diminutives(given: str) -> set[str]:
    """The short forms of an English given name and the names that it is a short form of."""
    namer = nicknamer()
    return {*namer.nicknames_of(given), *namer.canonicals_of(given)} - {given}


@lru_cache(maxsize=4096)
def is_shared(short: str) -> bool:
    """Whether a short form is one of several given names (Sam: Samuel, Samantha), other than
    spellings of one (Tom: Thom, Thomas)."""
    names = set(nicknamer().canonicals_of(short))
    return sum(names.isdisjoint(nicknamer().canonicals_of(name)) for name in names) > 1


def _beginnings(word: str) -> Iterator[str]:
    """What a name may be shortened to at its end; not to a name with short forms of its own."""
    for size in _SHORT_LENGTHS:
        if size < len(word) and not nicknamer().nicknames_of(word[:size]):
            yield word[:size]


def deletions(word: str) -> set[str]:
    """``word`` and what is left of it without one of its letters: two words at one edit
    (typo, missing, doubled or swapped letter) share at least one of these (SymSpell)."""
    return {word, *(word[:i] + word[i + 1 :] for i in range(len(word)))}


def one_edit(a: str, b: str) -> bool:
    """Whether one letter changed, added, left out or swapped with its neighbour parts them."""
    return OSA.distance(a, b, score_cutoff=1) == 1


def _latin_keys(key: str) -> set[tuple[str, How]]:
    """Keys of a name in Latin letters beyond the name itself: its words and what they are
    shortened to."""
    keys: set[tuple[str, How]] = set()
    first, *rest = words = key.split(" ")
    titled = bool(rest) and first in titles("en")
    words = rest if titled else words
    if len(words) > 1:
        words = [word for word in words if word not in _NO_NAMES and word not in terms()] or words
    if len(words) > 1:
        keys |= {
            (" ".join(words[i : i + size]), "alias") for size in (2, 3) for i in range(len(words))
        }
        keys |= {("".join(words[i : i + 2]), "alias") for i in range(len(words) - 1)}
        keys.add(("".join(words), "alias"))
    keys |= {(word, "alias") for word in words if len(word) > 1}
    if (len(words) > 1 or titled) and len(words[-1]) > 1:
        keys.add((TITLE + words[-1], "alias"))
    for word in words:
        keys |= {(short, "alias") for short in _beginnings(word)}
        if len(word) in TYPO_LENGTHS:
            keys |= {(TYPO + form, "fuzzy") for form in deletions(word)}
    if not titled:
        keys |= {(short, "alias") for short in diminutives(words[0])}
    joined = "".join(words)
    if len(words) <= LATIN_KEY_WORDS and _PINYIN_WORD.fullmatch(joined) and len(joined) > 3:
        keys.add((SOUND + joined, "alias"))
    return keys


def _han_keys(key: str) -> set[tuple[str, How]]:
    """Keys of a Chinese name beyond the name itself."""
    keys: set[tuple[str, How]] = {(pinyin, "alias") for pinyin in _pinyin_keys(key)}
    surname = surname_of(key)
    # 和晓雯, 铁蛋儿: the first character may be a surname that no list has.
    given = key[len(surname) or 1 :] if len(key) > 2 and len(key) - len(surname) < 4 else ""
    if len(given) == 2 and given not in titles("zh") and given not in terms():
        keys.add((given, "alias"))
        keys.add((SOUND + "".join(readings(given)), "fuzzy"))
    if len(key) > 2 and key.endswith("儿"):
        keys.add((key[:-1], "alias"))
    if surname:
        keys.add((TITLE + surname, "alias"))
        keys.add((TITLE + "".join(readings(key)[: len(surname)]), "alias"))
        keys |= {(PART + char, "alias") for char in key[len(surname) :]}
    if 2 <= len(key) <= 4 and key not in terms():
        keys.add((SOUND + "".join(readings(key)), "fuzzy"))
    return keys


def lookup_keys(person: Person) -> tuple[NameKey, ...]:
    """Every key under which ``person`` is indexed: names and aliases, their parts and other
    spellings, ``kin:`` classes of the relationship, ``title:`` with the surname, and keys
    marked ``~`` for typos and homophones. Each key once, the surest way to reach it first."""
    found: dict[str, NameKey] = {}

    def add(key: str, how: How, text: str) -> None:
        if key:
            found.setdefault(key, NameKey(key, how, text))

    spellings: list[tuple[str, How]] = [(person.name, "name")]
    spellings += [(alias, "alias") for alias in person.aliases]
    keyed = [(name_key(text), how, text) for text, how in spellings]
    for key, how, text in keyed:
        add(_index_key(key), how, text)
    for text in (person.relationship, *(text for text, _ in spellings)):
        whose = OF if is_anothers(text) else KIN
        for role in roles_of(text):
            add(whose + role.kind, "kinship", text)
    for phrase, how in _role_names(person):
        add(_index_key(phrase), how, phrase)
    for key, _, text in keyed:
        if not key or key in terms() or key in groups():
            continue
        for more, how in sorted(_further_keys(key)):
            add(more, how, text)
    return tuple(itertools.chain(found.values()))


def _role_names(person: Person) -> Iterator[tuple[str, How]]:
    """What somebody is called by what they are to the user: 业务员, scrum master, 刘站长."""
    surname = surname_of(name_key(person.name))
    for phrase in role_phrases(person.relationship):
        yield phrase, "kinship"
        if surname and all(map(is_han, phrase)):
            yield surname + phrase, "alias"


@lru_cache(maxsize=4096)
def role_phrases(relationship: str) -> tuple[str, ...]:
    """The user's own words for what somebody is to them, as keys, the fullest first: scrum
    master, master; 饮料业务员, 业务员. Without those that are somebody else's, and single
    words of the role tables, which are found as roles."""
    found: dict[str, None] = {}
    if is_anothers(relationship):
        return ()
    for text in _ASIDES.split(relationship):
        if not text.strip() or is_anothers(text):
            continue
        key = name_key(_head(_COMPLEMENT.split(text.strip())[0]))
        if not key:
            continue
        words = [word.text for word in cut(key)] if all(map(is_han, key)) else key.split(" ")
        glue = "" if all(map(is_han, key)) else " "
        tails = [glue.join(words[at:]) for at in range(max(0, len(words) - 3), len(words))]
        # What a word of the tables ends with is no phrase: the law of a brother in law.
        own = itertools.takewhile(lambda tail: tail not in terms(), tails)
        found.update(dict.fromkeys(tail for tail in own if len(tail) > 1))
    return tuple(found)


def _head(phrase: str) -> str:
    """A phrase without whose somebody is and whether still: 我公司的前会计, my old boss."""
    phrase = phrase[phrase.rfind("的", 0, -1) + 1 :]
    while found := _FORMER.match(phrase):
        phrase = phrase[found.end() :]
    return phrase


def _index_key(key: str) -> str:
    if all(map(is_cjk, key)):
        return key[:HAN_KEY_LENGTH]
    return " ".join(key.split(" ")[:LATIN_KEY_WORDS])


def _further_keys(key: str) -> set[tuple[str, How]]:
    if all(map(is_han, key)):
        return _han_keys(key)
    return set() if any(map(is_cjk, key)) else _latin_keys(key)
