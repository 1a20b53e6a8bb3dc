"""A text as name matching reads it: normalised, cut into words, its roles and masks found."""

import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from understanding import segmentation
from understanding.people.masks import masked
from understanding.people.role_mentions import RoleWord, role_words
from understanding.text import HAN, is_cjk, normalise_with_offsets, original_span

# How far the words around a name are looked at.
_PAGE = 64

_RUN = re.compile(f"{HAN.pattern}+")
_WORD = re.compile(r"[^\W_]+(?:['-](?=[^\W_])[^\W_]+)*'?")


@dataclass(frozen=True, slots=True)
class Token:
    """A word in Latin (or any spaced) script; ``key`` is it without apostrophes and
    possessive ending, ``capital`` whether it was typed with a capital."""

    start: int
    end: int
    key: str
    capital: bool
    possessive: bool


class Reading:
    """Everything the rules ask of a text; each part is worked out when first asked for.
    Positions count code points of ``norm``; ``raw`` is as long and keeps the case."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.norm, self.offsets = normalise_with_offsets(text)
        self.raw = "".join(text[start] for start in self.offsets[:-1])

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
        """The spaced-script words in [start, end): Chinese characters and hyphens part them."""
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
        """Token index by where it starts."""
        return {token.start: index for index, token in enumerate(self.tokens)}

    def token(self, index: int) -> Token | None:
        return self.tokens[index] if 0 <= index < len(self.tokens) else None

    def gap(self, index: int) -> str:
        """What stands between token ``index`` and the next."""
        tokens = self.tokens
        return self.norm[tokens[index].end : tokens[index + 1].start]

    def before(self, first: int) -> Token | None:
        """The word before in the same phrase: nothing but a space between."""
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
        """``norm`` without the dots inside Chinese names, with where each character was."""
        norm = self.norm
        keep = [
            i
            for i, char in enumerate(norm)
            if not (
                char == "·"
                and 0 < i < len(norm) - 1
                and is_cjk(norm[i - 1])
                and is_cjk(norm[i + 1])
            )
        ]
        return "".join(norm[i] for i in keep), keep

    @cached_property
    def cased(self) -> bool:
        """Whether capitals mean something here: some are used, and not only them."""
        letters = [char for char in self.raw if char.isalpha() and not is_cjk(char)]
        return any(map(str.isupper, letters)) and not all(map(str.isupper, letters))

    @cached_property
    def chinese(self) -> bool:
        """Whether there is Chinese in the text."""
        return HAN.search(self.norm) is not None

    @cached_property
    def runs(self) -> list[tuple[int, int]]:
        """The unbroken runs of Han."""
        return [match.span() for match in _RUN.finditer(self.norm)]

    def stretch(self, start: int, end: int) -> tuple[int, int]:
        """The run of Han around [start, end), as far as it can matter: places near each
        other share one, so that it is cut into words once."""
        page = start // _PAGE * _PAGE
        at = bisect_right(self.runs, (start, len(self.norm))) - 1
        low, high = self.runs[at] if at >= 0 else (start, end)
        return max(low, min(start, page - _PAGE)), max(end, min(high, page + 2 * _PAGE))

    def cut(self, start: int, end: int, names: Mapping[str, float]) -> list[segmentation.Word]:
        """The words of the run of Han [start, end), at their places in ``norm``."""
        return [
            segmentation.Word(word.start + start, word.end + start, word.text, word.tag)
            for word in segmentation.cut(self.norm[start:end], names)
        ]

    def original(self, start: int, end: int) -> tuple[int, int]:
        """The span of the text as given behind [start, end) of ``norm``."""
        return original_span(self.offsets, start, end)
