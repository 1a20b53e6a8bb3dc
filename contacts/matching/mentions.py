"""Who is named in a text: candidate keys for one index lookup, then mentions from its hits.

:func:`candidate_keys` says under which keys the text might name someone; the index of a
user's names answers with entries; :func:`find_mentions` decides which of these the text
really means. Nothing here knows of a database.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from contacts.lexicon import titles, words
from contacts.matching import disambiguation
from contacts.matching import spans as hitting
from contacts.matching.annotation import Reading
from contacts.matching.titles import chinese_titles
from contacts.names import (
    HAN_KEY_LENGTH,
    KIN,
    LATIN_KEY_WORDS,
    SOUND,
    TITLE,
    TYPO,
    TYPO_LENGTHS,
    deletions,
    lookup_keys,
    syllable,
)
from contacts.roles import covered_by
from contacts.text import is_cjk, is_han
from contacts.types import Entry, Mention, Person

# A longer text is a document: its beginning and its end are read. Typos are looked for in
# messages only.
_READ_HEAD, _READ_TAIL = 6000, 2000
_FUZZY_LIMIT = 400
_MAX_KEYS = 20000


def entries_of(people: Iterable[Person]) -> list[Entry]:
    """The index of ``people`` in memory: an entry for each of their keys."""
    return [Entry(key, person) for person in people for key in lookup_keys(person)]


def candidate_keys(text: str) -> frozenset[str]:
    """Every key that ``text`` may hold: linear in its length, and capped for huge texts."""
    keys: set[str] = set()
    for _, part in _parts(text):
        for key in _keys(Reading(part), fuzzy=len(text) <= _FUZZY_LIMIT):
            if len(keys) >= _MAX_KEYS:
                break
            keys.add(key)
    return frozenset(keys)


def _parts(text: str) -> list[tuple[int, str]]:
    """What is read of ``text``, each part with where it begins."""
    if len(text) <= _READ_HEAD + _READ_TAIL:
        return [(0, text)]
    return [(0, text[:_READ_HEAD]), (len(text) - _READ_TAIL, text[-_READ_TAIL:])]


def _keys(reading: Reading, *, fuzzy: bool) -> Iterator[str]:
    yield from _role_keys(reading)
    yield from _latin_keys(reading)
    yield from _cjk_keys(reading)
    if fuzzy:
        yield from _fuzzy_keys(reading)


def _role_keys(reading: Reading) -> Iterator[str]:
    for word in reading.roles:
        for role in word.roles:
            yield KIN + role.kind
            for kind in covered_by(role.kind):
                yield KIN + kind


def _latin_keys(reading: Reading) -> Iterator[str]:
    tokens, norm = reading.tokens, reading.norm
    for index, token in enumerate(tokens):
        yield token.key
        if token.key.endswith("s") and not token.possessive:
            yield token.key[:-1]
        if token.possessive and norm[token.end - 1] != "s":
            yield f"{token.key}s"
        joined = token.key
        for after, following in zip(
            tokens[index : index + LATIN_KEY_WORDS], tokens[index + 1 :], strict=False
        ):
            if not hitting.joins(norm[after.end : following.start]):
                break
            joined = f"{joined} {following.key}"
            yield joined
        if index and tokens[index - 1].key in titles("en"):
            yield TITLE + token.key
        # Names in two scripts: 小K, 阿Sam, Tony哥.
        low, high = token.start, token.end
        for length in (1, 2):
            if low >= length and all(map(is_cjk, norm[low - length : low])):
                yield norm[low - length : low] + token.key
            if high + length <= len(norm) and all(map(is_cjk, norm[high : high + length])):
                yield token.key + norm[high : high + length]


def _cjk_keys(reading: Reading) -> Iterator[str]:
    squeezed = reading.squeezed[0]
    run = 0
    for end, char in enumerate(squeezed, 1):
        run = run + 1 if is_cjk(char) else 0
        for length in range(1, min(run, HAN_KEY_LENGTH) + 1):
            yield squeezed[end - length : end]
    for found in chinese_titles(reading):
        yield TITLE + found.surname


def _fuzzy_keys(reading: Reading) -> Iterator[str]:
    common = words("english_words")
    for token in reading.tokens:
        size = len(token.key)
        near = size + 1 in TYPO_LENGTHS or size - 1 in TYPO_LENGTHS
        if near and token.key not in common:
            for form in sorted(deletions(token.key)):
                yield TYPO + form
    norm = reading.norm
    sounds = [syllable(char) if is_han(char) else "" for char in norm]
    for start in range(len(norm)):
        joined = sounds[start]
        for end in range(start + 1, min(start + HAN_KEY_LENGTH, len(norm))):
            if not joined or not sounds[end]:
                break
            joined += sounds[end]
            yield SOUND + joined


def find_mentions(text: str, entries: Iterable[Entry]) -> list[Mention]:
    """The mentions in ``text`` of the people in ``entries``, by position. The longest match
    wins; where several people answer to the same words and nothing tells them apart, each is
    returned with less confidence. Of a huge text the beginning and the end are read."""
    index = list(entries)
    if not index:
        return []
    out: list[Mention] = []
    for offset, part in _parts(text):
        reading = Reading(part)
        for found in disambiguation.mentions(reading, hitting.find_hits(reading, index)):
            shifted = replace(found, start=found.start + offset, end=found.end + offset)
            out.append(shifted if offset else found)
    return out
