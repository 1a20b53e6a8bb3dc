"""Numbers, ordinals and months in words, Chinese and English."""

import re

from understanding.lexicon import alternation, rows

_DIGITS = {char: digit for digit, char in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_UNITS = {"十": 10, "百": 100, "千": 1000}
_TENS = str.maketrans({"廿": "二十", "卅": "三十"})
_CHINESE = re.compile(r"[零〇一二两三四五六七八九十廿卅百千万]+")

CARDINALS = {
    word: number
    for number, word in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
        fifteen sixteen seventeen eighteen nineteen twenty""".split()
    )
} | dict(
    zip("thirty forty fifty sixty seventy eighty ninety".split(), range(30, 100, 10), strict=True)
)
ORDINALS = {
    word: number
    for number, word in enumerate(
        """first second third fourth fifth sixth seventh eighth ninth tenth eleventh
        twelfth""".split(),
        start=1,
    )
}
# Full and short names of months, lower case.
MONTHS = {
    row[column]: int(row["number"])
    for column in ("name", "short", "also")
    for row in rows("months")
    if row[column]
}
# A pattern of a month's name, full names first.
MONTH = f"(?:{alternation(MONTHS)})"


def with_digits(text: str) -> str:
    """Returns ``text`` with its Chinese numerals in digits: 一百二十 as 120, 三百八 as 380, 二〇二四 as 2024,
    零五 as 05."""
    return _CHINESE.sub(lambda match: _digits(match[0].translate(_TENS)), text)


def chinese_number(text: str) -> int:
    """Returns the number that ``text`` is: 十二, 两 or 28. Raises ValueError if it is none."""
    return int(with_digits(text))


def _digits(text: str) -> str:
    if not any(char in _UNITS or char == "万" for char in text):
        return "".join(str(_DIGITS[char]) for char in text)
    total, section, digit, unit = 0, 0, None, 1
    for char in text:
        if char in _DIGITS:
            digit = _DIGITS[char]
        elif char == "万":
            total, section, digit, unit = (section + (digit or 0) or 1) * 10_000, 0, None, 10_000
        else:
            unit = _UNITS[char]
            section += (1 if digit is None else digit) * unit
            digit = None
    last_digit = digit or 0
    if last_digit and unit >= 100 and text[-2] not in "零〇":
        last_digit *= unit // 10
    return str(total + section + last_digit)
