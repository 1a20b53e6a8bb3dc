"""Those in a text who are not contacts: strangers, other people's kin, pets, organisations."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

from contacts.coreference import role_features
from contacts.lexicon import alternation, patterns, words
from contacts.roles import terms
from contacts.segmentation import cut
from contacts.text import is_han

lex = patterns("anaphora")

_OWNS = frozenset(("his", "her", "their"))
# Role words that mean a thing more often than a person.
_NOT_PEOPLE = frozenset(("report", "pa", "date", "chief", "leader", "superior"))
_NEXT_DOOR = r"(?:楼上|楼下|隔壁)(?=[又也在说一天总每的]*[，。又也在说总每]|$)"

OtherKind = Literal["someone", "pet", "group", "kin"]


@dataclass(frozen=True, slots=True)
class Other:
    """``owner`` is where the possessor of a kin word begins ("她" in 她妈妈); -1 for the
    user's own kin or when there is none."""

    start: int
    end: int
    kind: OtherKind
    gender: str = ""
    word: str = ""
    owner: int = -1


@cache
def _own_kin() -> re.Pattern[str]:
    zh = role_features.pattern(chinese=True, family=True)
    en = role_features.pattern(chinese=False, family=True)
    return re.compile(
        rf"我们?家?的?(?P<zh>{zh})|\b(?:my|our)\s+(?:[\w-]+\s+)?(?P<en>{en})\b", re.IGNORECASE
    )


@cache
def _owned_kin() -> re.Pattern[str]:
    zh = (
        role_features.pattern(chinese=True, family=True)
        + "|"
        + role_features.pattern(chinese=True, family=False)
    )
    en = (
        role_features.pattern(chinese=False, family=True)
        + "|"
        + role_features.pattern(chinese=False, family=False)
    )
    return re.compile(
        rf"\s*(?:家?的?|那个?|前)(?P<zh>{zh})(?![们车店])"
        rf"|(?:['’]s?)?\s+(?:[\w-]+\s+)?(?P<en>{en})\b",
        re.IGNORECASE,
    )


@cache
def _roles() -> re.Pattern[str]:
    zh = role_features.pattern(chinese=True, family=False)
    en = role_features.pattern(chinese=False, family=False)
    return re.compile(
        # The 朋友 in 男朋友 is no friend.
        rf"(?P<zh>(?<![男女])(?:{zh}))(?![们级])"
        rf"|\b(?:the|my|our|that)\s+(?:old\s+|new\s+)?(?P<en>{en})\b"
        rf"|(?<![A-Za-z])(?P<bare>boss|leader|mentor|manager)(?![A-Za-z])",
        re.IGNORECASE,
    )


def owned_kin(text: str, owners: Sequence[tuple[int, int]]) -> list[Other]:
    """Kin and other relations of those at the spans ``owners``: 她妈妈, Anna's sister."""
    found = []
    for start, end in owners:
        match = _owned_kin().match(text, end)
        if match and (
            match["zh"] or text[end : end + 1] in "'’" or text[start:end].lower() in _OWNS
        ):
            word = match["zh"] or match["en"]
            at = match.start("zh") if match["zh"] else match.start("en")
            found.append(Other(at, match.end(), "kin", role_features.gender_of(word), word, start))
    return found


def own_kin(text: str) -> list[Other]:
    return [
        Other(*m.span(), "kin", role_features.gender_of(m["zh"] or m["en"]), m["zh"] or m["en"])
        for m in _own_kin().finditer(text)
    ]


def role_words(text: str) -> list[tuple[int, int, str]]:
    """Role words that may stand for a contact already spoken of: 老板, the landlord."""
    return [(*m.span(), (m["zh"] or m["en"] or m["bare"]).lower()) for m in _roles().finditer(text)]


@cache
def _strangers() -> tuple[tuple[OtherKind, re.Pattern[str]], ...]:
    roles = {word for word, of in terms().items() if of[0].subtype not in ("family", "partner")}
    people = roles - _NOT_PEOPLE
    zh = alternation({word for word in people if is_han(word[0])} | words("strangers", "people_zh"))
    en = alternation(
        {word for word in people if not is_han(word[0])} | words("strangers", "people_en")
    )
    determiner = r"(?:an?|the|some|our|my|this|that|another|one|new)"
    english = rf"\b{determiner}\s+(?:[\w-]+\s+){{0,2}}?(?P<noun>{en})\b(?!['’]s)"
    pet, group = words("strangers", "pets"), words("strangers", "groups")
    return (
        ("pet", _either(pet)),
        ("group", _either(group)),
        ("someone", re.compile(rf"{zh}|有人|某人|一个人|{_NEXT_DOOR}")),
        ("someone", re.compile(rf"\b(?:some|any|every)(?:one|body)\b|{english}", re.IGNORECASE)),
    )


def _either(nouns: frozenset[str]) -> re.Pattern[str]:
    zh = {word for word in nouns if is_han(word[0]) or word.isdigit()}
    latin = alternation(nouns - zh)
    return re.compile(rf"{alternation(zh)}|\b(?:{latin})s?\b", re.IGNORECASE)


def strangers(text: str) -> list[Other]:
    """Unnamed people, people with names that are no contact's, pets and organisations."""
    found = []
    for kind, pattern in _strangers():
        for match in pattern.finditer(text):
            noun = (match.groupdict().get("noun") or match.group()).lower()
            gender = (
                role_features.noun_gender(noun) or role_features.gender_of(noun)
                if kind == "someone"
                else ""
            )
            found.append(Other(*match.span(), kind, gender, noun))
    return found + _unknown_names(text)


_CAPITALS = re.compile(r"(?<![\w@])(?P<first>[A-Z][a-z]+)(?:\s+(?:[A-Z]\.\s+)?[A-Z][a-z'-]+)+")
# Classes of the single characters that unknown given names fall apart into.
_NAMELIKE = frozenset(("", "n", "g", "a", "z", "j", "x", "b"))
_SURNAMES = words("surnames", "single") - words("surnames", "weak")
# 克里斯托弗·诺兰: only transliterated names have the dot.
_DOTTED = re.compile(r"[\u4e00-\u9fff]{2,8}·[\u4e00-\u9fff]{1,5}")
_ZH_CLAUSE = re.compile(r"[\u4e00-\u9fff·]+")


def _unknown_names(text: str) -> list[Other]:
    """Full names of people who are no contacts: Latin by the given name, Chinese by the
    surname and what the dictionary doesn't hold."""
    given = words("given_names")
    found = [
        Other(*match.span(), "someone", word=match.group())
        for match in _CAPITALS.finditer(text)
        if match["first"].lower() in given
    ]
    found += [Other(*m.span(), "someone", word=m.group()) for m in _DOTTED.finditer(text)]
    for run in _ZH_CLAUSE.finditer(text):
        if _SURNAMES.isdisjoint(run.group()):
            continue
        pieces = cut(run.group())
        for index, piece in enumerate(pieces):
            at, size = run.start() + piece.start, 0
            # The dictionary's two-character names are mostly words (谢谢).
            if piece.tag.startswith("nr") and len(piece.text) >= 3 and piece.text[0] in _SURNAMES:
                size = len(piece.text)
            elif piece.text in _SURNAMES and piece.tag[:1] in _NAMELIKE:
                size = 1
                for part in pieces[index + 1 : index + 3]:
                    if len(part.text) > 1 or part.tag[:1] not in _NAMELIKE:
                        break
                    size += 1
            if size >= 2:
                found.append(Other(at, at + size, "someone", word=text[at : at + size]))
    return found
