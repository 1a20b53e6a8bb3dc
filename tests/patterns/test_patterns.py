"""No text makes a pattern of the product try again and again."""

import re

import pytest
import regex

from tests.patterns.ambiguity import blowup, searches_in_square
from tests.patterns.product import patterns, searched


def test_no_pattern_of_the_product_can_explode() -> None:
    found = patterns()
    assert 250 < len(found) < 350
    assert {p.pattern: where for p, where in found.items() if blowup(p)} == {}


def test_no_pattern_that_is_searched_in_long_texts_reads_on_from_each_beginning() -> None:
    found = searched()
    assert len(found) > 80
    assert {p.pattern: where for p, where in found.items() if searches_in_square(p)} == {}


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (r"(a+)+b", "exponential"),
        (r"(?:求你?|你)*忘", "exponential"),
        (r"(?:[A-Z]\w*\s?)+!", "exponential"),
        (r"(?:\w{1,20}\s?)*x", "exponential"),
        (r"(?=(a|a)*b)", "exponential"),
        (r"(?i)(?:KA|k\w)*!", "exponential"),
        (r"\d+\.?\d*x", "polynomial"),
        (r"\s*(?:a|b)?\s*$", "polynomial"),
        (r"(?:ab|cd)*(?:a|b)*!", "polynomial"),
        (r"(?:求|你)*忘", ""),
        (r"(?:\w+\s)*\w+!", ""),
        (r"(?:a++)*+b", ""),
        (r"(?>a+)+b", ""),
        (r"(?:(?!ab)[^,]){2,9}[,.]", ""),
    ],
)
def test_a_pattern_that_can_explode_is_told_from_one_that_cannot(
    pattern: str, expected: str
) -> None:
    assert blowup(re.compile(pattern)) == expected


def test_patterns_of_regex_are_read_with_their_properties() -> None:
    assert blowup(regex.compile(r"(?:\p{Han}+[\p{Han}a])+!")) == "exponential"
    assert blowup(regex.compile(r"\p{Lu}\p{Ll}*+(?: \p{Lu}\p{Ll}*+)*+")) == ""


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (r"(?s)<think>.*?(?:</think>|\Z)|<details type=\"reasoning\".*?</details>", True),
        (r"\s+$", True),
        (r"\w+@", True),
        (r"a(?:.*b)?", True),
        (r"x.*?(?=y)", True),
        (r"\b\w+@", False),
        (r"(?<![\w.])[\w.]+@|\d+", False),
        (r"^\s*x", False),
        (r"(?m)^\w+ =", False),
        (r"(?s)<!--.*?(?:-->|\Z)", False),
        (r"\d+", False),
        (r"<.{0,60}>", False),
    ],
)
def test_a_search_that_reads_on_from_each_beginning_is_told_from_one_that_does_not(
    pattern: str, expected: bool
) -> None:
    assert searches_in_square(re.compile(pattern)) is expected
