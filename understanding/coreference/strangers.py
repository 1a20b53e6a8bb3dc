"""Those in a text who are not contacts: strangers, other people's kin, pets, organisations."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from understanding.coreference import role_features
from understanding.lexicon import alternation, words
from understanding.lexicon.rules import patterns
from understanding.roles import terms
from understanding.segmentation import cut
from understanding.text import is_han

_OWNS = frozenset(("his", "her", "their"))
# Role words that mean a thing more often than a person.
_NOT_PEOPLE = frozenset(("report", "pa", "date", "chief", "leader", "superior"))

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


def _roles(*, chinese: bool, family: bool) -> str:
    """Role words as alternatives; ``family``: of kin and partners."""
    return alternation(
        word
        for word, roles in terms().items()
        if is_han(word[0]) is chinese and (roles[0].subtype in ("family", "partner")) is family
    )


def _people(*, chinese: bool) -> str:
    roles = {word for word, of in terms().items() if of[0].subtype not in ("family", "partner")}
    listed = words("strangers", "people_zh" if chinese else "people_en")
    return alternation({w for w in roles - _NOT_PEOPLE if is_han(w[0]) is chinese} | listed)


lex = patterns(
    __file__,
    KIN_ZH=partial(_roles, chinese=True, family=True),
    KIN_EN=partial(_roles, chinese=False, family=True),
    OTHER_ZH=partial(_roles, chinese=True, family=False),
    OTHER_EN=partial(_roles, chinese=False, family=False),
    PEOPLE_ZH=partial(_people, chinese=True),
    PEOPLE_EN=partial(_people, chinese=False),
)


def owned_kin(text: str, owners: Sequence[tuple[int, int]]) -> list[Other]:
    """Kin and other relations of those at the spans ``owners``: 她妈妈, Anna's sister."""
    found = []
    for start, end in owners:
        match = lex.owned_kin.match(text, end)
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
        for m in lex.own_kin.finditer(text)
    ]


def strangers(text: str) -> list[Other]:
    """Unnamed people, people with names that are no contact's, pets and organisations."""
    found = []
    kinds: tuple[tuple[OtherKind, re.Pattern[str]], ...] = (
        ("pet", lex.pet),
        ("group", lex.group),
        ("someone", lex.someone_zh),
        ("someone", lex.someone_en),
    )
    for kind, pattern in kinds:
        for match in pattern.finditer(text):
            noun = (match.groupdict().get("noun") or match.group()).lower()
            gender = (
                role_features.noun_gender(noun) or role_features.gender_of(noun)
                if kind == "someone"
                else ""
            )
            found.append(Other(*match.span(), kind, gender, noun))
    return found + _unknown_names(text)


# Classes of the single characters that unknown given names fall apart into.
_NAMELIKE = frozenset(("", "n", "g", "a", "z", "j", "x", "b"))
_SURNAMES = words("surnames", "single") - words("surnames", "weak")


def _unknown_names(text: str) -> list[Other]:
    """Full names of people who are no contacts: Latin by the given name, Chinese by the
    surname and what the dictionary doesn't hold."""
    given = words("given_names")
    found = [
        Other(*match.span(), "someone", word=match.group())
        for match in lex.full_name_en.finditer(text)
        if match["first"].lower() in given
    ]
    found += [Other(*m.span(), "someone", word=m.group()) for m in lex.dotted_name.finditer(text)]
    for run in lex.clause_zh.finditer(text):
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
