"""How two Chinese names stand to one another."""

from contacts import names
from contacts.lexicon import titles, words
from contacts.names import readings
from contacts.resolution.name_types import PREFIXES, How, is_word, kind_of, title_of

# Chinese sounds that pinyin typing and regional speech confuse.
_NEAR_SOUNDS = (("zh", "z"), ("ch", "c"), ("sh", "s"), ("ang", "an"), ("eng", "en"), ("ing", "in"),
                ("l", "n"), ("f", "h"), ("r", "l"))  # fmt: skip


def both_chinese(a: str, b: str) -> How:
    (head_a, title_a), (head_b, title_b) = title_of(a), title_of(b)
    if title_a and title_b:
        return _two_titles(head_a, title_a, head_b, title_b)
    if title_a or title_b:
        return _title_and_name(head_a, b) if title_a else _title_and_name(head_b, a)
    if _is_nickname(a, b) or _is_nickname(b, a):
        return "nickname"
    if _is_part(a, b) or _is_part(b, a):
        return "part_of_name"
    if _sounds_like(a, b):
        return "homophone"
    full = {kind_of(a), kind_of(b)} == {"full"}
    return "other_name" if full or _same_byname_pattern(a, b) else "other_byname"


def _two_titles(head_a: str, title_a: str, head_b: str, title_b: str) -> How:
    if readings(head_a) != readings(head_b):
        return "other_name"
    first, second = titles("zh").get(title_a), titles("zh").get(title_b)
    apart = (
        first
        and second
        and ({first.gender, second.gender} == {"male", "female"} or not first.kinds & second.kinds)
    )
    return (
        "other_title"
        if apart or head_a != head_b or {title_a, title_b} & {"总", "董"}
        else "titled_name"
    )


def _title_and_name(head: str, name: str) -> How:
    surname = names.surname_of(name)
    if name[0] in PREFIXES[:3] and name[1:] == head:
        return "titled_name"
    if surname == head and len(name) > len(head):
        return "titled_name"
    if head in name[len(surname) :]:
        return "nickname"
    return "other_name" if surname else "other_byname"


def _is_nickname(short: str, full: str) -> bool:
    """小红, 阿红, 红红, 红红姐 of 张小红 or of one another; 老王 and 小王 of 王建国."""
    core = core_of(short)
    if not core:
        return False
    other = core_of(full)
    if other:
        return (
            core == other
            and short != full
            and short[0] + full[0] not in ("大小", "小大", "老小", "小老")
        )
    surname = names.surname_of(full)
    given = full[len(surname) :]
    if not surname or is_word(full):
        return False
    return core in given or (core == surname and short[0] in PREFIXES[:3])


def core_of(key: str) -> str:
    """The character that a nickname is built on: 红 of 小红, 阿红, 红红, 红儿; else ""."""
    if len(key) == 2 and key[0] == key[1]:
        return key[0]
    if len(key) == 2 and key[0] in PREFIXES:
        return key[1]
    if len(key) == 3 and key[0] in PREFIXES[:3] and key[1] == key[2]:
        return key[1]
    if len(key) == 2 and key[1] == "儿":
        return key[0]
    return ""


def _is_part(part: str, full: str) -> bool:
    """A given name alone, the first part of a name with a dot, or a name behind the
    husband's surname (何陈佩珊)."""
    if not full.endswith(part) and not full.startswith(part):
        return False
    surname = names.surname_of(full)
    if surname and len(full) > len(surname) and full == surname + part:
        return len(part) == 2
    if (
        len(full) == 4
        and full.endswith(part)
        and len(part) == 3
        and full[0] in words("surnames", "single")
    ):
        return bool(names.surname_of(part))
    return len(full) > 4 and len(part) >= 2 and not names.surname_of(full)


def _same_byname_pattern(a: str, b: str) -> bool:
    """小丽 and 小美, 大双 and 小双: names given to tell people apart."""
    ca, cb = core_of(a), core_of(b)
    if ca and cb:
        return ca == cb or (a[0] == b[0] or (a[0] == a[1] and b[0] == b[1]))
    return False


def _sounds_like(a: str, b: str) -> bool:
    if len(a) != len(b) or len(a) < 2:
        return False
    same = sum(x == y for x, y in zip(a, b, strict=True))
    near = [_near(x) == _near(y) for x, y in zip(readings(a), readings(b), strict=False)]
    exact = readings(a) == readings(b)
    return exact or (all(near) and len(near) == len(a)) or (_looks_alike(a, b) and same >= 1)


def _near(syllable: str) -> str:
    for form, other in _NEAR_SOUNDS:
        syllable = syllable.replace(form, other)
    return syllable


def _looks_alike(a: str, b: str) -> bool:
    """One syllable differs by its beginning or end only: 周舟 and 邹舟, 佳怡 and 佳宜."""
    differing = [(x, y) for x, y in zip(readings(a), readings(b), strict=False) if x != y]
    return (
        len(differing) == 1
        and differing[0][0][1:] == differing[0][1][1:]
        and len(differing[0][0]) > 2
    )
