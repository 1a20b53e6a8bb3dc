"""Every spelling in a text that may mean somebody: keys of an index with where they stand."""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from understanding.lexicon import alternation, titles, words
from understanding.names import (
    HAN_KEY_LENGTH,
    KIN,
    LATIN_KEY_WORDS,
    OF,
    PART,
    SOUND,
    TITLE,
    TYPO,
    TYPO_LENGTHS,
    deletions,
    syllable,
)
from understanding.people.annotation import Reading, Token
from understanding.roles import RoleWord, covered_by
from understanding.text import is_cjk, is_han

# Typos are looked for in messages only.
_FUZZY_LIMIT = 400
# Beside one character of a name: 阿明, 小明, 老王, 明仔, 明哥.
_BEFORE, _BEHIND = frozenset("阿小老大"), frozenset("仔哥姐妹弟儿子宝叔婶嫂爷")
# What a short English name is made with: Junnie, Robbo, Macca, Gazza.
_ENDINGS = ("ie", "za", "y", "o", "a", "s")


class Spelling(NamedTuple):
    """``key`` stands at [start, end) of the normalised text; ``form`` is how: "" as it is,
    plural, ending (a short form with -ie, -o …), nick (小明), title, role, sound or slip.
    ``role`` is the role word, ``title`` the form of address."""

    key: str
    start: int
    end: int
    form: str = ""
    role: RoleWord | None = None
    title: str = ""


def spellings(reading: Reading) -> Iterator[Spelling]:
    """In no order; a key may stand at many places."""
    yield from _roles(reading)
    yield from _latin(reading)
    yield from _cjk(reading)
    if len(reading.norm) <= _FUZZY_LIMIT:
        yield from _slips(reading)
        yield from _sounds(reading)


def joins(gap: str) -> bool:
    """Whether two words with ``gap`` between them can be one name: Anna Lena, Jean-Paul,
    Dr. Lee."""
    return gap in (" ", "-", ". ", ".", "·", "  ", " - ") or gap in ("‐", "‑", "–")


def _roles(reading: Reading) -> Iterator[Spelling]:
    for word in reading.roles:
        prefix = OF if word.whose == "other" else KIN
        kinds = {kind for role in word.roles for kind in (role.kind, *covered_by(role.kind))}
        start = word.outer if word.whose == "own" else word.start
        for kind in sorted(kinds):
            yield Spelling(prefix + kind, start, word.end, "role", word)


def _latin(reading: Reading) -> Iterator[Spelling]:
    tokens, norm = reading.tokens, reading.norm
    for index, token in enumerate(tokens):
        key, start, end = token.key, token.start, token.end
        yield Spelling(key, start, end)
        if token.possessive and norm[end - 1] != "s":
            yield Spelling(f"{key}s", start, end)
        for stem in _stems(key):
            yield Spelling(stem, start, end, "ending")
        yield from _phrases(reading, index)
        before = tokens[index - 1] if index else None
        if before and before.key in titles("en") and joins(norm[before.end : start]):
            yield Spelling(TITLE + key, before.start, end, "title", None, before.key)
        yield from _two_scripts(norm, token)


def _phrases(reading: Reading, index: int) -> Iterator[Spelling]:
    """The words from one on that may be one name, and what they are the plural of."""
    tokens, norm = reading.tokens, reading.norm
    joined, last = "", tokens[index]
    for following in tokens[index : index + LATIN_KEY_WORDS + 1]:
        if joined and not joins(norm[last.end : following.start]):
            break
        joined = f"{joined} {following.key}" if joined else following.key
        last = following
        if " " in joined:
            yield Spelling(joined, tokens[index].start, last.end)
        if joined.endswith("s") and not last.possessive:
            yield Spelling(joined[:-1], tokens[index].start, last.end - 1, "plural")


def _two_scripts(norm: str, token: Token) -> Iterator[Spelling]:
    """小K, 阿Sam, Tony哥."""
    start, end = token.start, token.end
    for length in (1, 2):
        if start >= length and all(map(is_cjk, norm[start - length : start])):
            yield Spelling(norm[start - length : start] + token.key, start - length, end)
        if end + length <= len(norm) and all(map(is_cjk, norm[end : end + length])):
            yield Spelling(token.key + norm[end : end + length], start, end + length)


def _stems(word: str) -> Iterator[str]:
    """What a short form with an ending is made from: rob of robbo, jun of junnie."""
    for ending in _ENDINGS:
        stem = word.removesuffix(ending)
        if stem != word and len(stem) > 2:
            yield stem
            if stem[-1] == stem[-2] and len(stem) > 3:
                yield stem[:-1]


def _cjk(reading: Reading) -> Iterator[Spelling]:
    squeezed, places = reading.squeezed
    run = 0
    for end, char in enumerate(squeezed, 1):
        run = run + 1 if is_cjk(char) else 0
        for length in range(1, min(run, HAN_KEY_LENGTH) + 1):
            start = end - length
            yield Spelling(squeezed[start:end], places[start], places[end - 1] + 1)
        if run > 1:
            low, high = places[end - 2], places[end - 1] + 1
            first, second = squeezed[end - 2], squeezed[end - 1]
            if first in _BEFORE:
                yield Spelling(PART + second, low, high, "nick")
                yield Spelling(TITLE + second, low, high, "nick")
            if second in _BEHIND or first == second:
                yield Spelling(PART + first, low, high, "nick")
    for match in _chinese_title().finditer(reading.norm):
        yield Spelling(TITLE + match[1], *match.span(), "title", None, match[2])


@cache
def _chinese_title() -> re.Pattern[str]:
    """A surname and the title behind it: 王总, 张阿姨."""
    compound, single = words("surnames", "compound"), words("surnames", "single")
    forms = alternation(titles("zh"))
    return re.compile(rf"({alternation(compound)}|[{''.join(sorted(single))}])({forms})(?!们)")


def _slips(reading: Reading) -> Iterator[Spelling]:
    common = words("english_words")
    for token in reading.tokens:
        size = len(token.key)
        near = size + 1 in TYPO_LENGTHS or size - 1 in TYPO_LENGTHS
        if near and token.key not in common:
            for form in sorted(deletions(token.key)):
                yield Spelling(TYPO + form, token.start, token.end, "slip")


def _sounds(reading: Reading) -> Iterator[Spelling]:
    norm = reading.norm
    sounds = [syllable(char) if is_han(char) else "" for char in norm]
    for start in range(len(norm)):
        joined = sounds[start]
        for end in range(start + 1, min(start + HAN_KEY_LENGTH, len(norm))):
            if not joined or not sounds[end]:
                break
            joined += sounds[end]
            yield Spelling(SOUND + joined, start, end + 1, "sound")
