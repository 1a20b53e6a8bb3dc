"""The canonical attribute keys of a person, with what a reader sees for each.

The set is open: any lower_snake_case key may be stored; an unknown key is multi-valued
and shown as it is. A *single* attribute has one current value at a time, so a new value
makes the old one outdated (company, location); the others collect values (interests).

To add a key: a row in ATTRIBUTES. Where it is single, ``makemigrations contacts`` as well: the index
of contacts with several values of a single key spells the keys out. Its words for the reader without a
model stand in providers/offline/reading/facts.toml, for search in search/attribute_patterns.tsv.
"""

import re
import unicodedata
from dataclasses import dataclass

# What the keys of important dates end in, known ones and others (gotcha_day).
_YEARLY = ("birthday", "anniversary", "_day", "生日", "纪念日", "忌日")
_NOT_IN_KEY = re.compile(r"[^\w]+")


@dataclass(frozen=True, slots=True)
class Attribute:
    """``single``: at most one current value. ``en`` and ``zh``: the label on a card."""

    en: str
    zh: str
    single: bool = False


ATTRIBUTES: dict[str, Attribute] = {
    "job_title": Attribute("Job", "职业", single=True),
    "company": Attribute("Company", "公司", single=True),
    "former_company": Attribute("Formerly at", "曾就职于"),
    "school": Attribute("School", "学校", single=True),
    "major": Attribute("Major", "专业", single=True),
    "education": Attribute("Education", "学历", single=True),
    "location": Attribute("Location", "所在地", single=True),
    "former_location": Attribute("Formerly in", "曾居住于"),
    "hometown": Attribute("Hometown", "家乡", single=True),
    "birthday": Attribute("Birthday", "生日", single=True),
    "wedding_anniversary": Attribute("Wedding anniversary", "结婚纪念日", single=True),
    "anniversary": Attribute("Anniversary", "纪念日", single=True),
    "name_day": Attribute("Name day", "命名日", single=True),
    "death_anniversary": Attribute("Death anniversary", "忌日", single=True),
    "age": Attribute("Age", "年龄", single=True),
    "zodiac": Attribute("Zodiac", "生肖/星座", single=True),
    "height": Attribute("Height", "身高", single=True),
    "phone": Attribute("Phone", "电话", single=True),
    "email": Attribute("Email", "邮箱", single=True),
    "marital_status": Attribute("Relationship status", "感情状况", single=True),
    "family": Attribute("Family", "家人"),
    "pet": Attribute("Pets", "宠物"),
    "interests": Attribute("Interests", "兴趣爱好"),
    "likes": Attribute("Likes", "喜欢"),
    "dislikes": Attribute("Dislikes", "不喜欢"),
    "diet": Attribute("Diet", "饮食", single=True),
    "allergy": Attribute("Allergies", "过敏"),
    "health": Attribute("Health", "健康"),
    "medication": Attribute("Medication", "用药"),
    "language": Attribute("Languages", "语言"),
    "skill": Attribute("Skills", "技能"),
    "personality": Attribute("Personality", "性格"),
    "plan": Attribute("Plans", "计划"),
    "vehicle": Attribute("Vehicle", "车", single=True),
    "possession": Attribute("Owns", "拥有"),
    "work_style": Attribute("At work", "工作习惯"),
    "habit": Attribute("Habits", "习惯"),
    "answer_wish": Attribute("Wishes for answers", "对回答的要求"),
}

# What the user's own card tells; what comes first stays where there is no room for all.
ON_OWN_CARD = (
    "answer_wish", "allergy", "diet", "health", "medication", "language", "location", "job_title",
    "company", "school", "family", "marital_status", "pet",
)  # fmt: skip

# What a personality is read from.
TRAITS = ("personality", "likes", "dislikes", "interests", "habit", "work_style")


# The known keys of days that come back every year.
YEARLY = tuple(key for key in ATTRIBUTES if key.endswith(_YEARLY))


def attribute_key(text: str) -> str:
    """``text`` as an attribute key in lower_snake_case."""
    return _NOT_IN_KEY.sub("_", unicodedata.normalize("NFKC", text).lower()).strip("_")[:40]


def is_single(key: str) -> bool:
    """Whether ``key`` holds one current value at a time; unknown keys collect values, unless
    they name a day of the year."""
    known = ATTRIBUTES.get(key)
    return known.single if known is not None else is_yearly(key)


def is_yearly(key: str) -> bool:
    """Whether ``key`` names a day that comes back every year."""
    return key.endswith(_YEARLY)


def label(key: str, language: str) -> str:
    """The label of ``key`` for readers of ``language`` (zh or en)."""
    known = ATTRIBUTES.get(key)
    if known is None:
        return key.replace("_", " ")
    return known.zh if language == "zh" else known.en
