"""Where in a clause a person may stand, and the name beside a role word."""

import re
from functools import lru_cache

from contacts.lexicon import alternation, titles_used, words
from contacts.segmentation import tagged_by_start
from contacts.text import normalise
from memories.providers.offline.extraction.name_spans import (
    LATIN_NAME,
    announced_person,
    doubled_name_at,
    is_ordinary,
    latin_names,
    name_beside_role,
)

OPENING = re.compile(rf"(?:^|[，,。\s])(?:{alternation(words('names_zh', 'openings'))})\s?$")

# 财务的…, 隔壁的…: one of a group.
_FROM_GROUP = re.compile(
    r"(?:财务|人事|HR|行政|前台|市场|销售|运营|产品|研发|法务|技术|客服|采购|后勤|隔壁|楼[上下]|对面|我们?班|[小本]组|我们组|部门?|我们公司|单位|店里|学校|医院|宿舍|小区)里?的$"
)
_TITLED = re.compile(rf"(?:{alternation(titles_used('opening'))})$")


@lru_cache(maxsize=2048)
def alias_pattern(alias: str) -> re.Pattern[str]:
    """Where an alias stands as a word of its own; compiled once."""
    left = r"(?<![a-z0-9@._-])" if re.match(r"[a-z0-9]", alias) else ""
    right = r"(?![a-z0-9@_]|-[a-z])" if re.search(r"[a-z0-9]$", alias) else ""
    return re.compile(left + re.escape(alias) + right)


def is_ordinary_phrase(text: str) -> bool:
    """Three characters that are a word of their own (小红书, 小米粥)."""
    return (is_ordinary(text) and text[:2] not in {"小红"}) or text in {
        "小红书",
        "小红帽",
        "小米粥",
        "小米家",
    }


def inside_word(text: str, start: int) -> bool:
    """Whether a segmenter's word runs across ``start``."""
    return start < len(text) and start not in tagged_by_start(text)


def in_title(text: str, start: int) -> bool:
    """Whether a place lies inside 《…》 or is part of a two-word title (Mamma Mia, Big Ben)."""
    return text.rfind("《", 0, start) > text.rfind("》", 0, start) or bool(
        re.search(
            r"\b(?:Mamma|Big|Uncle Sam|Saint|St\.?|Mount|Lake|Port|Fort|San|Hurricane|Air)\s$",
            text[:start],
        )
    )


def in_inscription(text: str, start: int) -> bool:
    """Whether a place lies in words that are written on something: 牌子上写着“…加油”."""
    return bool(
        re.search(
            r"(?:写|印|刻|画|贴|喊|标|打出?|亮出?)(?:着|了|的是|道|成)?[：:，, ]?\s?[“\"「‘『][^”\"」’』]*$"
            r"|\b(?:says?|said|reads?|reading|saying|written|shouting)[,:]?\s[“\"‘][^”\"’]*$",
            text[:start],
            re.I,
        )
    )


def closes_name(text: str, end: int) -> bool:
    """Whether a name may end there: no street, school or company goes on behind it."""
    return not re.match(
        r"(?:大学|公司|医院|路|街|区|市|省|县|银行|集团|科技|小区|花园|广场)", text[end:]
    )


def person_place(text: str, start: int, end: int) -> bool:
    """Whether an unannounced Chinese name stands where people stand: at the head of a clause
    before a predicate, or after a word that calls for a person."""
    before, after = text[:start], text[end:]
    if not closes_name(text, end) or re.match(
        r"(?:演唱会|专辑|的歌|的新歌|主演|新剧|传$|传[，。])", after
    ):
        return False
    if announced_person(before) or _FROM_GROUP.search(before):
        return True
    if OPENING.search(before) and _TITLED.search(text[start:end]):
        return True
    if not before.strip() or OPENING.search(before) or re.search(r"[，,、/\s“\"]$", before):
        return not after or bool(
            re.match(
                r"[\s，,、。你也都又还就才却最很特说问要在是有去来给把被跟和的今昨明上下前刚最已终突居快真超好挺总老常正会想能不没管做当负搬换辞结离怀生得找买卖吃喝送约叫让帮打发回到出过开爱喜讨怕教学读考住养家公工那这她他从对比进入升跳转]|[a-zA-Z]",
                after,
            )
        )
    return False


def name_in_apposition(text: str, end: int) -> tuple[int, int] | None:
    """The span of a name in apposition to a relation word that ends at ``end``."""
    gap = re.match(r"\s?[,，]\s?(?=[A-Z])|,?\s(?:is\s)?(?:called|named)\s|\s?[“\"‘']?", text[end:])
    starts = [end + (gap.end() if gap else 0)]
    called = re.match(r",?\s(?:is\s)?(?:called|named)\s", text[end:])
    if called:
        starts = [end + called.end()]
    for start in starts:
        latin = LATIN_NAME.match(text, start)
        if latin:
            from_list = [span for span in latin_names(text) if span[0] == start]
            if from_list and latin.group() not in {"I", "The", "She", "He"}:
                full = re.match(r"\s[A-Z][a-z]+\b(?!\s[A-Z])", text[latin.end() :])
                is_surname = full and normalise(full.group().strip()) not in {"said", "is"}
                return start, latin.end() + (
                    full.end() if full and is_surname and len(full.group()) > 3 else 0
                )
        stop = doubled_name_at(text, start) or name_beside_role(text, start)
        if stop is not None and closes_name(text, stop):
            return start, stop
    return None
