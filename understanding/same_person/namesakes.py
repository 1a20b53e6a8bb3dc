"""Two people of one name: when the words mean somebody else than the one who is known."""

from collections.abc import Sequence

from understanding.lexicon import words
from understanding.lexicon.rules import patterns
from understanding.roles import is_anothers, roles_of
from understanding.same_person.relationships import may_be_one

# Kin terms that are a form of address for anybody (拟亲属称谓; English bro, sis).
# A friend is 我哥, a neighbour 阿姨: beside such a word nobody is told apart.
ADDRESSES = words("addresses")
_SIBLINGS = frozenset("哥哥 姐姐 弟弟 妹妹".split())
# Kin live together and next door, and are at times the best of friends or the nanny.
_LIKE_KIN = frozenset("roommate neighbor deskneighbor bestfriend childhoodfriend nanny".split())

lex = patterns(__file__)
_BEFORE = 80  # characters before a name that are looked at


def says_another(text: str, start: int, end: int) -> bool:
    """Whether the words around the name at ``start``..``end`` say that somebody else bears it
    as well: 也有个张伟, another Sam. "Another Sam story" and "becoming another Sam" don't."""
    around = f"{text[max(0, start - _BEFORE) : start]}\0{text[end:]}"
    return bool(lex.another.search(around) and not lex.like.search(around))


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
    roles = roles_of(said)
    same = [i for i in fitting if any(a.fits(b) for a in roles for b in roles_of(known[i]))]
    if same:
        return same[0]
    untold = [i for i in fitting if not known[i]]
    if (another or said) and len(fitting) > 1 and len(untold) == 1:
        return untold[0]
    return fitting[-1] if another else fitting[0]
