"""The canonical attribute keys of a person, with what a reader sees for each.

The set is open: any lower_snake_case key may be stored; an unknown key is multi-valued
and shown as it is. A *single* attribute has one current value at a time, so a new value
makes the old one outdated (company, location); the others collect values (interests).

To add a key: a row in attributes.toml. Where it is single, ``makemigrations contacts`` as well: the index
of contacts with several values of a single key spells the keys out. Its words for the reader without a
model stand in providers/offline/reading/facts.toml, for search in lexicon/attribute_words.txt.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from understanding import languages
from understanding.languages import DEFAULT, LANGUAGES
from understanding.lexicon.rules import content

# What the keys of important dates end in, known ones and others (gotcha_day).
_YEARLY = ("birthday", "anniversary", "_day", "生日", "纪念日", "忌日")
_NOT_IN_KEY = re.compile(r"[^\w]+")


@dataclass(frozen=True, slots=True)
class Attribute:
    """``single``: at most one current value. ``labels``: what a card calls it, by language."""

    labels: Mapping[str, str]
    single: bool = False


ATTRIBUTES = {
    key: Attribute({name: row[name] for name in LANGUAGES}, row.get("single", False))
    for key, row in content(__file__)["attributes"].items()
}
# All that stands before a colon on a card.
CAPTIONS = languages.CAPTIONS | {
    text for attribute in ATTRIBUTES.values() for text in attribute.labels.values()
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


def is_key(key: str) -> bool:
    """Whether ``key`` can be the key of an attribute: lower_snake_case, at most 50 characters."""
    return (
        key.isascii() and key.isidentifier() and key.islower() and key[0] != "_" and len(key) <= 50
    )


def is_single(key: str) -> bool:
    """Whether ``key`` holds one current value at a time; unknown keys collect values, unless
    they name a day of the year."""
    known = ATTRIBUTES.get(key)
    return known.single if known is not None else is_yearly(key)


def is_yearly(key: str) -> bool:
    """Whether ``key`` names a day that comes back every year."""
    return key.endswith(_YEARLY)


def label(key: str, language: str) -> str:
    """The label of ``key`` for readers of ``language``, that of English for one without a table."""
    known = ATTRIBUTES.get(key)
    if known is None:
        return key.replace("_", " ")
    return known.labels.get(language, known.labels[DEFAULT])
