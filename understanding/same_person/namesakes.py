"""Two people of one name: whether a text refers to another person than the contact known by it."""

from collections.abc import Sequence

from understanding.lexicon import words
from understanding.lexicon.rules import patterns
from understanding.roles import is_relation_of_other, roles_of
from understanding.same_person.relationships import may_be_one

# Kin terms that are a form of address for anybody (拟亲属称谓; English bro, sis).
# A friend is called 我哥, a neighbour 阿姨: such a word does not distinguish two people.
ADDRESSES = words("addresses")
_SIBLINGS = frozenset("哥哥 姐姐 弟弟 妹妹".split())
# Kin may also be roommates, neighbours, best friends or the nanny.
_LIKE_KIN = frozenset("roommate neighbor deskneighbor bestfriend childhoodfriend nanny".split())

lex = patterns(__file__)
_CHARS_BEFORE = 80  # characters before a name that are searched


def says_another(text: str, start: int, end: int) -> bool:
    """Whether the words around the name at ``start``..``end`` state that another person has it too:
    也有个张伟, another Sam. "Another Sam story" and "becoming another Sam" don't."""
    around = f"{text[max(0, start - _CHARS_BEFORE) : start]}\0{text[end:]}"
    return bool(lex.another.search(around) and not lex.like.search(around))


def is_someone_else(said: str, known: str) -> bool:
    """Whether a person with the relationship ``said`` to the user can't be the one with ``known``:
    one is kin and the other isn't. Relationships that may follow one another (colleague, friend,
    partner, former boss), another's kin and forms of address (阿姨, 我哥) decide nothing."""
    if not said or not known or is_relation_of_other(said) or is_relation_of_other(known):
        return False
    pair = {_sphere_of(said), _sphere_of(known)}
    apart = pair == {"kin", "work"} or pair == {"kin", "friend"} or pair == {"sibling", "work"}
    return apart and not may_be_one(said, known)


def _sphere_of(relationship: str) -> str:
    """The sphere of a relationship: kin, work (colleagues, landlords, doctors …), friend, sibling
    if a friend may be called that, or "" if it is unclear."""
    roles = roles_of(relationship)
    subtypes = {role.subtype for role in roles}
    if not roles or relationship in ADDRESSES or {role.kind for role in roles} & _LIKE_KIN:
        return ""
    if subtypes == {"family"}:
        return "sibling" if relationship in _SIBLINGS else "kin"
    if subtypes <= {"colleague", "other"}:
        return "work"
    return "friend" if subtypes <= {"friend", "colleague", "other"} else ""


def index_of_bearer(known: Sequence[str], said: str = "", *, another: bool = False) -> int | None:
    """Returns the index in ``known``, the relationships of a name's bearers to the user, of the
    bearer with the relationship ``said``; None if none fits. A name without a relationship refers
    to the first. ``another``: the text refers to another person than the known one."""
    if another and len(known) < 2:
        return None
    fitting = [
        i
        for i, tie in enumerate(known)
        if not is_someone_else(said, tie) and (not another or may_be_one(said, tie))
    ]
    if not fitting:
        return None
    roles = roles_of(said)
    same = [i for i in fitting if any(a.fits(b) for a in roles for b in roles_of(known[i]))]
    if same:
        return same[0]
    unspecified = [i for i in fitting if not known[i]]
    if (another or said) and len(fitting) > 1 and len(unspecified) == 1:
        return unspecified[0]
    return fitting[-1] if another else fitting[0]
