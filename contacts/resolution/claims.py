"""What the facts themselves claim about who is who: names they state, people they set apart."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from contacts import segmentation
from contacts.lexicon import words
from contacts.names import name_key, surname_of
from contacts.resolution import name_similarity, name_types
from contacts.resolution.records import Record
from contacts.text import is_han, normalise

# A name that only stands first in a list of facts (listed) is likely the person's, not surely.
How = Literal["called", "really", "listed", "surname"]

_FRAGMENT = re.compile(r"[,，;；。.、!！|()（）]\s*| and (?=(?:is|goes|his|her))")
_NAME_ZH = r"(?P<name>[A-Za-z][A-Za-z .'-]{0,30}|[㐀-鿿·]{1,8})"
_NAME_EN = r"(?P<name>[A-ZÀ-Þ][\w'’-]+(?: [A-ZÀ-Þ][\w'’-]+){0,2}|[㐀-鿿·]{2,8})"
_SELF = r"(?:他|她|其|的|本人)?"
# (what is said, what the name is): a real name excludes another, a nickname doesn't.
_STATED: tuple[tuple[re.Pattern[str], How], ...] = (
    (re.compile(rf"(?:本名|真名|原名|全名|大名|学名|姓名|名字|中文名)(?:叫|是|为|：|:)*\s*{_NAME_ZH}"), "really"),
    (re.compile(rf"^(?:也|又|就|大家都|都|人称|我们?)?{_SELF}(?:名叫|叫做|叫作|就是|叫)(?:他|她)?\s*{_NAME_ZH}"), "really"),
    (
        re.compile(
            rf"(?:外号|绰号|小名|乳名|昵称|网名|艺名|笔名|微信名|曾用名|英文名|法文名|日文名|别名|人称|又名|也叫|又叫|也就是|就是)"
            rf"(?:字)?(?:叫|是|为|：|:)*\s*{_NAME_ZH}"
        ),
        "called",
    ),
    (re.compile(rf"(?:管|叫|喊|称)(?:他|她)(?:叫|做|作|为)?\s*{_NAME_ZH}"), "called"),
    (re.compile(r"^(?:他|她)?姓(?P<name>[㐀-鿿])"), "surname"),
    (re.compile(rf"\b(?:[Rr]eal|[Ff]ull|[Ff]irst|[Gg]iven|[Ll]egal|[Cc]hinese) name(?: is| was|:)? {_NAME_EN}"), "really"),
    (re.compile(rf"\b(?:[Hh]er|[Hh]is|[Tt]heir|whose|[Tt]he) name(?: is|'s) {_NAME_EN}"), "really"),
    (re.compile(rf"(?:^|\b(?:is|was|[Ss]he's|[Hh]e's) )(?:[Nn]amed|[Cc]alled) {_NAME_EN}"), "really"),
    (
        re.compile(
            rf"\b(?:(?:[Gg]oes|[Ww]ent) by|(?:also )?known as|[Aa]\.?k\.?a\.?|[Nn]ick-?name(?:d| is|:)?|[Ee]nglish name(?: is)?"
            rf"|calls? (?:her|him|them)|answers to|[Ss]hort for|stage name(?: is)?|is the same person as) {_NAME_EN}"
        ),
        "called",
    ),
    (re.compile(rf"\b(?:née|nee|maiden name(?: is| was)?) {_NAME_EN}"), "called"),
)  # fmt: skip
# 小红（张红）, Anna (Annie): another name right behind the name, which was cut off before.
_BRACKETED = re.compile(rf"^[(（]\s*(?:也叫|又名|即|aka |a\.k\.a\. )?{_NAME_ZH}\s*[)）]")
# Nothing but these may stand before a statement in its fragment: with any other word, it may
# be somebody else's name that is told.
_SELF_BEFORE = re.compile(
    r"(?:他|她|其|本人|自己)?的?(?:大家|同事们?|朋友们?|家里人?|家人|我们?|他们|人家)?"
    r"(?:是|也|又|都|一直|现在|以前|后来|平时|微信)*"
    r"|(?:'s|her|his|their|she|he|they|whose|the|a)?\s*(?:everyone|everybody|people|friends|family|we|all|who)?"
    r"\s*(?:also|is|was|now|and)?\s*",
    re.I,
)
# What goes on after a name that no comma ends: 真名叫谢丽在采购部.
_GOES_ON = "在是住做当今去来有从现就也都比喜不开很"
_APART = re.compile(
    r"不是(?:同)?一个?人|不是同一|两个人|是两个|同名|重名|另一个|另外一个|不是.{0,8}那个|夫妻|母女|父子|母子|父女|姐妹|兄弟"
    r"|\bnot the\b|\bdifferent\b|\bunrelated\b|\bno relation\b|\bnot to be confused\b|\bthe other\b|\bsame name\b",
    re.I,
)
_WITH = r"(?:和|跟|与|同|比|给|替|带|认识|with|of|to|for|and|than|the|against|unlike|replaced|met)\s*[^，,。]{0,8}"
_SAME = ("same_name", "same_byname")
# No given name ends in these.
_NEVER_LAST = "了的着过人男女岁吗呢吧"
_NAMES_ITSELF = (
    "same_name",
    "same_byname",
    "pinyin",
    "part_of_name",
    "titled_name",
    "nickname",
    "diminutive",
)


@dataclass(frozen=True, slots=True)
class Claim:
    """A name that a fact states for the person of the record."""

    name: str
    how: How
    text: str


def stated(record: Record) -> list[Claim]:
    """The names that the facts state for the person of the record."""
    told = zip(record.facts, record.told, strict=True)
    return [
        Claim(name, how, text)
        for text, rest in told
        for name, how in _stated(rest)
        if not _own(name, record)
    ]


def _own(name: str, record: Record) -> bool:
    """A role or the very name that the record bears says nothing new."""
    return name_types.kind_of(name) == "role" or name_key(name) in map(name_key, record.names[:1])


@lru_cache(maxsize=16384)
def _stated(told: str) -> tuple[tuple[str, How], ...]:
    found: list[tuple[str, How]] = []
    bracketed = _BRACKETED.match(told)
    if bracketed:
        found.append((bracketed["name"].strip(), "called"))
    for place, fragment in enumerate(_FRAGMENT.split(told)):
        rest = fragment.strip()
        for pattern, how in _STATED:
            match = pattern.search(rest)
            if match and _SELF_BEFORE.fullmatch(rest[: match.start()]):
                found.append((match["name"].strip(), how))
                break
        else:
            if place == 0 and _is_bare_name(rest):
                found.append((rest, "listed"))
    return tuple(found)


def _is_bare_name(fragment: str) -> bool:
    if not fragment:
        return False
    if is_han(fragment[0]):
        pieces = segmentation.cut(normalise(fragment))
        known = any(len(piece.text) > 1 and piece.tag[:2] not in ("nr", "") for piece in pieces)
        shaped = len(fragment) <= 3 and name_types.kind_of(fragment) == "full"
        return shaped and not known and fragment[-1] not in _NEVER_LAST
    parts = fragment.split(" ")
    known = normalise(parts[0]) in words("given_names")
    return known and len(parts) <= 2 and all(part[:1].isupper() for part in parts)


def same(first: Record, second: Record) -> tuple[Claim, str] | None:
    """A statement in one record that its person bears a name of the other."""
    for a, b in ((first, second), (second, first)):
        proper = [name for name in b.names if name_types.kind_of(name) != "role"]
        for claim in stated(a):
            for name in proper:
                if claim.how in ("called", "really") and _names(claim.name, name):
                    return claim, name
        for text, told in zip(a.facts, a.told, strict=True):
            for name in proper:
                if _in_apposition(told, name, a):
                    return Claim(name, "really", text), name
    return None


def _in_apposition(told: str, name: str, own: Record) -> bool:
    """A name right behind the role that the person goes by: 我老板谢军, my boss Nora."""
    return (
        told.startswith(name)
        and told not in own.facts
        and any(name_types.kind_of(mine) == "role" for mine in own.names)
        and not re.match(r"\w", told[len(name) :] if name.isascii() else "")
    )


def alike(first: Record, second: Record) -> tuple[Claim, str] | None:
    """Both records state one name, or one states the surname of the other."""
    for a, b in ((first, second), (second, first)):
        for claim in stated(a):
            if claim.how == "surname":
                for name in b.names:
                    if surname_of(name_key(name)) == normalise(claim.name):
                        return claim, name
                continue
            others = [c.name for c in stated(b) if c.how != "surname"]
            if claim.how == "listed":
                others += [name for name in b.names if name_types.kind_of(name) != "role"]
            for name in others:
                if _names(claim.name, name):
                    return claim, name
    return None


def _names(name: str, other: str) -> bool:
    key, rest = name_key(other), name_key(name)[len(name_key(other)) :]
    if len(key) > 1 and name_key(name).startswith(key) and rest[:1] and rest[0] in _GOES_ON:
        return True
    how = name_similarity.relate((name,), (other,)).how
    return how in ("same_name", "same_byname", "pinyin") or (
        how == "part_of_name" and len(name_key(other)) > 1
    )


def conflict(first: Record, second: Record) -> tuple[Claim, str] | None:
    """A real name in one record that isn't the other's."""
    for a, b in ((first, second), (second, first)):
        for claim in stated(a):
            if claim.how == "called":
                continue
            others = [n for n in b.names if name_types.kind_of(n) in ("full", "titled")]
            others += [c.name for c in stated(b) if c.how in ("really", "listed")]
            if claim.how == "surname":
                heads = [_surname(name) for name in others]
                if any(heads) and normalise(claim.name) not in heads:
                    return claim, others[0]
                continue
            hows = [name_similarity.relate((claim.name,), (name,)).how for name in others]
            if "other_name" in hows and not set(hows) & set(_NAMES_ITSELF):
                return claim, others[hows.index("other_name")]
    return None


def _surname(name: str) -> str:
    key = name_key(name)
    head, title = name_types.title_of(key)
    if title:
        return head if head in words("surnames", "single", "compound") else ""
    return surname_of(key)


def apart(first: Record, second: Record) -> str:
    """A fact that says that the two are two people, or nothing."""
    for a, b in ((first, second), (second, first)):
        for text, norm in zip(a.facts, a.normal_facts, strict=True):
            if _APART.search(text) and _occurrence(norm, a, b, inside=True):
                return text
    return ""


def other_person(first: Record, second: Record) -> str:
    """A fact of one that names the other as someone else, or nothing."""
    for a, b in ((first, second), (second, first)):
        identical = {claim.text for claim in stated(a)}
        claimed = same(a, b)
        if claimed:
            identical.add(claimed[0].text)
        for text, norm in zip(a.facts, a.normal_facts, strict=True):
            if text not in identical and _occurrence(norm, a, b, inside=False):
                return text
    return ""


def _occurrence(norm: str, own: Record, other: Record, *, inside: bool) -> bool:
    """Whether a normalised text about ``own`` names ``other``. A name that both bear counts
    as the other's where it is set beside someone (和…的李老师)."""
    mine = own.normal_names
    for name, key in zip(other.names, other.normal_names, strict=True):
        if key not in norm or len(key) < 2 or name_types.kind_of(name) == "role":
            continue
        if any(key in n for n in mine):
            shared = key in mine or name_similarity.relate((name,), own.names).how in _SAME
            beside = re.search(_WITH + re.escape(key), norm)
            if shared and (beside or (inside and re.search(r"同名|重名|same name", norm))):
                return True
            continue
        masked = norm
        for n in mine:
            masked = masked.replace(n, "\0" * len(n))
        if is_han(key[0]):
            if key in masked and not name_types.is_word(key):
                return True
        elif re.search(rf"\b{re.escape(key)}\b", masked):
            return True
    return inside and bool(re.search(r"同名|重名|same name", norm)) and _share_name(own, other)


def _share_name(a: Record, b: Record) -> bool:
    return name_similarity.relate(a.names, b.names).how in _SAME


# A tie that one has at a time ended for one of them and began for the other.
_ENDED = re.compile(
    r"以前|之前|前年|当年|后来|离职|搬走|分手|卸任|调走|退休|跳槽|\buntil\b|\bleft\b|moved out|used to|former|now at|previously|no longer"
)
_BEGAN = re.compile(
    r"新来|新接手|接手|刚来|新任|上任|今年|新租|新搬|刚搬|took over|\bbecame\b|\bnew\b|moved in|replaced|since|this (?:year|month|autumn|fall|spring|summer|winter|january|february|march|april|may|june|july|august|september|october|november|december)",
    re.I,
)
_YEARS = re.compile(r"(?<!\d)((?:19|20)\d\d)(?:\s*[-~至到]\s*((?:19|20)\d\d))?")


def succession(first: Record, second: Record) -> tuple[str, str] | None:
    """Facts that the one's time ended and the other's began."""
    for a, b in ((first, second), (second, first)):
        ended = next((t for t in a.facts if _ENDED.search(t) or _YEARS.search(t)), "")
        began = next((t for t in b.facts if _BEGAN.search(t)), "") or _later(a, b)
        if ended and began and not _BEGAN.search(ended):
            return ended, began
    return None


def _later(a: Record, b: Record) -> str:
    years = [int(y) for text in a.facts for found in _YEARS.findall(text) for y in found if y]
    if not years:
        return ""
    for text in b.facts:
        found = _YEARS.search(text)
        if found and int(found[1]) > max(years):
            return text
    return ""
