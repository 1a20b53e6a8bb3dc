"""Passwords, keys, codes, and numbers of cards, accounts and documents in a text: what is never
stored, shown in a prompt or sent to a model."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from phonenumbers import PhoneNumberMatcher
from stdnum import iban, luhn, numdb
from stdnum.cn import ric
from stdnum.us import ssn
from stdnum.util import clean

from accounts.reasons import Reason
from understanding.lexicon import words
from understanding.lexicon.rules import patterns, sets

T = TypeVar("T")
_RE = patterns(__file__)
MARK = "•"  # stands for one character of a secret
_MARKED = MARK * 3
_Span = tuple[int, int]

# How far behind its label a secret stands, and what joins the two.
_NEAR = 60
_TRAILING = ".,;:!?\"'`*>)"
# A text without any of these needs no pattern: they are looked for many times faster.
_STEMS = sets(__file__, "stems")
# Whose telephone numbers are known without their country code.
_REGIONS = ("CN", "US")


def holds_secret(text: str) -> bool:
    """Whether ``text`` tells a secret."""
    return any(True for _ in _spans(text))


def labels(text: str) -> frozenset[str]:
    """The words of a text behind which a secret may stand (PIN, 门禁码), in lower case."""
    return frozenset(match[0].lower() for match in _RE.label.finditer(text))


def holds_phone(text: str) -> bool:
    """Whether ``text`` holds a telephone number."""
    return _has_digits(text, 7) and (
        _RE.phone.search(text) is not None
        or any(PhoneNumberMatcher(text, region).has_next() for region in _REGIONS)
    )


def is_private(text: str) -> bool:
    """Whether ``text`` tells a secret or holds a telephone number."""
    return holds_secret(text) or holds_phone(text)


def _has_digits(text: str, least: int) -> bool:
    return sum(map(str.isdecimal, text)) >= least


def masked(text: str) -> str:
    """``text`` with each character of a secret as a MARK; blanks and offsets stay."""
    parts, at = [], 0
    for start, end in sorted(_spans(text)):
        if end > at:
            start = max(start, at)
            secret = "".join(char if char.isspace() else MARK for char in text[start:end])
            parts += [text[at:start], secret]
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
        said = ((one, _said(one, key)) for one in value)
        return type(value)(
            _cleared(one) for one, text in said if _MARKED not in text and not holds_secret(text)
        )
    if isinstance(value, Mapping):
        made = {name: _cleared(one, str(name)) for name, one in value.items()}
        return {name: one for name, one in made.items() if one or not value[name]}
    if is_dataclass(value) and not isinstance(value, type | Reason):
        own = {one.name: getattr(value, one.name) for one in fields(value) if one.init}
        changed = {name: made for name, one in own.items() if (made := _cleared(one)) != one}
        return replace(value, **changed) if changed else value
    return value


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
    said = {name for name, stems in _STEMS.items() if any(stem in low for stem in stems)}
    if "labelled" in said:
        yield from _labelled(text)
    if "combination" in said:
        for match in _RE.combination.finditer(text):
            yield match.span("zh" if match["zh"] else "en")
    if "key" in said:
        yield from (match.span() for match in _RE.key.finditer(text))
    if "numbered" in said:
        yield from (match.span("value") for match in _RE.numbered.finditer(text))
    if _has_digits(text, 9):
        yield from _numbers(text)
    yield from _accounts(text)


def _labelled(text: str) -> Iterator[_Span]:
    """The values behind words such as password, code and key."""
    for label in _RE.label.finditer(text):
        ends = _RE.sentence_ends.search(text, label.end(), label.end() + _NEAR)
        end = ends.start() if ends else label.end() + _NEAR
        joined = list(_RE.joined.finditer(text, label.end(), end))
        for at in (label.end(), *(one.end() for one in joined)):
            value = _RE.value.match(text, at)
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
    first = _RE.word.search(between)
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
    for match in _RE.card.finditer(text):
        number = clean(match.group(), " -")
        if _RE.issued.fullmatch(number) and luhn.is_valid(number):
            yield match.span()
    for match in _RE.person.finditer(text):
        if (ssn if match["ssn"] else ric).is_valid(match.group()):
            yield match.span()


def _accounts(text: str) -> Iterator[_Span]:
    """IBANs, by the form of their country and their check digits."""
    for begun in _RE.account.finditer(text):
        _, data = numdb.get("iban").info(begun["country"].upper())[0]
        size = sum(map(int, re.findall(r"(?<!\d)(\d+)!", data.get("bban", ""))))
        found = re.compile(rf"(?:[ -]?[A-Za-z0-9]){{{size}}}(?![A-Za-z0-9])").match(
            text, begun.end()
        )
        if found and size:
            number = text[begun.start() : found.end()]
            if iban.is_valid(number, check_country=False):
                yield begun.start(), found.end()
