"""The user's own ways to mean somebody without a name (the guy who tunes my piano, 老寿星): a key of
their own kind for each, and the places of a text where one stands.

A key is the beginning of the phrase, two characters or two words, so that a text holds few; what
the index answers with is then compared in full.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

from accounts.reasons import Reason
from understanding.certainty import REFERENCE
from understanding.text import CJK, is_cjk, normalise, original_span
from understanding.text_document import Document, read
from understanding.types import Entry, Mention, NameKey

PREFIX = "ref:"
HOW = "reference"
# Of one person, and of each the code points.
MOST, LONGEST = 8, 60
_MOST_TEXT = 200  # of the column in which the phrases of one key stand
# A character, or a word of a script with spaces.
_LETTER = rf"(?:(?!{CJK.pattern})[^\W_])"
_UNIT = re.compile(rf"{CJK.pattern}|{_LETTER}+(?:['-]{_LETTER}+)*")


def form(phrase: str) -> str:
    """A phrase as it is compared: normalised, on one line."""
    return " ".join(normalise(phrase).split())


def keys_of(phrases: Iterable[str]) -> Iterator[NameKey]:
    """The keys of somebody's phrases; ``text`` holds those of one key, one a line."""
    lines: dict[str, list[str]] = defaultdict(list)
    for phrase in phrases:
        said = form(phrase)
        for key in list(_heads(said))[:1]:
            if said and len("\n".join([*lines[key], said])) <= _MOST_TEXT:
                lines[key].append(said)
    for key, texts in lines.items():
        if texts:
            yield NameKey(PREFIX + key, "reference", "\n".join(texts))


def keys_in(text: str | Document) -> frozenset[str]:
    """Every key that a text may hold: about one for each of its characters or words."""
    return frozenset(PREFIX + head for head in _heads(read(text).norm))


def _heads(norm: str) -> Iterator[str]:
    """The beginnings of phrases that begin anywhere in a normalised text, in order, at each place
    the longest first."""
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
    """The phrases of ``entries`` that stand in ``text``, by position, none within a longer one.
    Where several people share one, each has less confidence."""
    said = [
        (phrase, entry)
        for entry in entries
        if entry.key.how == HOW
        for phrase in entry.key.text.split("\n")
    ]
    if not said:
        return []
    document = read(text)
    norm, offsets = document.norm, document.offsets
    places: dict[tuple[int, int], list[Entry]] = defaultdict(list)
    for phrase, entry in said:
        for start, end in _places(norm, phrase):
            places[start, end].append(entry)
    longest = sorted(places, key=lambda place: (place[0] - place[1], place[0]))
    found: list[tuple[int, int]] = []
    for start, end in longest:
        if not any(start < other_end and other < end for other, other_end in found):
            found.append((start, end))
    return [
        mention
        for place in sorted(found)
        for mention in _mentions(document.text, offsets, place, places)
    ]


def _places(norm: str, phrase: str) -> Iterator[tuple[int, int]]:
    for match in re.finditer(re.escape(phrase).replace(r"\ ", r"\s+"), norm):
        start, end = match.span()
        begun = start > 0 and _glued(norm[start - 1], norm[start])
        goes_on = end < len(norm) and _glued(norm[end - 1], norm[end])
        if not begun and not goes_on:
            yield start, end


def _glued(one: str, other: str) -> bool:
    """Whether two characters are of one word: letters of a script with spaces."""
    return all(char.isalnum() and not is_cjk(char) for char in (one, other))


def _mentions(
    text: str,
    offsets: list[int],
    place: tuple[int, int],
    places: dict[tuple[int, int], list[Entry]],
) -> Iterator[Mention]:
    start, end = original_span(offsets, *place)
    people = {entry.person.id: entry.person for entry in places[place]}
    for person in people.values():
        confidence = round(REFERENCE / len(people) ** 0.5, 3)
        reason = Reason("by_reference", text=text[start:end])
        yield Mention(person, start, end, text[start:end], "reference", confidence, reason)
