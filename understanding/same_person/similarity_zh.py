"""How two Chinese names stand to one another."""

from understanding import names
from understanding.lexicon import titles, words
from understanding.names import readings
from understanding.same_person.name_types import PREFIXES, How, is_word, kind_of, title_of
from understanding.text import is_han

# Chinese sounds that pinyin typing and regional speech confuse.
_NEAR_SOUNDS = (("zh", "z"), ("ch", "c"), ("sh", "s"), ("ang", "an"), ("eng", "en"), ("ing", "in"),
                ("l", "n"), ("f", "h"), ("r", "l"))  # fmt: skip
# What nicknames end in: 红儿, 浩子, 豪仔, 芳妮儿.
_ENDINGS = "儿子仔妞妮宝"


def both_chinese(a: str, b: str) -> How:
    """How two Chinese name keys relate."""
    (head_a, title_a), (head_b, title_b) = title_of(a), title_of(b)
    if title_a and title_b:
        return _two_titles(head_a, title_a, head_b, title_b)
    if title_a or title_b:
        return _title_and_name(head_a, b) if title_a else _title_and_name(head_b, a)
    for short, full in ((a, b), (b, a)):
        how = _nickname(short, full)
        if how:
            return how
        if _is_part(short, full):
            return "part_of_name"
    if _sounds_like(a, b):
        return "homophone"
    return _apart(a, b)


def are_homophones(a: str, b: str) -> bool:
    """Whether two name keys are full Chinese names of the same sound, in other characters."""
    full = {kind_of(key) for key in (a, b) if key and all(map(is_han, key))} == {"full"}
    return full and a != b and len(a) == len(b) and readings(a) == readings(b)


def _apart(a: str, b: str) -> How:
    """How names differ of which none is made from the other."""
    if {kind_of(a), kind_of(b)} != {"full"}:
        return "different_name" if _same_byname_pattern(a, b) else "other_byname"
    first, second = names.surname_of(a), names.surname_of(b)
    if first == second:
        return "shared_surname"
    return "shared_given" if a[len(first) :] == b[len(second) :] else "other_name"


def _two_titles(head_a: str, title_a: str, head_b: str, title_b: str) -> How:
    if readings(head_a) != readings(head_b):
        return "different_name" if _is_surname(head_a) and _is_surname(head_b) else "other_name"
    first, second = titles("zh").get(title_a), titles("zh").get(title_b)
    apart = (
        first
        and second
        and ({first.gender, second.gender} == {"male", "female"} or not first.kinds & second.kinds)
    )
    return "other_title" if apart or head_a != head_b else "titled_name"


def _title_and_name(head: str, name: str) -> How:
    surname = names.surname_of(name)
    if name[0] in PREFIXES[:3] and name[1:] == head:
        return "titled_name"
    if surname == head and len(name) > len(head):
        return "titled_name"
    if set(head) & set(name[len(surname) :]):
        return "nickname"
    if not surname or is_word(name):
        return "other_byname"
    return "different_name" if _is_surname(head) else "other_name"


def _is_surname(head: str) -> bool:
    return head in words("surnames", "single", "compound")


def _nickname(short: str, full: str) -> How | None:
    """小棠, 阿棠, 棠棠, 棠子 of 贺小棠 or of one another; 老俞 and 小俞 of 俞建章, which a
    surname alone makes."""
    core = core_of(short)
    other = core_of(full)
    if not core or short == full:
        return None
    if other:
        apart = short[0] + full[0] in ("大小", "小大", "老小", "小老")
        return "nickname" if core == other and not apart else None
    surname = names.surname_of(full)
    if not surname or is_word(full):
        return None
    if core in full[len(surname) :]:
        return "nickname"
    return "titled_name" if core == surname and short[0] in PREFIXES[:3] else None


def core_of(key: str) -> str:
    """The character that a nickname is built on: 红 of 小红, 阿红, 红红, 红儿, 红子; else ""."""
    if len(key) == 2 and key[0] == key[1]:
        return key[0]
    if len(key) == 2 and key[0] in PREFIXES:
        return key[1]
    if len(key) == 3 and key[0] in PREFIXES[:3] and key[1] == key[2]:
        return key[1]
    if len(key) in (2, 3) and key[-1] in _ENDINGS and not is_word(key):
        return key[0]
    return ""


def _is_part(part: str, full: str) -> bool:
    """A given name alone, or a name within a longer one: 浩然 of 郑浩然, 陈佩珊 of 何陈佩珊."""
    if len(part) < 2 or len(full) <= len(part) or (is_word(part) and len(full) <= 3):
        return len(part) == 2 and len(full) == 3 and full.endswith(part)
    return full.endswith(part) or (full.startswith(part) and not names.surname_of(full))


def _same_byname_pattern(a: str, b: str) -> bool:
    """小丽 and 小美, 大双 and 小双: names given to tell people apart."""
    ca, cb = core_of(a), core_of(b)
    if ca and cb:
        return ca == cb or (a[0] == b[0] or (a[0] == a[1] and b[0] == b[1]))
    return False


def _sounds_like(a: str, b: str) -> bool:
    """Whether two names sound the same, or nearly so in regional speech. A given name may stand
    for the whole: 冬升 and 韩东升."""
    short, long = sorted((a, b), key=len)
    if len(long) - len(short) > 1 or len(short) < 2:
        return False
    if len(short) < len(long) and not names.surname_of(long):
        return False
    tail = readings(long)[-len(short) :]
    return all(_near(x) == _near(y) for x, y in zip(readings(short), tail, strict=False))


def _near(syllable: str) -> str:
    for form, other in _NEAR_SOUNDS:
        syllable = syllable.replace(form, other)
    return syllable
