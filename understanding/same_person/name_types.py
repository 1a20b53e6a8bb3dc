"""The kind of a name: full, a nickname, with a title, a role or a handle."""

import re
from functools import lru_cache
from typing import Literal

from understanding import names, segmentation
from understanding.lexicon import alternation, rows, titles, titles_used, words
from understanding.roles import groups, roles_of, terms
from understanding.text import is_han, normalise

Kind = Literal["full", "byname", "titled", "role", "handle"]
# How two names relate, from the strongest evidence for one person to the strongest against.
How = Literal[
    "same_name", "same_byname", "pinyin", "part_of_name", "nickname", "diminutive", "titled_name",
    "spelling", "short_form", "transliteration", "homophone", "same_role_word", "unnamed", "both_unnamed",
    "other_byname", "other_script", "other_title", "shared_surname", "shared_given", "other_name",
    "different_name", "other_full_name", "relative_of",
]  # fmt: skip
PREFIXES = "小阿老大胖瘦黑"  # before a character of the name; the first three also before a surname
_EPITHETS = frozenset("the big little wee old young baby fat tall".split())
# The rank among siblings or roommates: a role, not a name.
_RANKS = frozenset("老大 老二 老三 老四 老五 老六 老七 老八 老幺 小幺".split())
_ADDRESS = titles_used("suffix")
_GENERIC = {
    language: alternation(row["word"] for row in rows("heads") if row["language"] == language)
    for language in ("zh", "en")
}
_GENERIC_HEADS = re.compile(rf"(?:{_GENERIC['zh']}|\b(?:{_GENERIC['en']}))$")
_DEFINITE = re.compile(r"^(?:那个|这个|那位|我的?(?=[a-z\s]|$)|the |my |our |that |this |a )")
_OWNED = re.compile(r"^(?P<owner>.+?)(?:的|'s? )(?P<role>[^的']+)$")
_POSSESSED = re.compile(r"['’]s? [a-z][a-z ]+$")  # mum's helper, not O'Neil's or Kit's Bar
_NAME_FREQUENCY = 30  # a Han word rarer than this in jieba's corpus may well be a name


@lru_cache(maxsize=16384)
def kind_of(name: str) -> Kind:
    """Returns the kind of a name: full (with a surname, or a Latin given name), titled (王总, Dr.
    Lee), role (我妈, the lodger), handle, or byname (other Chinese names, also bare given names)."""
    key = names.name_key(name)
    if is_role(name):
        return "role"
    if any(char.isdecimal() or char == "_" for char in name):
        return "handle"
    if not key or not is_han(key[0]):
        return "titled" if key.split(" ")[0] in titles("en") and " " in key else "full"
    if any(title_of(key)):
        return "titled"
    if "·" in normalise(name):
        return "full"
    reduplicated = len(key) == 2 and key[0] == key[1]
    if (key[0] in PREFIXES[:3] and len(key) <= 3) or reduplicated:
        return "byname"
    if not names.surname_of(key) or is_word(key):
        return "byname"
    return "full"


def is_word(key: str) -> bool:
    """Whether a Chinese name is also a common word: 高兴, 石头."""
    return segmentation.tag(key)[:2] != "nr" and segmentation.frequency(key) > _NAME_FREQUENCY


@lru_cache(maxsize=16384)
def is_role(name: str) -> bool:
    """Whether a name only states a role and names nobody: 房东, my boss, 车库管理员."""
    norm = normalise(name).strip()
    owned = _OWNED.match(norm)
    if owned and (roles_of(norm) or _GENERIC_HEADS.search(norm) or _POSSESSED.search(name)):
        return True
    if norm in terms() or norm in groups() or norm in _RANKS:
        return True
    bare = _DEFINITE.sub("", norm)
    if bare != norm:
        return True
    head = _GENERIC_HEADS.search(norm)
    if head and ((len(norm) - len(head[0]) >= 2 and head.start()) or " " in norm):
        return True
    if not roles_of(norm):
        return False
    if norm.isascii():
        first, *more = norm.split(" ")
        is_name = first in titles("en") or (bool(more) and is_given(first) and name[0].isupper())
        return not is_name and len(more) <= 2
    return not _title_after_surname(norm)


def _title_after_surname(key: str) -> str:
    """The title after a surname at the beginning of ``key`` (王总: 总), or ""."""
    for size in (2, 1):
        head, title = key[:size], key[size:]
        is_surname = head in words("surnames", "compound" if size == 2 else "single")
        if is_surname and title in titles("zh"):
            return title
    return ""


@lru_cache(maxsize=16384)
def title_of(key: str) -> tuple[str, str]:
    """Returns surname, or given name (龙哥), and title of 王总 or "dr lee"; ("", "") if it has none."""
    if key and is_han(key[0]):
        title = _title_after_surname(key)
        if title:
            return key[: -len(title)], title
        # 龙哥, 红姐: a given name with a form of address.
        if len(key) in (2, 3) and key[-1] in _ADDRESS and key not in terms():
            return ("", "") if key[0] in PREFIXES else (key[:-1], key[-1])
        return "", ""
    parts = key.split(" ")
    if len(parts) == 2 and parts[0] in titles("en"):
        return parts[1], parts[0]
    return "", ""


@lru_cache(maxsize=16384)
def of_other_rank(a: str, b: str) -> bool:
    """Whether two role words differ only in the rank by age: 大姨 and 小姨."""
    ranks = [re.match(r"[大二三四五六小]|(?:old|young|big|little)\w* ", text) for text in (a, b)]
    if not ranks[0] or not ranks[1] or ranks[0][0] == ranks[1][0]:
        return False
    return a[ranks[0].end() :] == b[ranks[1].end() :] != ""


@lru_cache(maxsize=16384)
def names_in(key: str) -> tuple[str, ...]:
    """Returns the words of a key that name somebody: without initials, and without the titles,
    roles (Auntie) and epithets (Big Tam) before them."""
    naming = [word for word in key.split(" ") if len(word) > 1] or key.split(" ")
    while len(naming) > 1 and (
        naming[0] in titles("en") or naming[0] in terms() or naming[0] in _EPITHETS
    ):
        naming = naming[1:]
    return tuple(naming)


def is_given(word: str) -> bool:
    """Whether a normalised word is a known given name in Latin letters."""
    return word in words("given_names")


def is_full(name: str) -> bool:
    """Whether a name has a surname beside the given name: 俞建章, Anna Kerr."""
    key = names.name_key(name)
    if not key or kind_of(name) not in ("full", "titled"):
        return False
    if is_han(key[0]):
        return kind_of(name) == "full"
    parts = [part for part in name.split(" ") if part[:1].isupper()]
    return len(names_in(key)) > 1 and len(parts) > 1
