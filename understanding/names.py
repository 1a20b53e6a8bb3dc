"""Names as keys: the normal form of a name, and every key by which a person can be found.

``understanding.people.mentions`` turns a text into the keys that it may contain;
:func:`lookup_keys` turns a person into keys. One indexed lookup of the text's keys then finds
everybody that it may refer to.
"""

import itertools
import re
from collections.abc import Collection, Iterator
from functools import cache, lru_cache

from nicknames import NickNamer
from rapidfuzz.distance import OSA

from understanding.lexicon import mapping, titles, words
from understanding.roles import groups, is_relation_of_other, roles_of, terms
from understanding.segmentation import cut
from understanding.text import is_cjk, is_han, normalise
from understanding.types import How, NameKey, Person

# A longer Chinese name is indexed by its beginning, a longer Latin one by its first words.
HAN_KEY_LENGTH = 4
LATIN_KEY_WORDS = 3
# The values of ``Role.subtype``.
GROUPS = ("family", "partner", "friend", "colleague", "other")
KIN = "kin:"
TITLE = "title:"
OF = "of:"  # a role towards somebody else: Yvonne's mum, 男友的妈妈
PART = "part:"  # a character of a Chinese given name: 阿明, 明仔, 明明 of 志明
SOUND = "~py:"
TYPO = "~"
# Lengths of names that lost their end: Ange, Des, Gwil.
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
# Words beside a name that are not part of it: the Kid, la Dev.
_NO_NAMES = frozenset("the my our la le el de da of mr mrs ms miss dr".split())
# A relationship is one or more phrases, each with its qualifiers after its head.
_PHRASE_BREAK = re.compile(r"[,，、(（)）/;；&+]| and ")
_QUALIFIER = re.compile(r"(?i)(?<=\w) (?:at|in|from|of|on|for|to|with|by|since|who)\b.*")
_DETERMINER = re.compile(
    r"(?i)(?:(?:my|our|the|an?|former|previous|ex|old|new|current)[ -]|我们?|前任?)(?=.)"
)
_PINYIN_WORD = re.compile(rf"(?:{SYLLABLE}){{1,4}}")


@lru_cache(maxsize=16384)
def name_key(name: str) -> str:
    """Returns the identity of a name: its normal form, with inner spaces, dots and hyphens as one
    space between Latin words and removed beside Chinese characters. Empty for no name at all."""
    words = _SEPARATORS.sub(" ", normalise(name).translate(_DROPPED)).split()
    key = ""
    for word in words:
        glued = not key or is_cjk(key[-1]) or is_cjk(word[0])
        key += word if glued else f" {word}"
    return key


@cache
def kinds_of(group: str) -> Collection[str]:
    """Returns the roles (mother, uncle …) that belong to a group of ``GROUPS``."""
    everyone = itertools.chain(*terms().values())
    return sorted({role.kind for role in everyone if role.subtype == group})


def surname_of(key: str) -> str:
    """Returns the Chinese surname that begins the name ``key``, or "" if it is no surname with a
    given name."""
    if not 2 <= len(key) <= 4 or not all(map(is_han, key)) or key in terms():
        return ""
    if key[:2] in words("surnames", "compound") and len(key) > 2:
        return key[:2]
    return key[0] if key[0] in _surnames() and len(key) <= 3 else ""


@cache
def _surnames() -> frozenset[str]:
    """Surnames of one character: the common ones, and the rare ones that are hardly ever words."""
    rare = words("surnames", "reader") - words("surnames", "weak")
    return words("surnames", "single") | rare


@lru_cache(maxsize=16384)
def syllable(char: str) -> str:
    """Returns the toneless reading of a Chinese character (ü as v)."""
    return _sounds(char)[0]


@lru_cache(maxsize=16384)
def readings(key: str) -> tuple[str, ...]:
    """Returns the toneless syllables of a Chinese name, its surname read as surnames are."""
    surname = surname_of(key)
    special = mapping("surname_readings", "reading").get(surname)
    head = [special] if special else _sounds(surname)
    return (*head, *_sounds(key[len(surname) :]))


def _sounds(text: str) -> list[str]:
    """Returns the toneless syllables of Chinese characters, in their context."""
    # Loaded at first use: its phrases take half a second, and most commands read no name.
    from pypinyin import Style, lazy_pinyin

    return lazy_pinyin(text, style=Style.NORMAL)


def _pinyin_keys(key: str) -> set[str]:
    """Returns the spellings of a Chinese name of two to four characters in Latin letters."""
    if not 2 <= len(key) <= 4 or not all(map(is_han, key)):
        return set()
    sounds = readings(key)
    size = len(surname_of(key))
    surname_sounds, given_sounds = sounds[:size], sounds[size:]
    orders = [sounds, (*given_sounds, *surname_sounds)] if surname_sounds else [sounds]
    keys: set[str] = set()
    for order in orders:
        keys |= {"".join(order), " ".join(order)}
    if surname_sounds:
        surname, given = "".join(surname_sounds), "".join(given_sounds)
        keys |= {f"{surname} {given}", f"{given} {surname}"}
        if len(given_sounds) > 1:
            keys |= {given, " ".join(given_sounds)}
    keys = {" ".join(k.split()[:LATIN_KEY_WORDS]) for k in keys}
    return keys | {k.replace("v", "u") for k in keys if "v" in k}


@cache
def nicknamer() -> NickNamer:
    """Returns the table of English given names and their short forms."""
    return NickNamer()


def diminutives(given: str) -> set[str]:
    """Returns the short forms of an English given name and the names that it is short for."""
    namer = nicknamer()
    return {*namer.nicknames_of(given), *namer.canonicals_of(given)} - {given}


@lru_cache(maxsize=4096)
def is_shared(short: str) -> bool:
    """Whether a short form belongs to several given names (Sam: Samuel, Samantha) that are no
    spellings of one (Tom: Thom, Thomas)."""
    names = set(nicknamer().canonicals_of(short))
    return sum(names.isdisjoint(nicknamer().canonicals_of(name)) for name in names) > 1


def _beginnings(word: str) -> Iterator[str]:
    """Yields beginnings that a name may be shortened to, but no names with short forms."""
    for size in _SHORT_LENGTHS:
        if size < len(word) and not nicknamer().nicknames_of(word[:size]):
            yield word[:size]


def deletions(word: str) -> set[str]:
    """Returns ``word`` and what is left of it without one of its letters: two words at one edit
    (typo, missing, doubled or swapped letter) share at least one of these (SymSpell)."""
    return {word, *(word[:i] + word[i + 1 :] for i in range(len(word)))}


def one_edit(a: str, b: str) -> bool:
    """Whether two words differ by one letter: changed, added, missing or swapped with the next."""
    return OSA.distance(a, b, score_cutoff=1) == 1


def _latin_keys(key: str) -> set[tuple[str, How]]:
    """Returns the keys of a name in Latin letters except itself: its words and their short
    forms."""
    keys: set[tuple[str, How]] = set()
    first, *rest = words = key.split(" ")
    has_title = bool(rest) and first in titles("en")
    words = rest if has_title else words
    if len(words) > 1:
        words = [word for word in words if word not in _NO_NAMES and word not in terms()] or words
    if len(words) > 1:
        keys |= {
            (" ".join(words[i : i + size]), "alias") for size in (2, 3) for i in range(len(words))
        }
        keys |= {("".join(words[i : i + 2]), "alias") for i in range(len(words) - 1)}
        keys.add(("".join(words), "alias"))
    keys |= {(word, "alias") for word in words if len(word) > 1}
    if (len(words) > 1 or has_title) and len(words[-1]) > 1:
        keys.add((TITLE + words[-1], "alias"))
    for word in words:
        keys |= {(short, "alias") for short in _beginnings(word)}
        if len(word) in TYPO_LENGTHS:
            keys |= {(TYPO + form, "fuzzy") for form in deletions(word)}
    if not has_title:
        keys |= {(short, "alias") for short in diminutives(words[0])}
    joined = "".join(words)
    if len(words) <= LATIN_KEY_WORDS and _PINYIN_WORD.fullmatch(joined) and len(joined) > 3:
        keys.add((SOUND + joined, "alias"))
    return keys


def _han_keys(key: str) -> set[tuple[str, How]]:
    """Returns the keys of a Chinese name except the name itself."""
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
    """Returns every key by which ``person`` is indexed: names and aliases, their parts and other
    spellings, ``kin:`` and the class of the relationship, ``title:`` and the surname, and with
    ``~`` keys for typos and homophones. Each key once, the most exact first."""
    keys: dict[str, NameKey] = {}

    def add(key: str, how: How, text: str) -> None:
        if key:
            keys.setdefault(key, NameKey(key, how, text))

    spellings: list[tuple[str, How]] = [(person.name, "name")]
    spellings += [(alias, "alias") for alias in person.aliases]
    keyed = [(name_key(text), how, text) for text, how in spellings]
    for key, how, text in keyed:
        add(_index_key(key), how, text)
    for text in (person.relationship, *(text for text, _ in spellings)):
        prefix = OF if is_relation_of_other(text) else KIN
        for role in roles_of(text):
            add(prefix + role.kind, "kinship", text)
    for phrase, how in _role_spellings(person):
        add(_index_key(phrase), how, phrase)
    for key, _, text in keyed:
        if not key or key in terms() or key in groups():
            continue
        for further, how in sorted(_further_keys(key)):
            add(further, how, text)
    return tuple(keys.values())


def _role_spellings(person: Person) -> Iterator[tuple[str, How]]:
    """Yields what the user may call a person because of their role: 业务员, scrum master, 刘站长."""
    surname = surname_of(name_key(person.name))
    for phrase in role_phrases(person.relationship):
        yield phrase, "kinship"
        if surname and all(map(is_han, phrase)):
            yield surname + phrase, "alias"


@lru_cache(maxsize=4096)
def role_phrases(relationship: str) -> tuple[str, ...]:
    """Returns the user's own words for what a person is to them, as keys, the fullest first: scrum
    master, master; 饮料业务员, 业务员. It omits relations of others, and single words of the role tables,
    which are found as roles."""
    phrases: dict[str, None] = {}
    if is_relation_of_other(relationship):
        return ()
    for text in _PHRASE_BREAK.split(relationship):
        if not text.strip() or is_relation_of_other(text):
            continue
        key = name_key(_bare_role(_QUALIFIER.split(text.strip())[0]))
        if not key:
            continue
        words = [word.text for word in cut(key)] if all(map(is_han, key)) else key.split(" ")
        glue = "" if all(map(is_han, key)) else " "
        tails = [glue.join(words[at:]) for at in range(max(0, len(words) - 3), len(words))]
        # The end of a word of the tables is no phrase: the law of a brother in law.
        complete = itertools.takewhile(lambda tail: tail not in terms(), tails)
        phrases.update(dict.fromkeys(tail for tail in complete if len(tail) > 1))
    return tuple(phrases)


def _bare_role(phrase: str) -> str:
    """Returns a phrase without words for its owner or time: 我公司的前会计, my old boss."""
    phrase = phrase[phrase.rfind("的", 0, -1) + 1 :]
    while prefix := _DETERMINER.match(phrase):
        phrase = phrase[prefix.end() :]
    return phrase


def _index_key(key: str) -> str:
    if all(map(is_cjk, key)):
        return key[:HAN_KEY_LENGTH]
    return " ".join(key.split(" ")[:LATIN_KEY_WORDS])


def _further_keys(key: str) -> set[tuple[str, How]]:
    if all(map(is_han, key)):
        return _han_keys(key)
    return set() if any(map(is_cjk, key)) else _latin_keys(key)
