"""Relation words as they are written: their lexicon key, plain label, and what they say."""

import re
from functools import cache
from typing import NamedTuple

from contacts.lexicon import alternation, words
from contacts.text import HAN, normalise
from memories.providers.offline.lexicons import (
    chinese_relation_words,
    english_relation_words,
    given_names,
    relations,
)
from memories.types import Subtype

_MINE_ZH = r"(?:我|咱|俺)(?:们|们家|家|们公司|们组|们部门|们小区|们班|们单位|们团队|们那)?的?(?:那个|这个|那位|这位|一个|一位|有个|有一个|有位|最好的|真正的|最铁的|以前的|现在的|亲|大学的|新来的|未来的?)?"

_ADJECTIVE_EN = rf"(?:(?:{alternation(words('ownership', 'en_adjectives'))})\s){{0,3}}"

_OPINION = re.compile(rf"\b(?:{alternation(words('ownership', 'en_opinions'))})\s(?!friend|boss)")
_BEING = re.compile(r"(?:就|也|都|其实|现在)?是|\s?(?:is|was|['’]s)\s")
_NOT_SAID = re.compile(r"\s?的|们|['’]s\b|\s(?:and|or|of)\b|吗|嘛|还是|或")


class RolePatterns(NamedTuple):
    """Relation words in Chinese and English, with the user as possessor and bare."""

    mine_zh: re.Pattern[str]
    bare_zh: re.Pattern[str]
    mine_en: re.Pattern[str]
    bare_en: re.Pattern[str]


@cache
def role_patterns() -> RolePatterns:
    """The patterns of relation words, made of the lexicon's."""
    zh = "|".join(chinese_relation_words())
    en = "|".join(re.escape(word).replace("\\-", "[- ]") for word in english_relation_words())
    mine_zh = re.compile(
        rf"(?P<mine>{_MINE_ZH})\s?(?P<word>{zh}|家那位|家那口子|(?:{en})(?![a-z]))", re.I
    )
    bare_zh = re.compile(rf"(?:前|新|未来)?(?P<word>{zh})")
    mine_en = re.compile(
        rf"\b(?P<mine>my|our)\s(?P<word>{_ADJECTIVE_EN}(?:{en}))\b(?!'?s\s(?:and|or)\b)(?!-)", re.I
    )
    bare_en = re.compile(rf"(?<![A-Za-z-])(?P<word>{_ADJECTIVE_EN}(?:{en}))\b", re.I)
    return RolePatterns(mine_zh, bare_zh, mine_en, bare_en)


def role_said(text: str, end: int) -> str:
    """The word for what somebody is said to be to the user right behind their name (小雪|是我妹妹,
    Anna| is my friend), or an empty string. In "is my friend's sister" there is none."""
    being = _BEING.match(text, end)
    if being is None:
        return ""
    roles = role_patterns()
    mine = roles.mine_zh.match(text, being.end()) or roles.mine_en.match(text, being.end())
    if mine is None or _NOT_SAID.match(text, mine.end()):
        return ""
    return mine.group("word")


def key_of(word: str) -> str:
    """The lexicon's key of a relation word as written, adjectives and measure words dropped."""
    folded = normalise(word).replace("-", " ").strip()
    table = relations()
    if folded in table:
        return folded
    for known in chinese_relation_words():
        if folded.endswith(known):
            return known
    parts = folded.split()
    for index in range(len(parts)):
        tail = " ".join(parts[index:])
        if tail in table:
            return tail
    return folded


def relation_name(word: str) -> str:
    """What to call somebody of whom only the relation is known (妈妈, landlord)."""
    key = key_of(word)
    relation = relations()[key]
    if HAN.search(key):
        if relation.kind == "partner":
            return "伴侣"
        plain = {"mother": "妈妈", "father": "爸爸", "parents": "爸妈"}.get(relation.kind)
        if plain:
            return plain
        doubled = {"哥": "哥哥", "姐": "姐姐", "弟": "弟弟", "妹": "妹妹"}
        return doubled.get(key.replace("老", ""), key)
    return plain_english(word)


def plain_english(word: str) -> str:
    """An English relation without opinions on it (nosy neighbor → neighbor)."""
    return _OPINION.sub("", word.strip().lower())


def relationship_label(word: str) -> str:
    """The relationship in the user's words, in its plain form (我妈 → 母亲, mum → mother)."""
    word = re.sub(r"^(?:new\s|新)(?=.)", "", word.strip(), flags=re.I)
    key = key_of(word)
    relation = relations()[key]
    if HAN.search(key):
        return relation.zh if relation.labelled and len(key) <= 3 else key
    if relation.kind in {"mother", "father"}:
        return relation.en
    return plain_english(normalise(word)) if relation.subtype is not Subtype.PARTNER else key


def pronoun_gender(pronoun: str) -> str:
    """female for 她/she, male for 他/he, empty otherwise."""
    if pronoun[0] in "她sS" or pronoun.lower().startswith("her"):
        return "female"
    if pronoun[0] == "他" or pronoun.lower().startswith("h"):
        return "male"
    return ""


def latin_gender(name: str) -> str:
    """The usual gender of an English given name, or empty."""
    return given_names().get(normalise(name.split()[0]), "")


def is_vague(word: str) -> bool:
    """A relation that many people have at once (friend, 同事, cousin)."""
    relation = relations()[key_of(word)]
    return (
        not relation.bare
        and relation.subtype is not Subtype.FAMILY
        and relation.kind not in {"intern", "leader", "boss"}
    )


def is_specific(text: str, end: int) -> bool:
    """Whether an unnamed friend is one particular person: something is said of them."""
    return bool(
        re.match(
            r"\s?(?:的|是|在|今年|叫|生日|[他她]|最近|住|\s?is\b|'s\b|\s(?:works|lives|has|was)\b)",
            text[end:],
        )
    )


def cuts_word(text: str, end: int, word: str) -> bool:
    """Whether ``word`` only begins a longer word (妈的, 姐夫, 老师傅)."""
    tail = text[end : end + 2]
    if word[-1:] and HAN.match(word[-1]):
        return bool(re.match(r"的姐|们|圈|节|级|会$|费|装|奶|系", tail)) or (
            len(word) == 1 and tail[:1] in set("妈爸哥姐弟妹夫" + "祖姆")
        )
    return bool(re.match(r"[a-z-]", text[end : end + 1], re.I))
