"""What the lines of a card begin with, by language."""

from understanding.attributes import ATTRIBUTES

LABELS = {
    "en": {
        "aliases": "Also called",
        "relationship": "Relationship",
        "personality": "Personality",
        "relations": "Related to",
        "timeline": "Timeline",
        "notes": "Recently",
        "coming": "Coming up",
        "other": "Detail ",
        "colon": ": ",
        "comma": ", ",
    },
    "zh": {
        "aliases": "又称",
        "relationship": "关系",
        "personality": "性格",
        "relations": "相关的人",
        "timeline": "经历",
        "notes": "最近",
        "coming": "即将",
        "other": "其他",
        "colon": "：",
        "comma": "、",
    },
}
# What the lines of a card begin with, before a colon.
CAPTIONS = frozenset(
    [words[key] for words in LABELS.values() for key in words if key not in ("colon", "comma")]
    + [text for attribute in ATTRIBUTES.values() for text in (attribute.en, attribute.zh)]
)
