"""The user's own phrases for a person without a name (the guy who tunes my piano, 老寿星): their
lookup keys, and the places of a text that contain one.

A key is the beginning of a phrase, two characters or two words, so that a text contains few keys;
the entries found by them are then compared in full.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

import regex

from accounts.reasons import Reason
from understanding.certainty import REFERENCE
from understanding.text import CJK, is_cjk, normalise
from understanding.text_document import Document, read
from understanding.types import Entry, Mention, NameKey

PREFIX = "ref:"
HOW = "reference"
# Phrases per person, code points per phrase.
MOST, LONGEST = 8, 60
_TEXT_WIDTH = 200  # width of the column for the phrases of one key
# A character, or a word of a script with spaces.
_LETTER = rf"(?:(?!{CJK.pattern})[\p{{L}}\p{{N}}\p{{M}}])"
_UNIT = regex.compile(rf"{CJK.pattern}|{_LETTER}+(?:['-]{_LETTER}+)*")


def form(phrase: str) -> str:
    """Returns a phrase in the form in which it is compared: normalised, on one line."""
    return " ".join(normalise(phrase).split())


def keys_of(phrases: Iterable[str]) -> Iterator[NameKey]:
    """Yields the keys of a person's phrases; ``text`` has the phrases of a key, one a line."""
    lines: dict[str, list[str]] = defaultdict(list)
    for phrase in phrases:
        compared = form(phrase)
        key = next(_beginnings(compared), "")
        if key and len("\n".join([*lines[key], compared])) <= _TEXT_WIDTH:
            lines[key].append(compared)
    for key, texts in lines.items():
        if texts:
            yield NameKey(PREFIX + key, "reference", "\n".join(texts))


def keys_in(text: str | Document) -> frozenset[str]:
    """Returns every key that a text may contain: about one per character or word."""
    return frozenset(PREFIX + head for head in _beginnings(read(text).norm))


def _beginnings(norm: str) -> Iterator[str]:
    """Yields the possible beginnings of phrases in a normalised text in order, the longer first."""
    for unit in _UNIT.finditer(norm):
        start, end = unit.span()
        if is_cjk(norm[start]):
            yield norm[start : start + 2]
            continue
        following = _UNIT.match(norm, end + 1) if norm[end : end + 1].isspace() else None
        if following and not is_cjk(following[0][0]):
            yield f"{unit[0]} {following[0]}"
        yield unit[0]


def find(text: str | Document, entries: Iterable[Entry]) -> list[Mention]:
    """Returns the mentions of the phrases of ``entries`` in ``text``, by position, none inside a
    longer one. If several people share a phrase, each has less confidence."""
    phrases = [
        (phrase, entry)
        for entry in entries
        if entry.key.how == HOW
        for phrase in entry.key.text.split("\n")
    ]
    if not phrases:
        return []
    document = read(text)
    places: dict[tuple[int, int], list[Entry]] = defaultdict(list)
    for phrase, entry in phrases:
        for place in _places(document.norm, phrase):
            places[place].append(entry)
    longest = sorted(places, key=lambda place: (place[0] - place[1], place[0]))
    chosen: list[tuple[int, int]] = []
    for start, end in longest:
        if not any(start < other_end and other < end for other, other_end in chosen):
            chosen.append((start, end))
    return [
        mention for place in sorted(chosen) for mention in _mentions(document, place, places[place])
    ]


def _places(norm: str, phrase: str) -> Iterator[tuple[int, int]]:
    for match in re.finditer(re.escape(phrase).replace(r"\ ", r"\s+"), norm):
        start, end = match.span()
        begins_inside = start > 0 and _are_one_word(norm[start - 1], norm[start])
        ends_inside = end < len(norm) and _are_one_word(norm[end - 1], norm[end])
        if not begins_inside and not ends_inside:
            yield start, end


def _are_one_word(one: str, other: str) -> bool:
    """Whether two characters are part of one word: letters or digits of a script with spaces."""
    return all(char.isalnum() and not is_cjk(char) for char in (one, other))


def _mentions(
    document: Document, place: tuple[int, int], entries: Iterable[Entry]
) -> Iterator[Mention]:
    start, end = document.original(*place)
    text = document.text[start:end]
    people = {entry.person.id: entry.person for entry in entries}
    confidence = round(REFERENCE / len(people) ** 0.5, 3)
    for person in people.values():
        reason = Reason("by_reference", text=text)
        yield Mention(person, start, end, text, "reference", confidence, reason)
