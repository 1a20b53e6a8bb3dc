"""Forms of address that stand beside a surname: 王总, 李医生, 张阿姨, Dr. Lee, Mr Chen.

Each maps to the gender it implies and the role classes it can mean; a person fits when the
relationship or an alias states one of these, or when the title is for anyone (``*``).
``peer`` is any grown-up who isn't kin, ``elder`` a grown-up of one's parents' age.
"""

from typing import NamedTuple


class Title(NamedTuple):
    gender: str
    kinds: frozenset[str]


def _title(kinds: str, gender: str = "") -> Title:
    return Title(gender, frozenset(kinds.split()))


CHINESE: dict[str, Title] = {
    **dict.fromkeys(
        ("总", "董", "老板", "总监", "总裁", "老总"), _title("boss client businesspartner")
    ),
    **dict.fromkeys(
        ("经理", "主管", "组长", "部长", "处长", "科长"), _title("boss client manager")
    ),
    **dict.fromkeys(
        ("主任", "局长", "所长", "院长", "厂长", "行长"), _title("boss doctor client principal")
    ),
    **dict.fromkeys(("队长", "队", "班长"), _title("boss sportsfriend coach classmate")),
    "医生": _title("doctor dentist therapist"),
    "大夫": _title("doctor dentist therapist"),
    "医师": _title("doctor dentist therapist"),
    "护士": _title("nurse"),
    "老师": _title("teacher homeroomteacher professor mentor principal coach"),
    "教授": _title("professor mentor teacher"),
    "导师": _title("mentor professor"),
    "导": _title("mentor professor"),
    "校长": _title("principal"),
    "博士": _title("professor mentor doctor"),
    "律师": _title("lawyer"),
    "教练": _title("coach"),
    "会计": _title("accountant"),
    "秘书": _title("secretary"),
    "助理": _title("secretary"),
    "中介": _title("agent"),
    "房东": _title("landlord"),
    "师傅": _title("mechanic driver mentor"),
    "司机": _title("driver"),
    "警官": _title("police"),
    "牧师": _title("pastor"),
    "工": _title("engineer"),
    "先生": _title("peer", "male"),
    "女士": _title("peer", "female"),
    "小姐": _title("peer", "female"),
    "太太": _title("peer", "female"),
    "夫人": _title("peer", "female"),
    "阿姨": _title("elder aunt nanny neighbor", "female"),
    "大妈": _title("elder neighbor nanny", "female"),
    "大姐": _title("colleague neighbor nanny senior", "female"),
    "叔叔": _title("elder uncle neighbor", "male"),
    "叔": _title("elder uncle neighbor driver", "male"),
    "大爷": _title("elder neighbor", "male"),
    "伯伯": _title("elder uncle neighbor", "male"),
    "奶奶": _title("elder grandmother neighbor", "female"),
    "爷爷": _title("elder grandfather neighbor", "male"),
    "婆婆": _title("elder neighbor", "female"),
    "哥": _title("colleague friend senior sportsfriend roommate boss mentor coach", "male"),
    "姐": _title("colleague friend senior sportsfriend roommate boss mentor coach", "female"),
    "同学": _title("classmate deskmate roommate junior senior student"),
    "学长": _title("senior", "male"),
    "学姐": _title("senior", "female"),
    "学弟": _title("junior", "male"),
    "学妹": _title("junior", "female"),
    "师兄": _title("senior", "male"),
    "师姐": _title("senior", "female"),
}

ENGLISH: dict[str, Title] = {
    "mr": _title("*", "male"),
    "mister": _title("*", "male"),
    "sir": _title("*", "male"),
    **dict.fromkeys(("ms", "mrs", "miss", "mx", "madam"), _title("*", "female")),
    **dict.fromkeys(("dr", "doctor"), _title("doctor dentist therapist professor mentor")),
    **dict.fromkeys(("prof", "professor"), _title("professor mentor teacher")),
    "coach": _title("coach"),
    "nurse": _title("nurse"),
    **dict.fromkeys(("pastor", "father", "rabbi", "reverend", "rev"), _title("pastor")),
    "principal": _title("principal"),
    "officer": _title("police"),
    **dict.fromkeys(("aunt", "auntie", "aunty"), _title("aunt", "female")),
    "uncle": _title("uncle", "male"),
    **dict.fromkeys(("grandma", "granny", "nana"), _title("grandmother", "female")),
    **dict.fromkeys(("grandpa", "granddad"), _title("grandfather", "male")),
    "cousin": _title("cousin"),
}
# Titles that go before a given name as well (Aunt May), besides those before a surname.
WITH_GIVEN_NAME = frozenset(
    "aunt auntie aunty uncle grandma granny nana grandpa granddad cousin coach nurse pastor dr "
    "doctor miss ms mr mrs sir father".split()
)
# Professions that a relationship states in other words, by the end of the relationship.
PROFESSIONS: tuple[tuple[str, str], ...] = (
    ("经理", "manager"),
    ("工程师", "engineer"),
    ("警察", "police"),
    ("民警", "police"),
    ("主管", "manager"),
    ("总监", "boss"),
    ("manager", "manager"),
    ("engineer", "engineer"),
    ("officer", "police"),
)
