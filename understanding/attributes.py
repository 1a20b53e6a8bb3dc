"""The canonical attribute keys of a person, with the label of each by language.

The set is open: any lower_snake_case key may be stored; an unknown key is multi-valued and shown as
it is. A *single* attribute has one current value at a time, so a new value makes the old one
outdated (company, location); the others collect values (interests).

To add a key: a row in attributes.toml. If it is single, ``makemigrations contacts`` as well: the
index of contacts with several values of a single key lists the keys. The words for it are in
providers/offline/reading/facts.toml (reading) and lexicon/attribute_words.txt (search).
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from understanding import languages
from understanding.languages import DEFAULT, LANGUAGES
from understanding.lexicon.rules import content

# The endings of the keys of important dates, known or not (gotcha_day).
_YEARLY = ("birthday", "anniversary", "_day", "生日", "纪念日", "忌日")
_NOT_IN_KEY = re.compile(r"\W+")
LONGEST_KEY = 50  # characters


@dataclass(frozen=True, slots=True)
class Attribute:
    """``single``: at most one current value. ``labels``: what a card calls it, by language."""

    labels: Mapping[str, str]
    single: bool = False


ATTRIBUTES = {
    key: Attribute({name: row[name] for name in LANGUAGES}, row.get("single", False))
    for key, row in content(__file__)["attributes"].items()
}
# Every caption before a colon on a card.
CAPTIONS = languages.CAPTIONS | {
    text for attribute in ATTRIBUTES.values() for text in attribute.labels.values()
}

# The attributes on the user's own card; without room for all, the first ones stay.
ON_OWN_CARD = (
    "answer_wish", "allergy", "diet", "health", "medication", "language", "location", "job_title",
    "company", "school", "family", "marital_status", "pet",
)  # fmt: skip

# The attributes from which a personality is read.
TRAITS = ("personality", "likes", "dislikes", "interests", "habit", "work_style")


# The known keys of yearly days.
YEARLY = tuple(key for key in ATTRIBUTES if key.endswith(_YEARLY))


_KEY_BY_LABEL = {
    text.lower(): key for key, attribute in ATTRIBUTES.items() for text in attribute.labels.values()
}


def attribute_key(text: str) -> str:
    """Returns ``text`` as an attribute key: the known key whose label it is in any language
    (生日, Birthday), else itself in lower_snake_case, cut to LONGEST_KEY."""
    plain = unicodedata.normalize("NFKC", text).strip().lower()
    return _KEY_BY_LABEL.get(plain) or _NOT_IN_KEY.sub("_", plain).strip("_")[:LONGEST_KEY]


def is_key(key: str) -> bool:
    """Whether ``key`` can be the key of an attribute: lower_snake_case, in letters of any script,
    at most LONGEST_KEY characters."""
    is_word = f"_{key}".isidentifier() and key == key.lower()
    return is_word and key[:1] not in ("", "_") and len(key) <= LONGEST_KEY


def is_single(key: str) -> bool:
    """Whether ``key`` has one current value at a time; unknown ones have several, except yearly
    days."""
    attribute = ATTRIBUTES.get(key)
    return attribute.single if attribute is not None else is_yearly(key)


def is_yearly(key: str) -> bool:
    """Whether ``key`` names a day that recurs every year."""
    return key.endswith(_YEARLY)


def label(key: str, language: str) -> str:
    """Returns the label of ``key`` in ``language``, in English if it has no table."""
    attribute = ATTRIBUTES.get(key)
    if attribute is None:
        return key.replace("_", " ")
    return attribute.labels.get(language, attribute.labels[DEFAULT])
