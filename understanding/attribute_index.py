"""The forms in which values of attributes are compared, and the keys by which values find a
contact: the words of companies, and the days of important dates."""

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
# The days of the year of important dates.
DAY = PREFIX + "@day:"
# Limits of the index of one contact.
MAX_KEYS, MAX_WORDS, MAX_VALUES = 96, 8, 12

_WORD = re.compile(r"[^\W_]+(?:['&+-][^\W_]+)*")
_HAN_RUN = re.compile(rf"(?:{HAN.pattern})+")
# Words that any value may contain.
_UNDISTINCTIVE = words("stopwords", "attributes")
# Regions whose telephone numbers may lack the country code.
_REGIONS = ("CN", "US")


def _day(value: str) -> str:
    day = important_dates.read(value)
    return day.key if day else ""


@lru_cache(maxsize=8192)
def _telephone(value: str) -> str:
    """Returns the national number of a telephone number with or without its country code; if it is
    valid in no region of ``_REGIONS``, its last digits."""
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
    """Returns a value in the form in which two spellings of it are equal: the day of the year of a
    birthday, the national number of a telephone, the words of anything else. "" if it has none."""
    return _FORMS.get(attribute, lambda text: " ".join(tokens(text)) or _joined(text))(value)


@lru_cache(maxsize=8192)
def tokens(value: str) -> tuple[str, ...]:
    """Returns the distinctive words of a value in order: the stems of English ones, Chinese ones as
    they are cut; not what any value may contain (公司, the)."""
    spaced = _HAN_RUN.sub(
        lambda run: f" {' '.join(word.text for word in segmentation.cut(run[0]))} ",
        normalise(value),
    )
    all_words = [_without_division(word) for word in _WORD.findall(spaced)]
    return tuple(stem(w) if w.isascii() else w for w in all_words if w not in _UNDISTINCTIVE)


def _without_division(word: str) -> str:
    """Returns a place name without its administrative suffix: 深圳 for 深圳市."""
    has_suffix = len(word) > 2 and is_han(word[-3]) and is_han(word[-2]) and word[-1] in "省市区县"
    return word[:-1] if has_suffix else word


def _joined(value: str) -> str:
    return "".join(_WORD.findall(normalise(value)))


def company_keys(value: str) -> list[str]:
    """Returns the keys of a company, stored or typed: one for all of it, then one for each word."""
    parts = [_joined(value), *tokens(value)[:MAX_WORDS]]
    return [COMPANY + part[:60] for part in dict.fromkeys(parts) if part]


def keys_of(attributes: Mapping[str, Any]) -> Iterator[NameKey]:
    """Yields the keys of a contact's attributes; ``text`` contains the values, one per line."""
    texts: dict[str, list[str]] = {}
    for _, value, day in important_dates.of_attributes(attributes):
        texts.setdefault(DAY + day.key, []).append(value)
    for entry in attributes.get("company", ())[:MAX_VALUES]:
        value = " ".join(str(entry["value"]).split())
        for key in company_keys(value):
            texts.setdefault(key, []).append(value)
    for key in list(texts)[:MAX_KEYS]:
        yield NameKey(key, "semantic", "\n".join(texts[key])[:200])
