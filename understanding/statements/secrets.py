"""Passwords, keys, codes, and numbers of cards, accounts and documents in a text, which are never
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
MARK = "•"  # replaces one character of a secret
_MARKED = MARK * 3
_Span = tuple[int, int]

# The characters after a label in which its secret may begin, and signs that are no part of it.
_NEAR = 60
_TRAILING = ".,;:!?\"'`*>)"
# A text without any of these words needs no pattern: words are found many times faster.
_STEMS = sets(__file__, "stems")
_REGIONS = ("CN", "US")  # whose telephone numbers are known without a country code


def holds_secret(text: str) -> bool:
    """Whether ``text`` contains a secret."""
    return any(True for _ in _secret_spans(text))


def secret_labels(text: str) -> frozenset[str]:
    """Returns the words of a text after which a secret may follow (PIN, 门禁码), in lower case."""
    return frozenset(match[0].lower() for match in _RE.label.finditer(text))


def holds_phone(text: str) -> bool:
    """Whether ``text`` contains a telephone number."""
    return _has_digits(text, 7) and (
        _RE.phone.search(text) is not None
        or any(PhoneNumberMatcher(text, region).has_next() for region in _REGIONS)
    )


def is_private(text: str) -> bool:
    """Whether ``text`` contains a secret or a telephone number."""
    return holds_secret(text) or holds_phone(text)


def _has_digits(text: str, least: int) -> bool:
    return sum(map(str.isdecimal, text)) >= least


def masked(text: str) -> str:
    """Returns ``text`` with each character of a secret as a MARK; blanks and offsets stay."""
    parts, at = [], 0
    for start, end in sorted(_secret_spans(text)):
        if end > at:
            start = max(start, at)
            secret = "".join(char if char.isspace() else MARK for char in text[start:end])
            parts += [text[at:start], secret]
            at = end
    return "".join([*parts, text[at:]])


def without_secrets(value: T) -> T:
    """Returns what a machine read, a text or made of texts, without secrets: an entry of a list
    that has one, or was made from a masked text, is left out; in every other text it is masked."""
    return _without_secrets(value)


def refusal(**given: Any) -> Reason | None:
    """Returns why something that a person states is refused: a Reason with the first of the fields
    ``given``, texts or made of texts, that contains a secret. None if none does."""
    for path, text in _texts(given, "", ""):
        if holds_secret(text):
            return Reason("tells_secret", field=path)
    return None


def _without_secrets(value: Any, key: str = "") -> Any:
    """A value without its secrets; the ``key`` of an attribute helps to recognise them."""
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, tuple | list | frozenset):
        entries = ((one, _entry_text(one, key)) for one in value)
        return type(value)(
            _without_secrets(one)
            for one, text in entries
            if _MARKED not in text and not holds_secret(text)
        )
    if isinstance(value, Mapping):
        made = {name: _without_secrets(one, str(name)) for name, one in value.items()}
        return {name: one for name, one in made.items() if one or not value[name]}
    if is_dataclass(value) and not isinstance(value, type | Reason):
        own = {one.name: getattr(value, one.name) for one in fields(value) if one.init}
        changed = {
            name: made for name, one in own.items() if (made := _without_secrets(one)) != one
        }
        return replace(value, **changed) if changed else value
    return value


def _entry_text(entry: Any, key: str) -> str:
    """The text of an entry of a list: the content of a memory, key and value of an attribute."""
    if isinstance(entry, str):
        return _as_attribute(key, entry)
    if isinstance(entry, tuple):
        return ": ".join(filter(lambda one: isinstance(one, str), entry))
    said = next(
        (text for name in ("content", "value", "text") if (text := getattr(entry, name, ""))), ""
    )
    return _as_attribute(getattr(entry, "key", "") or key, said) if isinstance(said, str) else ""


def _texts(value: Any, path: str, key: str) -> Iterator[tuple[str, str]]:
    """Yields each text in a value with its path (people[2].name), an attribute's after its key."""
    if isinstance(value, str):
        yield path, _as_attribute(key, value)
    elif isinstance(value, Mapping):
        for name, one in value.items():
            yield from _texts(one, f"{path}.{name}" if path else str(name), str(name))
    elif isinstance(value, list | tuple):
        for place, one in enumerate(value):
            yield from _texts(one, f"{path}[{place}]", key)


def _as_attribute(key: str, value: str) -> str:
    """The value after its key, if it has one (door code: 1234)."""
    return f"{key.replace('_', ' ')}: {value}" if key else value


def _secret_spans(text: str) -> Iterator[_Span]:
    """Yields the spans of secrets, in no order; they may overlap."""
    low = text.lower()
    kinds = {name for name, stems in _STEMS.items() if any(stem in low for stem in stems)}
    if "labelled" in kinds:
        yield from _labelled(text)
    if "combination" in kinds:
        for match in _RE.combination.finditer(text):
            yield match.span("zh" if match["zh"] else "en")
    if "key" in kinds:
        yield from (match.span() for match in _RE.key.finditer(text))
    if "numbered" in kinds:
        yield from (match.span("value") for match in _RE.numbered.finditer(text))
    if _has_digits(text, 9):
        yield from _numbers(text)
    yield from _accounts(text)


def _labelled(text: str) -> Iterator[_Span]:
    """Yields the spans of values after words such as password, code and key."""
    for label in _RE.label.finditer(text):
        ends = _RE.sentence_ends.search(text, label.end(), label.end() + _NEAR)
        end = ends.start() if ends else label.end() + _NEAR
        joined = list(_RE.joined.finditer(text, label.end(), end))
        for at in (label.end(), *(one.end() for one in joined)):
            value = _RE.value.match(text, at)
            if value is None:
                continue
            secret = value["value"].rstrip(_TRAILING)
            direct = at == label.end()
            if not direct and _names_other(text[label.end() : joined[0].start()]):
                break
            if _is_secret(secret, bool(label["word"]) and not direct, text[label.start()]):
                yield value.start("value"), value.start("value") + len(secret)
                break


def _names_other(words_after: str) -> bool:
    """Whether a label goes on with a noun, and so names something else: a password manager."""
    first = _RE.word.search(words_after)
    return first is not None and first.group().lower() not in words("stopwords")


def _is_secret(value: str, may_be_letters: bool, label: str) -> bool:
    """Whether a labelled value is secret: with a digit or, if ``may_be_letters``, no word."""
    if len(value) < 3:
        return False
    if any(char.isdigit() or char in "零〇一二三四五六七八九" for char in value):
        return True
    return may_be_letters and (
        not label.isascii() or not value.isalpha() or value.lower() not in words("english_words")
    )


def _numbers(text: str) -> Iterator[_Span]:
    """Yields the spans of numbers of cards and people, by their check digits and ranges."""
    for match in _RE.card.finditer(text):
        number = clean(match.group(), " -")
        if _RE.issued.fullmatch(number) and luhn.is_valid(number):
            yield match.span()
    for match in _RE.person.finditer(text):
        if (ssn if match["ssn"] else ric).is_valid(match.group()):
            yield match.span()


def _accounts(text: str) -> Iterator[_Span]:
    """Yields the spans of IBANs, by the form of their country and their check digits."""
    for beginning in _RE.account.finditer(text):
        _, data = numdb.get("iban").info(beginning["country"].upper())[0]
        size = sum(map(int, re.findall(r"(?<!\d)(\d+)!", data.get("bban", ""))))
        remainder = re.compile(rf"(?:[ -]?[A-Za-z0-9]){{{size}}}(?![A-Za-z0-9])").match(
            text, beginning.end()
        )
        if remainder and size:
            number = text[beginning.start() : remainder.end()]
            if iban.is_valid(number, check_country=False):
                yield beginning.start(), remainder.end()
