"""Secrets are found in any script and written form, and what only resembles one is none."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import pytest
from stdnum import iban, luhn, numdb
from stdnum.cn import ric

from understanding.statements.secrets import (
    holds_phone,
    holds_secret,
    masked,
    refusal,
    without_secrets,
)

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
SAMPLES = {"n": "7", "a": "K", "c": "4"}


def accounts() -> Iterator[str]:
    """An IBAN of every country that has one."""
    for country in (one + other for one in LETTERS for other in LETTERS):
        form = numdb.get("iban").info(country)[0][1].get("bban", "")
        if parts := re.findall(r"(\d+)!([nac])", form):
            own = "".join(SAMPLES[kind] * int(count) for count, kind in parts)
            yield f"{country}{iban.calc_check_digits(f'{country}xx{own}')}{own}"


def test_the_iban_of_every_country_is_masked_grouped_or_not() -> None:
    found = list(accounts())
    assert len(found) > 80
    for number in found:
        assert iban.is_valid(number, check_country=False)
        for written in (number, number.lower(), iban.format(number), iban.format(number, "-")):
            text = f"转到{written}，谢谢" if written == number else f"Pay {written} by Monday."
            if written == number:
                text = text.replace("转到", "转到 ")
            assert masked(text) == text.replace(written, re.sub(r"\S", "•", written)), written


def test_an_iban_with_a_wrong_digit_is_no_account() -> None:
    assert not holds_secret("The model GB29 NWBK 6016 1331 9268 20 failed")


@pytest.mark.parametrize(
    "begun",
    ["411111111111111", "555555555555444", "37828224631000", "620000000000000", "3852000002323"],
)
def test_the_number_of_a_card_is_masked_grouped_or_not(begun: str) -> None:
    number = begun + luhn.calc_check_digit(begun)
    by = (4, 10) if len(number) < 16 else (4, 8, 12)
    cuts = [0, *by, len(number)]
    grouped = " ".join(number[one:other] for one, other in pairwise(cuts))
    for written in (number, grouped, grouped.replace(" ", "-")):
        assert "•" in masked(f"用这张付款 {written} 谢谢"), written
        wrong = written[:-1] + str((int(written[-1]) + 1) % 10)
        assert not holds_secret(f"快递单 {wrong} 到了"), wrong


def test_a_number_that_no_issuer_gives_is_no_card() -> None:
    order = "100000000000000"
    assert not holds_secret(f"order {order}{luhn.calc_check_digit(order)}")


def test_the_number_of_a_person_is_masked() -> None:
    numbers = [f"11010519491231002{last}" for last in "0123456789X"]
    (valid,) = filter(ric.is_valid, numbers)
    for number in (valid, "219-09-9998"):
        assert masked(f"his is {number}.") == f"his is {'•' * len(number)}."
    for wrong in {*numbers} - {valid}:
        assert not holds_secret(f"订单 {wrong}")


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("我的API key是sk-q8w7e6r5t4y3u2", "sk-q8w7e6r5t4y3u2"),
        ("新密钥ghp_q8w7e6r5t4y3给你", "ghp_q8w7e6r5t4y3"),
        ("put sk-q8w7e6r5t4y3u2 there", "sk-q8w7e6r5t4y3u2"),
        ("and AKIAIOSFODNN7EXAMPLE here", "AKIAIOSFODNN7EXAMPLE"),
        ("我的pin是9075", "9075"),
        ("他的pwd是tiger77", "tiger77"),
        ("密码改成了 swordfish，别告诉人", "swordfish"),
        ("保险柜密码左4右9左2", "左4右9左2"),
        ("门禁密码四七一九", "四七一九"),
        ("the safe combination is 31-07-22", "31-07-22"),
        ("The wifi password at Anna's place is blue42moon.", "blue42moon"),
        ("the password, she said, is Tr0ub4dor&3, mind you", "Tr0ub4dor&3"),
        ("my PIN for the bank is 9 0 7 5", "9 0 7 5"),
        ("身份证号码：320311770706001", "320311770706001"),
        ("passport number is X1234567", "X1234567"),
        ("账号 62284801234", "62284801234"),
    ],
)  # fmt: skip
def test_what_is_told_as_a_secret_is_masked_where_it_stands(text: str, secret: str) -> None:
    assert masked(text) == text.replace(secret, re.sub(r"\S", "•", secret))


@pytest.mark.parametrize(
    "text",
    [
        "Nadia loves skateboarding",
        "小兰在API组工作",
        "密码学很难，密码学的老师是Anna",
        "I spin wool on Sundays",
        "他住左边第3间",
        "2024-03-13 18:30 到 2024-03-14 19:30 在上海",
        "She forgot her password yesterday, it is required",
        "the password manager is 1Password",
        "she changed her password in 2023",
        "the access token expires in 3600 seconds",
        "passport expires 2027-03-01",
        "订单号 202403131830123456, order 4012 8888 8888 1882",
        "tracking number 1Z999AA10123456784",
        "chat -1001234567890, message 1700000000000",
        "550e8400-e29b-41d4-a716-446655440000",
        "her phone: 13812345678, +44 20 7946 0958, ann@example.com",
        "信用卡客服电话 400-820-5555",
    ],
)
def test_words_and_numbers_that_only_resemble_a_secret_are_kept(text: str) -> None:
    assert masked(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "她换号了，13812345678",
        "Reach Ana on 123-456-7890",
        "Reach Ana on 212-555-0142",
        "打他办公室 010-6552 9988",
        "Her London line: +44 20 7946 0958",
    ],
)
def test_a_telephone_number_is_told_from_a_secret(text: str) -> None:
    assert holds_phone(text)
    assert not holds_secret(text)


@dataclass(frozen=True)
class Said:
    content: str
    quote: str = ""
    notes: tuple[str, ...] = ()


def test_what_a_machine_read_loses_what_tells_a_secret_and_keeps_the_rest() -> None:
    found = (
        Said("Anna lives in Rome", "pin 9075, Anna lives in Rome", ("likes tea", "PIN: 9075")),
        Said("The user's PIN is 9075"),
        Said("The user's PIN is ••••"),
    )
    assert without_secrets(found) == (
        Said("Anna lives in Rome", "pin ••••, Anna lives in Rome", ("likes tea",)),
    )
    assert without_secrets({"password": ("tiger77",), "city": ("Rome",)}) == {"city": ("Rome",)}


def test_a_refusal_names_the_field_by_its_path() -> None:
    people = [{"name": "Anna"}, {"name": "Ben", "attributes": {"bank_account": ["12345678"]}}]
    assert refusal(name="Anna", contacts=people).params["field"] == (
        "contacts[1].attributes.bank_account[0]"
    )
    assert refusal(name="Anna", attributes={"phone": ["13812345678"]}) is None
