"""Values of attributes in the form in which they are compared, and the keys that a contact is found
by because of them: the words of its companies, and the days of its important dates."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from understanding import segmentation
from understanding.dates import important_dates
from understanding.lexicon import words
from understanding.text import HAN, is_han, normalise, stem
from understanding.types import NameKey

PREFIX = "attr:"
COMPANY = PREFIX + "company:"
# The days of the year on which an important date falls.
DAY = PREFIX + "@day:"
# Bounds the index of one contact, whatever was learnt about them.
MAX_KEYS, MAX_WORDS, MAX_VALUES = 96, 8, 12

_WORD = re.compile(r"[^\W_]+(?:['&+-][^\W_]+)*")
_HAN_RUN = re.compile(rf"(?:{HAN.pattern})+")
# Words that tell no two values apart.
_EMPTY = words("stopwords", "attributes")
# Whose telephone numbers are known without their country code.
_REGIONS = ("CN", "US")


def _day(value: str) -> str:
    day = important_dates.read(value)
    return day.key if day else ""


@lru_cache(maxsize=8192)
def _telephone(value: str) -> str:
    """The national number of a telephone number, with or without its country code; of one that
    no plan of ``_REGIONS`` holds its last digits."""
    # Loaded at first use: most commands read no number.
    import phonenumbers

    digits = "".join(filter(str.isdecimal, value))
    for region in _REGIONS if len(digits) >= 5 else ():
        try:
            number = phonenumbers.parse(value, region)
        except phonenumbers.NumberParseException:
            continue
        if phonenumbers.is_valid_number(number):
            return phonenumbers.national_significant_number(number)
    return digits[-11:] if len(digits) >= 5 else ""


_FORMS: Mapping[str, Callable[[str], str]] = {
    "birthday": _day,
    "phone": _telephone,
    "email": normalise,
}


def form(attribute: str, value: str) -> str:
    """A value in the form in which two spellings of it are equal: the day of the year of a birthday,
    the national number of a telephone, the words of anything else. "" where it has none."""
    return _FORMS.get(attribute, lambda text: " ".join(tokens(text)) or _whole(text))(value)


@lru_cache(maxsize=8192)
def tokens(value: str) -> tuple[str, ...]:
    """The words of a value that tell it apart, in order: English ones by their stem, Chinese
    ones as they are cut; what any value may hold (公司, the) left out."""
    spaced = _HAN_RUN.sub(
        lambda run: f" {' '.join(word.text for word in segmentation.cut(run[0]))} ",
        normalise(value),
    )
    found = [_without_division(word) for word in _WORD.findall(spaced)]
    return tuple(stem(w) if w.isascii() else w for w in found if w not in _EMPTY)


def _without_division(word: str) -> str:
    """深圳市 is 深圳."""
    named = len(word) > 2 and is_han(word[-3]) and is_han(word[-2]) and word[-1] in "省市区县"
    return word[:-1] if named else word


def _whole(value: str) -> str:
    return "".join(_WORD.findall(normalise(value)))


def company_keys(value: str) -> list[str]:
    """The keys of a company, as it is stored or typed: all of it, then its words."""
    parts = [_whole(value), *tokens(value)[:MAX_WORDS]]
    return [COMPANY + part[:60] for part in dict.fromkeys(parts) if part]


def keys_of(attributes: Mapping[str, Any]) -> Iterator[NameKey]:
    """The keys of a contact's attributes; ``text`` holds the values, one a line."""
    texts: dict[str, list[str]] = {}
    for _, value, day in important_dates.of_attributes(attributes):
        texts.setdefault(DAY + day.key, []).append(value)
    for entry in attributes.get("company", ())[:MAX_VALUES]:
        value = " ".join(str(entry["value"]).split())
        for key in company_keys(value):
            texts.setdefault(key, []).append(value)
    for key in list(texts)[:MAX_KEYS]:
        yield NameKey(key, "semantic", "\n".join(texts[key])[:200])
