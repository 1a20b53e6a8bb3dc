"""Attribute values as lookup keys: how a person is found by what is known of them.

A key is ``attr:ATTRIBUTE:TOKEN``: the whole value in its normal form, and each of its words.
What a text says of someone is turned into keys in the same way, so that the one lookup that
finds names finds them as well; :func:`agree` then compares the two values in full.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from understanding import segmentation
from understanding.dates import important_dates
from understanding.lexicon import words
from understanding.numerals import MONTH, MONTHS, with_digits
from understanding.text import is_han, normalise, stem
from understanding.types import NameKey

PREFIX = "attr:"
# Beside the attributes, whose keys are words: the days of the year on which an important date falls.
DAY = PREFIX + "@day:"
# Bounds the index of one contact, whatever was learnt about them.
MAX_KEYS, MAX_WORDS, MAX_VALUES = 96, 8, 12

_WORD = re.compile(r"[^\W_]+(?:['&+-][^\W_]+)*")
_YEAR_MONTH_DAY = re.compile(r"(?:(\d{4})\s*[年/.-]\s*)?(\d{1,2})\s*[月/.-]\s*(\d{1,2})")
_DAYLESS = re.compile(r"^-*(\d{2})-?(\d{2})$")
_COMPACT = re.compile(r"^(\d{4})(\d{2})(\d{2})$")
# Words that tell no two values apart.
_EMPTY = words("stopwords", "attributes")
# Attributes of place, where a text may say more than is known: 广东深圳 of 深圳.
_PLACES = frozenset(("location", "hometown", "school", "company", "work_location"))
_MONTH_DAY = re.compile(rf"\b({MONTH})\.? (?:the )?(\d{{1,2}})(?:st|nd|rd|th)?\b")
_DAY_MONTH = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({MONTH})\b")
# 深圳市 is 深圳.
_DIVISION = re.compile(r"(?<=[\u4e00-\u9fff]{2})[省市区县]$")
# Whose telephone numbers are known without their country code.
_REGIONS = ("CN", "US")


def month_day(value: str) -> str:
    """``05-12`` for a date in either language, with or without its year; else ""."""
    text = with_digits(normalise(value)).strip()
    if found := _COMPACT.match(text):
        month, day = int(found[2]), int(found[3])
    elif found := _DAYLESS.match(text):
        month, day = int(found[1]), int(found[2])
    elif found := _YEAR_MONTH_DAY.search(text):
        month, day = int(found[2]), int(found[3])
    elif found := _MONTH_DAY.search(text):
        month, day = MONTHS[found[1]], int(found[2])
    elif found := _DAY_MONTH.search(text):
        month, day = MONTHS[found[2]], int(found[1])
    else:
        return ""
    return f"{month:02}-{day:02}" if 1 <= month <= 12 and 1 <= day <= 31 else ""


def _number(value: str) -> str:
    """The first number of an age or height, in years or centimetres."""
    text = with_digits(normalise(value))
    found = re.search(r"\d+(?:\.\d+)?", text)
    if not found:
        return ""
    number = float(found[0])
    return str(round(number * 100 if number < 3 and "." in found[0] else number))


@lru_cache(maxsize=8192)
def _telephone(value: str) -> str:
    """The national number of a telephone number, with or without its country code; of one that
    no plan of ``_REGIONS`` holds its last digits."""
    # Loaded at first use: most commands read no number.
    import phonenumbers

    digits = re.sub(r"\D", "", value)
    for region in _REGIONS if len(digits) >= 5 else ():
        try:
            number = phonenumbers.parse(value, region)
        except phonenumbers.NumberParseException:
            continue
        if phonenumbers.is_valid_number(number):
            return phonenumbers.national_significant_number(number)
    return digits[-11:] if len(digits) >= 5 else ""


def _address(value: str) -> str:
    return normalise(value).strip()


# Values that are one thing, in the form in which two spellings of it are equal.
_EXACT: dict[str, Callable[[str], str]] = {
    "birthday": month_day,
    "age": _number,
    "height": _number,
    "phone": _telephone,
    "email": _address,
}


@lru_cache(maxsize=8192)
def tokens(value: str) -> tuple[str, ...]:
    """The words of a value that tell it apart, in order: English ones by their stem, Chinese
    ones as they are cut; what any value may hold (公司, the) left out."""
    found: list[str] = []
    text = normalise(value)
    run: list[str] = []
    for char in [*text, " "]:
        if is_han(char):
            run.append(char)
            continue
        if run:
            found += [word.text for word in segmentation.cut("".join(run))]
            run = []
        found.append(char)
    # Characters that aren't Han were kept one by one: join them again around the words.
    joined = "".join(f" {part} " if len(part) > 1 or is_han(part) else part for part in found)
    kept = []
    for match in _WORD.finditer(joined):
        word = _DIVISION.sub("", match.group())
        if word not in _EMPTY:
            kept.append(stem(word) if word.isascii() else word)
    return tuple(kept)


def _whole(value: str) -> str:
    return "".join(_WORD.findall(normalise(value)))


def keys_for(attribute: str, value: str) -> list[str]:
    """The keys of one value, as it is stored or as a text says it."""
    if attribute in _EXACT:
        exact = _EXACT[attribute](value)
        return [f"{PREFIX}{attribute}:{exact}"] if exact else []
    parts = [_whole(value), *tokens(value)[:MAX_WORDS]]
    return [f"{PREFIX}{attribute}:{part[:60]}" for part in dict.fromkeys(parts) if part]


def keys_of(attributes: Mapping[str, Any]) -> Iterator[NameKey]:
    """The keys of a contact's attributes; ``text`` holds the values, one a line."""
    texts: dict[str, list[str]] = {}
    for _, value, day in important_dates.of_attributes(attributes):
        texts.setdefault(DAY + day.key, []).append(value)
    for attribute, values in sorted(attributes.items()):
        for entry in values[:MAX_VALUES]:
            value = " ".join(str(entry["value"]).split())
            for key in keys_for(attribute[:40], value):
                texts.setdefault(key, []).append(value)
    for key in list(texts)[:MAX_KEYS]:
        yield NameKey(key, "semantic", "\n".join(texts[key])[:200])


def attribute_of(key: str) -> str:
    """``company`` of ``attr:company:腾讯``."""
    return key.split(":", 2)[1]


def agree(attribute: str, asked: str, held: str) -> float:
    """How well a value that a text gives fits the one that is known, in 0..1: 1 for the same,
    0 when it doesn't. Less said than known (腾讯 of 腾讯科技) fits; more said than known
    only where what is known begins it (Tencent of "Tencent downtown")."""
    if attribute in _EXACT:
        form = _EXACT[attribute]
        return float(bool(form(asked)) and form(asked) == form(held))
    if _whole(asked) == _whole(held):
        return 1.0
    said, known = tokens(asked), tokens(held)
    if not said or not known:
        return 0.0
    if said == known:
        return 1.0
    if set(said) <= set(known):
        return 0.9
    if attribute in _PLACES and set(known) <= set(said):
        return 0.9
    return 0.7 if said[: len(known)] == known and len(_whole(held)) > 1 else 0.0
