import pytest

from understanding.numerals import CARDINALS, MONTHS, chinese_number, with_digits


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("十", 10),
        ("十二", 12),
        ("二十三", 23),
        ("廿三", 23),
        ("两", 2),
        ("31", 31),
        ("六十", 60),
        ("一百零五", 105),
        ("三百八", 380),
        ("两万", 20_000),
        ("二〇二四", 2024),
    ],
)
def test_chinese_numbers_are_read(text: str, number: int):
    assert chinese_number(text) == number


def test_what_is_no_number_is_refused():
    with pytest.raises(ValueError, match="几"):
        chinese_number("几")


def test_numerals_in_a_text_become_digits():
    assert with_digits("身高一百七十五，五月十二日生") == "身高175，5月12日生"


def test_english_words_for_numbers_and_months():
    assert (CARDINALS["twelve"], CARDINALS["ninety"]) == (12, 90)
    assert (MONTHS["sept"], MONTHS["may"], MONTHS["december"]) == (9, 5, 12)
