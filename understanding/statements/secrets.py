"""Passwords, keys, codes, and numbers of cards, accounts and documents in a text: what is never
stored, shown in a prompt or sent to a model."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, TypeVar

from phonenumbers import PhoneNumberMatcher
from stdnum import luhn, numdb
from stdnum.cn import ric
from stdnum.iso7064 import mod_97_10
from stdnum.us import ssn

from accounts.reasons import Reason
from understanding.lexicon import words

T = TypeVar("T")
MARK = "•"  # stands for one character of a secret
_MARKED = MARK * 3
_Span = tuple[int, int]

# Words that what follows them is a secret. In Chinese no noun may be made of one (密码学).
_LABEL = re.compile(
    r"(?P<word>(?:密码|口令|暗码)(?![学箱本])|(?<![A-Za-z])(?:pass(?:word|code|phrase)|pwd)(?![A-Za-z]))"
    r"|(?:验证|动态|校验|门禁|开门|取款|安全|解锁|pin)码|密钥|私钥|令牌"
    r"|(?<![A-Za-z0-9])(?:pin(?: code| number)?|cvv|cvc|otp|2fa(?: code)?"
    r"|(?:verification|security|door|gate|access|entry|alarm|unlock|login|recovery|one-time) code"
    r"|(?:api|secret|access|private)[ _-]?(?:key|token))(?![A-Za-z0-9])",
    re.I,
)
# How far behind its label a secret stands, and what joins the two.
_NEAR = 60
_SENTENCE_ENDS = re.compile(r"[\n!?;。！？；]|\.(?=\s|$)")
_JOINED = re.compile(r"[:=：＝]|[是为]|[改设换]成了?|\b(?:is|was|are|to)\b", re.I)
_QUOTES = r"[\s“\"'‘「`*<(（]{0,4}"
_VALUE = re.compile(
    rf"{_QUOTES}(?P<value>\d(?:[\d -]{{0,30}}\d)?(?![!-~])|[!-~]{{3,200}}|[零〇一二三四五六七八九]{{4,}})"
)
_WORD = re.compile(r"[a-z]+", re.I)
_TRAILING = ".,;:!?\"'`*>)"
_COMBINATION = re.compile(
    r"(?:保险[柜箱]|密码|口令|暗码)\S{0,6}?(?P<zh>(?:[左右]\s?[\d一二三四五六七八九十零]+(?:\s{0,2}|\s?[圈格下]\s?)){2,8})"
    r"|\b(?:safe|lock|combination|padlock)\b.{0,20}?(?P<en>\d{1,2}(?:\s?[-–]\s?\d{1,2}){2,5}"
    r"|(?:(?:left|right)\s(?:to\s)?\d+\W{0,3}(?:then\s)?){2,8})",
    re.I,
)
_NUMBERED = re.compile(
    r"(?:身份证|护照|社保卡?|银行卡|信用卡|储蓄卡|卡号|账号|驾照|(?<![A-Za-z])(?:passport|ssn|social security"
    r"|(?:credit|debit|bank) card|(?:card|account|routing) number|(?:bank|card) account|iban"
    r"|(?:id|national id|tax id)(?: card| number)|driver'?s licen[cs]e)(?![A-Za-z]))"
    r"(?:(?!电话|手机|热线|phone|call|tel)[^\d\n]){0,20}?(?![12]\d{3}\s?[-/.年])"
    r"(?P<value>(?<![A-Za-z])[A-Z]{0,2}\d(?:[ -]?[A-Z]?\d){5,30})",
    re.I,
)
_KEY = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:[sp]k[-_]|gh[pousr]_|github_pat_|glpat-|xox[abp]-)(?=[-_A-Za-z]{0,60}\d)|(?-i:AKIA|AIza|eyJ))[-_.A-Za-z0-9]{8,}"
    r"|-----BEGIN [A-Z ]{0,40}KEY-----[^-]*(?:-----END [A-Z ]{0,40}KEY-----)?",
    re.I,
)
# Numbers of cards as they are written, and which of them issuers give (ISO/IEC 7812).
_CARD = re.compile(
    r"(?<![\dA-Za-z])(?:(?P<card>\d{4}(?P<by>[ -])(?:\d{4}(?P=by)){2}\d{4}|\d{4}[ -]\d{6}[ -]\d{4,5}|\d{13,16})"
    r"|(?P<long>6\d{16,18}|6\d{3}(?P<gap>[ -])(?:\d{4}(?P=gap)){3}\d{1,3}|6\d{5} \d{13}))(?!\d)"
)
_ISSUED = re.compile(
    r"4(?:\d{12}|\d{15})|(?:5[1-5]|2[2-7]|35)\d{14}|3[47]\d{13}|3[068]\d{12}|6\d{15,18}"
)
_CITIZEN = re.compile(r"(?<![\dA-Za-z])\d{17}[\dXx](?![\dA-Za-z])")
_SOCIAL_SECURITY = re.compile(r"(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])")
_ACCOUNT = re.compile(r"(?<![A-Za-z0-9])(?P<country>[A-Za-z]{2})\d\d(?=[ -]?[A-Za-z0-9])")
_NINE_DIGITS = re.compile(r"\d(?:[ -]?\d){8}")
# A text without any of these needs no pattern: they are looked for many times faster.
_LABEL_STEMS = (
    *"码令钥",
    "pass",
    "pwd",
    "pin",
    "cvv",
    "cvc",
    "otp",
    "2fa",
    " code",
    "key",
    "token",
)
_COMBINATION_STEMS = ("保险", "密码", "口令", "暗码", "safe", "lock", "combination")
_KEY_STEMS = (
    "sk-",
    "sk_",
    "pk-",
    "pk_",
    "gh",
    "glpat-",
    "xox",
    "akia",
    "aiza",
    "eyj",
    "-----begin",
)
_NUMBERED_STEMS = (
    *"证照保卡号",
    "passport",
    "ssn",
    "social",
    "card",
    "account",
    "number",
    "iban",
    " id",
    "licen",
)
# Numbers that words call a telephone number, and the shapes of mobiles in China and of numbers
# in North America even where nobody has that number.
_PHONE = re.compile(
    r"(?<!\d)1[3-9]\d[ -]?\d{4}[ -]?\d{4}(?!\d)|(?<!\d)\(?\d{3}\)?[ -]\d{3}[ -]\d{4}(?!\d)|(?:电话|手机号?|phone|number is|call me (?:at|on))\D{0,8}\+?\d[\d -]{6}"
)
# Whose telephone numbers are known without their country code.
_REGIONS = ("CN", "US")
_SEVEN_DIGITS = re.compile(r"\d(?:\D{0,3}\d){6}")


def holds_secret(text: str) -> bool:
    """Whether ``text`` tells a secret."""
    return any(True for _ in _spans(text))


def labels(text: str) -> frozenset[str]:
    """The words of a text behind which a secret may stand (PIN, 门禁码), in lower case."""
    return frozenset(match[0].lower() for match in _LABEL.finditer(text))


def holds_phone(text: str) -> bool:
    """Whether ``text`` holds a telephone number."""
    return _SEVEN_DIGITS.search(text) is not None and (
        _PHONE.search(text) is not None
        or any(PhoneNumberMatcher(text, region).has_next() for region in _REGIONS)
    )


def masked(text: str) -> str:
    """``text`` with each character of a secret as a MARK; blanks and offsets stay."""
    parts, at = [], 0
    for start, end in sorted(_spans(text)):
        if end > at:
            start = max(start, at)
            parts += [text[at:start], re.sub(r"\S", MARK, text[start:end])]
            at = end
    return "".join([*parts, text[at:]])


def cleared(value: T) -> T:
    """What a machine read, a text or made of texts, without secrets: an entry of a list that tells
    one, or that a masked text was made into, is left out; in every other text it is masked."""
    return _cleared(value)


def refusal(**given: Any) -> Reason | None:
    """Why something that a person states is not taken: the first of the fields ``given``, texts or
    what is made of texts, that tells a secret. None where none does."""
    for path, text in _texts(given, "", ""):
        if holds_secret(text):
            return Reason("tells_secret", field=path)
    return None


def _cleared(value: Any, key: str = "") -> Any:
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, tuple | list | frozenset):
        return type(value)(_cleared(one) for one in value if not _tells(_said(one, key)))
    if isinstance(value, Mapping):
        made = {name: _cleared(one, str(name)) for name, one in value.items()}
        return {name: one for name, one in made.items() if one or not value[name]}
    if is_dataclass(value) and not isinstance(value, type | Reason):
        own = {one.name: getattr(value, one.name) for one in fields(value) if one.init}
        changed = {name: made for name, one in own.items() if (made := _cleared(one)) != one}
        return replace(value, **changed) if changed else value
    return value


def _tells(text: str) -> bool:
    return _MARKED in text or holds_secret(text)


def _said(entry: Any, key: str) -> str:
    """What an entry of a list says: a memory its content, an attribute its key and value."""
    if isinstance(entry, str):
        return _as_attribute(key, entry)
    if isinstance(entry, tuple):
        return ": ".join(filter(lambda one: isinstance(one, str), entry))
    said = next(
        (text for name in ("content", "value", "text") if (text := getattr(entry, name, ""))), ""
    )
    return _as_attribute(getattr(entry, "key", "") or key, said) if isinstance(said, str) else ""


def _texts(value: Any, path: str, key: str) -> Iterator[tuple[str, str]]:
    """The texts in a value, an attribute's with its key, each with its path (people[2].name)."""
    if isinstance(value, str):
        yield path, _as_attribute(key, value)
    elif isinstance(value, Mapping):
        for name, one in value.items():
            yield from _texts(one, f"{path}.{name}" if path else str(name), str(name))
    elif isinstance(value, list | tuple):
        for place, one in enumerate(value):
            yield from _texts(one, f"{path}[{place}]", key)


def _as_attribute(key: str, value: str) -> str:
    return f"{key.replace('_', ' ')}: {value}" if key else value


def _spans(text: str) -> Iterator[_Span]:
    """Where secrets stand, in no order; they may overlap."""
    low = text.lower()

    def speaks_of(stems: tuple[str, ...]) -> bool:
        return any(stem in low for stem in stems)

    if speaks_of(_LABEL_STEMS):
        yield from _labelled(text)
    if speaks_of(_COMBINATION_STEMS):
        for match in _COMBINATION.finditer(text):
            yield match.span("zh" if match["zh"] else "en")
    if speaks_of(_KEY_STEMS):
        for match in _KEY.finditer(text):
            yield match.span()
    if speaks_of(_NUMBERED_STEMS):
        for match in _NUMBERED.finditer(text):
            yield match.span("value")
    if _NINE_DIGITS.search(text):
        yield from _numbers(text)
    yield from _accounts(text)


def _labelled(text: str) -> Iterator[_Span]:
    """The values behind words such as password, code and key."""
    for label in _LABEL.finditer(text):
        ends = _SENTENCE_ENDS.search(text, label.end(), label.end() + _NEAR)
        end = ends.start() if ends else label.end() + _NEAR
        joined = list(_JOINED.finditer(text, label.end(), end))
        for at in (label.end(), *(one.end() for one in joined)):
            value = _VALUE.match(text, at)
            if value is None:
                continue
            found = value["value"].rstrip(_TRAILING)
            direct = at == label.end()
            if not direct and _names_other(text[label.end() : joined[0].start()]):
                break
            if _is_secret(found, bool(label["word"]) and not direct, text[label.start()]):
                yield value.start("value"), value.start("value") + len(found)
                break


def _names_other(between: str) -> bool:
    """Whether a label goes on with a noun, and so names something else: a password manager."""
    first = _WORD.search(between)
    return first is not None and first.group().lower() not in words("stopwords")


def _is_secret(value: str, may_be_letters: bool, label: str) -> bool:
    if len(value) < 3:
        return False
    if any(char.isdigit() or char in "零〇一二三四五六七八九" for char in value):
        return True
    return may_be_letters and (
        not label.isascii() or not value.isalpha() or value.lower() not in words("english_words")
    )


def _numbers(text: str) -> Iterator[_Span]:
    """Numbers of cards and of people, by their check digits and ranges."""
    for match in _CARD.finditer(text):
        number = re.sub(r"\D", "", match.group())
        if _ISSUED.fullmatch(number) and luhn.is_valid(number):
            yield match.span()
    for pattern, kind in ((_CITIZEN, ric), (_SOCIAL_SECURITY, ssn)):
        for match in pattern.finditer(text):
            if kind.is_valid(match.group()):
                yield match.span()


def _accounts(text: str) -> Iterator[_Span]:
    """IBANs, by the form of their country and their check digits."""
    for begun in _ACCOUNT.finditer(text):
        form = _account_of(begun["country"].upper())
        found = form.match(text, begun.end()) if form else None
        if found:
            number = re.sub(r"[ -]", "", text[begun.start() : found.end()]).upper()
            if mod_97_10.is_valid(number[4:] + number[:4]):
                yield begun.start(), found.end()


@cache
def _account_of(country: str) -> re.Pattern[str] | None:
    """What follows the check digits of an IBAN (ISO 13616) of a country, grouped or not."""
    structure = numdb.get("iban").info(country)[0][1].get("bban", "")
    kinds = {"n": r"\d", "a": "[A-Za-z]", "c": "[A-Za-z0-9]"}
    chars = [
        kinds[kind]
        for count, kind in re.findall(r"(?<!\d)(\d+)!([nac])", structure)
        for _ in range(int(count))
    ]
    if not chars:
        return None
    return re.compile("".join(f"[ -]?{char}" for char in chars) + "(?![A-Za-z0-9])")
