"""Text that must never be stored: passwords, numbers of documents and cards, keys, codes."""

import re

from phonenumbers import PhoneNumberMatcher
from stdnum import iban, luhn

_SECRETS = re.compile(
    r"(?:密码|口令|验证码|动态码|校验码|门禁码|开门码|取款码|pin码|password|passcode|passphrase|(?<![A-Za-z0-9])pwd(?![A-Za-z0-9])|(?<![A-Za-z0-9])pin(?![A-Za-z0-9])(?: code| number)?|verification code|security code|door code|(?<![A-Za-z0-9])(?:cvv|otp|2fa)(?![A-Za-z0-9]))\S{0,6}\s?(?:是|为|:|：|=|is|就是|改成|to)?\s?\S*[A-Za-z0-9#@!$%^&*]{3}"
    r"|(?:身份证|护照|社保卡?|银行卡|信用卡|储蓄卡|卡号|账号|驾照|passport|ssn|social security|credit card|card number|account number|routing number|id (?:card|number)|driver'?s licen[cs]e)\D{0,12}[A-Z]?\d[\d\s-]{5}"
    r"|(?<!\d)\d{17}[\dXx](?!\d)|(?<!\d)(?:\d[ -]?){15,18}\d(?!\d)|(?<!\d)\d{3}-\d{2}-\d{4}(?!\d)"
    r"|(?<![A-Za-z0-9])(?:(?:sk|pk)(?=[-_]|[A-Za-z]*\d)|gh[pousr]_|xox[bap]-|(?-i:AKIA|AIza|eyJ))[-_A-Za-z0-9]{8}|(?<![A-Za-z0-9])[A-Fa-f0-9]{32,}(?![A-Za-z0-9])|-----BEGIN|(?<![A-Za-z0-9])(?:api|secret|access)[_ -]?(?:key|token)(?![A-Za-z0-9])\s*+(?:就?是|为|is|=|:|：)?\s*+\S{6}"
    r"|(?:密码|口令|暗码|验证码|门禁码)\S{0,6}?(?:[左右]\s?[\d一二三四五六七八九十零]|[零〇一二三四五六七八九]{4})|保险[柜箱]\S{0,6}?(?:[左右]\s?[\d一二三四五六七八九十零]+(?:\s{0,2}|\s?[圈格下]\s?)){2}|\b(?:safe|lock|combination|padlock)\b.{0,20}?(?:\d{1,2}\s?[-–]\s?\d{1,2}\s?[-–]\s?\d{1,2}|(?:(?:left|right)\s(?:to\s)?\d+\W*(?:then\s)?){2})",
    re.I,
)
# Numbers that words call a telephone number, and the shapes of mobiles in China and of numbers
# in North America even where nobody has that number: refused too often rather than stored.
_PHONE = re.compile(
    r"(?<!\d)1[3-9]\d[ -]?\d{4}[ -]?\d{4}(?!\d)|(?<!\d)\(?\d{3}\)?[ -]\d{3}[ -]\d{4}(?!\d)|(?:电话|手机号?|phone|number is|call me (?:at|on))\D{0,8}\+?\d[\d -]{6}"
)
# Whose telephone numbers are known without their country code.
_REGIONS = ("CN", "US")
_SEVEN_DIGITS = re.compile(r"\d(?:\D{0,3}\d){6}")
# Cards of fourteen and fifteen digits and bank accounts, told from other numbers by their check
# digits (ISO/IEC 7812-1, ISO 13616); longer runs of digits are refused whatever they are.
_CARD = re.compile(r"(?<!\d)(?:\d[ -]?){13,14}\d(?!\d)")
_ACCOUNT = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}\d\d(?: ?[A-Z0-9]){11,30}(?![A-Za-z0-9])")


def holds_secret(text: str) -> bool:
    """Whether ``text`` gives away a secret or a phone number."""
    return bool(_SECRETS.search(text)) or (
        _SEVEN_DIGITS.search(text) is not None and (_holds_phone(text) or _holds_card(text))
    )


def _holds_phone(text: str) -> bool:
    return _PHONE.search(text) is not None or any(
        PhoneNumberMatcher(text, region).has_next() for region in _REGIONS
    )


def _holds_card(text: str) -> bool:
    return any(luhn.is_valid(re.sub(r"\D", "", card)) for card in _CARD.findall(text)) or any(
        iban.is_valid(account) for account in _ACCOUNT.findall(text)
    )
