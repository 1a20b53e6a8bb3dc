"""A text and everything that is read of it once: its normal form, words, role words, the
stretches in which nobody is named, and every spelling that may refer to a person."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import NamedTuple

import regex

from understanding import segmentation
from understanding.lexicon import alternation, titles, words
from understanding.lexicon.rules import patterns
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
from understanding.role_mentions import RoleWord, role_words
from understanding.roles import covered_by
from understanding.text import CJK, HAN, is_cjk, is_han, normalise_with_offsets, original_span

_LONGEST_CACHED = 1000  # longest text that is cached, in characters
# How far the text around a name is cut into words, in characters.
_PAGE_WIDTH = 64

_RUN = re.compile(f"{HAN.pattern}+")
_DOT_IN_NAME = re.compile(f"(?<={CJK.pattern})·(?={CJK.pattern})")
# With the marks in which vowels of Hindi and Tamil are written.
_WORD = regex.compile(r"[\p{L}\p{N}\p{M}]+(?:['-](?=[\p{L}\p{N}])[\p{L}\p{N}\p{M}]+)*'?")


@dataclass(frozen=True, slots=True)
class Token:
    """A word in Latin (or any spaced) script; ``key`` is the word without apostrophes and
    possessive ending, ``capital`` whether it begins with a capital."""

    start: int
    end: int
    key: str
    capital: bool
    possessive: bool


class Document:
    """Everything that the rules need of a text; each part is computed when it is first used.
    Positions count code points of ``norm``; ``raw`` is as long and keeps the case."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.norm, self.offsets = normalise_with_offsets(text)
        self.raw = "".join(text[start] for start in self.offsets[:-1])

    @cached_property
    def spellings(self) -> Mapping[str, Sequence["Spelling"]]:
        """Every spelling that may refer to a person, by its key."""
        by_key: dict[str, list[Spelling]] = defaultdict(list)
        for spelling in _spellings(self):
            by_key[spelling.key].append(spelling)
        return by_key

    @cached_property
    def mask(self) -> bytearray:
        return masked(self.norm)

    @cached_property
    def roles(self) -> list[RoleWord]:
        return role_words(self.norm, self.raw)

    @cached_property
    def tokens(self) -> list[Token]:
        out = []
        for match in _WORD.finditer(self.norm):
            out.extend(self._split(match.start(), match.end()))
        return out

    def _split(self, start: int, end: int) -> list[Token]:
        """Returns the spaced-script words in [start, end); Chinese and hyphens separate them."""
        out, norm = [], self.norm
        while start < end:
            if is_cjk(norm[start]) or norm[start] in "-'":
                start += 1
                continue
            stop = start
            while stop < end and not is_cjk(norm[stop]) and norm[stop] != "-":
                stop += 1
            word = norm[start:stop]
            possessive = word.endswith(("'s", "'"))
            bare = word.removesuffix("'s").rstrip("'")
            if bare:
                size = start + len(bare)
                capital = self.raw[start].isupper()
                out.append(Token(start, size, bare.replace("'", ""), capital, possessive))
            start = stop
        return out

    @cached_property
    def starts(self) -> dict[int, int]:
        """The index of each token by its start."""
        return {token.start: index for index, token in enumerate(self.tokens)}

    def token(self, index: int) -> Token | None:
        return self.tokens[index] if 0 <= index < len(self.tokens) else None

    def gap(self, index: int) -> str:
        """Returns the text between token ``index`` and the next."""
        tokens = self.tokens
        return self.norm[tokens[index].end : tokens[index + 1].start]

    def before(self, first: int) -> Token | None:
        """Returns the token before in the same phrase, with a space or hyphen between, or None."""
        if first == 0 or self.gap(first - 1) not in (" ", "'s ", "' ", "-"):
            return None
        return self.token(first - 1)

    def after(self, last: int) -> Token | None:
        if last + 1 >= len(self.tokens) or self.gap(last) not in (" ", "'s ", "' "):
            return None
        return self.token(last + 1)

    def starts_sentence(self, first: int) -> bool:
        start = self.tokens[first].start
        left = self.norm[max(0, start - 8) : start].rstrip(" \"'“‘(*_>-")
        return not left or left[-1] in ".!?。！？\n:：;；…" or self.norm.startswith("\n", start - 1)

    @cached_property
    def squeezed(self) -> tuple[str, list[int]]:
        """``norm`` without the dots inside Chinese names, with the position of each character."""
        dots = {match.start() for match in _DOT_IN_NAME.finditer(self.norm)}
        places = [at for at in range(len(self.norm)) if at not in dots]
        return "".join(self.norm[at] for at in places), places

    @cached_property
    def cased(self) -> bool:
        """Whether capitals mean something: the text has some, and not only them."""
        letters = [char for char in self.raw if char.isalpha() and not is_cjk(char)]
        return any(map(str.isupper, letters)) and not all(map(str.isupper, letters))

    @cached_property
    def chinese(self) -> bool:
        """Whether the text contains Chinese."""
        return HAN.search(self.norm) is not None

    @cached_property
    def runs(self) -> list[tuple[int, int]]:
        """The unbroken runs of Han."""
        return [match.span() for match in _RUN.finditer(self.norm)]

    def stretch(self, start: int, end: int) -> tuple[int, int]:
        """Returns the part of the run of Han around [start, end) that can matter; places near each
        other share one, so that it is cut into words once."""
        page = start // _PAGE_WIDTH * _PAGE_WIDTH
        at = bisect_right(self.runs, (start, len(self.norm))) - 1
        low, high = self.runs[at] if at >= 0 else (start, end)
        return max(low, min(start, page - _PAGE_WIDTH)), max(end, min(high, page + 2 * _PAGE_WIDTH))

    def cut(self, start: int, end: int, names: Mapping[str, float]) -> list[segmentation.Word]:
        """Returns the words of the run of Han [start, end), at their places in ``norm``."""
        return [
            segmentation.Word(word.start + start, word.end + start, word.text, word.tag)
            for word in segmentation.cut(self.norm[start:end], names)
        ]

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Returns the span of the text as given for [start, end) of ``norm``."""
        return original_span(self.offsets, start, end)


lex = patterns(__file__)


def read(text: str | Document) -> Document:
    """Returns the document of a text; the last short ones are cached for the next rules."""
    if isinstance(text, Document):
        return text
    return _cached_document(text) if len(text) <= _LONGEST_CACHED else Document(text)


_cached_document = lru_cache(maxsize=32)(Document)


def masked(norm: str) -> bytearray:
    """Returns for each code point of the normalised text 1 if nobody is named there."""
    mask = bytearray(len(norm))

    def hide(start: int, end: int) -> None:
        mask[start:end] = b"\x01" * (end - start)

    for match in lex.always.finditer(norm):
        hide(*match.span())
    for match in lex.exercise.finditer(norm):
        hide(match.end(), len(norm))
    for start, end in _quoted_stretches(norm):
        hide(start, end)
    if lex.maths.search(norm) and len(lex.maths_numbers.findall(norm)) >= 2:
        hide(0, len(norm))
    return mask


def _quoted_stretches(norm: str) -> Iterator[tuple[int, int]]:
    """Yields the spans that are to be translated, and those that are sung or read out."""
    quotes = [match.span() for match in lex.quoted.finditer(norm)]
    translation = lex.translate.search(norm)
    if translation:
        yield from quotes
        colon = norm.find(":", translation.end())  # of the normal form, which has no other
        if colon >= 0 and not quotes:
            yield colon + 1, len(norm)
    for start, end in quotes:
        if lex.sung.search(norm[max(0, start - 14) : start]):
            yield start, end


# Typos are searched for in messages only.
_FUZZY_LIMIT = 400
# Beside one character of a name: 阿明, 小明, 老王, 明仔, 明哥.
_NICK_BEFORE, _NICK_AFTER = frozenset("阿小老大"), frozenset("仔哥姐妹弟儿子宝叔婶嫂爷")
# What a short English name is made with: Junnie, Robbo, Macca, Gazza.
_ENDINGS = ("ie", "za", "y", "o", "a", "s")


class Spelling(NamedTuple):
    """``key`` is at [start, end) of the normalised text; ``form`` is how: "" as it is, plural,
    ending (a short form with -ie, -o …), nick (小明), title, role, sound or slip. ``role`` is the
    role word, ``title`` the form of address."""

    key: str
    start: int
    end: int
    form: str = ""
    role: RoleWord | None = None
    title: str = ""


def _spellings(document: Document) -> Iterator[Spelling]:
    """Yields the spellings in no order; a key may be at many places."""
    yield from _role_spellings(document)
    yield from _latin_spellings(document)
    yield from _cjk_spellings(document)
    if len(document.norm) <= _FUZZY_LIMIT:
        yield from _typo_spellings(document)
        yield from _sound_spellings(document)


def joins(gap: str) -> bool:
    """Whether two words with ``gap`` between them can be one name: Anna Lena, Jean-Paul,
    Dr. Lee."""
    return gap in (" ", "-", ". ", ".", "·", "  ", " - ") or gap in ("‐", "‑", "–")


def _role_spellings(document: Document) -> Iterator[Spelling]:
    for word in document.roles:
        prefix = OF if word.whose == "other" else KIN
        kinds = {kind for role in word.roles for kind in (role.kind, *covered_by(role.kind))}
        start = word.outer if word.whose == "own" else word.start
        for kind in sorted(kinds):
            yield Spelling(prefix + kind, start, word.end, "role", word)


def _latin_spellings(document: Document) -> Iterator[Spelling]:
    tokens, norm = document.tokens, document.norm
    for index, token in enumerate(tokens):
        key, start, end = token.key, token.start, token.end
        yield Spelling(key, start, end)
        if token.possessive and norm[end - 1] != "s":
            yield Spelling(f"{key}s", start, end)
        for stem in _stems(key):
            yield Spelling(stem, start, end, "ending")
        yield from _phrase_spellings(document, index)
        before = tokens[index - 1] if index else None
        if before and before.key in titles("en") and joins(norm[before.end : start]):
            yield Spelling(TITLE + key, before.start, end, "title", None, before.key)
        yield from _mixed_spellings(norm, token)


def _phrase_spellings(document: Document, index: int) -> Iterator[Spelling]:
    """Yields the phrases from a token on that may be one name, and their singulars."""
    tokens, norm = document.tokens, document.norm
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


def _mixed_spellings(norm: str, token: Token) -> Iterator[Spelling]:
    """Yields names of both scripts: 小K, 阿Sam, Tony哥."""
    start, end = token.start, token.end
    for length in (1, 2):
        if start >= length and all(map(is_cjk, norm[start - length : start])):
            yield Spelling(norm[start - length : start] + token.key, start - length, end)
        if end + length <= len(norm) and all(map(is_cjk, norm[end : end + length])):
            yield Spelling(token.key + norm[end : end + length], start, end + length)


def _stems(word: str) -> Iterator[str]:
    """Yields what a short form with an ending may be made from: rob of robbo, jun of junnie."""
    for ending in _ENDINGS:
        stem = word.removesuffix(ending)
        if stem != word and len(stem) > 2:
            yield stem
            if stem[-1] == stem[-2] and len(stem) > 3:
                yield stem[:-1]


def _cjk_spellings(document: Document) -> Iterator[Spelling]:
    squeezed, places = document.squeezed
    run = 0
    for end, char in enumerate(squeezed, 1):
        run = run + 1 if is_cjk(char) else 0
        for length in range(1, min(run, HAN_KEY_LENGTH) + 1):
            start = end - length
            yield Spelling(squeezed[start:end], places[start], places[end - 1] + 1)
        if run > 1:
            low, high = places[end - 2], places[end - 1] + 1
            first, second = squeezed[end - 2], squeezed[end - 1]
            if first in _NICK_BEFORE:
                yield Spelling(PART + second, low, high, "nick")
                yield Spelling(TITLE + second, low, high, "nick")
            if second in _NICK_AFTER or first == second:
                yield Spelling(PART + first, low, high, "nick")
    for match in _chinese_title().finditer(document.norm):
        yield Spelling(TITLE + match[1], *match.span(), "title", None, match[2])


@cache
def _chinese_title() -> re.Pattern[str]:
    """Returns the pattern of a surname and the title after it: 王总, 张阿姨."""
    compound, single = words("surnames", "compound"), words("surnames", "single")
    forms = alternation(titles("zh"))
    return re.compile(rf"({alternation(compound)}|[{''.join(sorted(single))}])({forms})(?!们)")


def _typo_spellings(document: Document) -> Iterator[Spelling]:
    common = words("english_words")
    for token in document.tokens:
        size = len(token.key)
        near = size + 1 in TYPO_LENGTHS or size - 1 in TYPO_LENGTHS
        if near and token.key not in common:
            for form in sorted(deletions(token.key)):
                yield Spelling(TYPO + form, token.start, token.end, "slip")


def _sound_spellings(document: Document) -> Iterator[Spelling]:
    norm = document.norm
    sounds = [syllable(char) if is_han(char) else "" for char in norm]
    for start in range(len(norm)):
        joined = sounds[start]
        for end in range(start + 1, min(start + HAN_KEY_LENGTH, len(norm))):
            if not joined or not sounds[end]:
                break
            joined += sounds[end]
            yield Spelling(SOUND + joined, start, end + 1, "sound")
