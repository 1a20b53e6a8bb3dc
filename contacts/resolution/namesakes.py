"""Two people of one name: when the words mean somebody else than the one who is known."""

import re
from collections.abc import Sequence

from contacts.lexicon import words
from contacts.resolution.relationships import may_be_one
from contacts.roles import is_anothers, roles_of

# Kin terms that are a form of address for anybody (拟亲属称谓; English bro, sis).
# A friend is 我哥, a neighbour 阿姨: beside such a word nobody is told apart.
ADDRESSES = words("addresses")
_SIBLINGS = frozenset("哥哥 姐姐 弟弟 妹妹".split())
# Kin live together and next door, and are at times the best of friends or the nanny.
_LIKE_KIN = frozenset("roommate neighbor deskneighbor bestfriend childhoodfriend nanny".split())

_ONE_ZH = (
    r"一?[个位名](?:[^，,。！!？?的]{0,3}的)?(?:人|同事|同学|朋友|邻居)?(?:也|就)?(?:名?叫做?)?"
)
_BEFORE_ZH = re.compile(
    rf"(?:也有|还有|又有|又来了|又认识了?|又遇到了?|又碰到了?|另外?有?){_ONE_ZH}$|又{_ONE_ZH}$"
    r"|(?:同名(?:同姓)?|同姓同名|重名)的(?:人)?$|[个位名][^，,。！!？?]{0,6}也(?:名)?叫做?$"
)
_LIKE_ZH = re.compile(r"(?:像|当成?|变成|成为?|成了|不是)(?:了)?(?:另|又)")
_AFTER_ZH = re.compile(r"式|那样|一样|般|第二|的(?:故事|笑话|段子)")
_KIND_EN = r"(?:[a-z]+[ -]){0,2}?"
_BEFORE_EN = re.compile(
    rf"\b(?:another|a different|a second|(?:also|too,) (?:have|has|know|met|got|had) an?) (?:{_KIND_EN}"
    r"(?:(?:also )?(?:called|named) ))?$|\balso (?:called|named) $|\bthere(?:'s|’s| is| was) also an? $",
    re.I,
)
_NAMED_EN = re.compile(r"\b(?:called|named|name(?:['’]s| is)) $", re.I)
_TOO_EN = re.compile(r",? (?:too|as well)\b")
_LIKE_EN = re.compile(
    r"\b(?:not|like|becom\w+|he(?:'s| is| was)|she(?:'s| is| was)|be|an?other as) (?:yet )?"
    r"(?:another|a different|a second) (?:[\w-]+ )*$",
    re.I,
)
# A noun behind the name makes it the name of a thing: another Sam story.
_AFTER_EN = re.compile(
    r"$|[,.;:!?()]|['’]s\b|\s?[,，、。]|\s?[\u3400-\u9fff]|\s(?:at|from|in|on|of|with|who|that|here|there|too|as|now|and|but|or"
    r"|is|was|has|had|just|works?|joined|started|moved|lives?|quit|left|came|called|told|yesterday|today|last|this)\b"
)
# Where somebody is from says what they are to the user.
_PLACES = (
    (re.compile(r"(?:我|咱)们?(?:公司|单位|部门|组|团队|办公室)"), "同事"),
    (re.compile(r"(?:我|咱)们?班"), "同学"),
    (re.compile(r"(?:我|咱)们?(?:小区|楼里|楼上|楼下)"), "邻居"),
    (
        re.compile(r"\b(?:at|from) (?:work|my (?:work|office|company|job))\b|\bon my team\b", re.I),
        "coworker",
    ),
    (re.compile(r"\b(?:in|from) my class\b", re.I), "classmate"),
)


def says_another(text: str, start: int, end: int) -> bool:
    """Whether the words around the name at ``start``..``end`` say that somebody else bears it
    as well: 也有个张伟, another Sam. "Another Sam story" and "becoming another Sam" don't."""
    before, after = text[:start], text[end:]
    if _BEFORE_ZH.search(before):
        return not _LIKE_ZH.search(before) and not _AFTER_ZH.match(after)
    if _NAMED_EN.search(before) and _TOO_EN.match(after):
        return True
    found = _BEFORE_EN.search(before)
    return bool(found and not _LIKE_EN.search(before) and _AFTER_EN.match(after))


def role_by_place(text: str) -> str:
    """What somebody in ``text`` is to the user by where they are from (我公司: 同事), or ""."""
    return next((role for place, role in _PLACES if place.search(text)), "")


def is_someone_else(said: str, known: str) -> bool:
    """Whether who is ``said`` to be that to the user can't be the one ``known`` as this: one is
    kin and the other isn't. Ties that follow on one another (a colleague, a friend, a partner,
    a former boss), another's kin and forms of address (阿姨, 我哥) tell nobody apart."""
    if not said or not known or is_anothers(said) or is_anothers(known):
        return False
    pair = {_sphere(said), _sphere(known)}
    apart = pair == {"kin", "work"} or pair == {"kin", "friend"} or pair == {"sibling", "work"}
    return apart and not may_be_one(said, known)


def _sphere(relationship: str) -> str:
    """kin, work (colleagues, landlords, doctors …), friend; sibling where a friend may be
    called that; "" where the words don't tell."""
    roles = roles_of(relationship)
    subtypes = {role.subtype for role in roles}
    if not roles or relationship in ADDRESSES or {role.kind for role in roles} & _LIKE_KIN:
        return ""
    if subtypes == {"family"}:
        return "sibling" if relationship in _SIBLINGS else "kin"
    if subtypes <= {"colleague", "other"}:
        return "work"
    return "friend" if subtypes <= {"friend", "colleague", "other"} else ""


def meant(known: Sequence[str], said: str = "", *, another: bool = False) -> int | None:
    """Which of the bearers of a name, given by what they are to the user, is meant where one
    is ``said`` to be this, ``another`` than the known one. None: none of them. A bare name
    means the first."""
    if another and len(known) < 2:
        return None
    fitting = [
        i
        for i, each in enumerate(known)
        if not is_someone_else(said, each) and (not another or may_be_one(said, each))
    ]
    if not fitting:
        return None
    same = [i for i in fitting if _same(said, known[i])]
    if same:
        return same[0]
    untold = [i for i in fitting if not known[i]]
    if (another or said) and len(fitting) > 1 and len(untold) == 1:
        return untold[0]
    return fitting[-1] if another else fitting[0]


def _same(said: str, known: str) -> bool:
    return any(a.fits(b) for a in roles_of(said) for b in roles_of(known))
